//! The invariants of motion: goals in their ranges, speeds and accelerations within limits, streams that stop,
//! and a gripper whose goal no hold changes. All from the servos' goal registers, a look every control period.

use std::collections::VecDeque;

use firmware_core::joints::{J7, JOINTS, SPEED_LIMIT_DPS, TABLE};
use firmware_core::protocol::codes;
use firmware_core::shared::State;
use firmware_core::units::DEG_PER_STEP;

use super::play::Violation;
use crate::atom::Truth;
use crate::scenario::judge::rounded;

/// Speeds are differences over this time (µs): goals are whole steps.
const WINDOW_US: u64 = 50_000;
/// The same in looks.
const WINDOW_LOOKS: usize = 25;
/// A window counts only when the run is still on this many looks after it: a run that ends in an error holds at
/// the measured pose before its state is seen.
const LAG_LOOKS: usize = 30;
/// A run that starts where a joint is off its goal begins with a step: windows begin after it (looks).
const START_LOOKS: usize = 10;
/// Checks pause this long after a disturbance (µs).
const AFTER_US: u64 = 1_000_000;
/// A streamed run: the deadman's time, then the longest brake (the TCP's, with its
/// return to the path), then the window of the speed, and a little for what is on its way (µs).
const STREAM_STOPS_US: u64 = 200_000 + 600_000 + WINDOW_US + 20_000;
/// A stall of the WiFi profiles delays a message by up to this long (µs).
const PROFILE_DELAY_US: u64 = 400_000;
/// Messages that a fault of the radio delays arrive within this time after its end (µs).
const DELAYED_US: u64 = 12_000_000;
/// A joint handed over to the end-effector JOG near a singular pose, too fast to stop before it, is stopped harder
/// than its limit: the acceleration of J3 and J5 is not checked for this long after such a change (µs).
const HAND_OVER_US: u64 = 600_000;
/// J3 and J5, the joints with singular angles.
const SINGULAR_JOINTS: [usize; 2] = [2, 4];
/// The last step of a joint JOG at a limit may exceed the acceleration limit by this factor.
const LAST_STEP: f64 = 1.15;

/// What a fault disturbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// Bytes on the bus or the servos themselves: registers are not what the controller wrote.
    Bus,
    /// Messages between clients and ATOM: when they arrive is not known.
    Messages,
}

/// The goals of one look.
#[derive(Debug, Clone, Copy)]
struct Look {
    goal_deg: [f64; JOINTS],
    torque_on: [bool; JOINTS],
}

/// The state of the checks.
#[derive(Debug)]
pub(super) struct Motion {
    /// Looks of the run that is on, the newest last.
    run: VecDeque<Look>,
    state: State,
    /// Looks since the run began.
    looks: usize,
    /// The range of each joint's goal in this run (°).
    range_deg: [(f64, f64); JOINTS],
    bus_until_us: u64,
    messages_until_us: u64,
    disturbed: bool,
    /// The last JOG or TRACK message (µs).
    last_stream_us: u64,
    /// The last end-effector JOG, and the last other JOG or TRACK (µs).
    last_tcp_us: Option<u64>,
    last_joints_us: Option<u64>,
    /// Messages take this long at most (µs).
    delay_us: u64,
    /// Goal of J7 while no run is on, and since when (µs).
    grip: Option<(f64, u64)>,
    n: u8,
}

impl Motion {
    /// `ideal`: the clients' WiFi delays nothing.
    pub(super) fn new(truth: &Truth, ideal: bool) -> Self {
        Self {
            last_tcp_us: None,
            last_joints_us: None,
            delay_us: if ideal { 0 } else { PROFILE_DELAY_US },
            run: VecDeque::new(),
            state: truth.state,
            looks: 0,
            range_deg: [(0.0, 0.0); JOINTS],
            bus_until_us: 0,
            messages_until_us: 0,
            disturbed: false,
            last_stream_us: 0,
            grip: None,
            n: truth.n,
        }
    }

