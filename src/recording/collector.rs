//! Collects the telemetry of a run: any order, doubles, gaps.

use std::collections::BTreeMap;

use firmware_core::protocol::telemetry::{Packet, Sample};

/// The samples of one run by their number.
#[derive(Debug, Clone, Default)]
pub struct Collector {
    samples: BTreeMap<u32, Sample>,
}

impl Collector {
    /// Takes a packet.
    pub fn take(&mut self, packet: &Packet) {
        for (number, sample) in (packet.first_sequence..).zip(&packet.samples) {
            self.samples.insert(number, *sample);
        }
    }

    /// Samples received, doubles not counted.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Nothing was received.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Samples missing between the first and the last received.
    pub fn missing(&self) -> u32 {
        let ends = self.samples.first_key_value().zip(self.samples.last_key_value());
        ends.map_or(0, |((first, _), (last, _))| last - first + 1 - self.samples.len() as u32)
    }

    /// Joints of the run's command; 6 before the first sample.
    pub fn joints(&self) -> usize {
        self.samples.first_key_value().map_or(6, |(_, sample)| sample.n)
    }

    /// Time of the latest sample since the run began (s).
    pub fn latest_s(&self) -> f64 {
        self.samples.last_key_value().map_or(0.0, |(_, sample)| f64::from(sample.t_us) / 1e6)
    }

    /// The samples in order.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.samples.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(first_sequence: u32, count: usize) -> Packet {
        let sample = Sample { n: 6, ..Sample::default() };
        Packet { first_sequence, samples: core::iter::repeat_n(sample, count).collect() }
    }

    #[test]
    fn doubles_count_once_and_a_gap_is_seen_until_it_is_filled() {
        let mut collector = Collector::default();
        for (first, count) in [(10, 5), (20, 5), (10, 5)] {
            collector.take(&packet(first, count));
        }
        assert_eq!((collector.len(), collector.missing()), (10, 5));
        collector.take(&packet(15, 5));
        assert_eq!((collector.len(), collector.missing(), collector.joints()), (15, 0, 6));
    }
}
