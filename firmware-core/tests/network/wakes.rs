//! Wake-up times: ticking only at them sends the same as ticking every millisecond, and idle sleeps.

use firmware_core::protocol::reply::{Ack, Done};
use firmware_core::protocol::telemetry::Sample;
use firmware_core::shared::{State, View};
use firmware_core::telemetry_ring::TelemetrySample;

use crate::side::*;

impl Side {
    /// Ticks only at the wake-ups, rounded up to the 1 ms grid; returns the number of ticks.
    fn sleep_to(&mut self, t_us: u64) -> usize {
        let mut ticks = 0;
        loop {
            let wake_us =
                self.network.next_wake_us(&self.shared).max(self.now_us + 1).next_multiple_of(1_000);
            if wake_us > t_us {
                self.now_us = t_us;
                return ticks;
            }
            self.now_us = wake_us;
            self.network.tick(wake_us, &self.shared, &mut self.port);
            ticks += 1;
        }
    }
}

#[test]
fn idle_wakes_once_a_second() {
    let mut side = Side::new();
    side.tick_ms(1);
    side.acked(UDP, &[0x0D], 0);
    assert_eq!(side.sleep_to(70_000_000), 60);
    assert_eq!(side.port.lines.len(), 60);
    assert_eq!(side.holder(), None);
}

#[test]
fn readings_alone_do_not_wake_and_a_change_of_state_does() {
    let mut side = Side::new();
    side.tick_ms(1);
    let mut view = *side.shared.borrow_mut().view.at(side.now_us);
    view.joints.position[0] = 5;
    view.read_at_us = side.now_us + 300;
    let at_us = side.now_us + 400;
    side.shared.borrow_mut().view.show_from(at_us, view);
    assert_eq!(side.network.next_wake_us(&side.shared), 11_000_000);
    view.state = State::Error;
    side.shared.borrow_mut().view.show_from(at_us + 2_000, view);
    assert_eq!(side.network.next_wake_us(&side.shared), at_us + 2_000);
    // A first STREAM packet waits for a fresh read.
    let mut side = Side::new();
    side.silent(UDP, &[0x0C, 1, 0]);
    assert_eq!(side.network.next_wake_us(&side.shared), side.now_us + 20_000);
    let fresh = View { read_at_us: side.now_us + 3_000, ..*side.shared.borrow().view.shown() };
    let at_us = side.now_us + 3_100;
    side.shared.borrow_mut().view.show_from(at_us, fresh);
    assert_eq!(side.network.next_wake_us(&side.shared), at_us);
}

/// Subscriptions, a run with telemetry and its DONE, as the control side would publish them.
fn busy_second(side: &mut Side, advance: impl Fn(&mut Side, u64)) {
    let begun_us = side.now_us;
    side.acked(WEB, &[0x0D], 0);
    side.silent(UDP, &[0x0C, 60, 0]);
    side.silent(WEB, &[0x0C, 25, 0]);
    side.silent(WEB, &move_to(6));
    side.take();
    for k in 0..300_u64 {
        let at_us = begun_us + 3_000 + 2_000 * k + k % 7 * 100;
        if k % 5 == 0 {
            advance(side, begun_us + 3_000 + 2_000 * k - 1_000);
        }
        let mut view = *side.shared.borrow().view.shown();
        view.working = false;
        view.state = if k < 299 { State::Moving } else { State::Holding };
        view.read_at_us = at_us;
        view.joints.position[0] = k as u16;
        view.progress_permille = (k * 1000 / 299) as u16;
        side.shared.borrow_mut().view.show_from(at_us, view);
        if k == 0 {
            side.post(at_us, WEB, &Ack { code: 0x0E, status: 0, value: 0 }, false);
        }
        let sample = Sample { n: 7, t_us: (2_000 * k) as u32, ok: true, ..Sample::default() };
        side.push_telemetry(TelemetrySample { at_us, client: UDP_2, sent: true, sample });
    }
    side.post(begun_us + 3_000 + 2_000 * 299 + 900, WEB, &Done::default(), true);
    advance(side, begun_us + 1_500_000);
}

#[test]
fn ticking_at_the_wake_ups_alone_sends_the_same() {
    let mut every_ms = Side::new();
    busy_second(&mut every_ms, |side, t_us| {
        side.tick_to(t_us);
    });
    let mut lazy = Side::new();
    busy_second(&mut lazy, |side, t_us| {
        side.sleep_to(t_us);
    });
    assert!(every_ms.port.sent.len() > 100);
    assert_eq!(lazy.port.sent, every_ms.port.sent);
    assert_eq!(lazy.port.lines, every_ms.port.lines);
    assert_eq!(lazy.network.led_frame(), every_ms.network.led_frame());
    assert_eq!(lazy.holder(), every_ms.holder());
}
