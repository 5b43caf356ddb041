//! What disturbs the line: inverted bits, lost and extra bytes, another talker, a cut cable.

use super::noise::{Noise, Stream};
use super::wire::{BYTE_US, Wire};

/// Longest burst of another talker (bytes).
const BURST_BYTES: usize = 8;

/// What is wrong with the line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LineFaults {
    /// Probability that a bit is inverted.
    pub(crate) bit_errors: f64,
    /// Probability that a byte is lost.
    pub(crate) dropped_bytes: f64,
    /// Probability that a random byte follows a byte.
    pub(crate) extra_bytes: f64,
    /// Probability that a SYNC WRITE is lost to a servo.
    pub(crate) lost_sync_write: f64,
    /// No byte passes.
    pub(crate) disconnected: bool,
    /// Another talker's period (µs).
    pub(crate) talker_us: Option<u64>,
}

/// The disturbances of the line, with their chances.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) faults: LineFaults,
    bit_errors: Noise,
    dropped: Noise,
    extra: Noise,
    talker: Noise,
    /// Counts the bytes that passed: the sample number of their chances.
    passed: u64,
    /// Counts the talker's bursts.
    bursts: u64,
    next_burst_us: u64,
}

impl Line {
    /// A good line; chances come from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            faults: LineFaults::default(),
            bit_errors: Noise::new(seed, Stream::BitErrors, 0),
            dropped: Noise::new(seed, Stream::DroppedBytes, 0),
            extra: Noise::new(seed, Stream::ExtraBytes, 0),
            talker: Noise::new(seed, Stream::Talker, 0),
            passed: 0,
            bursts: 0,
            next_burst_us: 0,
        }
    }

    /// Sets the faults from `now_us` on.
    pub(crate) fn set_faults(&mut self, now_us: u64, faults: LineFaults) {
        if self.faults.talker_us != faults.talker_us {
            self.next_burst_us = now_us.saturating_add(faults.talker_us.unwrap_or(0));
        }
        self.faults = faults;
    }

    /// Bytes may change on their way.
    pub(crate) fn is_disturbed(&self) -> bool {
        let faults = &self.faults;
        faults.disconnected
            || faults.bit_errors > 0.0
            || faults.dropped_bytes > 0.0
            || faults.extra_bytes > 0.0
            || faults.talker_us.is_some()
    }

    /// Counts bytes that pass an undisturbed line.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.passed += bytes as u64;
    }

    /// What comes out of the line when `bytes` go in.
    pub(crate) fn disturb(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let faults = self.faults;
        for &byte in bytes {
            let number = self.passed;
            self.passed += 1;
            if faults.disconnected || self.dropped.happens(number, faults.dropped_bytes) {
                continue;
            }
            out.push(byte ^ self.inverted_bits(number));
            if self.extra.happens(2 * number, faults.extra_bytes) {
                out.push(self.extra.bits(2 * number + 1) as u8);
            }
        }
    }

    fn inverted_bits(&self, number: u64) -> u8 {
        let rate = self.faults.bit_errors;
        if rate <= 0.0 {
            return 0;
        }
        (0..8)
            .filter(|bit| self.bit_errors.happens(8 * number + bit, rate))
            .fold(0, |mask, bit| mask | 1 << bit)
    }

    /// Puts the other talker's bursts on the wire that begin by `until_us`.
    pub(crate) fn talk(&mut self, until_us: u64, wire: &mut Wire) {
        let Some(period_us) = self.faults.talker_us.filter(|_| !self.faults.disconnected) else { return };
        let period_us = period_us.max(BURST_BYTES as u64 * BYTE_US);
        while self.next_burst_us <= until_us {
            let bits = self.talker.bits(self.bursts);
            let length = 1 + (self.talker.bits(!self.bursts) % BURST_BYTES as u64) as usize;
            wire.put(self.next_burst_us, &bits.to_le_bytes()[..length]);
            self.bursts += 1;
            self.next_burst_us += period_us;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(faults: LineFaults, bytes: &[u8]) -> Vec<u8> {
        let mut line = Line::new(11);
        line.set_faults(0, faults);
        let mut out = Vec::new();
        line.disturb(bytes, &mut out);
        out
    }

    #[test]
    fn bits_are_inverted_at_their_rate() {
        let out = through(LineFaults { bit_errors: 0.01, ..LineFaults::default() }, &vec![0; 20_000]);
        let inverted: u32 = out.iter().map(|byte| byte.count_ones()).sum();
        assert_eq!(out.len(), 20_000);
        assert!((1_450..1_750).contains(&inverted), "{inverted} of 160000");
    }

    #[test]
    fn bytes_are_dropped_and_added_at_their_rates() {
        let dropped = through(LineFaults { dropped_bytes: 0.1, ..LineFaults::default() }, &vec![0; 10_000]);
        assert!((8_900..9_100).contains(&dropped.len()), "{} left", dropped.len());
        let added = through(LineFaults { extra_bytes: 0.1, ..LineFaults::default() }, &vec![0; 10_000]);
        assert!((10_900..11_100).contains(&added.len()), "{} in all", added.len());
    }

    #[test]
    fn nothing_passes_a_cut_cable() {
        assert!(through(LineFaults { disconnected: true, ..LineFaults::default() }, &[1, 2, 3]).is_empty());
    }

    #[test]
    fn another_talker_is_heard_once_per_period() {
        let mut line = Line::new(1);
        let mut wire = Wire::new();
        line.set_faults(1_000, LineFaults { talker_us: Some(5_000), ..LineFaults::default() });
        line.talk(5_999, &mut wire);
        assert_eq!(wire.receive(0, &mut [0; 8], 6_000), (0, 6_000));
        line.talk(6_000, &mut wire);
        let (count, _) = wire.receive(6_000, &mut [0; 8], 3_000);
        assert!((1..=8).contains(&count), "{count} bytes");
    }
}
