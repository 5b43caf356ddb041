//! Control: who has it, who gets it, and when it ends.

use firmware_core::shared::State;

use crate::side::*;

/// Every request that needs control.
fn needing() -> Vec<Vec<u8>> {
    vec![
        vec![0x04, 2, 0, 0, 0, 250, 0],
        plan_data(0, 0, &[]),
        vec![0x06, 0, 0, 0, 0],
        PLAY.to_vec(),
        play_signal(),
        move_to(6),
        jog(6),
        track(6),
    ]
}

#[test]
fn a_request_that_needs_control_takes_it_even_if_it_is_refused() {
    for bytes in needing().into_iter().chain([vec![0x0A, 1, 0, 1, 0], vec![0x07], vec![0x0F, 9]]) {
        for client in [UDP, WEB] {
            let mut side = Side::new();
            side.send(client, &bytes);
            assert_eq!(side.holder(), Some(client), "{bytes:02x?}");
        }
    }
    for bytes in [&[0x01][..], &[0x02], &[0x03], &[0x08], &[0x09, 1, 62, 2], &[0x0C, 10, 0], &[0x55]] {
        let mut side = Side::new();
        side.send(UDP, bytes);
        assert_eq!(side.holder(), None, "{bytes:02x?}");
    }
}

#[test]
fn without_control_a_request_gets_minus_2_and_does_nothing() {
    let mut side = Side::new();
    side.acked(WEB, &[0x0D], 0);
    for bytes in needing() {
        side.acked(UDP, &bytes, -2);
        // A message too short has no control either.
        assert_eq!(side.send(UDP, &bytes[..1]), [ack(bytes[0], -2)]);
    }
    assert_eq!(side.send(UDP, &plan_data(77, 0, &[])), [ack_value(0x05, -2, 77)]);
    assert_eq!(side.pending(), None);
    assert_eq!(side.shared.borrow().plan.declared_samples(), 0);
    assert_eq!(side.holder(), Some(WEB));
    // Questions and stops work for everyone.
    assert_eq!(side.send(UDP, &[0x01]).len(), 1);
    side.acked(UDP, &[0x08], 0);
    side.silent(UDP, &[0x03]);
    assert!(side.pending().is_some());
}

#[test]
fn take_release_and_take_over_while_idle() {
    let mut side = Side::new();
    side.acked(UDP, &[0x0D, 0], 0);
    assert_eq!(side.holder(), None, "a release by a non-holder changes nothing");
    side.acked(UDP, &[0x0D, 1], 0);
    side.acked(UDP, &[0x0D, 1, 99], 0);
    side.acked(WEB, &[0x0D, 1], -2);
    side.acked(WEB, &[0x0D], -2);
    side.acked(WEB, &[0x0D, 0], 0);
    assert_eq!(side.holder(), Some(UDP));
    side.acked(WEB, &[0x0D, 2], 0);
    assert_eq!(side.holder(), Some(WEB));
    side.acked(UDP, &[0x0D, 255], 0);
    assert_eq!(side.holder(), Some(UDP));
    side.acked(UDP, &[0x0D, 0], 0);
    assert_eq!(side.holder(), None);
    side.acked(WEB, &[0x0D, 2], 0);
    assert_eq!(side.holder(), Some(WEB), "nobody had it");
}

#[test]
fn take_over_is_refused_while_busy_but_not_to_the_holder() {
    for state in [State::Playing, State::Moving, State::Jogging, State::Tracking] {
        let mut side = Side::new();
        side.acked(UDP, &[0x0D], 0);
        side.state(state);
        side.acked(WEB, &[0x0D, 2], -1);
        side.acked(WEB, &[0x0D, 1], -2);
        side.acked(UDP, &[0x0D, 2], 0);
        assert_eq!(side.holder(), Some(UDP), "{state:?}");
    }
    let mut side = Side::new();
    side.acked(UDP, &[0x0D], 0);
    side.silent(UDP, &[0x09, 1, 62, 2]);
    side.acked(WEB, &[0x0D, 2], -1);
    side.take();
    side.acked(WEB, &[0x0D, 2], -1);
    side.finish(State::Holding);
    side.acked(WEB, &[0x0D, 2], 0);
}

