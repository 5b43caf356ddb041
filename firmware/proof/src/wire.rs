//! The wire: example messages decoded and encoded again, and the CRC.

use firmware_core::motion::plan::crc32c;
use firmware_core::protocol::reply::Reply;
use firmware_core::protocol::{ApiLevel, Request};

use crate::hash::Hash;
use crate::probe::{Counts, Probe, counted, line};
use crate::vectors;

/// Runs the cases of this module.
pub fn run(probe: &mut impl Probe) {
    crc(probe);
    messages(probe);
}

fn crc(probe: &mut impl Probe) {
    let (mut hash, mut cases) = (Hash::default(), 0);
    for bytes in vectors::CRC.iter() {
        hash.word(crc32c(bytes));
        cases += 1;
    }
    line(probe, format_args!("CRC-32C cases {cases} hash {:016x}", hash.value()));
}

/// Every example message, whole and cut short by a byte: what the decoders make of it, and the bytes that the
/// encoder makes of a request.
fn messages(probe: &mut impl Probe) {
    let (mut hash, mut cases, mut counts) = (Hash::default(), 0, Counts::default());
    for whole in vectors::PROTOCOL.iter() {
        for bytes in [whole, whole.split_last().map_or(whole, |(_, front)| front)] {
            let request = counted(probe, &mut counts, || Request::decode(bytes, ApiLevel::V5_1));
            hash_text(&mut hash, format_args!("{request:?} {:?}", Reply::decode(bytes)));
            if let Ok(Ok(again)) = request.as_ref().map(Request::encode::<2048>) {
                hash.bytes(&again);
            }
            cases += 1;
        }
    }
    line(probe, format_args!("messages cases {cases} hash {:016x}", hash.value()));
    counts.report("decoding a request", probe);
}

/// Adds a value's text, floats included: their formatting is part of what must be the same.
fn hash_text(hash: &mut Hash, text: core::fmt::Arguments<'_>) {
    struct Sink<'h>(&'h mut Hash);
    impl core::fmt::Write for Sink<'_> {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            self.0.bytes(text.as_bytes());
            Ok(())
        }
    }
    // The sink takes whatever it is given.
    let _taken = core::fmt::write(&mut Sink(hash), text);
}
