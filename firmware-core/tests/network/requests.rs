//! The rows of the request table, each refusal in its order, and messages that are none.

use firmware_core::protocol::{Reply, reply};
use firmware_core::shared::{PlayParams, Request, State};

use crate::side::*;

/// The states in which a run is on.
const RUNS: [State; 4] = [State::Playing, State::Moving, State::Jogging, State::Tracking];

#[test]
fn messages_that_are_no_request_are_ignored() {
    let mut side = Side::new();
    for bytes in [&[][..], &[0x00], &[0x11, 1, 2], &[0x7F], &[0x83, 1, 0, 0, 0, 0, 0], &[0xFF; 64]] {
        for client in [UDP, WEB] {
            side.silent(client, bytes);
        }
    }
    assert_eq!(side.pending(), None);
    assert_eq!(side.holder(), None);
}

#[test]
fn ping_answers_with_version_state_and_plan() {
    let mut side = Side::new();
    let pong = |side: &mut Side| match Reply::decode(&side.send(UDP, &[0x01, 9, 9])[0]) {
        Ok(Reply::Pong(pong)) => pong,
        other => panic!("{other:?}"),
    };
    let fresh = reply::Pong {
        major: 5,
        state: 1,
        plan_samples: 0,
        plan_rate_hz: 250,
        imu_ok: true,
        gains_ok: true,
        minor: 1,
        patch: 0,
    };
    assert_eq!(pong(&mut side), fresh);
    side.acked(UDP, &[0x04, 5, 0, 0, 0, 125, 0], 0);
    let declared = reply::Pong { plan_samples: 5, plan_rate_hz: 125, ..fresh };
    assert_eq!(pong(&mut side), declared, "declared, valid or not");
    side.port.imu = None;
    side.show(|view| view.gains_ok = false);
    assert_eq!(pong(&mut side), reply::Pong { imu_ok: false, gains_ok: false, ..declared });
    side.upload(UDP);
    assert_eq!(pong(&mut side).state, State::Ready as u8);
}

#[test]
fn while_booting_and_in_ota_only_questions_and_stops_are_answered() {
    for state in [State::Booting, State::Ota] {
        let mut side = Side::booting();
        side.state(state);
        assert_eq!(side.send(UDP, &[0x01])[0][3], state as u8, "PONG");
        assert_eq!(
            side.send(UDP, &[0x02])[0],
            message(&[0x82, 0, 6], 63),
            "STATE: not ok, six joints, zeros"
        );
        side.acked(UDP, &[0x08], 0);
        side.silent(UDP, &[0x0C, 10, 0]);
        assert_eq!(side.network.subscribers(), 1);
        side.acked(UDP, &[0x0D, 1], 0);
        side.acked(UDP, &[0x03], -1);
        side.acked(UDP, &[0x04, 2, 0, 0, 0, 250, 0], -1);
        assert_eq!(side.send(UDP, &plan_data(7, 1, &[0; 24])), [ack_value(0x05, -1, 7)]);
        side.acked(UDP, &[0x06, 0, 0, 0, 0], -1);
        side.acked(UDP, &PLAY, -1);
        side.acked(UDP, &play_signal(), -1);
        side.acked(UDP, &move_to(6), -1);
        side.acked(UDP, &move_to(7), -1);
        side.acked(UDP, &jog(6), -1);
        side.acked(UDP, &track(6), -1);
        assert_eq!(side.send(UDP, &[0x09, 1, 62, 2]), [[0x86, 1, 62, 0, 0xFF]]);
        assert_eq!(side.send(UDP, &[0x0A, 1, 21, 1, 0]), [[0x87, 1, 21, 0xFF, 0]]);
        assert_eq!(side.pending(), None);
        assert!(!side.stopped());
    }
}

#[test]
fn state_waits_for_a_read_in_every_state_but_playing() {
    for state in [State::Holding, State::Error, State::Moving, State::Jogging, State::Tracking] {
        let mut side = Side::new();
        side.state(state);
        side.silent(UDP, &[0x02]);
        assert_eq!(side.shared.borrow_mut().state_requests.pop_front(), Some(UDP), "{state:?}");
        assert!(side.shared.borrow().doorbell, "{state:?}");
        assert_eq!(side.pending(), None, "STATE never makes anything busy");
    }
    let mut side = Side::new();
    side.state(State::Playing);
    side.silent(UDP, &[0x02]);
    assert!(side.shared.borrow().state_requests.is_empty());
}

