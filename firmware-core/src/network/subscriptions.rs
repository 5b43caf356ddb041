//! Who gets the STREAM, and when the next packet is due.

use alloc::vec::Vec;

use crate::platform::ClientId;

/// Highest rate (Hz); more counts as this.
const RATE_HZ_MAX: u16 = 100;
/// A subscription lasts this long unless it is renewed (µs).
const LIFE_US: u64 = 2_000_000;
/// The first packet waits for a fresh read at most this long (µs).
const FIRST_WAIT_US: u64 = 20_000;

/// One subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Subscription {
    client: ClientId,
    rate_hz: u16,
    renewed_us: u64,
    schedule: Schedule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Schedule {
    /// Nothing was sent yet since this time.
    First { since_us: u64 },
    /// Packet `count` after `phase_us` is next: due at phase + count/rate, exactly.
    Grid { phase_us: u64, count: u64 },
}

impl Subscription {
    /// When the next packet is due (µs), with the last read made at `read_at_us`.
    fn due_us(&self, read_at_us: u64) -> u64 {
        match self.schedule {
            Schedule::First { since_us } if read_at_us >= since_us && read_at_us > 0 => since_us,
            Schedule::First { since_us } => since_us + FIRST_WAIT_US,
            Schedule::Grid { phase_us, count } => grid_us(phase_us, count, self.rate_hz),
        }
    }

    fn waits_for_a_read(&self) -> bool {
        match self.schedule {
            Schedule::First { .. } => true,
            Schedule::Grid { .. } => false,
        }
    }

    /// A packet goes out now: next is the first one of the grid that is still to come, so that a late packet
    /// is followed by no burst.
    fn sent(&mut self, now_us: u64) {
        self.schedule = match self.schedule {
            Schedule::First { .. } => Schedule::Grid { phase_us: now_us, count: 1 },
            Schedule::Grid { phase_us, count } => {
                let passed = (now_us - phase_us) * u64::from(self.rate_hz) / 1_000_000;
                Schedule::Grid { phase_us, count: (count + 1).max(passed + 1) }
            }
        };
    }

    /// A renewal. At the same rate it keeps the phase; another rate goes on from the last packet.
    fn renew(&mut self, rate_hz: u16, now_us: u64) {
        self.renewed_us = now_us;
        if let Schedule::Grid { phase_us, count } = self.schedule
            && rate_hz != self.rate_hz
        {
            let last_us = grid_us(phase_us, count - 1, self.rate_hz);
            self.schedule = Schedule::Grid { phase_us: last_us, count: 1 };
        }
        self.rate_hz = rate_hz;
    }
}

fn grid_us(phase_us: u64, count: u64, rate_hz: u16) -> u64 {
    phase_us + count * 1_000_000 / u64::from(rate_hz)
}

/// All subscribers.
#[derive(Debug)]
pub(super) struct Subscriptions {
    list: Vec<Subscription>,
    most: usize,
}

impl Subscriptions {
    /// Room for `most` subscribers. The only allocation.
    pub(super) fn new(most: usize) -> Self {
        Self { list: Vec::with_capacity(most), most }
    }

    /// SUBSCRIBE: begins, renews, changes the rate, or ends with rate 0. One subscriber too many is ignored.
    pub(super) fn subscribe(&mut self, client: ClientId, rate_hz: u16, now_us: u64) {
        if rate_hz == 0 {
            self.end(client);
            return;
        }
        self.expire(now_us);
        let rate_hz = rate_hz.min(RATE_HZ_MAX);
        let known = self.list.iter_mut().find(|subscription| subscription.client == client);
        if let Some(subscription) = known {
            subscription.renew(rate_hz, now_us);
        } else if self.list.len() < self.most {
            let schedule = Schedule::First { since_us: now_us };
            self.list.push(Subscription { client, rate_hz, renewed_us: now_us, schedule });
        }
    }

    /// Ends the subscription of `client`.
    pub(super) fn end(&mut self, client: ClientId) {
        self.list.retain(|subscription| subscription.client != client);
    }

    /// Drops the subscriptions that were not renewed.
    pub(super) fn expire(&mut self, now_us: u64) {
        self.list.retain(|subscription| now_us - subscription.renewed_us < LIFE_US);
    }

    /// Calls `send` for each subscriber whose packet is due.
    pub(super) fn send_due(&mut self, now_us: u64, read_at_us: u64, mut send: impl FnMut(ClientId)) {
        for subscription in &mut self.list {
            if subscription.due_us(read_at_us) <= now_us {
                send(subscription.client);
                subscription.sent(now_us);
            }
        }
    }

