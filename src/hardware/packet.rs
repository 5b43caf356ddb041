//! Feetech packets as a servo sees them: requests parsed, replies built.

use super::wire::SEGMENT_BYTES;

/// Every servo.
pub const BROADCAST: u8 = 0xFE;

/// A valid request: who is asked, what, and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'b> {
    /// Servo id, or [`BROADCAST`].
    pub id: u8,
    /// Instruction byte.
    pub instruction: u8,
    /// Parameters.
    pub params: &'b [u8],
}

fn checksum(body: &[u8]) -> u8 {
    !body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte))
}

/// Finds the first valid request and what follows it. Bytes that are none, or whose checksum is wrong, get
/// no answer.
pub fn next_request(bytes: &[u8]) -> Option<(Request<'_>, &[u8])> {
    (0..bytes.len()).find_map(|start| {
        let [0xFF, 0xFF, id, length, rest @ ..] = &bytes[start..] else { return None };
        let length = usize::from(*length);
        if *id == 0xFF || length < 2 || rest.len() < length {
            return None;
        }
        let (body, after) = rest.split_at(length);
        let (check, body) = body.split_last()?;
        let whole = &bytes[start + 2..start + 3 + length];
        if checksum(whole) != *check {
            return None;
        }
        let (instruction, params) = body.split_first()?;
        Some((Request { id: *id, instruction: *instruction, params }, after))
    })
}

/// Builds the reply of servo `id`; returns its length in `out`.
pub fn build_reply(id: u8, error: u8, data: &[u8], out: &mut [u8; SEGMENT_BYTES]) -> usize {
    let count = data.len().min(SEGMENT_BYTES - 6);
    out[..5].copy_from_slice(&[0xFF, 0xFF, id, count as u8 + 2, error]);
    out[5..5 + count].copy_from_slice(&data[..count]);
    out[5 + count] = checksum(&out[2..5 + count]);
    6 + count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_request_is_parsed_and_the_known_reply_built() {
        let bytes = [0xFF, 0xFF, 0x01, 0x04, 0x02, 0x38, 0x02, 0xBE, 0x55];
        let (request, after) = next_request(&bytes).expect("valid");
        assert_eq!(request, Request { id: 1, instruction: 2, params: &[0x38, 2] });
        assert_eq!(after, [0x55]);
        let mut out = [0; SEGMENT_BYTES];
        let length = build_reply(1, 0, &2176_u16.to_le_bytes(), &mut out);
        assert_eq!(out[..length], [0xFF, 0xFF, 0x01, 0x04, 0x00, 0x80, 0x08, 0x72]);
    }

    #[test]
    fn a_wrong_checksum_or_a_cut_packet_is_no_request() {
        let good = [0xFF, 0xFF, 0x01, 0x04, 0x02, 0x38, 0x02, 0xBE];
        for end in 0..good.len() {
            assert_eq!(next_request(&good[..end]), None, "{end} bytes");
        }
        for bit in 0..64 {
            let mut bytes = good;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(next_request(&bytes), None, "bit {bit}");
        }
    }
}
