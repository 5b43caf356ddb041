//! Telemetry samples into TELEM packets: sent when full, 40 ms old, or at the end of the run.

use crate::platform::{ClientId, NetworkPort};
use crate::protocol::telemetry::{Sample, encode_packet, samples_per_packet};
use crate::shared::{Shared, TelemetrySample};

/// A packet goes out when its first sample is this old (µs).
const AGE_US: u64 = 40_000;

/// What the samples of one packet have in common.
fn group(sample: &TelemetrySample) -> (ClientId, bool, u8) {
    (sample.client, sample.sent, sample.n)
}

/// Sends the packets that are due at `now_us`.
pub(super) fn send_due(shared: &mut Shared, now_us: u64, port: &mut impl NetworkPort) {
    while send_one(shared, now_us, false, port) {}
}

/// Sends every sample made up to `end_us`: the run that made them is over.
pub(super) fn flush(shared: &mut Shared, end_us: u64, port: &mut impl NetworkPort) {
    while send_one(shared, end_us, true, port) {}
}

/// Sends, or drops unsent, the samples at the front of the ring if they are due. False: they are not.
fn send_one(shared: &mut Shared, now_us: u64, flush: bool, port: &mut impl NetworkPort) -> bool {
    let Some(first) = shared.telemetry.front().filter(|sample| sample.at_us <= now_us) else { return false };
    let (client, sent, n) = group(first);
    let sequence = first.sequence;
    let capacity = samples_per_packet(usize::from(n));
    let visible = shared.telemetry.iter().take_while(|sample| sample.at_us <= now_us);
    let count = visible.take(capacity).take_while(|sample| group(sample) == (client, sent, n)).count();
    let full = count == capacity;
    let old = now_us >= first.at_us + AGE_US;
    // Samples of another run behind these: no more will join them.
    let closed = shared.telemetry.get(count).is_some_and(|next| next.at_us <= now_us);
    if !(full || old || closed || flush) {
        return false;
    }
    if sent {
        let samples = shared.telemetry.iter().map(Sample::from);
        port.send(client, &encode_packet(sequence, count, samples));
    }
    for _ in 0..count {
        shared.telemetry.pop_front();
    }
    true
}

/// When the samples at the front of the ring make a packet due (µs).
pub(super) fn next_us(shared: &Shared) -> u64 {
    let Some(first) = shared.telemetry.front() else { return u64::MAX };
    let old_us = first.at_us + AGE_US;
    let last = shared.telemetry.get(samples_per_packet(usize::from(first.n)) - 1);
    last.map_or(old_us, |last| last.at_us.min(old_us))
}
