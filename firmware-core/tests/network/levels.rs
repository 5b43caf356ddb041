//! Older API levels, each with the requests of a client of that time.

use firmware_core::protocol::{ApiLevel, Reply};
use firmware_core::shared::{GripperGoal, Request, State, StreamCommand};

use crate::side::*;

#[test]
fn level_4_1_knows_no_web_socket_no_control_and_no_motion_but_play() {
    let mut side = Side::at_level(ApiLevel::V4_1);
    side.silent(WEB, &[0x01]);
    for bytes in [vec![0x0D, 1], move_to(6), jog(6), track(6)] {
        side.silent(UDP, &bytes);
    }
    // Two clients upload and play; nobody needs control.
    side.upload(UDP);
    side.silent(UDP_2, &PLAY);
    assert!(matches!(side.pending(), Some(Request::Play { client: UDP_2, .. })));
    assert_eq!(side.holder(), None);
    side.silent(UDP, &[0x0C, 100, 0]);
    assert_eq!(side.tick_ms(20)[0].1.len(), 73);
}

#[test]
fn level_4_2_has_control_move_and_jog_but_no_track() {
    let mut side = Side::at_level(ApiLevel::V4_2);
    side.silent(WEB, &jog(6));
    assert_eq!(side.pending(), Some(Request::Stream(WEB)));
    side.acked(UDP, &move_to(6), -2);
    side.silent(WEB, &track(6));
    side.run(State::Jogging);
    side.silent(UDP, &[0x0C, 100, 0]);
    let sent = side.tick_ms(20);
    assert_eq!((sent[0].1.len(), sent[0].1[73]), (74, 2), "the control byte stands last");
}

#[test]
fn before_5_1_jog_and_track_refuse_each_other() {
    for level in [ApiLevel::V4_4, ApiLevel::V4_6, ApiLevel::V5_0] {
        let mut side = Side::at_level(level);
        side.silent(UDP, &jog(6));
        side.acked(UDP, &track(6), -1);
        side.run(State::Jogging);
        side.acked(UDP, &track(6), -1);
        side.silent(UDP, &jog(6));
        side.state(State::Holding);
        side.silent(UDP, &track(6));
        side.run(State::Tracking);
        side.acked(UDP, &jog(6), -1);
        let command = side.shared.borrow().stream.expect("a stream").command;
        assert!(matches!(command, StreamCommand::Track { .. }), "{level:?}");
    }
}

#[test]
fn before_5_0_seven_values_are_a_wrong_length() {
    for level in [ApiLevel::V4_4, ApiLevel::V4_6] {
        let mut side = Side::at_level(level);
        side.show(|view| view.n = 7);
        for bytes in [move_to(7), jog(7), track(7)] {
            side.acked(UDP, &bytes, -1);
        }
        side.silent(UDP, &move_to(6));
    }
}

#[test]
fn before_5_1_there_is_no_end_effector_jog() {
    let mut side = Side::at_level(ApiLevel::V5_0);
    side.acked(UDP, &jog_twist(1, 0), -1);
    side.silent(UDP, &jog(6));
}

#[test]
fn before_5_0_plans_have_six_joints_whatever_the_ninth_byte_says() {
    let begin = [0x04, 2, 0, 0, 0, 250, 0, 1, 7];
    for (level, joints) in [(ApiLevel::V4_6, 6), (ApiLevel::V5_0, 7)] {
        let mut side = Side::at_level(level);
        side.acked(UDP, &begin, 0);
        assert_eq!(side.shared.borrow().plan.joints(), joints, "{level:?}");
    }
}

#[test]
fn j6_had_other_limits() {
    for (level, low, high) in [
        (ApiLevel::V4_2, -17_800, 17_800),
        (ApiLevel::V4_4, -13_300, 13_300),
        (ApiLevel::V4_6, -22_300, 13_300),
        (ApiLevel::V5_0, -22_300, 13_300),
    ] {
        for (inside, outside) in [(low, low - 1), (high, high + 1)] {
            let mut side = Side::at_level(level);
            side.acked(UDP, &with_goal(move_to(6), 5, outside), -16);
            side.silent(UDP, &with_goal(move_to(6), 5, inside));
        }
    }
}

#[test]
fn state_had_50_bytes_before_5_0() {
    for (level, length) in ApiLevel::ALL.into_iter().zip([50, 50, 50, 50, 63, 63]) {
        let mut side = Side::at_level(level);
        side.state(State::Ota);
        assert_eq!(side.send(UDP, &[0x02])[0].len(), length, "{level:?}");
        let Ok(Reply::Pong(pong)) = Reply::decode(&side.send(UDP, &[0x01])[0]) else { panic!("a PONG") };
        assert_eq!([pong.major as u8, pong.minor, pong.patch], level.version());
    }
}

#[test]
fn gripper_at_4_6_opens_in_per_mille_and_is_acknowledged_only_if_refused() {
    let gripper = |opening: u16| [&[0x11][..], &opening.to_le_bytes()].concat();
    let mut side = Side::at_level(ApiLevel::V4_6);
    side.acked(UDP, &gripper(0), -1);
    assert_eq!(side.holder(), Some(UDP), "it needs control");
    side.acked(WEB, &gripper(0), -2);
    side.show(|view| view.n = 7);
    side.acked(UDP, &gripper(1001), -1);
    side.acked(UDP, &gripper(0xFFFE), -1);
    side.acked(UDP, &[0x11, 1], -1);
    side.acked(UDP, &[0x11, 1, 0, 0], -1);
    for state in [State::Holding, State::Error, State::Moving, State::Jogging, State::Tracking] {
        side.state(state);
        side.silent(UDP, &gripper(1000));
        let goal = side.shared.borrow_mut().gripper_goal.take();
        assert_eq!(goal, Some(GripperGoal::Opening { permille: 1000 }), "{state:?}");
    }
    side.silent(UDP, &gripper(0xFFFF));
    assert_eq!(side.shared.borrow_mut().gripper_goal.take(), Some(GripperGoal::TorqueOff));
    for state in [State::Playing, State::Booting, State::Ota] {
        side.state(state);
        side.acked(UDP, &gripper(500), -1);
    }
    for level in [ApiLevel::V4_4, ApiLevel::V5_0, ApiLevel::V5_1] {
        Side::at_level(level).silent(UDP, &gripper(500));
    }
}
