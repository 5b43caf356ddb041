//! Cycles of a run: when the next one is due, which were late, in which the arm was silent, and how a run ends.

use super::arm::Answered;

/// The schedule of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pacing {
    period_us: u64,
    /// A cycle late by up to this catches up; a later one restarts the schedule.
    catch_up_us: u64,
    started_us: Option<u64>,
    due_us: u64,
    last_start_us: u64,
    pub(super) cycles: u32,
    pub(super) longest_period_us: u32,
    pub(super) late_cycles: u32,
}

impl Pacing {
    /// A schedule that begins with the first call of [`Pacing::begin_cycle`].
    pub(super) fn new(period_us: u64, catch_up_us: u64) -> Self {
        Self {
            period_us,
            catch_up_us,
            started_us: None,
            due_us: 0,
            last_start_us: 0,
            cycles: 0,
            longest_period_us: 0,
            late_cycles: 0,
        }
    }

    /// Time since the first cycle started (µs); 0 before it.
    pub(super) fn elapsed_us(&self, now_us: u64) -> u64 {
        self.started_us.map_or(0, |started_us| now_us - started_us)
    }

    /// A cycle starts: returns the time since the first one started (µs).
    pub(super) fn begin_cycle(&mut self, now_us: u64) -> u64 {
        let started_us = *self.started_us.get_or_insert_with(|| {
            self.due_us = now_us;
            now_us
        });
        if self.cycles > 0 {
            let period_us = u32::try_from(now_us - self.last_start_us).unwrap_or(u32::MAX);
            self.longest_period_us = self.longest_period_us.max(period_us);
        }
        self.last_start_us = now_us;
        self.cycles += 1;
        now_us - started_us
    }

    /// The cycle is over: counts it if it is late and returns when the next one starts.
    pub(super) fn end_cycle(&mut self, now_us: u64) -> u64 {
        self.due_us += self.period_us;
        if now_us > self.due_us {
            self.late_cycles += 1;
            if now_us > self.due_us + self.catch_up_us {
                self.due_us = now_us;
            }
        }
        self.due_us.max(now_us)
    }
}

/// How a run ended: the result byte of DONE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// 0: it came to its end.
    Done,
    /// 1: this joint (index) was too far from its reference: pos − ref (steps).
    TrackingError { joint: usize, error_steps: i32 },
    /// 2: STOP, HOLD or the button.
    Stopped,
    /// 3: this joint (index) was not at the start pose: start pose − first ref (steps).
    NotAtStart { joint: usize, error_steps: i32 },
    /// 4: servos did not answer.
    BusError,
}

/// Cycles in a row in which not all of J1–J6 answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Silence(u32);

impl Silence {
    /// Cycles in a row that end a run.
    const CYCLES_MAX: u32 = 50;

    /// Counts a cycle.
    ///
    /// # Errors
    /// [`Outcome::BusError`] when there were too many.
    pub(super) fn count(&mut self, answered: Answered) -> Result<(), Outcome> {
        self.0 = if answered.whole_arm() { 0 } else { self.0 + 1 };
        if self.0 >= Self::CYCLES_MAX { Err(Outcome::BusError) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_on_time_has_even_periods_and_no_late_cycle() {
        let mut pacing = Pacing::new(2_000, 0);
        let mut now = 10_000;
        for cycle in 0..5 {
            assert_eq!(pacing.begin_cycle(now), cycle * 2_000);
            now = pacing.end_cycle(now + 1_540);
        }
        assert_eq!((pacing.cycles, pacing.longest_period_us, pacing.late_cycles), (5, 2_000, 0));
    }

    #[test]
    fn a_late_cycle_counts_and_restarts_the_schedule() {
        let mut pacing = Pacing::new(2_000, 0);
        pacing.begin_cycle(0);
        assert_eq!(pacing.end_cycle(2_020), 2_020);
        pacing.begin_cycle(2_020);
        assert_eq!(pacing.end_cycle(3_560), 4_020);
        pacing.begin_cycle(4_020);
        assert_eq!((pacing.longest_period_us, pacing.late_cycles), (2_020, 1));
    }

    #[test]
    fn a_streamed_cycle_up_to_2_ms_late_catches_up_and_a_later_one_restarts() {
        let mut pacing = Pacing::new(2_000, 2_000);
        pacing.begin_cycle(0);
        assert_eq!(pacing.end_cycle(4_000), 4_000, "2 ms late");
        pacing.begin_cycle(4_000);
        assert_eq!(pacing.end_cycle(5_540), 5_540, "still behind its due time of 4 ms");
        pacing.begin_cycle(5_540);
        assert_eq!(pacing.end_cycle(12_001), 12_001);
        pacing.begin_cycle(12_001);
        assert_eq!(pacing.end_cycle(13_000), 14_001, "the schedule restarted");
        assert_eq!(pacing.late_cycles, 3);
    }
}
