//! The invariants of motion bite: fabricated motion that breaks one is found.

use super::*;
use crate::atom::{Atom, Options};
use firmware_core::protocol::request::build;

/// Looks at `count` moments with the state and the goals of `at`, from the ready pose; the first violation.
fn watch(state: State, count: u64, at: impl Fn(f64, &mut [f64; JOINTS])) -> Option<String> {
    let mut truth = Atom::new(&Options::default()).expect("the default ATOM").truth();
    truth.torque_on = [true; JOINTS];
    truth.n = 7;
    let mut motion = Motion::new(&truth, true);
    motion.sent(0, &build::jog(&[1.0; 6]));
    (1..=count).find_map(|i| {
        truth.state = state;
        truth.goal_deg = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0, -20.0];
        at(i as f64 * 0.002, &mut truth.goal_deg);
        motion.look(i * 2_000, &truth).err().map(|violation| violation.message)
    })
}

#[test]
fn a_smooth_motion_breaks_nothing() {
    // 1 s at up to 60 °/s: 0.5 · 60 · t² while speeding up at 60 °/s².
    assert_eq!(watch(State::Moving, 500, |t_s, goal| goal[0] = 30.0 * t_s * t_s), None);
}

#[test]
fn a_goal_that_is_too_fast_is_found() {
    let found = watch(State::Moving, 500, |t_s, goal| goal[0] = 100.0 * t_s).expect("100 °/s is too fast");
    assert!(
        found.contains("J1 keeps its limits") && found.contains("100 °/s, expected at most 90"),
        "{found}"
    );
}

#[test]
fn a_goal_that_jumps_is_found() {
    let jump = |t_s: f64, goal: &mut [f64; JOINTS]| goal[1] = if t_s > 0.3 { 2.0 } else { 0.0 };
    let found = watch(State::Tracking, 500, jump).expect("2° at once");
    assert!(found.contains("J2 keeps its limits of speed and acceleration while tracking"), "{found}");
}

#[test]
fn a_goal_outside_its_range_is_found() {
    let found =
        watch(State::Jogging, 200, |t_s, goal| goal[0] = 165.0 * (t_s * 10.0).min(1.01)).expect("166.65°");
    assert!(found.contains("the goal of J1 stays in -165 to 165°"), "{found}");
}

#[test]
fn a_stream_that_does_not_stop_is_found() {
    let found = watch(State::Jogging, 1_000, |t_s, goal| goal[3] = 20.0 * t_s).expect("it goes on");
    assert!(
        found.contains("a streamed run stops within 200 ms and its braking time; J4 still moves"),
        "{found}"
    );
}

#[test]
fn a_hold_that_opens_the_gripper_is_found() {
    let open = |t_s: f64, goal: &mut [f64; JOINTS]| goal[J7] = if t_s > 0.3 { -30.0 } else { -40.0 };
    let found = watch(State::Holding, 500, open).expect("J7's goal changed");
    assert_eq!(found, "no hold changes the goal of J7; it went from -40° to -30°");
}
