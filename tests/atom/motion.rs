//! MOVE_TO, JOG and TRACK of a whole ATOM in virtual time.

use crate::support::{Bench, ack, done_of, replies_to};
use atom_sim::atom::Options;
use firmware_core::protocol::codes;
use firmware_core::protocol::reply::Reply;
use firmware_core::protocol::request::build;
use firmware_core::shared::State;

const READY: [f32; 6] = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0];

#[test]
fn power_up_ends_in_holding() {
    let bench = Bench::new(&Options::default());
    assert_eq!(bench.atom.state(), State::Holding);
}

#[test]
fn a_move_to_the_ready_pose_ends_with_done_0_and_no_late_cycle() {
    let mut bench = Bench::new(&Options { hardware: no_gripper(), ..Options::default() });
    let client = bench.udp();
    let replies = bench.ask_ms(client, &build::move_to(&READY, 0), 100);
    assert_eq!(replies, [ack(codes::MOVE_TO, 0)]);
    let outputs = bench.run_ms(3_500);
    let replies = replies_to(client, &outputs);
    let done = done_of(&replies).expect("the move ended");
    assert_eq!((done.result, done.late_cycles, done.longest_period_us), (0, 0, 2_000));
    assert!((bench.atom.deg(2) + 90.0).abs() < 0.1, "J3 at {}", bench.atom.deg(2));
    assert_eq!(bench.atom.state(), State::Holding);
}

fn no_gripper() -> atom_sim::hardware::HardwareOptions {
    atom_sim::hardware::HardwareOptions { gripper: false, ..Default::default() }
}

#[test]
fn a_jog_runs_while_it_is_sent_and_the_deadman_stops_it() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.web();
    bench.subscribe(client, 50);
    bench.repeat_ms(client, &build::jog(&[10.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 50, 1_000);
    assert_eq!(bench.stream(client).state, State::Jogging as u8);
    bench.run_ms(240);
    bench.subscribe(client, 50);
    bench.run_ms(400);
    let stream = bench.stream(client);
    assert_eq!(stream.state, State::Holding as u8);
    // 1 s and 0.2 s of deadman at 10 °/s, less the start and the ramps.
    assert!((11.0..12.2).contains(&bench.atom.deg(0)), "J1 at {}", bench.atom.deg(0));
    assert!(replies_to(client, &bench.outputs).iter().all(|reply| matches!(reply, Reply::Stream(_))));
}

#[test]
fn after_a_fast_track_that_is_stopped_the_joints_arrive_at_the_goals_they_show() {
    let pose = [0.0, 0.0, -90.0, 60.0, 0.0, -80.0, -20.0];
    for holds in 0..4 {
        let mut bench = Bench::new(&Options::default());
        let client = bench.web();
        bench.subscribe(client, 50);
        bench.repeat_ms(client, &build::track(&pose, 90.0), 50, 600);
        // A page sends HOLD on every way out: the later ones find the run ended and the joints still on their way.
        for _ in 0..holds {
            bench.ask_ms(client, &[codes::HOLD], 200);
        }
        bench.run_ms(2_000);
        let truth = bench.atom.truth();
        assert_eq!(truth.state, State::Holding);
        assert!(truth.goal_deg[3] > 20.0, "it moved: {:?}", truth.goal_deg);
        for joint in 0..6 {
            let off_deg = truth.goal_deg[joint] - truth.angle_deg[joint];
            assert!(off_deg.abs() < 0.1, "J{} is {off_deg}° off after {holds} HOLDs", joint + 1);
        }
    }
}
