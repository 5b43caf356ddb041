//! Runs: what starts them, streamed commands, the deadman of a client that is gone, and STOP.

use firmware_core::joints::JointValues;
use firmware_core::shared::{Request, State, StreamCommand};

use crate::side::*;

fn stream(side: &Side) -> firmware_core::shared::Stream {
    side.shared.borrow().stream.expect("a streamed command")
}

#[test]
fn the_first_jog_starts_a_run_and_the_next_ones_only_change_it() {
    let mut side = Side::new();
    side.shared.borrow_mut().stop = true;
    side.silent(UDP, &jog(6));
    assert!(!side.stopped(), "an earlier STOP is over");
    assert_eq!(stream(&side).t_us, side.now_us);
    let mut faster = jog(6);
    faster[2..4].copy_from_slice(&(-250_i16).to_le_bytes());
    // Pending, being worked on, running: the command changes, no second request.
    side.silent(UDP, &faster);
    assert_eq!(side.take(), Request::Stream(UDP));
    side.tick_ms(1);
    side.silent(UDP, &jog(6));
    assert_eq!(side.pending(), None);
    side.finish(State::Jogging);
    side.tick_ms(20);
    side.silent(UDP, &faster);
    assert_eq!(side.pending(), None);
    let expected = JointValues { values: [-25.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], n: 6 };
    assert_eq!(stream(&side).command, StreamCommand::Joints(expected));
    assert_eq!(stream(&side).t_us, side.now_us);
}

#[test]
fn a_jog_message_never_clears_a_stop_while_its_run_is_on() {
    let mut side = Side::new();
    side.silent(UDP, &jog(6));
    side.acked(UDP, &[0x08], 0);
    assert!(side.stopped(), "a STOP before the first cycle ends the run");
    side.silent(UDP, &jog(6));
    assert!(side.stopped());
    side.run(State::Jogging);
    side.silent(UDP, &jog(6));
    assert!(side.stopped());
    side.state(State::Holding);
    side.silent(UDP, &jog(6));
    assert!(!side.stopped());
    assert_eq!(side.pending(), Some(Request::Stream(UDP)));
}

#[test]
fn jog_and_track_switch_into_each_other() {
    let mut side = Side::with_gripper();
    side.silent(UDP, &jog(6));
    side.run(State::Jogging);
    side.silent(UDP, &track(7));
    let goal = JointValues { values: [0.0; 7], n: 7 };
    assert_eq!(stream(&side).command, StreamCommand::Track { goal, vmax_dps: 30.0 });
    side.state(State::Tracking);
    side.silent(UDP, &jog_twist(2, 0));
    assert!(matches!(stream(&side).command, StreamCommand::Twist { tool: true, .. }));
    assert_eq!(side.pending(), None);
}

#[test]
fn wire_units_become_degrees_millimetres_and_capped_speeds() {
    let mut side = Side::with_gripper();
    let mut twist = jog_twist(1, -125);
    twist[2..4].copy_from_slice(&900_i16.to_le_bytes());
    twist[8..10].copy_from_slice(&1800_i16.to_le_bytes());
    twist[16..18].copy_from_slice(&870_u16.to_le_bytes());
    side.silent(UDP, &twist);
    let StreamCommand::Twist { tool: false, linear_mm_s, angular_rad_s, j7_dps, speed_cap_dps } =
        stream(&side).command
    else {
        panic!("a twist")
    };
    assert_eq!((linear_mm_s, j7_dps, speed_cap_dps), ([90.0, 0.0, 0.0], -12.5, 87.0));
    assert_eq!(angular_rad_s.map(f32::to_bits), [core::f32::consts::PI, 0.0, 0.0].map(f32::to_bits));
    twist[16..18].copy_from_slice(&u16::MAX.to_le_bytes());
    side.silent(UDP, &twist);
    assert!(matches!(stream(&side).command, StreamCommand::Twist { speed_cap_dps: 90.0, .. }));
    let mut fast = track(6);
    fast[13..15].copy_from_slice(&901_u16.to_le_bytes());
    side.silent(UDP, &fast);
    assert!(matches!(stream(&side).command, StreamCommand::Track { vmax_dps: 90.0, .. }));
}

#[test]
fn a_closing_client_trips_the_deadman_of_its_own_stream_only() {
    let mut side = Side::new();
    side.silent(WEB, &jog(6));
    side.run(State::Jogging);
    side.close(WEB_2);
    assert!(!stream(&side).abandoned);
    side.close(WEB);
    assert!(stream(&side).abandoned);
    // Before the first cycle too.
    let mut side = Side::new();
    side.silent(WEB, &track(6));
    side.close(WEB);
    assert!(stream(&side).abandoned);
}

#[test]
fn stop_is_acknowledged_at_once_and_stops_only_motion() {
    let mut side = Side::new();
    side.acked(WEB, &[0x08, 1, 2], 0);
    assert!(!side.stopped());
    for state in [State::Playing, State::Moving, State::Jogging, State::Tracking] {
        let mut side = Side::new();
        side.state(state);
        side.acked(WEB, &[0x08], 0);
        assert!(side.stopped() && side.shared.borrow().doorbell, "{state:?}");
    }
    // A motion that is pending, or whose start is being worked on, ends as well.
    let mut side = Side::new();
    side.silent(UDP, &move_to(6));
    side.acked(WEB, &[0x08], 0);
    assert!(side.stopped() && side.pending().is_some());
    let mut side = Side::new();
    side.silent(UDP, &move_to(6));
    side.take();
    side.acked(WEB, &[0x08], 0);
    assert!(side.stopped());
    // A register request is no motion.
    let mut side = Side::new();
    side.silent(UDP, &[0x09, 1, 62, 2]);
    side.acked(WEB, &[0x08], 0);
    assert!(!side.stopped());
}

#[test]
fn one_request_is_pending_at_a_time() {
    let busy = |side: &mut Side| {
        side.acked(UDP, &PLAY, -1);
        side.acked(UDP, &play_signal(), -1);
        side.acked(UDP, &move_to(6), -1);
        assert_eq!(side.send(UDP, &[0x09, 1, 62, 2]), [[0x86, 1, 62, 0, 0xFF]]);
        assert_eq!(side.send(UDP, &[0x0A, 1, 21, 1, 0]), [[0x87, 1, 21, 0xFF, 0]]);
    };
    for first in [PLAY.to_vec(), play_signal(), move_to(6), vec![0x09, 1, 62, 2], vec![0x03]] {
        let mut side = Side::new();
        side.upload(UDP);
        side.silent(UDP, &first);
        let pending = side.pending();
        busy(&mut side);
        side.acked(UDP, &jog(6), -1);
        side.acked(UDP, &track(6), -1);
        assert_eq!(side.pending(), pending);
        side.take();
        busy(&mut side);
        side.acked(UDP, &jog(6), -1);
        side.finish(State::Holding);
        side.silent(UDP, &move_to(6));
    }
}

#[test]
fn replies_go_to_the_client_that_asked_over_either_transport() {
    for client in [UDP, UDP_2, WEB, WEB_2] {
        let mut side = Side::new();
        side.send(client, &[0x01]);
        side.send(client, &move_to(5));
        assert_eq!(side.port.sent.len(), 2);
        assert!(side.port.sent.iter().all(|(to, _)| *to == client));
    }
}
