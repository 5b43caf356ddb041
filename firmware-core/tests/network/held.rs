//! HOLD, the button and the firmware update.

use firmware_core::protocol::reply::Ack;
use firmware_core::shared::{Request, State};

use crate::side::*;

#[test]
fn hold_while_idle_or_in_error_is_answered_by_the_control_side() {
    for state in [State::Holding, State::Error] {
        let mut side = Side::new();
        side.state(state);
        side.silent(WEB, &[0x03, 1]);
        assert_eq!(side.take(), Request::Hold(Some(WEB)));
        let held_at_us = side.now_us + 20_300;
        side.post(held_at_us, WEB, &Ack { code: 3, status: -4, value: 0 }, false);
        assert_eq!(side.tick_ms(20), []);
        assert_eq!(side.tick_ms(1), [(WEB, ack(3, -4))]);
    }
}

#[test]
fn hold_stops_a_run_with_ack_at_once() {
    for state in [State::Playing, State::Moving, State::Jogging, State::Tracking] {
        let mut side = Side::new();
        side.state(state);
        side.acked(WEB, &[0x03], 0);
        assert!(side.stopped() && side.pending().is_none(), "{state:?}");
    }
    // The start of a run that is being worked on ends the same way.
    let mut side = Side::new();
    side.silent(UDP, &move_to(6));
    side.take();
    side.acked(WEB, &[0x03], 0);
    assert!(side.stopped());
}

#[test]
fn hold_replaces_a_pending_request_which_gets_minus_1_in_its_own_form() {
    let cases: [(Vec<u8>, Vec<u8>); 7] = [
        (move_to(6), ack(0x0E, -1)),
        (PLAY.to_vec(), ack(0x07, -1)),
        (play_signal(), ack(0x0B, -1)),
        (jog(6), ack(0x0F, -1)),
        (track(6), ack(0x10, -1)),
        (vec![0x09, 2, 62, 2], vec![0x86, 2, 62, 0, 0xFF]),
        (vec![0x0A, 3, 21, 1, 9], vec![0x87, 3, 21, 0xFF, 0]),
    ];
    for (pending, refusal) in cases {
        let mut side = Side::new();
        side.upload(UDP);
        side.silent(UDP, &pending);
        side.port.sent.clear();
        side.silent(WEB, &[0x03]);
        assert_eq!(side.port.sent, [(UDP, refusal)]);
        assert_eq!(side.pending(), Some(Request::Hold(Some(WEB))));
        assert!(!side.stopped(), "nothing runs");
    }
}

#[test]
fn hold_waits_behind_a_register_request_that_is_being_worked_on() {
    let mut side = Side::new();
    side.silent(UDP, &[0x09, 1, 62, 2]);
    side.take();
    side.silent(WEB, &[0x03]);
    assert_eq!(side.pending(), Some(Request::Hold(Some(WEB))));
    assert!(!side.stopped());
}

#[test]
fn holds_that_join_a_pending_hold_get_its_answer() {
    let mut side = Side::new();
    side.silent(UDP, &[0x03]);
    side.silent(WEB, &[0x03]);
    side.silent(UDP, &[0x03]);
    assert_eq!(side.take(), Request::Hold(Some(UDP)));
    // One that comes while it is worked on is a HOLD of its own.
    side.silent(WEB_2, &[0x03]);
    assert_eq!(side.pending(), Some(Request::Hold(Some(WEB_2))));
    side.post(side.now_us, UDP, &Ack { code: 3, status: -4, value: 0 }, false);
    let answers = side.tick_ms(1);
    assert_eq!(answers, [(UDP, ack(3, -4)), (WEB, ack(3, -4)), (UDP, ack(3, -4))]);
    side.run(State::Holding);
    side.post(side.now_us, WEB_2, &Ack { code: 3, status: 0, value: 0 }, false);
    assert_eq!(side.tick_ms(1), [(WEB_2, ack(3, 0))]);
}