    /// A client sent a message.
    pub(super) fn sent(&mut self, t_us: u64, bytes: &[u8]) {
        if matches!(bytes.first(), Some(&(codes::JOG | codes::TRACK))) {
            self.last_stream_us = t_us;
            let tcp = bytes[0] == codes::JOG && bytes.get(1).is_some_and(|frame| *frame != 0);
            if tcp {
                self.last_tcp_us = Some(t_us);
            } else {
                self.last_joints_us = Some(t_us);
            }
        }
    }

    /// A fault starts that disturbs what can be seen.
    pub(super) fn disturb(&mut self, t_us: u64, for_us: u64, what: Disturbance) {
        self.disturbed = true;
        let end_us = t_us + for_us;
        match what {
            Disturbance::Bus => self.bus_until_us = self.bus_until_us.max(end_us + AFTER_US),
            Disturbance::Messages => self.messages_until_us = self.messages_until_us.max(end_us + DELAYED_US),
        }
    }

    /// Messages pass as they are sent.
    pub(super) fn messages_are_quiet(&self, t_us: u64) -> bool {
        t_us > self.messages_until_us
    }

    /// No fault disturbed anything in the whole story.
    pub(super) fn was_undisturbed(&self) -> bool {
        !self.disturbed
    }

    /// A look at the ATOM.
    pub(super) fn look(&mut self, t_us: u64, truth: &Truth) -> Result<(), Violation> {
        let quiet_bus = t_us > self.bus_until_us;
        if truth.state != self.state && !(streamed(truth.state) && streamed(self.state)) || !quiet_bus {
            self.run.clear();
            self.looks = 0;
        }
        self.state = truth.state;
        if truth.state.is_run() && quiet_bus {
            self.grip = None;
            self.look_at_run(t_us, truth)?;
        } else {
            self.look_at_rest(t_us, truth, quiet_bus)?;
        }
        self.n = truth.n;
        Ok(())
    }

    fn look_at_run(&mut self, t_us: u64, truth: &Truth) -> Result<(), Violation> {
        self.looks += 1;
        if self.looks <= START_LOOKS {
            for joint in 0..JOINTS {
                // A joint that starts outside its range may be there, and only comes back.
                let (low, high) = (f64::from(TABLE[joint].min_deg), f64::from(TABLE[joint].max_deg));
                let here = truth.goal_deg[joint];
                self.range_deg[joint] = (low.min(here), high.max(here));
            }
            return Ok(());
        }
        self.check_ranges(t_us, truth)?;
        self.run.push_back(Look { goal_deg: truth.goal_deg, torque_on: truth.torque_on });
        if self.run.len() > 2 * WINDOW_LOOKS + LAG_LOOKS + 1 {
            self.run.pop_front();
        }
        if self.run.len() == 2 * WINDOW_LOOKS + LAG_LOOKS + 1 {
            self.check_limits(t_us, truth)?;
        }
        self.check_stream(t_us, truth)
    }

    fn check_ranges(&self, t_us: u64, truth: &Truth) -> Result<(), Violation> {
        let step = f64::from(DEG_PER_STEP);
        for joint in (0..usize::from(truth.n)).filter(|joint| truth.torque_on[*joint]) {
            let (low, high) = self.range_deg[joint];
            let goal = truth.goal_deg[joint];
            if goal < low - step || goal > high + step {
                let message = format!(
                    "the goal of J{} stays in {} to {}° while {}; it is {}°",
                    joint + 1,
                    rounded(low),
                    rounded(high),
                    truth.state.name(),
                    rounded(goal)
                );
                return Err(Violation { t_us, message });
            }
        }
        Ok(())
    }

