//! The half-duplex line between driver and servos: when which byte passes, and what the driver has received.

use std::collections::VecDeque;

/// Time of one byte at 1 Mbaud: start bit, eight data bits, stop bit (µs).
pub(crate) const BYTE_US: u64 = 10;
/// From the last bit of a request to a line that the driver has released for others (µs).
///
/// A reply hides it. Between a SYNC WRITE, which nobody answers, and the next request it shows: SYNC WRITE and
/// SYNC READ of six servos take 0.26 + 0.02 + 1.262 = 1.542 ms.
pub(crate) const RELEASE_US: u64 = 20;
/// From the last bit of a request, or of the previous reply, to the first bit of a servo's reply (µs).
///
/// A SYNC READ of 6 bytes from six servos takes 0.14 + 6·(0.067 + 0.12) = 1.262 ms.
pub(crate) const REPLY_GAP_US: u64 = 67;
/// Bytes that wait for the driver; more are lost. Seven longest replies fit.
pub(crate) const RECEIVED_BYTES_MAX: usize = 2_048;

/// Bytes that follow each other without a gap.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// When the first byte is complete (µs).
    first_us: u64,
    /// Where it stands in `bytes`.
    from: usize,
    /// One past the last.
    to: usize,
}

impl Segment {
    fn arrival_us(&self, index: usize) -> u64 {
        self.first_us + (index - self.from) as u64 * BYTE_US
    }

    fn last_us(&self) -> u64 {
        self.arrival_us(self.to - 1)
    }
}

/// Bytes on their way to the driver, or received and not read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wire {
    bytes: Vec<u8>,
    segments: VecDeque<Segment>,
    /// Bytes lost because the driver's buffer was full.
    overruns: u64,
}