#[test]
fn a_flood_of_state_requests_is_answered_from_the_last_read() {
    let mut side = Side::new();
    side.show(|view| view.joints.position[0] = 0x1234);
    for _ in 0..16 {
        side.silent(UDP, &[0x02]);
    }
    let replies = side.send(WEB, &[0x02]);
    assert_eq!(replies.len(), 1);
    assert_eq!(replies[0][..5], [0x82, 0, 6, 0x34, 0x12]);
}

#[test]
fn state_is_answered_while_a_play_is_only_pending() {
    let mut side = Side::new();
    side.upload(UDP);
    side.silent(UDP, &PLAY);
    assert_eq!(side.send(WEB, &[0x02]).len(), 1);
}

#[test]
fn play_needs_a_valid_plan_and_idle() {
    let mut side = Side::new();
    side.acked(UDP, &PLAY, -1);
    side.upload(UDP);
    side.acked(UDP, &PLAY[..8], -1);
    for state in RUNS.into_iter().chain([State::Error]) {
        side.state(state);
        side.acked(UDP, &PLAY, -1);
    }
    side.state(State::Holding);
    side.silent(UDP, &[&PLAY[..], &[1, 2, 3]].concat());
    let params =
        PlayParams { rate_hz: 500, speed_cap_sps: 2000, max_error_steps: 227, start_tolerance_steps: 34 };
    assert_eq!(side.pending(), Some(Request::Play { client: UDP, params }));
    assert!(side.shared.borrow().doorbell);
    side.acked(UDP, &PLAY, -1);
}

#[test]
fn play_signal_needs_47_bytes_idle_and_parameters_in_range() {
    let mut side = Side::new();
    let good = play_signal();
    side.acked(UDP, &good[..46], -1);
    side.acked(UDP, &[&good[..], &[0]].concat(), -1);
    let with = |at: usize, bytes: &[u8]| {
        let mut message = good.clone();
        message[at..at + bytes.len()].copy_from_slice(bytes);
        message
    };
    let float = |at: usize, value: f32| with(at, &value.to_le_bytes());
    let (joint, kind, amp, f0, duration, vmax, amax, base) = (9, 10, 11, 15, 23, 27, 31, 35);
    side.acked(UDP, &with(joint, &[7]), -11);
    side.acked(UDP, &with(kind, &[3]), -12);
    side.acked(UDP, &float(amp, 90.1), -13);
    side.acked(UDP, &float(amp, f32::NAN), -13);
    side.acked(UDP, &float(duration, 3.9), -14);
    side.acked(UDP, &float(vmax, f32::INFINITY), -15);
    side.acked(UDP, &float(amax, 401.0), -16);
    side.acked(UDP, &float(f0, 0.0), -17);
    side.acked(UDP, &with(base, &15_000_i16.to_le_bytes()), -18);
    // The first check that fails answers.
    let mut both = with(joint, &[0]);
    both[kind] = 0;
    side.acked(UDP, &both, -11);
    for state in RUNS.into_iter().chain([State::Error]) {
        side.state(state);
        side.acked(UDP, &with(joint, &[7]), -1);
    }
    side.state(State::Holding);
    side.silent(UDP, &good);
    assert!(matches!(side.pending(), Some(Request::PlaySignal { client: UDP, .. })));
}

