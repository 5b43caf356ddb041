//! `--play FILE`: what the served ATOM plays by itself at its start, open loop.

use std::path::Path;

use firmware_core::joints::JOINTS;
use firmware_core::protocol::build;
use firmware_core::shared::{PlayParams, State};

use super::exit::CommandError;
use super::play::read_plan;
use crate::atom::{Atom, Transport};
use crate::client::{Plan, Sample};

/// Between two messages of the upload (µs): the network side takes 64 in this time.
const PACE_US: u64 = 1_000;
/// A run begins within this time (µs): the start pose is read, modes are set.
const BEGIN_US: u64 = 1_000_000;
/// Nothing stops it for its error, wherever the arm is: open loop.
const PARAMS: PlayParams = PlayParams {
    rate_hz: 500,
    speed_cap_sps: 2000,
    max_error_steps: u16::MAX,
    start_tolerance_steps: u16::MAX,
};

/// A plan or recording to play at the start.
pub(super) struct Opening {
    plan: Plan,
    path: String,
}

impl Opening {
    /// Reads the goals of a plan or recording. Of one that is larger than `plan_bytes_max` every second sample is
    /// left out, or three of four, …; curves join the rest.
    ///
    /// # Errors
    /// A file that cannot be read or is no plan.
    pub(super) fn read(path: &Path, plan_bytes_max: usize) -> Result<Self, CommandError> {
        let plan = Self::thinned(read_plan(path)?, plan_bytes_max);
        Ok(Self { plan, path: path.display().to_string() })
    }

    /// The plan with every second sample left out until it fits or its rate is odd; the last sample stays.
    fn thinned(mut plan: Plan, plan_bytes_max: usize) -> Plan {
        while plan.bytes().len() > plan_bytes_max && plan.rate_hz.is_multiple_of(2) && plan.samples.len() > 3
        {
            let last = plan.samples.len() - 1;
            let mut samples: Vec<Sample> = plan.samples.iter().copied().step_by(2).collect();
            if last % 2 == 1 {
                // Half a step late, but there: the arm reaches its end.
                samples.push(plan.samples[last]);
            }
            plan = Plan { rate_hz: plan.rate_hz / 2, cubic: true, joints: plan.joints, samples };
        }
        plan
    }

    /// The pose it begins in (°), for the arm to stand in; J7 as in `pose_deg` when it has six joints.
    pub(super) fn start_deg(&self, pose_deg: [f64; JOINTS]) -> [f64; JOINTS] {
        let first = self.plan.samples.first().map_or(pose_deg, |sample| sample.cmd_deg);
        std::array::from_fn(|joint| if joint < self.plan.joints { first[joint] } else { pose_deg[joint] })
    }

    /// Uploads and plays it as a client by UDP would, which then leaves. Its messages are inputs like any other's.
    ///
    /// # Errors
    /// The ATOM does not play it.
    pub(super) fn begin(&self, atom: &mut Atom) -> Result<(), CommandError> {
        let client = atom.connect(Transport::Udp);
        for message in self.plan.upload_messages() {
            atom.receive(client, &message);
            atom.advance_to(atom.now_us() + PACE_US);
        }
        if !atom.truth().plan_valid {
            return Err(CommandError::bad_input(format!(
                "--play {}: the ATOM takes no plan of {} samples with {} joints; give it a shorter one",
                self.path,
                self.plan.samples.len(),
                self.plan.joints
            )));
        }
        atom.receive(client, &build::play(PARAMS));
        let until_us = atom.now_us() + BEGIN_US;
        while atom.state() != State::Playing && atom.now_us() < until_us {
            atom.advance_to(atom.now_us() + PACE_US);
        }
        if atom.state() != State::Playing {
            return Err(CommandError::bad_input(format!(
                "--play {}: the ATOM refuses to play its {} joints with {} there; give it one of 6 joints, or the gripper",
                self.path,
                self.plan.joints,
                atom.truth().n
            )));
        }
        atom.close(client);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atom::Options;
    use crate::hardware::HardwareOptions;

    /// J1 from 5° to 25° in 2 s at 100 Hz.
    fn turn(joints: usize, plan_bytes_max: usize) -> Opening {
        let names: Vec<String> = (1..=joints).map(|joint| format!("q_plan_{joint}")).collect();
        let rest = ",0".repeat(joints - 1);
        let rows = (0..=200).map(|i| format!("{},{}{rest}\n", f64::from(i) * 0.01, 5.0 + f64::from(i) * 0.1));
        let text = format!("t,{}\n{}", names.join(","), rows.collect::<String>());
        let path = std::env::temp_dir()
            .join(format!("opening-{}-{joints}-{plan_bytes_max}.csv", std::process::id()));
        std::fs::write(&path, text).expect("a file");
        let opening = Opening::read(&path, plan_bytes_max);
        std::fs::remove_file(&path).expect("it was there");
        opening.expect("a plan")
    }

    fn atom(opening: &Opening, gripper: bool) -> Atom {
        let mut hardware = HardwareOptions { gripper, ..HardwareOptions::default() };
        hardware.pose_deg = opening.start_deg(hardware.pose_deg);
        Atom::new(&Options { hardware, ..Options::default() }).expect("an arm")
    }

    #[test]
    fn the_arm_stands_in_the_first_goal_and_goes_to_the_last() {
        let opening = turn(6, Options::default().plan_bytes_max);
        let mut atom = atom(&opening, true);
        assert!((atom.deg(0) - 5.0).abs() < 0.1, "{}", atom.deg(0));
        opening.begin(&mut atom).expect("it plays");
        assert_eq!(atom.state(), State::Playing);
        atom.advance_to(atom.now_us() + 5_000_000);
        assert_eq!(atom.state(), State::Ready);
        assert!((atom.truth().goal_deg[0] - 25.0).abs() < 0.1 && (atom.deg(0) - 25.0).abs() < 0.5);
        assert_eq!(atom.truth().holder, None);
    }

    #[test]
    fn of_one_that_is_too_large_every_second_sample_is_left_out() {
        let opening = turn(6, 201 * 24 - 1);
        assert_eq!((opening.plan.rate_hz, opening.plan.samples.len(), opening.plan.cubic), (50, 101, true));
        assert!((opening.plan.samples[100].cmd_deg[0] - 25.0).abs() < 1e-9);
        // Of 50 samples the last has an odd index: it stays beside the 25 of even ones.
        let short = turn(6, 51 * 24 - 1);
        assert_eq!((short.plan.rate_hz, short.plan.samples.len()), (25, 51));
        let even = Opening::thinned(
            Plan { samples: short.plan.samples[..50].to_vec(), rate_hz: 50, ..short.plan },
            0,
        );
        let last = even.samples.last().expect("samples").cmd_deg[0];
        assert_eq!((even.samples.len(), even.rate_hz), (26, 25));
        assert!((last - 24.6).abs() < 1e-9, "{last}");
    }

    #[test]
    fn one_that_the_arm_cannot_play_is_refused() {
        let opening = turn(7, Options::default().plan_bytes_max);
        let error = opening.begin(&mut atom(&opening, false)).expect_err("there is no J7");
        assert!(
            error.message.contains("7 joints with 6 there") && error.message.contains("or the gripper"),
            "{error}"
        );
    }
}
