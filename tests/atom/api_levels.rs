//! Older firmware generations: what a whole ATOM does at their API levels.

use atom_sim::atom::{Options, Output, Transport};
use firmware_core::joints::{J6, J7};
use firmware_core::motion::plan::crc32c;
use firmware_core::platform::ClientId;
use firmware_core::protocol::reply::Reply;
use firmware_core::protocol::request::build;
use firmware_core::protocol::{ApiLevel, codes};
use firmware_core::shared::{PlayParams, State};

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
        // The servo still closes in on its last goal, less than 3° away, when the HOLD comes.
        bench.send(web, &[codes::HOLD]);
        bench.run_ms(100);
        let truth = bench.atom.truth();
        let error_deg = truth.goal_deg[0] - truth.angle_deg[0];
        let keeps_goals = matches!(level, ApiLevel::V5_0 | ApiLevel::V5_1);
        assert_eq!(error_deg > 0.2, keeps_goals, "{level:?}: {error_deg}°");
        assert_eq!(error_deg.abs() < 0.1, !keeps_goals, "{level:?}: {error_deg}°");
    }
}

#[test]
fn a_lab_client_of_4_1_watches_uploads_plays_and_reads_registers_without_control() {
    let mut bench = bench(ApiLevel::V4_1);
    let (lab, other) = (bench.udp(), bench.udp());
    // The lab's client decodes 73 bytes of STREAM and 50 of STATE, and knows nothing of control.
    bench.send(lab, &build::subscribe(50));
    let lengths = |client: ClientId, outputs: &[Output], code: u8| -> Vec<usize> {
        let length = |output: &Output| match output {
            Output::Message { to, bytes, .. } if *to == client && bytes[0] == code => Some(bytes.len()),
            Output::Message { .. } | Output::StatusLine { .. } | Output::Closed { .. } => None,
        };
        outputs.iter().filter_map(length).collect()
    };
    let outputs = bench.run_ms(200);
    assert!(lengths(lab, &outputs, codes::STREAM).len() >= 9);
    assert!(lengths(lab, &outputs, codes::STREAM).iter().all(|length| *length == 73));
    bench.send(lab, &[codes::STATE]);
    assert_eq!(lengths(lab, &bench.run_ms(20), codes::STATE_REPLY), [50]);

    // A plan that stays in the zero pose for 0.2 s, uploaded by one client and played by another.
    let samples = [0x00, 0x08].repeat(12 * 51);
    assert_eq!(bench.ask_ms(lab, &[codes::PLAN_BEGIN, 51, 0, 0, 0, 250, 0], 5), [ack(codes::PLAN_BEGIN, 0)]);
    let data = [&build::plan_data_head(0, 51)[..], &samples].concat();
    assert_eq!(bench.ask_ms(lab, &data, 5), [ack(codes::PLAN_DATA, 0)]);
    assert_eq!(bench.ask_ms(lab, &build::plan_end(crc32c(&samples)), 5), [ack(codes::PLAN_END, 0)]);
    let params =
        PlayParams { rate_hz: 500, speed_cap_sps: 2000, max_error_steps: 100, start_tolerance_steps: 34 };
    bench.send(other, &build::play(params));
    let outputs = bench.run_ms(1_500);
    let replies = replies_to(other, &outputs);
    let done = done_of(&replies).expect("DONE");
    assert_eq!((done.result, done.late_cycles, done.telemetry_dropped), (0, 0, 0));
    let samples: u32 = replies
        .iter()
        .map(|reply| if let Reply::Telemetry(packet) = reply { packet.samples.len() as u32 } else { 0 })
        .sum();
    assert_eq!(samples, done.cycles);
    assert!(lengths(other, &outputs, codes::TELEM).iter().all(|length| (length - 6) % 77 == 0));
    assert_eq!(bench.atom.truth().holder, None);
    let read = bench.ask_ms(lab, &build::reg_read(1, 62, 2), 20);
    assert!(
        matches!(&read[..], [Reply::RegisterValues(values)] if values.status == 0 && values.data.len() == 2)
    );
    // MOVE_TO, JOG, TRACK and CONTROL are unknown codes.
    for message in [&build::move_to(&[1.0; 6], 0)[..], &build::jog(&[1.0; 6]), &build::control(1)] {
        assert_eq!(bench.ask_ms(lab, message, 20), []);
    }
}

#[test]
fn a_page_of_4_4_takes_control_jogs_and_follows_its_faders() {
    let mut bench = bench(ApiLevel::V4_4);
    let (page, bystander) = (bench.web(), bench.web());
    assert_eq!(bench.ask_ms(page, &build::control(1), 5), [ack(codes::CONTROL, 0)]);
    assert_eq!(bench.ask_ms(bystander, &build::jog(&[5.0; 6]), 5), [ack(codes::JOG, -2)]);
    bench.repeat_ms(page, &build::jog(&[10.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 50, 1_000);
    assert_eq!(bench.atom.state(), State::Jogging);
    // A fader of that time waits until the JOG has stopped.
    let goal = [0.0, 0.0, -30.0, 0.0, 0.0, 0.0];
    assert_eq!(bench.ask_ms(page, &build::track(&goal, 60.0), 5), [ack(codes::TRACK, -1)]);
    bench.run_ms(600);
    let outputs = bench.repeat_ms(page, &build::track(&goal, 60.0), 50, 2_500);
    assert_eq!(replies_to(page, &outputs), [], "no ACK, no DONE");
    let angle_deg = bench.atom.truth().angle_deg;
    for (joint, goal_deg) in goal.iter().enumerate() {
        assert!(
            (angle_deg[joint] - f64::from(*goal_deg)).abs() < 0.3,
            "J{}: {}°",
            joint + 1,
            angle_deg[joint]
        );
    }
    // The gripper is no joint yet: seven values are a wrong length.
    assert_eq!(bench.ask_ms(page, &build::track(&[0.0; 7], 60.0), 5), [ack(codes::TRACK, -1)]);
}
