//! The pacer: maps wall time to virtual time and back. The one place of the simulator with a clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How late the host may be and still make up for it (wall time). What is beyond is left out: virtual time
/// slips. Half of the deadman's 200 ms, so that a hiccup of the host alone never stops a run.
pub const CATCH_UP_MAX: Duration = Duration::from_millis(100);

/// How virtual time follows real time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// Virtual seconds per real second, above 0; 1 is real time.
    Factor(f64),
    /// As fast as the host goes.
    Max,
    /// Virtual time stands still.
    Paused,
}

/// How long the simulation may sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Not at all: something is due.
    None,
    /// Until something is due.
    For(Duration),
    /// Until a client's message comes: time stands still.
    Forever,
}

/// The present on the pacer's clock.
#[expect(clippy::disallowed_methods, reason = "the pacer is the one place that reads a clock")]
pub(super) fn wall_now() -> Instant {
    Instant::now()
}

/// How far the host fell behind real time since the start. Shared: read it from any thread.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "names carry their unit")]
pub struct LagFigures {
    latest_us: AtomicU64,
    max_us: AtomicU64,
    slipped_us: AtomicU64,
}

impl LagFigures {
    /// How late the latest due thing happened (µs of wall time).
    pub fn latest_us(&self) -> u64 {
        self.latest_us.load(Ordering::Relaxed)
    }

    /// How late the latest of all due things happened (µs of wall time).
    pub fn max_us(&self) -> u64 {
        self.max_us.load(Ordering::Relaxed)
    }

    /// Wall time left out because the host was later than [`CATCH_UP_MAX`] (µs).
    pub fn slipped_us(&self) -> u64 {
        self.slipped_us.load(Ordering::Relaxed)
    }

    fn late(&self, lateness: Duration) {
        let lateness_us = whole_us(lateness);
        self.latest_us.store(lateness_us, Ordering::Relaxed);
        self.max_us.fetch_max(lateness_us, Ordering::Relaxed);
    }

    fn slipped(&self, slip: Duration) {
        self.slipped_us.fetch_add(whole_us(slip), Ordering::Relaxed);
    }
}

