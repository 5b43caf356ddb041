//! The half-duplex wire: bytes at 1 Mbaud, each with its time.

use std::collections::VecDeque;

/// Time of one byte: start bit, eight bits, stop bit at 1 Mbaud (µs).
pub const BYTE_US: u64 = 10;
/// A servo answers this long after the request or the previous reply (µs).
pub const REPLY_DELAY_US: u64 = 66;
/// After a packet that nobody answers the next request waits for the line to turn (µs).
pub const TURN_US: u64 = 20;

/// Replies on their way to the controller.
#[derive(Debug, Default)]
pub struct Wire {
    segments: VecDeque<Segment>,
    /// The line is quiet from here on (µs).
    free_us: u64,
    /// Bytes that travelled: to the servos, from the servos.
    pub bytes_sent: u64,
    /// Bytes that travelled from the servos.
    pub bytes_received: u64,
}

/// One reply: its bytes in a row from `start_us`.
#[derive(Debug)]
struct Segment {
    start_us: u64,
    bytes: [u8; SEGMENT_BYTES],
    length: usize,
    taken: usize,
}

/// Longest reply: 32 bytes of data and 6 around them, and room for bytes that a fault adds.
pub const SEGMENT_BYTES: usize = 64;

impl Wire {
    /// The controller sends `count` bytes at `start_us` at the earliest; returns when the last one is out.
    pub fn send(&mut self, start_us: u64, count: usize) -> u64 {
        self.bytes_sent += count as u64;
        self.free_us = start_us.max(self.free_us) + BYTE_US * count as u64;
        self.free_us
    }

    /// Nobody answers: the line turns.
    pub fn turn(&mut self) {
        self.free_us += TURN_US;
    }

    /// When a reply that is given now would start (µs).
    pub fn reply_start_us(&self, delay_us: u64) -> u64 {
        self.free_us + delay_us
    }

    /// A servo answers at `start_us`; bytes past [`SEGMENT_BYTES`] are cut off.
    pub fn reply(&mut self, start_us: u64, bytes: &[u8]) {
        let length = bytes.len().min(SEGMENT_BYTES);
        let mut segment = Segment { start_us, bytes: [0; SEGMENT_BYTES], length, taken: 0 };
        segment.bytes[..length].copy_from_slice(&bytes[..length]);
        self.bytes_received += length as u64;
        self.free_us = start_us + BYTE_US * length as u64;
        self.segments.push_back(segment);
    }

    /// Fills `buffer` from `now_us` on; returns the count and the time at which it was full, or at which no
    /// byte had come for `timeout_us`.
    pub fn receive(&mut self, now_us: u64, buffer: &mut [u8], timeout_us: u32) -> (usize, u64) {
        let mut filled = 0;
        let mut t_us = now_us;
        while filled < buffer.len() {
            let Some(segment) = self.segments.front_mut() else {
                return (filled, t_us + u64::from(timeout_us));
            };
            let next_us = segment.start_us + BYTE_US * (segment.taken as u64 + 1);
            if next_us > t_us + u64::from(timeout_us) {
                return (filled, t_us + u64::from(timeout_us));
            }
            let count = (segment.length - segment.taken).min(buffer.len() - filled);
            buffer[filled..filled + count]
                .copy_from_slice(&segment.bytes[segment.taken..segment.taken + count]);
            segment.taken += count;
            filled += count;
            t_us = t_us.max(segment.start_us + BYTE_US * segment.taken as u64);
            if segment.taken == segment.length {
                self.segments.pop_front();
            }
        }
        (filled, t_us)
    }

    /// Drops what has arrived by `now_us`; what is still on its way stays.
    pub fn discard(&mut self, now_us: u64) {
        while let Some(segment) = self.segments.front_mut() {
            let arrived = (now_us.saturating_sub(segment.start_us) / BYTE_US) as usize;
            if arrived < segment.length {
                segment.taken = segment.taken.max(arrived);
                break;
            }
            self.segments.pop_front();
        }
    }
}
