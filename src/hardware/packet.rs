//! Packets as the servos see them: requests found among the bytes on the wire, replies built.

/// Every servo.
pub(crate) const BROADCAST: u8 = 0xFE;
/// Bytes of the longest packet: two of header, id, length, and 255 as the length says.
pub(crate) const PACKET_BYTES: usize = 4 + 255;
/// Most data bytes of a reply: its length byte counts two more.
pub(crate) const REPLY_DATA_BYTES: usize = 253;

/// What a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// 01: answer.
    Ping,
    /// 02: address, length.
    Read,
    /// 03: address, data.
    Write,
    /// 04: as Write, kept until Action.
    RegWrite,
    /// 05: do what Reg Write kept.
    Action,
    /// 06: registers to their power-up values.
    Reset,
    /// 82: address, length, ids.
    SyncRead,
    /// 83: address, length, then id and data of each.
    SyncWrite,
}

impl Instruction {
    fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0x01 => Some(Self::Ping),
            0x02 => Some(Self::Read),
            0x03 => Some(Self::Write),
            0x04 => Some(Self::RegWrite),
            0x05 => Some(Self::Action),
            0x06 => Some(Self::Reset),
            0x82 => Some(Self::SyncRead),
            0x83 => Some(Self::SyncWrite),
            0x00 | 0x07..=0x81 | 0x84..=0xFF => None,
        }
    }
}

/// A request with a right checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request<'b> {
    /// The servo meant, or [`BROADCAST`].
    pub(crate) id: u8,
    /// What it asks.
    pub(crate) instruction: Instruction,
    /// The instruction's parameters.
    pub(crate) params: &'b [u8],
}

/// What stands at the start of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found<'b> {
    /// A request; the packet has this many bytes.
    Request(Request<'b>, usize),
    /// Nothing that can be used: skip this many bytes.
    Skip(usize),
    /// A packet whose checksum is wrong: skip this many bytes, its header, for a packet may stand in the rest.
    BadChecksum(usize),
    /// The start of a packet whose rest has not come.
    Incomplete,
}

/// Looks at the start of `bytes`, which are not empty.
pub(crate) fn find(bytes: &[u8]) -> Found<'_> {
    match bytes {
        [] | [0xFF] | [0xFF, 0xFF] => return Found::Incomplete,
        // A third FF is no id: the header starts one byte later.
        [0xFF, 0xFF, 0xFF, ..] => return Found::Skip(1),
        [0xFF, 0xFF, ..] => {}
        [0xFF, _, ..] | [_, ..] => return Found::Skip(1),
    }
    let Some(&length) = bytes.get(3) else { return Found::Incomplete };
    let length = usize::from(length);
    if length < 2 {
        return Found::Skip(1);
    }
    let Some(body) = bytes.get(2..3 + length) else { return Found::Incomplete };
    let Some(&check) = bytes.get(3 + length) else { return Found::Incomplete };
    if check != checksum(body) {
        return Found::BadChecksum(2);
    }
    match Instruction::from_byte(body[2]) {
        Some(instruction) => {
            Found::Request(Request { id: body[0], instruction, params: &body[3..] }, 4 + length)
        }
        None => Found::Skip(4 + length),
    }
}

/// Low byte of ~(sum of `body`).
pub(crate) fn checksum(body: &[u8]) -> u8 {
    !body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte))
}

/// The bytes of one reply, built in place.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    bytes: [u8; PACKET_BYTES],
    length: usize,
}

impl Reply {
    /// A reply of servo `id` with error byte `error` and `length` data bytes (at most 253) that `fill` sets.
    pub(crate) fn write(&mut self, id: u8, error: u8, length: usize, fill: impl FnOnce(&mut [u8])) {
        debug_assert!(length <= REPLY_DATA_BYTES);
        self.bytes[..5].copy_from_slice(&[0xFF, 0xFF, id, length as u8 + 2, error]);
        fill(&mut self.bytes[5..5 + length]);
        self.bytes[5 + length] = checksum(&self.bytes[2..5 + length]);
        self.length = 6 + length;
    }

    /// The packet.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self { bytes: [0; PACKET_BYTES], length: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: [u8; 8] = [0xFF, 0xFF, 0x01, 0x04, 0x02, 0x38, 0x02, 0xBE];

    #[test]
    fn the_known_request_is_read() {
        let request = Request { id: 1, instruction: Instruction::Read, params: &[0x38, 2] };
        assert_eq!(find(&READ), Found::Request(request, 8));
    }

    #[test]
    fn the_known_reply_is_built() {
        let mut reply = Reply::default();
        reply.write(1, 0, 2, |data| data.copy_from_slice(&[0x80, 0x08]));
        assert_eq!(reply.bytes(), [0xFF, 0xFF, 0x01, 0x04, 0x00, 0x80, 0x08, 0x72]);
    }

    #[test]
    fn a_request_cut_anywhere_is_incomplete() {
        for length in 0..READ.len() {
            assert_eq!(find(&READ[..length]), Found::Incomplete, "{length} bytes");
        }
    }

    #[test]
    fn a_request_with_one_wrong_bit_is_never_taken() {
        for bit in 0..64 {
            let mut bytes = READ;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(find(&bytes), Found::Request(..)), "bit {bit}");
        }
    }

    #[test]
    fn garbage_before_a_header_is_skipped_byte_by_byte() {
        assert_eq!(find(&[0x12, 0xFF, 0xFF]), Found::Skip(1));
        assert_eq!(find(&[0xFF, 0x12, 0xFF]), Found::Skip(1));
        assert_eq!(find(&[0xFF, 0xFF, 0xFF, 0x01]), Found::Skip(1));
        assert_eq!(find(&[0xFF, 0xFF, 0x01, 0x01]), Found::Skip(1));
    }

    #[test]
    fn an_unknown_instruction_is_passed_over_as_a_whole() {
        let body = [0x01, 0x02, 0x55];
        let bytes = [0xFF, 0xFF, 0x01, 0x02, 0x55, checksum(&body)];
        assert_eq!(find(&bytes), Found::Skip(6));
    }
}
