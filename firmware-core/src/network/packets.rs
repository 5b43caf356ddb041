//! Telemetry samples into TELEM packets: full, 40 ms old, or at the end of the run.

use crate::platform::{ClientId, NetworkPort};
use crate::protocol::telemetry::{encode_packet, samples_per_packet};
use crate::shared::Shared;

/// A packet goes out when its first sample is this old (µs).
const AGE_US: u64 = 40_000;

/// Sends what is due of the samples visible at `now_us`; with `flush` all of them.
pub(super) fn send_due(shared: &mut Shared, flush: bool, now_us: u64, port: &mut impl NetworkPort) {
    while let Some(first) = shared.telemetry.front().copied().filter(|sample| sample.at_us <= now_us) {
        let group = |client: ClientId, sent: bool, n: u8| (client, sent, n);
        let key = group(first.client, first.sent, first.n);
        let most = samples_per_packet(usize::from(first.n));
        let ready = shared
            .telemetry
            .iter()
            .take(most)
            .take_while(|sample| sample.at_us <= now_us && group(sample.client, sample.sent, sample.n) == key)
            .count();
        // A visible sample of another run follows: this run's last packet need not wait.
        let run_over = shared.telemetry.iter().nth(ready).is_some_and(|next| next.at_us <= now_us);
        if first.sent && ready < most && !flush && !run_over && now_us - first.at_us < AGE_US {
            break;
        }
        if first.sent {
            let samples = Samples { samples: shared.telemetry.iter(), left: ready };
            port.send(first.client, &encode_packet(first.sequence, samples));
        }
        for _ in 0..ready {
            shared.telemetry.pop_front();
        }
    }
}

/// When the oldest visible sample makes its packet due (µs).
pub(super) fn next_us(shared: &Shared) -> u64 {
    shared.telemetry.front().map_or(u64::MAX, |sample| sample.at_us + AGE_US)
}

/// The first samples of the ring.
struct Samples<I> {
    samples: I,
    left: usize,
}

impl<I: Iterator> Iterator for Samples<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.samples.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for Samples<I> {}