fn whole_us(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Maps wall time to virtual time, from an anchor where both are known.
#[derive(Debug)]
pub(super) struct Pacer {
    speed: Speed,
    anchor_wall: Instant,
    anchor_us: u64,
    figures: Arc<LagFigures>,
}

impl Pacer {
    /// Starts at virtual time `start_us`, which is now.
    pub(super) fn new(speed: Speed, start_us: u64, now: Instant) -> Self {
        Self { speed, anchor_wall: now, anchor_us: start_us, figures: Arc::default() }
    }

    pub(super) fn figures(&self) -> Arc<LagFigures> {
        Arc::clone(&self.figures)
    }

    pub(super) fn speed(&self) -> Speed {
        self.speed
    }

    /// Goes on at another speed, or from another virtual time, from `now` on, which is virtual time `now_us`.
    pub(super) fn set_speed(&mut self, speed: Speed, now_us: u64, now: Instant) {
        self.speed = speed;
        self.anchor_us = now_us;
        self.anchor_wall = now;
    }

    /// Virtual time at a wall time, when virtual time was `atom_us` at last (µs). At full speed the present is
    /// wherever the simulation has come to.
    pub(super) fn virtual_us(&self, wall: Instant, atom_us: u64) -> u64 {
        match self.speed {
            Speed::Factor(factor) => {
                let passed_us = wall.saturating_duration_since(self.anchor_wall).as_secs_f64() * 1e6 * factor;
                (self.anchor_us + passed_us as u64).max(atom_us)
            }
            Speed::Max | Speed::Paused => atom_us,
        }
    }

    /// How long to sleep until `due_us`.
    pub(super) fn wait(&self, due_us: u64, now: Instant) -> Wait {
        match self.speed {
            Speed::Factor(factor) => {
                let wait = self.wall_of(due_us, factor).saturating_duration_since(now);
                if wait.is_zero() { Wait::None } else { Wait::For(wait) }
            }
            Speed::Max => Wait::None,
            Speed::Paused => Wait::Forever,
        }
    }

    /// Keeps the books of what was due at `due_us` and happens at `now`; lets virtual time slip when the host
    /// is too late to make up for it. Returns the slip.
    pub(super) fn account(&mut self, due_us: u64, now: Instant) -> Option<Duration> {
        let Speed::Factor(factor) = self.speed else { return None };
        let due = self.wall_of(due_us, factor);
        if now < due {
            return None;
        }
        let lateness = now.saturating_duration_since(due);
        self.figures.late(lateness);
        let slip = lateness.checked_sub(CATCH_UP_MAX).filter(|slip| !slip.is_zero())?;
        self.anchor_wall += slip;
        self.figures.slipped(slip);
        Some(slip)
    }

    /// The first wall time at which `virtual_us` has reached `t_us`.
    fn wall_of(&self, t_us: u64, factor: f64) -> Instant {
        let ahead_s = t_us.saturating_sub(self.anchor_us) as f64 / (1e6 * factor);
        // One nanosecond more, or rounding may end the sleep just before the due time.
        let ahead = Duration::try_from_secs_f64(ahead_s)
            .unwrap_or(Duration::MAX)
            .saturating_add(Duration::from_nanos(1));
        self.anchor_wall.checked_add(ahead).unwrap_or(self.anchor_wall + Duration::from_hours(24))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn virtual_time_runs_by_the_factor() {
        let start = wall_now();
        let pacer = Pacer::new(Speed::Factor(2.5), 1_000, start);
        assert_eq!(pacer.virtual_us(start, 0), 1_000);
        assert_eq!(pacer.virtual_us(start + ms(10), 0), 26_000);
    }

    #[test]
    fn virtual_time_never_runs_back() {
        let start = wall_now();
        let pacer = Pacer::new(Speed::Factor(1.0), 0, start);
        assert_eq!(pacer.virtual_us(start + ms(1), 5_000), 5_000);
    }

    #[test]
    fn a_sleep_ends_when_the_due_thing_has_come_and_not_before() {
        let start = wall_now();
        for factor in [0.001, 0.3, 1.0, 7.0, 10_000.0] {
            let pacer = Pacer::new(Speed::Factor(factor), 17, start);
            for due_us in [18, 1_000, 999_983, 3_600_000_017] {
                let Wait::For(wait) = pacer.wait(due_us, start) else { panic!("{due_us} is not due yet") };
                assert!(pacer.virtual_us(start + wait, 0) >= due_us, "{due_us} at {factor}");
                // Not early means: at most a few nanoseconds after the exact time.
                let exact_ns = (due_us - 17) as f64 * 1e3 / factor;
                let late_ns = wait.as_nanos() as f64 - exact_ns;
                assert!((0.0..=3.0).contains(&late_ns), "{due_us} at {factor}: {late_ns} ns");
            }
        }
    }

    #[test]
    fn a_host_late_within_the_bound_makes_up_for_it() {
        let start = wall_now();
        let mut pacer = Pacer::new(Speed::Factor(1.0), 0, start);
        assert_eq!(pacer.account(10_000, start + ms(10 + 99)), None);
        assert_eq!(pacer.virtual_us(start + ms(109), 0), 109_000);
        assert!((98_999..=99_000).contains(&pacer.figures().max_us()), "{}", pacer.figures().max_us());
        assert_eq!(pacer.figures().slipped_us(), 0);
    }

    #[test]
    fn a_host_later_than_the_bound_lets_virtual_time_slip() {
        let start = wall_now();
        let mut pacer = Pacer::new(Speed::Factor(1.0), 0, start);
        let slip = pacer.account(10_000, start + ms(10 + 350)).expect("350 ms are too much to make up for");
        assert!((slip.as_secs_f64() - 0.25).abs() < 1e-6, "{slip:?}");
        let now_us = pacer.virtual_us(start + ms(360), 0);
        assert!((109_999..=110_001).contains(&now_us), "{now_us}");
        let figures = pacer.figures();
        assert!((249_998..=250_000).contains(&figures.slipped_us()), "{}", figures.slipped_us());
    }

    #[test]
    fn a_message_before_the_due_time_is_no_lag() {
        let start = wall_now();
        let mut pacer = Pacer::new(Speed::Factor(1.0), 0, start);
        assert_eq!(pacer.account(1_000_000, start + ms(500)), None);
        assert_eq!(pacer.figures().max_us(), 0);
    }

    #[test]
    fn paused_time_stands_still_and_full_speed_never_waits() {
        let start = wall_now();
        let paused = Pacer::new(Speed::Paused, 5, start);
        assert_eq!(paused.wait(6, start + ms(1_000)), Wait::Forever);
        assert_eq!(paused.virtual_us(start + ms(1_000), 5), 5);
        let max = Pacer::new(Speed::Max, 0, start);
        assert_eq!(max.wait(u64::MAX, start), Wait::None);
    }
}