    /// Highest subscribed rate (Hz); 0 without subscribers.
    pub(super) fn rate_hz(&self) -> u16 {
        self.list.iter().map(|subscription| subscription.rate_hz).max().unwrap_or(0)
    }

    /// Number of subscribers.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The rate (Hz) that `client` subscribed.
    pub(super) fn rate_of(&self, client: ClientId) -> Option<u16> {
        self.list.iter().find(|subscription| subscription.client == client).map(|found| found.rate_hz)
    }

    /// Someone's first packet waits for a fresh read.
    pub(super) fn wait_for_a_read(&self) -> bool {
        self.list.iter().any(Subscription::waits_for_a_read)
    }

    /// When the next packet or expiry is due (µs), with the last read made at `read_at_us`.
    pub(super) fn next_us(&self, read_at_us: u64) -> u64 {
        let due = |subscription: &Subscription| {
            subscription.due_us(read_at_us).min(subscription.renewed_us + LIFE_US)
        };
        self.list.iter().map(due).min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Transport;

    const CLIENT: ClientId = ClientId { transport: Transport::Udp, number: 1 };

    /// Ticks once a millisecond and returns when packets went out.
    fn packets(
        subscriptions: &mut Subscriptions,
        read_at_us: u64,
        ticks: impl Iterator<Item = u64>,
    ) -> Vec<u64> {
        let mut sent = Vec::new();
        for now_us in ticks.map(|tick| tick * 1_000) {
            subscriptions.expire(now_us);
            subscriptions.send_due(now_us, read_at_us, |_| sent.push(now_us));
        }
        sent
    }

    #[test]
    fn sixty_hertz_is_16_667_milliseconds_without_drift() {
        let mut subscriptions = Subscriptions::new(4);
        subscriptions.subscribe(CLIENT, 60, 5_000);
        let sent = packets(&mut subscriptions, 5_000, 5..1_005);
        assert_eq!(sent.len(), 60);
        // Packet k is due at k/60 s and goes out at the next tick.
        for (k, at_us) in sent.iter().enumerate() {
            let due_us = 5_000 + k as u64 * 1_000_000 / 60;
            assert_eq!(*at_us, due_us.div_ceil(1_000) * 1_000, "packet {k}");
        }
    }

    #[test]
    fn the_first_packet_waits_for_a_fresh_read_at_most_20_ms() {
        let mut subscriptions = Subscriptions::new(4);
        subscriptions.subscribe(CLIENT, 50, 100_000);
        assert_eq!(packets(&mut subscriptions, 99_999, 100..120), []);
        assert_eq!(packets(&mut subscriptions, 99_999, 120..121), [120_000]);
    }

    #[test]
    fn a_renewal_keeps_the_phase_and_a_new_rate_goes_on_from_the_last_packet() {
        let mut subscriptions = Subscriptions::new(4);
        subscriptions.subscribe(CLIENT, 50, 1_000);
        assert_eq!(packets(&mut subscriptions, 1_000, 1..40), [1_000, 21_000]);
        subscriptions.subscribe(CLIENT, 50, 40_000);
        assert_eq!(packets(&mut subscriptions, 1_000, 40..62), [41_000, 61_000]);
        subscriptions.subscribe(CLIENT, 100, 62_000);
        assert_eq!(packets(&mut subscriptions, 1_000, 62..90), [71_000, 81_000]);
    }

    #[test]
    fn a_late_packet_is_skipped_ahead_not_sent_in_a_burst() {
        let mut subscriptions = Subscriptions::new(4);
        subscriptions.subscribe(CLIENT, 100, 0);
        assert_eq!(packets(&mut subscriptions, 0, 0..31), [20_000, 30_000]);
        // No tick for 95 ms: one packet, and the next where the grid has it.
        assert_eq!(packets(&mut subscriptions, 0, 125..145), [125_000, 130_000, 140_000]);
    }

    #[test]
    fn a_subscription_that_is_not_renewed_ends_after_2_s() {
        let mut subscriptions = Subscriptions::new(4);
        subscriptions.subscribe(CLIENT, 1, 1_000);
        subscriptions.expire(2_000_999);
        assert_eq!(subscriptions.len(), 1);
        subscriptions.expire(2_001_000);
        assert_eq!(subscriptions.len(), 0);
    }
}