#[test]
fn control_ends_2_s_after_the_holders_last_message() {
    let mut side = Side::new();
    side.acked(UDP, &[0x0D], 0);
    side.tick_ms(1_999);
    assert_eq!(side.holder(), Some(UDP));
    // Any message with a code byte starts the time again, unknown codes too; an empty one does not.
    side.silent(UDP, &[0x77]);
    side.tick_ms(1_000);
    side.silent(UDP, &[]);
    side.tick_ms(999);
    assert_eq!(side.holder(), Some(UDP));
    side.tick_ms(1);
    assert_eq!(side.holder(), None);
    side.acked(WEB, &[0x0D, 1], 0);
    // A message of another client does not renew it.
    side.tick_ms(1_500);
    side.silent(UDP, &[0x77]);
    side.tick_ms(500);
    assert_eq!(side.holder(), None);
}

#[test]
fn control_does_not_expire_while_busy_and_its_2_s_start_at_the_end_of_the_run() {
    for state in [State::Playing, State::Moving, State::Jogging, State::Tracking] {
        let mut side = Side::new();
        side.acked(UDP, &[0x0D], 0);
        side.state(state);
        side.tick_ms(10_000);
        assert_eq!(side.holder(), Some(UDP), "{state:?}");
        side.state(State::Holding);
        side.tick_ms(1);
        side.tick_ms(1_999);
        assert_eq!(side.holder(), Some(UDP), "{state:?}");
        side.tick_ms(1);
        assert_eq!(side.holder(), None, "{state:?}");
    }
}

#[test]
fn control_is_kept_through_a_run_without_a_tick_in_it() {
    let mut side = Side::new();
    side.silent(UDP, &move_to(6));
    side.run(State::Moving);
    side.tick_ms(1);
    side.now_us += 30_000_000;
    side.state(State::Holding);
    side.acked(WEB, &[0x0D, 1], -2);
    side.tick_ms(1_999);
    assert_eq!(side.holder(), Some(UDP));
}

#[test]
fn a_closing_web_socket_ends_control_and_subscription_at_once_also_in_a_run() {
    let mut side = Side::new();
    side.silent(WEB, &[0x0C, 50, 0]);
    side.silent(WEB, &move_to(6));
    side.run(State::Moving);
    side.close(WEB_2);
    assert_eq!((side.holder(), side.network.subscribers()), (Some(WEB), 1));
    side.close(WEB);
    assert_eq!((side.holder(), side.network.subscribers()), (None, 0));
    assert!(!side.stopped(), "a MOVE_TO runs on");
    assert_eq!(side.shared.borrow().idle_read_hz, 0);
}

#[test]
fn a_bystanders_stop_or_hold_blocks_streamed_motion_for_500_ms() {
    for stop in [0x03, 0x08] {
        for streamed in [jog(6), track(6), jog_twist(1, 0)] {
            let mut side = Side::new();
            side.silent(WEB, &streamed);
            side.run(State::Jogging);
            side.acked(UDP, &[stop], 0);
            side.acked(WEB, &streamed, -1);
            side.state(State::Holding);
            side.tick_ms(499);
            side.acked(WEB, &streamed, -1);
            assert_eq!(side.pending(), None);
            side.tick_ms(1);
            side.silent(WEB, &streamed);
            assert!(side.pending().is_some());
        }
    }
}

#[test]
fn the_holders_own_stop_blocks_nothing_and_neither_does_one_while_nobody_has_control() {
    let mut side = Side::new();
    side.acked(WEB, &[0x08], 0);
    side.silent(UDP, &jog(6));
    side.run(State::Jogging);
    side.acked(UDP, &[0x08], 0);
    side.state(State::Holding);
    side.silent(UDP, &jog(6));
    assert!(side.pending().is_some());
}
