//! One direction of one client: messages go in with a time and come out when they have arrived.

use std::collections::VecDeque;

use super::random::Random;
use super::settings::{RETRANSMISSION_US, Settings};

/// Messages that can wait in a lane, whatever their size.
const PARCELS_MAX: usize = 4_096;
/// Memory one waiting message costs beside its bytes; empty messages must not be free.
const OVERHEAD_BYTES: usize = 16;
/// A duplicate comes this long after the original (µs).
const DUPLICATE_GAP_US: u64 = 500;

/// What a lane carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parcel {
    /// One message.
    Message(Vec<u8>),
    /// The sender closed its connection.
    Close,
}

impl Parcel {
    fn size_bytes(&self) -> usize {
        OVERHEAD_BYTES
            + match self {
                Self::Message(bytes) => bytes.len(),
                Self::Close => 0,
            }
    }
}

/// What became of a message that was pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// It is on its way.
    Taken,
    /// It is lost: by chance, or because the buffer is full. On a stream: refused, the buffer is full.
    Lost,
}

#[derive(Debug, Clone)]
struct Waiting {
    at_us: u64,
    parcel: Parcel,
}

/// What stands in the way of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Nothing.
    Open,
    /// Nothing arrives before this time (µs); then all that waited comes at once.
    Held(u64),
    /// Nothing arrives: half-open peer, lost association. Datagrams are lost, a stream fills its buffer.
    Broken,
}

/// One direction of one client.
#[derive(Debug, Clone)]
pub struct Lane {
    stream: bool,
    settings: Settings,
    random: Random,
    stall_random: Random,
    /// The current or next stall that comes by itself (µs): start, end.
    stall_us: (u64, u64),
    gate: Gate,
    queue: VecDeque<Waiting>,
    queued_bytes: usize,
    /// The last in-order arrival (µs): nothing overtakes it.
    last_us: u64,
    /// When the last byte is out, with a limited bandwidth (µs).
    sent_us: u64,
    lost: u64,
}

impl Lane {
    /// A lane under `seed`; `stream` for TCP. Its random streams are `fork` and `fork + 1`.
    pub fn new(stream: bool, settings: Settings, seed: u64, fork: u64) -> Self {
        let mut lane = Self {
            stream,
            settings,
            random: Random::new(seed, fork),
            stall_random: Random::new(seed, fork + 1),
            stall_us: (u64::MAX, u64::MAX),
            gate: Gate::Open,
            queue: VecDeque::new(),
            queued_bytes: 0,
            last_us: 0,
            sent_us: 0,
            lost: 0,
        };
        lane.schedule_stall(0);
        lane
    }

    /// Replaces what the lane does from `now_us` on. What is on its way stays as it is.
    pub fn set(&mut self, now_us: u64, settings: Settings) {
        let new_stalls = settings.stalls != self.settings.stalls;
        self.settings = settings;
        if new_stalls {
            self.schedule_stall(now_us);
        }
    }

    /// Opens or shuts the lane.
    pub fn set_gate(&mut self, gate: Gate) {
        self.gate = gate;
    }

    /// Everything passes at once and nothing waits: the caller need not ask the lane.
    pub fn is_transparent(&self) -> bool {
        self.gate == Gate::Open && self.queue.is_empty() && self.settings.is_transparent()
    }

    /// Bytes that wait, with what each message costs beside its bytes.
    pub fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// Messages lost or refused so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// A message enters at `now_us`.
    pub fn push(&mut self, now_us: u64, bytes: &[u8]) -> Pushed {
        // Always four draws, so that a change of one setting leaves the others' luck as it was.
        let (loss, jitter, twice, late) =
            (self.random.unit(), self.random.unit(), self.random.unit(), self.random.unit());
        let lost = loss < self.settings.loss;
        let full = self.queue.len() >= PARCELS_MAX
            || self.queued_bytes.saturating_add(OVERHEAD_BYTES + bytes.len()) > self.settings.buffer_bytes;
        if full || (!self.stream && (lost || self.gate == Gate::Broken)) {
            self.lost += 1;
            return Pushed::Lost;
        }
        let mut at_us = self.transmit(now_us, bytes.len());
        at_us += self.settings.base_us + (jitter * (self.settings.jitter_us + 1) as f64) as u64;
        if lost {
            at_us += RETRANSMISSION_US;
        }
        at_us = self.after_stall(at_us);
        if !self.stream && late < self.settings.reorder {
            self.insert(at_us.max(self.last_us) + self.settings.reorder_us, Parcel::Message(bytes.to_vec()));
            return Pushed::Taken;
        }
        self.last_us = self.last_us.max(at_us);
        self.insert(self.last_us, Parcel::Message(bytes.to_vec()));
        if !self.stream && twice < self.settings.duplicate {
            self.insert(self.last_us + DUPLICATE_GAP_US, Parcel::Message(bytes.to_vec()));
        }
        Pushed::Taken
    }

    /// The sender closes its connection at `now_us`; the lane carries it behind all before it.
    pub fn push_close(&mut self, now_us: u64) {
        let at_us = self.after_stall(now_us + self.settings.base_us);
        self.last_us = self.last_us.max(at_us);
        self.insert(self.last_us, Parcel::Close);
    }

    /// When the next message arrives (µs).
    pub fn next_due_us(&self) -> Option<u64> {
        let front_us = self.queue.front()?.at_us;
        match self.gate {
            Gate::Open => Some(front_us),
            Gate::Held(until_us) => Some(front_us.max(until_us)),
            Gate::Broken => None,
        }
    }

    /// The next message that has arrived by `now_us`.
    pub fn pop(&mut self, now_us: u64) -> Option<Parcel> {
        if self.next_due_us()? > now_us {
            return None;
        }
        if let Gate::Held(_) = self.gate {
            self.gate = Gate::Open;
        }
        let waiting = self.queue.pop_front()?;
        self.queued_bytes -= waiting.parcel.size_bytes();
        Some(waiting.parcel)
    }

    /// When a message of `bytes` that enters now has left, at the lane's bandwidth (µs).
    fn transmit(&mut self, now_us: u64, bytes: usize) -> u64 {
        let Some(bytes_s) = self.settings.bandwidth_bytes_s else { return now_us };
        let duration_us = (bytes as u64 * 1_000_000).div_ceil(u64::from(bytes_s.max(1)));
        self.sent_us = self.sent_us.max(now_us) + duration_us;
        self.sent_us
    }

    /// `at_us`, or the end of the stall it falls into.
    fn after_stall(&mut self, at_us: u64) -> u64 {
        while at_us >= self.stall_us.1 {
            self.schedule_stall(self.stall_us.1);
        }
        if at_us >= self.stall_us.0 { self.stall_us.1 } else { at_us }
    }

    fn schedule_stall(&mut self, after_us: u64) {
        self.stall_us = match self.settings.stalls {
            None => (u64::MAX, u64::MAX),
            Some(stalls) => {
                let gap_us = self.stall_random.exponential(stalls.mean_interval_us as f64) as u64;
                let start_us = after_us + gap_us;
                (start_us, start_us + self.stall_random.between(stalls.min_us, stalls.max_us))
            }
        };
    }

    fn insert(&mut self, at_us: u64, parcel: Parcel) {
        self.queued_bytes += parcel.size_bytes();
        let index = self.queue.partition_point(|waiting| waiting.at_us <= at_us);
        self.queue.insert(index, Waiting { at_us, parcel });
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