impl Wire {
    /// An idle line.
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(RECEIVED_BYTES_MAX),
            segments: VecDeque::with_capacity(32),
            overruns: 0,
        }
    }

    /// Bytes lost because the driver's buffer was full.
    pub(crate) fn overruns(&self) -> u64 {
        self.overruns
    }

    /// Puts `bytes` on the line toward the driver, the first one from `start_us`. Returns when the last is out.
    ///
    /// Where they meet bytes that are on the line already, both are destroyed: the line is low when either
    /// sender pulls it low.
    pub(crate) fn put(&mut self, start_us: u64, bytes: &[u8]) -> u64 {
        let end_us = start_us + bytes.len() as u64 * BYTE_US;
        if bytes.is_empty() {
            return end_us;
        }
        if self.segments.back().is_some_and(|last| start_us < last.last_us()) {
            self.collide(start_us, bytes);
            return end_us;
        }
        if self.segments.is_empty() {
            self.bytes.clear();
        }
        let room = RECEIVED_BYTES_MAX - self.bytes.len().min(RECEIVED_BYTES_MAX);
        let taken = &bytes[..bytes.len().min(room)];
        self.overruns += (bytes.len() - taken.len()) as u64;
        if !taken.is_empty() {
            let from = self.bytes.len();
            self.bytes.extend_from_slice(taken);
            self.segments.push_back(Segment { first_us: start_us + BYTE_US, from, to: from + taken.len() });
        }
        end_us
    }

    fn collide(&mut self, start_us: u64, bytes: &[u8]) {
        let mut all = self.unread();
        for (index, &byte) in bytes.iter().enumerate() {
            let t_us = start_us + (index as u64 + 1) * BYTE_US;
            match all.iter_mut().find(|(other_us, _)| other_us.abs_diff(t_us) < BYTE_US) {
                Some((_, other)) => *other &= byte,
                None => all.push((t_us, byte)),
            }
        }
        all.sort_by_key(|(t_us, _)| *t_us);
        self.replace(&all);
    }

    /// All bytes with the time at which each is complete.
    fn unread(&self) -> Vec<(u64, u8)> {
        let of = |s: &Segment| (s.from..s.to).map(|i| (s.arrival_us(i), self.bytes[i])).collect::<Vec<_>>();
        self.segments.iter().flat_map(of).collect()
    }

    fn replace(&mut self, all: &[(u64, u8)]) {
        self.segments.clear();
        self.bytes.clear();
        for &(t_us, byte) in all.iter().take(RECEIVED_BYTES_MAX) {
            let to = self.bytes.len() + 1;
            self.bytes.push(byte);
            match self.segments.back_mut() {
                Some(last) if last.last_us() + BYTE_US == t_us => last.to = to,
                Some(_) | None => {
                    self.segments.push_back(Segment { first_us: t_us, from: to - 1, to });
                }
            }
        }
        self.overruns += all.len().saturating_sub(RECEIVED_BYTES_MAX) as u64;
    }

    /// True when a byte from elsewhere is on the line while the driver sends from `start_us` to `end_us`.
    pub(crate) fn is_busy(&self, start_us: u64, end_us: u64) -> bool {
        self.segments.iter().any(|s| s.first_us < end_us + BYTE_US && s.last_us() > start_us)
    }

    /// The driver sends `bytes` from `start_us` into bytes from elsewhere: both are destroyed, and the driver,
    /// which does not listen while it sends, receives none of them.
    pub(crate) fn send_into(&mut self, start_us: u64, bytes: &mut [u8]) {
        let end_us = start_us + bytes.len() as u64 * BYTE_US;
        let mut all = self.unread();
        for (index, byte) in bytes.iter_mut().enumerate() {
            let t_us = start_us + (index as u64 + 1) * BYTE_US;
            for (_, other) in all.iter().filter(|(other_us, _)| other_us.abs_diff(t_us) < BYTE_US) {
                *byte &= other;
            }
        }
        all.retain(|(t_us, _)| *t_us <= start_us || *t_us >= end_us + BYTE_US);
        self.replace(&all);
    }

    /// Fills `buffer` from `now_us` on. Returns the number of bytes and when the driver goes on: when the buffer
    /// was full, or when no byte had come for `timeout_us` (below one byte's time it counts as that).
    pub(crate) fn receive(&mut self, now_us: u64, buffer: &mut [u8], timeout_us: u32) -> (usize, u64) {
        let timeout_us = u64::from(timeout_us).max(BYTE_US);
        let mut filled = 0;
        let mut last_us = now_us;
        while filled < buffer.len() {
            let Some(segment) = self.segments.front_mut() else { return (filled, last_us + timeout_us) };
            if segment.first_us > last_us + timeout_us {
                return (filled, last_us + timeout_us);
            }
            let count = (buffer.len() - filled).min(segment.to - segment.from);
            let next = segment.from + count;
            buffer[filled..filled + count].copy_from_slice(&self.bytes[segment.from..next]);
            filled += count;
            last_us = last_us.max(segment.arrival_us(next - 1));
            segment.first_us = segment.arrival_us(next);
            segment.from = next;
            if segment.from == segment.to {
                self.segments.pop_front();
            }
        }
        (filled, last_us)
    }

    /// Drops what was received by `now_us`. Bytes still on their way come later.
    pub(crate) fn discard(&mut self, now_us: u64) {
        while let Some(segment) = self.segments.front_mut() {
            if segment.first_us > now_us {
                return;
            }
            let count = ((now_us - segment.first_us) / BYTE_US + 1) as usize;
            let count = count.min(segment.to - segment.from);
            segment.first_us = segment.arrival_us(segment.from + count);
            segment.from += count;
            if segment.from == segment.to {
                self.segments.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_10_us_apart() {
        let mut wire = Wire::new();
        assert_eq!(wire.put(100, &[1, 2, 3]), 130);
        let mut buffer = [0; 2];
        assert_eq!(wire.receive(0, &mut buffer, 3_000), (2, 120));
        assert_eq!(buffer, [1, 2]);
        assert_eq!(wire.receive(120, &mut buffer, 3_000), (1, 3_130));
        assert_eq!(buffer[0], 3);
    }

    #[test]
    fn the_time_out_runs_from_the_last_byte() {
        let mut wire = Wire::new();
        wire.put(1_000, &[1]);
        wire.put(4_100, &[2]);
        let mut buffer = [0; 2];
        assert_eq!(wire.receive(0, &mut buffer, 1_000), (0, 1_000));
        assert_eq!(wire.receive(1_000, &mut buffer, 3_000), (1, 4_010));
        assert_eq!(wire.receive(4_010, &mut buffer, 3_000), (1, 7_110));
    }

    #[test]
    fn discard_drops_what_came_and_keeps_what_is_on_its_way() {
        let mut wire = Wire::new();
        wire.put(0, &[1, 2, 3, 4]);
        wire.discard(25);
        let mut buffer = [0; 4];
        assert_eq!(wire.receive(25, &mut buffer, 100), (2, 140));
        assert_eq!(buffer[..2], [3, 4]);
    }

    #[test]
    fn two_senders_at_once_destroy_each_other() {
        let mut wire = Wire::new();
        wire.put(100, &[0b1100, 0xFF]);
        wire.put(103, &[0b1010, 0x0F]);
        let mut buffer = [0; 4];
        let (count, _) = wire.receive(100, &mut buffer, 100);
        assert_eq!(buffer[..count], [0b1000, 0x0F]);
    }

    #[test]
    fn a_request_sent_into_a_late_reply_is_destroyed_with_it() {
        let mut wire = Wire::new();
        wire.put(100, &[0xF0, 0xF0, 0xF0]);
        let mut request = [0xFF, 0xFF, 0x01];
        assert!(wire.is_busy(120, 150));
        assert!(!wire.is_busy(140, 170));
        wire.send_into(120, &mut request);
        assert_eq!(request, [0xF0, 0xFF, 0x01]);
        let mut buffer = [0; 8];
        assert_eq!(wire.receive(150, &mut buffer, 100), (2, 250));
    }

    #[test]
    fn unread_bytes_are_bounded_and_the_rest_is_counted() {
        let mut wire = Wire::new();
        for packet in 0..200 {
            wire.put(packet * 1_000, &[0; 12]);
        }
        assert_eq!(wire.overruns(), 2_400 - RECEIVED_BYTES_MAX as u64);
        wire.discard(300_000);
        wire.put(300_000, &[7]);
        assert_eq!(wire.receive(300_000, &mut [0; 1], 100), (1, 300_010));
    }
}
