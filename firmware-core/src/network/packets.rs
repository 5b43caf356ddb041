//! Telemetry samples into TELEM packets: sent when full, 40 ms old, or at the end of the run.

use heapless::Vec;

use crate::platform::ClientId;
use crate::protocol::telemetry::{PACKET_BYTES_MAX, encode_packet, samples_per_packet};
use crate::shared::Shared;
use crate::telemetry_ring::Head;

/// A packet goes out when its first sample is this old (µs).
const AGE_US: u64 = 40_000;

/// What the samples of one packet have in common.
fn group(head: Head) -> (ClientId, bool, usize) {
    (head.client, head.sent, head.n)
}

/// Samples taken from the front of the ring.
#[expect(clippy::large_enum_variant, reason = "one of them at a time, on the stack, and sent at once")]
pub(super) enum Taken {
    /// One packet.
    Packet(ClientId, Vec<u8, PACKET_BYTES_MAX>),
    /// Samples that nobody gets.
    Unsent,
}

/// Takes the samples of one packet that is due at `now_us`; of a run that is over (`flush`) all that were made up to
/// then are due.
pub(super) fn take(shared: &mut Shared, now_us: u64, flush: bool) -> Option<Taken> {
    let mut heads = shared.telemetry.heads().take_while(|head| head.at_us <= now_us);
    let first = heads.next()?;
    let capacity = samples_per_packet(first.n);
    let (mut count, mut closed) = (1, false);
    for head in heads.take(capacity - 1) {
        // Samples of another run behind these: no more will join them.
        closed = group(head) != group(first);
        if closed {
            break;
        }
        count += 1;
    }
    let full = count == capacity;
    let old = now_us >= first.at_us + AGE_US;
    if !(full || old || closed || flush) {
        return None;
    }
    let sequence = shared.telemetry.first_sequence();
    let samples = core::iter::from_fn(|| shared.telemetry.take());
    Some(if first.sent {
        Taken::Packet(first.client, encode_packet(sequence, count, samples))
    } else {
        samples.take(count).for_each(drop);
        Taken::Unsent
    })
}

/// When the samples at the front of the ring make a packet due (µs).
pub(super) fn next_us(shared: &Shared) -> u64 {
    let mut heads = shared.telemetry.heads();
    let Some(first) = heads.next() else { return u64::MAX };
    let old_us = first.at_us + AGE_US;
    let last = heads.nth(samples_per_packet(first.n) - 2);
    last.map_or(old_us, |last| last.at_us.min(old_us))
}
