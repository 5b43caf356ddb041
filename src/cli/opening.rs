//! `--play FILE`: what the served ATOM plays by itself at its start, open loop.

use std::path::Path;

use firmware_core::joints::JOINTS;
use firmware_core::motion::plan::sample_bytes;
use firmware_core::protocol::build;
use firmware_core::shared::{PlayParams, State};

use super::exit::CommandError;
use super::play::read_plan;
use crate::atom::{Atom, Transport};
use crate::client::{Plan, Sample};
use crate::recording::Keepers;

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
    /// left out, or two of three, three of four, …; curves join the rest.
    ///
    /// # Errors
    /// A file that cannot be read or is no plan.
    pub(super) fn read(path: &Path, plan_bytes_max: usize) -> Result<Self, CommandError> {
        let plan = Self::thinned(read_plan(path)?, plan_bytes_max);
        Ok(Self { plan, path: path.display().to_string() })
    }

    /// The plan with every so many-th of its samples that it fits and its rate is whole; the last sample stays. One that
    /// no such number makes fit stays as it is.
    fn thinned(plan: Plan, plan_bytes_max: usize) -> Plan {
        let samples_max = plan_bytes_max / sample_bytes(plan.joints);
        let last = plan.samples.len().saturating_sub(1);
        let fits = |step: &usize| {
            usize::from(plan.rate_hz).is_multiple_of(*step) && last.div_ceil(*step) < samples_max
        };
        match (1..=usize::from(plan.rate_hz)).find(fits) {
            None | Some(1) => plan,
            Some(step) => {
                let mut samples: Vec<Sample> = plan.samples.iter().copied().step_by(step).collect();
                if !last.is_multiple_of(step) {
                    // Less than a step late, but there: the arm reaches its end.
                    samples.push(plan.samples[last]);
                }
                Plan { rate_hz: plan.rate_hz / step as u16, cubic: true, joints: plan.joints, samples }
            }
        }
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
    pub(super) fn begin(&self, atom: &mut Atom, keepers: &mut Keepers) -> Result<(), CommandError> {
        let refuse = |why: String| CommandError::bad_input(format!("--play {}: the ATOM {why}", self.path));
        let (samples, joints, there) =
            (self.plan.samples.len(), self.plan.joints, usize::from(atom.truth().n));
        if joints > there {
            return Err(refuse(format!(
                "has {there} joints, the plan {joints}; give it one of 6 joints, or the gripper and a newer --api"
            )));
        }
        let client = atom.connect(Transport::Udp);
        for message in self.plan.upload_messages() {
            atom.receive(client, &message);
            keepers.advance(atom, atom.now_us() + PACE_US);
        }
        if !atom.truth().plan_valid {
            return Err(refuse(format!("has no memory for its {samples} samples; give it a shorter one")));
        }
        atom.receive(client, &build::play(PARAMS));
        let until_us = atom.now_us() + BEGIN_US;
        while atom.state() != State::Playing && atom.now_us() < until_us {
            keepers.advance(atom, atom.now_us() + PACE_US);
        }
        if atom.state() != State::Playing {
            return Err(refuse("refuses to play it; are its goals within the joints' limits?".to_owned()));
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
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("room");
        let opening = Opening::read(file.path(), plan_bytes_max);
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
        opening.begin(&mut atom, &mut Keepers::default()).expect("it plays");
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
        // Of 201 samples at 100 Hz every fourth and every fifth leave whole rates, every third does not.
        let short = turn(6, 51 * 24 - 1);
        assert_eq!((short.plan.rate_hz, short.plan.samples.len()), (20, 41));
        let odd = Opening::thinned(
            Plan { samples: opening.plan.samples[..50].to_vec(), rate_hz: 125, ..opening.plan },
            49 * 24,
        );
        // The last of 50 is none of every fifth.
        assert_eq!((odd.rate_hz, odd.samples.len()), (25, 11));
        assert!((odd.samples[10].cmd_deg[0] - opening.plan.samples[49].cmd_deg[0]).abs() < 1e-9);
    }

    #[test]
    fn one_that_the_arm_cannot_play_is_refused() {
        let opening = turn(7, Options::default().plan_bytes_max);
        let error =
            opening.begin(&mut atom(&opening, false), &mut Keepers::default()).expect_err("there is no J7");
        assert!(error.message.contains("has 6 joints, the plan 7"), "{error}");
        let mut beyond = turn(6, Options::default().plan_bytes_max);
        for sample in &mut beyond.plan.samples[100..] {
            sample.cmd_deg[2] = 160.0;
        }
        let error = beyond
            .begin(&mut atom(&beyond, true), &mut Keepers::default())
            .expect_err("J3 goes to 150° only");
        assert!(error.message.contains("within the joints' limits"), "{error}");
    }
}
