//! Collects the telemetry of a run: any order, doubles, gaps.

use std::collections::BTreeMap;

use firmware_core::protocol::reply::Done;
use firmware_core::protocol::telemetry::{Packet, Sample};

/// The samples of one run by their number.
#[derive(Debug, Clone, Default)]
pub struct Collector {
    /// By distance from `first`: numbers count from power-up on and may come round.
    samples: BTreeMap<i32, Sample>,
    /// Number of the first sample that came.
    first: Option<u32>,
}

impl Collector {
    /// Takes a packet.
    pub fn take(&mut self, packet: &Packet) {
        let first = *self.first.get_or_insert(packet.first_sequence);
        let mut distance = packet.first_sequence.wrapping_sub(first) as i32;
        for sample in &packet.samples {
            self.samples.insert(distance, *sample);
            distance = distance.wrapping_add(1);
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

    /// Samples that the run sent, as its DONE counts them, and that did not come: one a cycle, but the dropped ones.
    pub fn missing(&self, done: &Done) -> u32 {
        let sent = done.cycles.saturating_sub(done.telemetry_dropped);
        sent.saturating_sub(self.samples.len() as u32)
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
    fn doubles_count_once_and_what_did_not_come_is_missing() {
        let mut collector = Collector::default();
        for (first, count) in [(10, 5), (20, 5), (10, 5), (5, 5)] {
            collector.take(&packet(first, count));
        }
        let done = Done { cycles: 27, telemetry_dropped: 2, ..Done::default() };
        assert_eq!((collector.len(), collector.missing(&done)), (15, 10));
        collector.take(&packet(15, 5));
        assert_eq!((collector.len(), collector.missing(&done), collector.joints()), (20, 5, 6));
    }

    #[test]
    fn samples_stay_in_order_where_their_numbers_come_round() {
        let mut collector = Collector::default();
        let at = |t_us: u32| Sample { n: 6, t_us, ..Sample::default() };
        let samples = |t_us: &[u32]| t_us.iter().map(|t_us| at(*t_us)).collect();
        collector.take(&Packet { first_sequence: 1, samples: samples(&[30, 40]) });
        collector.take(&Packet { first_sequence: u32::MAX, samples: samples(&[10, 20]) });
        let times: Vec<u32> = collector.samples().map(|sample| sample.t_us).collect();
        assert_eq!(times, [10, 20, 30, 40]);
        assert_eq!(collector.latest_s(), 40e-6);
    }
}
