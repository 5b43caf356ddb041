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
    fn payload_bytes(&self) -> usize {
        match self {
            Self::Message(bytes) => bytes.len(),
            Self::Close => 0,
        }
    }

    fn size_bytes(&self) -> usize {
        OVERHEAD_BYTES + self.payload_bytes()
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
    /// When it arrives (µs).
    at_us: u64,
    /// When its last byte has left, at the lane's bandwidth (µs).
    left_us: u64,
    /// How long it is on its way after that (µs).
    way_us: u64,
    /// The end of a stall that it fell into (µs).
    stalled_us: Option<u64>,
    /// Nothing before it may arrive later.
    in_order: bool,
    /// What it takes of the bandwidth (bytes); a double takes nothing.
    air_bytes: usize,
    parcel: Parcel,
}

/// What stands in the way of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Nothing.
    Open,
    /// Nothing arrives; when the gate opens, all that waited comes at once.
    Held,
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

    /// Replaces what the lane does from `now_us` on. What is on its way stays as it is; what has not left yet
    /// leaves at the new bandwidth.
    pub fn set(&mut self, now_us: u64, settings: Settings) {
        let before = std::mem::replace(&mut self.settings, settings);
        if settings.stalls != before.stalls {
            self.schedule_stall(now_us);
        }
        if settings.bandwidth_bytes_s != before.bandwidth_bytes_s && self.sent_us > now_us {
            self.send_again(now_us);
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
        let mut way_us = self.settings.base_us + (jitter * (self.settings.jitter_us + 1) as f64) as u64;
        if lost {
            way_us += RETRANSMISSION_US;
        }
        let waiting = self.send(now_us, way_us, Parcel::Message(bytes.to_vec()));
        if !self.stream && late < self.settings.reorder {
            let held_us = self.settings.reorder_us;
            let at_us = waiting.at_us.max(self.last_us) + held_us;
            self.insert(Waiting { at_us, way_us: way_us + held_us, in_order: false, ..waiting });
            return Pushed::Taken;
        }
        let double = (!self.stream && twice < self.settings.duplicate).then(|| waiting.clone());
        self.insert_in_order(waiting);
        if let Some(double) = double {
            let (at_us, way_us) = (self.last_us + DUPLICATE_GAP_US, way_us + DUPLICATE_GAP_US);
            self.insert(Waiting { at_us, way_us, in_order: false, air_bytes: 0, ..double });
        }
        Pushed::Taken
    }

    /// The sender closes its connection at `now_us`; the lane carries it behind all before it.
    pub fn push_close(&mut self, now_us: u64) {
        let waiting = self.send(now_us, self.settings.base_us, Parcel::Close);
        self.insert_in_order(waiting);
    }

    /// When the next message arrives (µs).
    pub fn next_due_us(&self) -> Option<u64> {
        match self.gate {
            Gate::Open => Some(self.queue.front()?.at_us),
            Gate::Held | Gate::Broken => None,
        }
    }

    /// The next message that has arrived by `now_us`.
    pub fn pop(&mut self, now_us: u64) -> Option<Parcel> {
        if self.next_due_us()? > now_us {
            return None;
        }
        let waiting = self.queue.pop_front()?;
        self.queued_bytes -= waiting.parcel.size_bytes();
        Some(waiting.parcel)
    }

    /// A parcel that begins to leave at `now_us`, if nothing before it holds it up.
    fn send(&mut self, now_us: u64, way_us: u64, parcel: Parcel) -> Waiting {
        let air_bytes = parcel.payload_bytes();
        let left_us = self.transmit(now_us, air_bytes);
        let at_us = self.after_stall(left_us + way_us);
        let stalled_us = (at_us > left_us + way_us).then_some(at_us);
        Waiting { at_us, left_us, way_us, stalled_us, in_order: true, air_bytes, parcel }
    }

    /// Lets all that has not left by `now_us` leave at the bandwidth there is now.
    fn send_again(&mut self, now_us: u64) {
        let mut waiting: Vec<Waiting> = self.queue.drain(..).collect();
        waiting.sort_by_key(|waiting| waiting.left_us);
        (self.queued_bytes, self.sent_us, self.last_us) = (0, now_us, 0);
        for mut waiting in waiting {
            if waiting.left_us > now_us {
                waiting.left_us = self.transmit(now_us, waiting.air_bytes);
            }
            let at_us = self.after_stall(waiting.left_us + waiting.way_us);
            waiting.at_us = waiting.stalled_us.map_or(at_us, |stalled_us| at_us.max(stalled_us));
            if waiting.in_order {
                self.insert_in_order(waiting);
            } else {
                self.insert(waiting);
            }
        }
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

    /// Inserts what nothing before it may overtake.
    fn insert_in_order(&mut self, mut waiting: Waiting) {
        self.last_us = self.last_us.max(waiting.at_us);
        waiting.at_us = self.last_us;
        self.insert(waiting);
    }

    fn insert(&mut self, waiting: Waiting) {
        self.queued_bytes += waiting.parcel.size_bytes();
        let index = self.queue.partition_point(|before| before.at_us <= waiting.at_us);
        self.queue.insert(index, waiting);
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