#[test]
fn a_flood_of_holds_is_bounded_and_each_is_answered() {
    let mut side = Side::new();
    side.silent(UDP, &[0x03]);
    let at_once: usize = (0..100).map(|_| side.send(WEB, &[0x03]).len()).sum();
    side.run(State::Holding);
    side.post(side.now_us, UDP, &Ack { code: 3, status: 0, value: 0 }, false);
    let later = side.tick_ms(1);
    assert_eq!(at_once + later.len(), 101);
    assert!(later.iter().all(|(_, message)| *message == ack(3, 0)));
}

#[test]
fn the_button_stops_a_run_but_not_a_play_and_holds_otherwise() {
    let press = |state: State| {
        let mut side = Side::new();
        side.state(state);
        side.network.button(side.now_us, &side.shared, &mut side.port);
        (side.stopped(), side.pending(), side.port.sent.len())
    };
    for state in [State::Booting, State::Ota, State::Playing] {
        assert_eq!(press(state), (false, None, 0), "{state:?}");
    }
    for state in [State::Moving, State::Jogging, State::Tracking] {
        assert_eq!(press(state), (true, None, 0), "{state:?}");
    }
    for state in [State::Holding, State::Error] {
        assert_eq!(press(state), (false, Some(Request::Hold(None)), 0), "{state:?}");
    }
}

#[test]
fn the_button_replaces_a_pending_register_request_and_leaves_a_pending_hold() {
    let mut side = Side::new();
    side.silent(UDP, &[0x09, 2, 62, 2]);
    side.network.button(side.now_us, &side.shared, &mut side.port);
    assert_eq!(side.port.sent, [(UDP, vec![0x86, 2, 62, 0, 0xFF])]);
    assert_eq!(side.pending(), Some(Request::Hold(None)));
    // A client's HOLD takes the place of the button's, so that it is answered.
    side.silent(WEB, &[0x03]);
    assert_eq!(side.pending(), Some(Request::Hold(Some(WEB))));
    side.network.button(side.now_us, &side.shared, &mut side.port);
    assert_eq!(side.pending(), Some(Request::Hold(Some(WEB))));
}

#[test]
fn a_firmware_update_begins_only_from_holding_ready_or_error() {
    let begins = |state: State| {
        let mut side = Side::new();
        side.state(state);
        side.network.ota_begin(side.now_us, &side.shared)
    };
    for state in [State::Holding, State::Error] {
        assert!(begins(state), "{state:?}");
    }
    let others = [State::Booting, State::Ota, State::Playing, State::Moving, State::Jogging, State::Tracking];
    for state in others {
        assert!(!begins(state), "{state:?}");
    }
    let mut side = Side::new();
    side.silent(UDP, &move_to(6));
    assert!(!side.network.ota_begin(side.now_us, &side.shared), "a request is pending");
}

#[test]
fn a_firmware_update_about_to_begin_is_not_replaced() {
    let mut side = Side::new();
    assert!(side.network.ota_begin(side.now_us, &side.shared));
    side.acked(UDP, &[0x03], -1);
    side.acked(UDP, &move_to(6), -1);
    side.network.button(side.now_us, &side.shared, &mut side.port);
    assert_eq!(side.take(), Request::OtaBegin);
    side.finish(State::Ota);
    side.network.ota_failed(side.now_us, &side.shared);
    assert_eq!(side.pending(), Some(Request::OtaFailed));
}

#[test]
fn an_update_that_fails_before_it_begins_is_withdrawn() {
    let mut side = Side::new();
    assert!(side.network.ota_begin(side.now_us, &side.shared));
    side.network.ota_failed(side.now_us, &side.shared);
    assert_eq!(side.pending(), Some(Request::OtaFailed));
}

#[test]
fn an_update_that_is_not_on_cannot_fail() {
    let mut side = Side::new();
    side.silent(UDP, &move_to(6));
    let pending = side.take();
    side.finish(State::Moving);
    side.network.ota_failed(side.now_us, &side.shared);
    assert_eq!(side.pending(), None, "{pending:?} runs");
    side.acked(UDP, &[0x03], 0);
    assert!(side.shared.borrow().stop, "HOLD stops the run");
}
