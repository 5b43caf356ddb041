//! Older firmware generations: what a whole ATOM does at their API levels.

use atom_sim::atom::{Options, Transport};
use firmware_core::joints::{J6, J7};
use firmware_core::platform::ClientId;
use firmware_core::protocol::reply::Reply;
use firmware_core::protocol::request::build;
use firmware_core::protocol::{ApiLevel, codes};
use firmware_core::shared::State;

use crate::support::{Bench, ack, done_of, replies_to};

fn bench(level: ApiLevel) -> Bench {
    Bench::new(&Options { level, ..Options::default() })
}

/// JOG of J6 for 9 s; returns the state and where J6 is after it has come to rest (°).
fn jog_j6_to_the_end(level: ApiLevel, dps: f32) -> (State, f64) {
    let mut bench = bench(level);
    let web = bench.web();
    let mut velocity = [0.0; 6];
    velocity[J6] = dps;
    bench.repeat_ms(web, &build::jog(&velocity), 50, 9_000);
    bench.run_ms(1_500);
    (bench.atom.state(), bench.atom.truth().angle_deg[J6])
}

#[test]
fn j6_jogs_to_the_limits_of_its_time() {
    for (level, dps, expected_deg) in [
        (ApiLevel::V4_2, -30.0, -178.0),
        (ApiLevel::V4_4, 30.0, 133.0),
        (ApiLevel::V4_4, -30.0, -133.0),
        (ApiLevel::V4_6, -30.0, -223.0),
        (ApiLevel::V5_1, 30.0, 133.0),
        (ApiLevel::V5_1, -30.0, -223.0),
    ] {
        let (state, deg) = jog_j6_to_the_end(level, dps);
        assert_eq!(state, State::Holding, "{level:?} {dps} °/s");
        assert!((deg - expected_deg).abs() < 0.2, "{level:?} {dps} °/s: {deg}°");
    }
}

#[test]
fn at_4_2_the_limits_of_j6_let_it_run_into_the_grippers_cable() {
    let (state, deg) = jog_j6_to_the_end(ApiLevel::V4_2, 30.0);
    assert_eq!(state, State::Error, "a following error: ±180° is more than the arm has");
    assert!((133.5..140.0).contains(&deg), "{deg}°");
}

#[test]
fn the_telemetry_of_a_move_goes_to_udp_and_at_4_2_to_pages_too() {
    let samples = |level: ApiLevel, transport: Transport| {
        let mut bench = bench(level);
        let client = bench.atom.connect(transport);
        bench.send(client, &build::move_to(&[2.0; 6], 0));
        let outputs = bench.run_ms(2_000);
        let replies = replies_to(client, &outputs);
        let done = done_of(&replies).expect("DONE");
        assert_eq!(done.result, 0);
        let count = |reply: &Reply| match reply {
            Reply::Telemetry(packet) => packet.samples.len() as u32,
            _other => 0,
        };
        let received: u32 = replies.iter().map(count).sum();
        assert!(received == 0 || received == done.cycles, "{received} of {}", done.cycles);
        received > 0
    };
    for level in [ApiLevel::V4_2, ApiLevel::V4_4, ApiLevel::V5_1] {
        assert!(samples(level, Transport::Udp), "{level:?}");
        assert_eq!(samples(level, Transport::WebSocket), level == ApiLevel::V4_2, "{level:?}");
    }
}

/// GRIPPER of 4.6.
fn gripper(opening_permille: u16) -> Vec<u8> {
    [&[codes::GRIPPER][..], &opening_permille.to_le_bytes()].concat()
}

fn opening_permille(bench: &mut Bench, client: ClientId) -> u16 {
    bench.subscribe(client, 100);
    bench.run_ms(1_500);
    bench.stream(client).gripper.opening_permille
}

#[test]
fn gripper_at_4_6_opens_closes_and_goes_limp() {
    let mut bench = bench(ApiLevel::V4_6);
    let web = bench.web();
    for opening in [1000, 0, 250] {
        assert_eq!(bench.ask_ms(web, &gripper(opening), 20), []);
        let seen = opening_permille(&mut bench, web);
        assert!(seen.abs_diff(opening) <= 2, "{seen}, not {opening}");
    }
    assert!(bench.atom.truth().torque_on[J7]);
    bench.ask_ms(web, &gripper(0xFFFF), 20);
    assert!(!bench.atom.truth().torque_on[J7]);
    bench.ask_ms(web, &gripper(500), 20);
    assert!(bench.atom.truth().torque_on[J7]);
    assert_eq!(bench.ask_ms(web, &gripper(1001), 20), [ack(codes::GRIPPER, -1)]);
}

#[test]
fn gripper_at_4_6_works_during_runs_and_the_run_leaves_it_there() {
    let mut bench = bench(ApiLevel::V4_6);
    let web = bench.web();
    bench.subscribe(web, 50);
    bench.repeat_ms(web, &build::jog(&[5.0; 6]), 50, 300);
    assert_eq!(bench.ask_ms(web, &gripper(900), 5), []);
    bench.repeat_ms(web, &build::jog(&[5.0; 6]), 50, 1_500);
    assert_eq!(bench.atom.state(), State::Jogging);
    let seen = bench.stream(web).gripper.opening_permille;
    assert!(seen.abs_diff(900) <= 2, "{seen}");
    bench.run_ms(1_000);
    bench.send(web, &build::move_to(&[0.0; 6], 2_000));
    bench.run_ms(500);
    bench.send(web, &gripper(100));
    let done = done_of(&replies_to(web, &bench.run_ms(4_000))).expect("DONE");
    assert_eq!(done.result, 0);
    let seen = opening_permille(&mut bench, web);
    assert!(seen.abs_diff(100) <= 2, "{seen}");
}

#[test]
fn hold_takes_the_positions_before_5_0_and_keeps_near_goals_since_then() {
    for level in [ApiLevel::V4_2, ApiLevel::V4_6, ApiLevel::V5_0, ApiLevel::V5_1] {
        let mut bench = bench(level);
        let web = bench.web();
        let mut velocity = [0.0; 6];
        velocity[0] = 12.0;
        bench.repeat_ms(web, &build::jog(&velocity), 50, 500);
        bench.send(web, &[codes::STOP]);
        while bench.atom.state() != State::Holding {
            bench.run_ms(1);
        }
        // The servo still closes in on its last goal, less than 3° away, when the HOLD stops it.
        bench.send(web, &[codes::HOLD]);
        bench.run_ms(100);
        let truth = bench.atom.truth();
        let error_deg = truth.goal_deg[0] - truth.angle_deg[0];
        let keeps_goals = matches!(level, ApiLevel::V5_0 | ApiLevel::V5_1);
        assert_eq!(error_deg > 0.2, keeps_goals, "{level:?}: {error_deg}°");
        assert_eq!(error_deg.abs() < 0.1, !keeps_goals, "{level:?}: {error_deg}°");
    }
}