#[test]
fn move_to_checks_length_gripper_idle_and_limits_in_this_order() {
    let mut side = Side::new();
    for length in [1, 2, 14, 16, 18, 40] {
        side.acked(UDP, &message(&[0x0E], length), -1);
    }
    side.state(State::Error);
    side.acked(UDP, &move_to(7), -7);
    side.acked(UDP, &with_goal(move_to(6), 0, 16_301), -1);
    side.state(State::Holding);
    side.acked(UDP, &with_goal(with_goal(move_to(6), 4, -15_801), 1, 13_801), -12);
    side.silent(UDP, &with_goal(move_to(6), 0, 16_300));
    let Some(Request::MoveTo { client: UDP, goal, duration_ms: 0 }) = side.pending() else {
        panic!("{:?}", side.pending())
    };
    assert_eq!((goal.n, goal.values), (6, [163.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    side.acked(UDP, &move_to(6), -1);
}

#[test]
fn goals_on_the_edge_are_taken_and_a_hundredth_further_refused() {
    // Limits less 2° for J1–J6, and J7's end stops.
    let edges = [
        (-16_300, 16_300),
        (-13_800, 13_800),
        (-14_800, 14_800),
        (-14_800, 14_800),
        (-15_800, 15_800),
        (-22_300, 13_300),
        (-5_150, 0),
    ];
    for make in [move_to as fn(usize) -> Vec<u8>, track] {
        for (joint, (low, high)) in edges.into_iter().enumerate() {
            let refused = -11 - joint as i8;
            for (inside, outside) in [(low, low - 1), (high, high + 1)] {
                let mut side = Side::with_gripper();
                side.acked(UDP, &with_goal(make(7), joint, outside), refused);
                side.silent(UDP, &with_goal(make(7), joint, inside));
                assert!(side.pending().is_some(), "J{}", joint + 1);
            }
        }
    }
}

#[test]
fn the_widest_numbers_are_refused_not_wrapped() {
    let mut side = Side::new();
    side.acked(UDP, &with_goal(move_to(6), 5, i16::MIN), -16);
    side.acked(UDP, &with_goal(track(6), 5, i16::MAX), -16);
    side.acked(UDP, &[&[0x04][..], &[0xFF; 4], &[0xFF; 2]].concat(), -3);
    side.acked(UDP, &[0x04, 10, 0, 0, 0, 250, 0], 0);
    let far = plan_data(u32::MAX, u16::MAX, &[]);
    assert_eq!(side.send(UDP, &far), [ack_value(0x05, -1, u32::MAX)]);
}

#[test]
fn jog_frame_0_checks_frame_and_length_then_gripper_then_idle() {
    let mut side = Side::new();
    for length in [1, 2, 13, 15, 17] {
        side.acked(UDP, &message(&[0x0F, 0], length), -1);
    }
    side.acked(UDP, &message(&[0x0F, 3], 14), -1);
    for state in [State::Error, State::Playing, State::Moving] {
        side.state(state);
        side.acked(UDP, &jog(7), -7);
        side.acked(UDP, &jog(6), -1);
    }
    side.state(State::Holding);
    side.silent(UDP, &jog(6));
    assert_eq!(side.pending(), Some(Request::Stream(UDP)));
}

#[test]
fn end_effector_jog_needs_18_bytes_and_j7_velocity_needs_the_gripper() {
    for frame in [1, 2] {
        let mut side = Side::new();
        for length in [14, 16, 17, 19] {
            side.acked(UDP, &message(&[0x0F, frame], length), -1);
        }
        side.state(State::Moving);
        side.acked(UDP, &jog_twist(frame, 1), -7);
        side.acked(UDP, &jog_twist(frame, 0), -1);
        side.state(State::Holding);
        side.silent(UDP, &jog_twist(frame, 0));
        assert_eq!(side.pending(), Some(Request::Stream(UDP)));
        let mut side = Side::with_gripper();
        side.silent(UDP, &jog_twist(frame, -1));
        assert_eq!(side.pending(), Some(Request::Stream(UDP)));
    }
}

#[test]
fn track_checks_length_gripper_limits_and_idle_in_this_order() {
    let mut side = Side::new();
    for length in [1, 14, 16, 18] {
        side.acked(UDP, &message(&[0x10], length), -1);
    }
    side.state(State::Moving);
    side.acked(UDP, &with_goal(track(7), 0, 16_400), -7);
    side.acked(UDP, &with_goal(track(6), 2, 14_900), -13);
    side.acked(UDP, &track(6), -1);
    side.state(State::Holding);
    side.silent(UDP, &track(6));
    assert_eq!(side.pending(), Some(Request::Stream(UDP)));
}

#[test]
fn plan_begin_checks_play_then_shape_then_memory_and_drops_the_old_plan() {
    let mut side = Side::new();
    side.upload(UDP);
    side.state(State::Playing);
    side.acked(UDP, &[0x04, 2, 0, 0, 0, 250, 0], -1);
    side.state(State::Holding);
    side.acked(UDP, &[0x04, 2, 0, 0, 0, 250], -1);
    let shown = |side: &Side| side.network.state(side.now_us, &side.shared);
    assert_eq!(shown(&side), State::Ready, "a message too short leaves the plan");
    side.acked(UDP, &[0x04, 1, 0, 0, 0, 250, 0], -2);
    assert_eq!(shown(&side), State::Holding, "ready → holding");
    side.acked(UDP, &[0x04, 2, 0, 0, 0, 0, 0], -2);
    side.acked(UDP, &[0x04, 2, 0, 0, 0, 250, 0, 0, 5], -2);
    side.acked(UDP, &[0x04, 2, 0, 0, 0, 250, 0, 0, 8], -2);
    // 120,024 bytes: 5,001 samples of six joints, 4,286 of seven.
    let begin =
        |samples: u32, joints: u8| [&[0x04][..], &samples.to_le_bytes(), &[250, 0, 1, joints]].concat();
    side.acked(UDP, &begin(5_002, 6), -3);
    side.acked(UDP, &begin(5_001, 6), 0);
    side.acked(UDP, &begin(4_287, 7), -3);
    side.acked(UDP, &[begin(4_286, 7), vec![1, 2, 3]].concat(), 0);
    side.state(State::Error);
    side.acked(UDP, &begin(2, 6), 0);
}

#[test]
fn plan_data_is_refused_with_its_offset() {
    let mut side = Side::new();
    let refused = |side: &mut Side, bytes: &[u8], value| {
        assert_eq!(side.send(UDP, bytes), [ack_value(0x05, -1, value)], "{bytes:02x?}");
    };
    refused(&mut side, &plan_data(3, 1, &[0; 24]), 3);
    side.acked(UDP, &[0x04, 4, 0, 0, 0, 250, 0], 0);
    refused(&mut side, &[0x05, 9, 0, 0], 0);
    refused(&mut side, &[0x05, 9, 0, 0, 0], 9);
    refused(&mut side, &[0x05, 9, 0, 0, 0, 1], 9);
    refused(&mut side, &plan_data(3, 2, &[0; 48]), 3);
    refused(&mut side, &plan_data(0, 2, &[0; 47]), 0);
    refused(&mut side, &plan_data(0, 2, &[0; 49]), 0);
    assert_eq!(side.send(UDP, &plan_data(2, 2, &[0; 48])), [ack_value(0x05, 0, 2)]);
}

#[test]
fn plan_end_needs_every_sample_and_the_right_crc() {
    let mut side = Side::new();
    side.acked(UDP, &[0x06, 0, 0, 0, 0], -1);
    side.acked(UDP, &[0x04, 2, 0, 0, 0, 250, 0], 0);
    let samples = [0x08; 48];
    side.send(UDP, &plan_data(0, 1, &samples[..24]));
    side.acked(UDP, &plan_end(&samples), -1);
    side.send(UDP, &plan_data(1, 1, &samples[24..]));
    side.acked(UDP, &[0x06, 0, 0, 0, 0], -1);
    side.acked(UDP, &plan_end(&samples), 0);
    let shown = |side: &Side| side.network.state(side.now_us, &side.shared);
    assert_eq!(shown(&side), State::Ready);
    // Any PLAN_END that is refused leaves no valid plan, and so does a sample that changes.
    side.acked(UDP, &[0x06, 0, 0, 0], -1);
    assert_eq!(shown(&side), State::Holding);
    side.acked(UDP, &plan_end(&samples), 0);
    side.send(UDP, &plan_data(0, 1, &samples[..24]));
    assert_eq!(shown(&side), State::Holding);
    side.acked(UDP, &PLAY, -1);
}

#[test]
fn a_plan_does_not_change_while_it_plays_or_a_play_is_pending() {
    let samples = [0x08; 48];
    let change_nothing = |side: &mut Side| {
        side.acked(UDP, &[0x04, 3, 0, 0, 0, 100, 0], -1);
        assert_eq!(side.send(UDP, &plan_data(0, 1, &[9; 24])), [ack_value(0x05, -1, 0)]);
        side.acked(UDP, &[0x06, 0, 0, 0, 0], -1);
        side.acked(UDP, &[0x06, 0], -1);
        let shared = side.shared.borrow();
        assert!(shared.plan.is_valid());
        assert_eq!((shared.plan.declared_samples(), shared.plan.rate_hz()), (2, 250));
    };
    let mut side = Side::new();
    side.upload(UDP);
    side.silent(UDP, &PLAY);
    change_nothing(&mut side);
    side.take();
    change_nothing(&mut side);
    side.finish(State::Playing);
    change_nothing(&mut side);
    // During the other runs it does.
    side.state(State::Moving);
    side.acked(UDP, &[0x04, 2, 0, 0, 0, 250, 0], 0);
    side.send(UDP, &plan_data(0, 2, &samples));
    side.acked(UDP, &plan_end(&samples), 0);
}
