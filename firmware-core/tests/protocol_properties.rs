//! Properties of the decoders: no bytes panic, and what decodes encodes to the same bytes.

use firmware_core::protocol::layout::Layout;
use firmware_core::protocol::telemetry::{PACKET_BYTES_MAX, sample_bytes, samples_per_packet};
use firmware_core::protocol::{ApiLevel, Reply, Request, codes};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn level() -> impl Strategy<Value = ApiLevel> {
    select(&ApiLevel::ALL[..])
}

/// Bytes that often have a form: a real code, a length near that of its forms.
fn likely_request() -> impl Strategy<Value = Vec<u8>> {
    let code = select((0x00_u8..=0x13).collect::<Vec<_>>());
    (code, vec(any::<u8>(), 0..60), 0_u8..4).prop_map(|(code, mut bytes, frame)| {
        bytes.insert(0, code);
        if code == codes::JOG && bytes.len() > 1 {
            bytes[1] = frame;
        }
        bytes
    })
}

fn likely_reply() -> impl Strategy<Value = Vec<u8>> {
    let telemetry = (6_usize..=7, 1_usize..=19).prop_flat_map(|(n, count)| {
        vec(any::<u8>(), 6 + count * sample_bytes(n)).prop_map(move |mut bytes| {
            bytes[0] = codes::TELEM;
            bytes[5] = count as u8;
            bytes
        })
    });
    let other = (0x80_u8..=0x89, vec(any::<u8>(), 0..110), 5_u8..9).prop_map(|(code, mut bytes, n)| {
        bytes.insert(0, code);
        let index = if code == codes::STATE_REPLY { 2 } else { 8 };
        if let Some(count) = bytes.get_mut(index) {
            *count = n;
        }
        bytes
    });
    prop_oneof![1 => telemetry, 3 => other]
}

/// Every byte of the message counts: no optional tail, no byte of which only "not 0" is read.
fn encode_reply(reply: &Reply, length: usize) -> Vec<u8> {
    let level = match length {
        73 => ApiLevel::V4_1,
        50 | 74 => ApiLevel::V4_4,
        79 => ApiLevel::V4_6,
        _others => ApiLevel::V5_1,
    };
    match reply {
        Reply::Pong(pong) => pong.encode::<128>().to_vec(),
        Reply::Ack(ack) => ack.encode::<128>().to_vec(),
        Reply::Done(done) => done.encode::<128>().to_vec(),
        Reply::RegisterValues(values) => values.encode::<128>().to_vec(),
        Reply::RegisterWritten(written) => written.encode::<128>().to_vec(),
        Reply::State(seen) => seen.encode(level).to_vec(),
        Reply::Stream(stream) => stream.encode(level).to_vec(),
        Reply::Telemetry(packet) => packet.encode().to_vec(),
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..1600), level in level()) {
        let _ = Request::decode(&bytes, level);
        let _ = Reply::decode(&bytes);
    }

    #[test]
    fn a_request_that_decodes_encodes_to_a_request_of_the_same_meaning(bytes in likely_request(), level in level()) {
        if let Ok(request) = Request::decode(&bytes, level) {
            let encoded = request.encode::<1600>().expect("no longer than the request");
            // Codes and fixed forms keep every byte; where more bytes are allowed, those are ignored.
            prop_assert!(encoded.len() <= bytes.len().max(2));
            if encoded.len() == bytes.len() && bytes[0] != codes::CONTROL {
                prop_assert_eq!(encoded.as_slice(), bytes.as_slice());
            }
            let again = Request::decode(&encoded, level).expect("what was encoded decodes");
            prop_assert_eq!(again.encode::<1600>().expect("fits"), encoded);
        }
    }

    #[test]
    fn a_request_cut_short_is_never_read_past_its_end(bytes in likely_request(), level in level(), cut in 0_usize..60) {
        let cut = &bytes[..cut.min(bytes.len())];
        if let Ok(request) = Request::decode(cut, level) {
            prop_assert!(request.encode::<1600>().expect("fits").len() <= cut.len().max(2));
        }
    }

    #[test]
    fn a_reply_that_decodes_encodes_to_its_bytes(bytes in likely_reply()) {
        if let Ok(reply) = Reply::decode(&bytes) {
            let encoded = encode_reply(&reply, bytes.len());
            prop_assert_eq!(encoded.len(), bytes.len());
            prop_assert_eq!(Reply::decode(&encoded), Ok(reply));
        }
    }

    #[test]
    fn a_telemetry_packet_of_every_size_round_trips(n in 6_usize..=7, count in 1_usize..=18, seed in any::<u8>()) {
        prop_assume!(count <= samples_per_packet(n));
        let mut bytes: Vec<u8> = (0..6 + count * sample_bytes(n)).map(|k| (k as u8).wrapping_mul(31) ^ seed).collect();
        bytes[0] = codes::TELEM;
        bytes[5] = count as u8;
        for ok in (1..=count).map(|sample| 6 + sample * sample_bytes(n) - 1) {
            bytes[ok] &= 1;
        }
        let reply = Reply::decode(&bytes).expect("a whole packet");
        let encoded = encode_reply(&reply, bytes.len());
        prop_assert_eq!(&encoded, &bytes);
        prop_assert!(encoded.len() <= PACKET_BYTES_MAX);
    }
}

#[test]
fn refusals_say_what_was_expected_and_found() {
    let error = Request::decode(&[codes::JOG, 1, 2], ApiLevel::V5_1).expect_err("too short");
    let text =
        "request 0F (hex): expected frame 0 with 14 or 16 bytes, or frame 1 or 2 with 18, found 3 bytes";
    assert_eq!(error.to_string(), text);
    let error = Reply::decode(&[0x85, 0]).expect_err("too short");
    assert_eq!(error.to_string(), "reply 85 (hex) has no form of 2 bytes; is the peer's API level known?");
}
