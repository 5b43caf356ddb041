//! When the hardware watchdogs are fed: one per side, each fed by its own side alone.
//!
//! A side that hangs, in a step or a tick, is a side whose watchdog bites: the ATOM restarts into booting, which holds the
//! pose. The control side feeds each time it has looked whether something is due, at least every [`IDLE_MAX_US`]; the
//! network side feeds after each tick. Feeding more often than every [`FEED_PERIOD_US`] does nothing.

/// A watchdog that was not fed for so long restarts the chip (µs).
pub const TIMEOUT_US: u64 = 2_000_000;
/// Feeding touches registers behind a slow bus: often enough is enough (µs).
pub const FEED_PERIOD_US: u64 = 100_000;
/// The control side looks at the mailbox at least this often (µs).
pub const IDLE_MAX_US: u64 = 1_000;

/// When one watchdog was fed.
#[derive(Debug, Default)]
pub struct Feeder {
    fed_us: Option<u64>,
}

impl Feeder {
    /// The side has stepped. True: feed the watchdog now.
    pub fn stepped(&mut self, now_us: u64) -> bool {
        let due = self.fed_us.is_none_or(|fed_us| now_us.saturating_sub(fed_us) >= FEED_PERIOD_US);
        if due {
            self.fed_us = Some(now_us);
        }
        due
    }
}

/// When the control side shall look again: at its wake-up, but soon enough for the doorbell and the watchdog (µs).
pub fn look_again_us(now_us: u64, wake_us: u64) -> u64 {
    wake_us.min(now_us + IDLE_MAX_US).max(now_us)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use firmware_core::control::Control;
    use firmware_core::platform::{ClientId, ControlPort, ImuSample, Transport};
    use firmware_core::protocol::ApiLevel;
    use firmware_core::shared::{Request, Shared};

    use super::*;

    const CLIENT: ClientId = ClientId { transport: Transport::Udp, number: 1 };

    #[test]
    fn a_side_that_steps_every_millisecond_feeds_ten_times_a_second() {
        let mut feeder = Feeder::default();
        let fed = (0..1_000).filter(|ms| feeder.stepped(ms * 1_000)).count();
        assert_eq!(fed, 10);
    }

    #[test]
    fn a_side_feeds_once_per_period() {
        let mut feeder = Feeder::default();
        assert!(feeder.stepped(5));
        assert!(!feeder.stepped(FEED_PERIOD_US + 4));
        assert!(feeder.stepped(FEED_PERIOD_US + 5));
    }

    /// A bus on which nobody answers: every reply takes its time-out.
    #[derive(Default)]
    struct SilentBus {
        now_us: u64,
    }

    impl ControlPort for SilentBus {
        fn now_us(&mut self) -> u64 {
            self.now_us
        }

        fn send(&mut self, bytes: &[u8]) {
            // 10 bits a byte at 1 Mbaud.
            self.now_us += 10 * bytes.len() as u64;
        }

        fn receive(&mut self, _buffer: &mut [u8], timeout_us: u32) -> usize {
            self.now_us += u64::from(timeout_us);
            0
        }

        fn discard_input(&mut self) {}

        fn imu(&mut self) -> Option<ImuSample> {
            None
        }
    }

    #[test]
    fn the_longest_step_of_the_control_side_is_far_from_the_time_out() {
        let (mut bus, mailbox) = (SilentBus::default(), RefCell::<Shared>::default());
        let mut control = Control::new(ApiLevel::V5_1);
        let (mut longest_us, mut wake_us) = (0, 0);
        // Power-up, then a HOLD and a register request, each of which finds every servo silent.
        for request in [
            None,
            Some(Request::Hold(None)),
            Some(Request::RegisterRead { client: CLIENT, id: 1, address: 56, length: 32 }),
            Some(Request::Hold(Some(CLIENT))),
        ] {
            mailbox.borrow_mut().request = request;
            let until_us = bus.now_us + 20_000_000;
            while bus.now_us < until_us {
                bus.now_us = bus.now_us.max(look_again_us(bus.now_us, wake_us));
                let begun_us = bus.now_us;
                wake_us = control.step(&mut bus, &mailbox);
                longest_us = longest_us.max(bus.now_us - begun_us);
            }
        }
        assert!(longest_us > 10_000, "the bus is silent, but a step takes {longest_us} µs at most");
        assert!(longest_us + FEED_PERIOD_US < TIMEOUT_US / 2, "a step takes {longest_us} µs");
    }

    #[test]
    fn the_control_side_sleeps_until_its_wake_up_but_never_past_the_next_look() {
        assert_eq!(look_again_us(10, 500), 500);
        assert_eq!(look_again_us(10, u64::MAX), 10 + IDLE_MAX_US);
        assert_eq!(look_again_us(10, 3), 10, "a wake-up in the past is now");
    }
}