    /// Speed and acceleration over the two windows that ended a lag ago.
    fn check_limits(&self, t_us: u64, truth: &Truth) -> Result<(), Violation> {
        let (old, mid, new) = (&self.run[0], &self.run[WINDOW_LOOKS], &self.run[2 * WINDOW_LOOKS]);
        let (step, w_s) = (f64::from(DEG_PER_STEP), WINDOW_US as f64 * 1e-6);
        // A PLAY is as the client planned it.
        if truth.state == State::Playing {
            return Ok(());
        }
        for joint in (0..usize::from(truth.n)).filter(|joint| old.torque_on[*joint] && new.torque_on[*joint])
        {
            let late = new.goal_deg[joint] - mid.goal_deg[joint];
            let early = mid.goal_deg[joint] - old.goal_deg[joint];
            let speed_most = f64::from(SPEED_LIMIT_DPS) * w_s + step;
            let accel_most = f64::from(TABLE[joint].accel_limit_dps2) * LAST_STEP * w_s * w_s + 2.0 * step;
            let hard = self.handed_over(t_us) && SINGULAR_JOINTS.contains(&joint);
            let found = if late.abs() > speed_most {
                format!("{} °/s, expected at most {SPEED_LIMIT_DPS}", rounded(late.abs() / w_s))
            } else if !hard && (late - early).abs() > accel_most {
                format!(
                    "{} °/s², expected at most {}",
                    rounded((late - early).abs() / (w_s * w_s)),
                    TABLE[joint].accel_limit_dps2
                )
            } else {
                continue;
            };
            let message = format!(
                "the goal of J{} keeps its limits of speed and acceleration while {}; found {found}",
                joint + 1,
                truth.state.name()
            );
            return Err(Violation { t_us, message });
        }
        Ok(())
    }

    /// The end-effector JOG and another mode took turns lately.
    fn handed_over(&self, t_us: u64) -> bool {
        let lately =
            |at_us: Option<u64>| at_us.is_some_and(|at_us| at_us + HAND_OVER_US + self.delay_us > t_us);
        let both = self.last_tcp_us.is_some() && self.last_joints_us.is_some();
        // A delayed message hands over when it arrives.
        both && (lately(self.last_tcp_us) || lately(self.last_joints_us) || !self.messages_are_quiet(t_us))
    }

    /// A streamed run stops within 200 ms and its braking time after the last message.
    fn check_stream(&self, t_us: u64, truth: &Truth) -> Result<(), Violation> {
        let due =
            t_us > self.last_stream_us + STREAM_STOPS_US + self.delay_us && self.messages_are_quiet(t_us);
        let Some(before) = self.run.len().checked_sub(1 + WINDOW_LOOKS).map(|index| &self.run[index]) else {
            return Ok(());
        };
        if !due || !streamed(truth.state) {
            return Ok(());
        }
        let moving = (0..JOINTS).find(|joint| {
            (truth.goal_deg[*joint] - before.goal_deg[*joint]).abs() > 2.0 * f64::from(DEG_PER_STEP)
        });
        moving.map_or(Ok(()), |joint| {
            let message = format!(
                "a streamed run stops within 200 ms and its braking time; J{} still moves {:.0} ms after the last message",
                joint + 1,
                (t_us - self.last_stream_us) as f64 / 1_000.0
            );
            Err(Violation { t_us, message })
        })
    }

    /// While no run is on, nothing changes J7's goal.
    fn look_at_rest(&mut self, t_us: u64, truth: &Truth, quiet_bus: bool) -> Result<(), Violation> {
        let holds = matches!(truth.state, State::Holding | State::Ready);
        if !holds || !quiet_bus || !truth.torque_on[J7] || truth.n != self.n || usize::from(truth.n) != JOINTS
        {
            self.grip = None;
            return Ok(());
        }
        let goal = truth.goal_deg[J7];
        match self.grip {
            None => self.grip = Some((goal, t_us)),
            // The first look may come before the run's last goal is in the register.
            Some((_, since_us)) if t_us < since_us + WINDOW_US => self.grip = Some((goal, since_us)),
            Some((held, _)) if (held - goal).abs() > 1e-9 => {
                let message = format!("no hold changes the goal of J7; it went from {held}° to {goal}°");
                return Err(Violation { t_us, message });
            }
            Some(_) => {}
        }
        Ok(())
    }
}

fn streamed(state: State) -> bool {
    matches!(state, State::Jogging | State::Tracking)
}

#[cfg(test)]
#[path = "motion_tests.rs"]
mod tests;
