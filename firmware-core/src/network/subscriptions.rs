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
    fn due_us(&self, read_at_us: u64) -> u64 {
        match self.schedule {
            Schedule::First { since_us } if read_at_us >= since_us && read_at_us > 0 => read_at_us,
            Schedule::First { since_us } => since_us + FIRST_WAIT_US,
            Schedule::Grid { phase_us, count } => phase_us + count * 1_000_000 / u64::from(self.rate_hz),
        }
    }

    /// A packet goes out now: the next one is the first of the grid that is still to come.
    fn sent(&mut self, now_us: u64) {
        self.schedule = match self.schedule {
            Schedule::First { .. } => Schedule::Grid { phase_us: now_us, count: 1 },
            Schedule::Grid { phase_us, count } => {
                let passed = (now_us - phase_us) * u64::from(self.rate_hz) / 1_000_000;
                Schedule::Grid { phase_us, count: (count + 1).max(passed + 1) }
            }
        };
    }
}

/// All subscribers.
#[derive(Debug)]
pub(super) struct Subscriptions {
    list: Vec<Subscription>,
    most: usize,
}

impl Subscriptions {
    /// Room for `most` subscribers.
    pub(super) fn new(most: usize) -> Self {
        Self { list: Vec::with_capacity(most), most }
    }

    /// SUBSCRIBE: begins, renews, changes the rate, or ends with rate 0. One subscriber too many is ignored.
    pub(super) fn subscribe(&mut self, client: ClientId, rate_hz: u16, now_us: u64) {
        if rate_hz == 0 {
            self.end(client);
            return;
        }
        let rate_hz = rate_hz.min(RATE_HZ_MAX);
        let known = self.list.iter_mut().find(|subscription| subscription.client == client);
        if let Some(subscription) = known {
            subscription.renewed_us = now_us;
            if subscription.rate_hz != rate_hz {
                subscription.rate_hz = rate_hz;
                if let Schedule::Grid { .. } = subscription.schedule {
                    subscription.schedule = Schedule::Grid { phase_us: now_us, count: 1 };
                }
            }
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

    /// When the next packet or expiry is due (µs).
    pub(super) fn next_us(&self, read_at_us: u64) -> u64 {
        let due = |subscription: &Subscription| {
            subscription.due_us(read_at_us).min(subscription.renewed_us + LIFE_US)
        };
        self.list.iter().map(due).min().unwrap_or(u64::MAX)
    }
}
