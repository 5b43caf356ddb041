//! Feetech packets: requests built, replies found among the bytes received.
//!
//! Request `FF FF id len instruction params… checksum`, reply `FF FF id len error data… checksum`;
//! len = params or data + 2; checksum = low byte of ~(id + len + instruction or error + params or data).

use heapless::Vec;

/// Every servo.
pub const BROADCAST: u8 = 0xFE;
/// Bytes of a reply besides its data.
pub const REPLY_OVERHEAD: usize = 6;
/// Longest request: SYNC WRITE of 7 bytes to 7 servos (64 bytes).
pub const REQUEST_BYTES: usize = 64;

/// What a request asks a servo to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Instruction {
    /// Answer.
    Ping = 0x01,
    /// Read registers.
    Read = 0x02,
    /// Write registers.
    Write = 0x03,
    /// Each of the listed servos answers in turn.
    SyncRead = 0x82,
    /// Data for each of the listed servos; nobody answers.
    SyncWrite = 0x83,
}

fn checksum(body: &[u8]) -> u8 {
    !body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte))
}

/// A request packet that is being built, and then its bytes.
#[derive(Debug)]
pub struct Request(Vec<u8, REQUEST_BYTES>);

impl Request {
    /// Builds the request of `instruction` to servo `id` with `params`, at most 58 bytes; `None` if longer.
    pub fn new<'p>(
        id: u8,
        instruction: Instruction,
        params: impl IntoIterator<Item = &'p u8>,
    ) -> Option<Self> {
        let mut bytes = Vec::from_array([0xFF, 0xFF, id, 0, instruction as u8]);
        for param in params {
            bytes.push(*param).ok()?;
        }
        bytes[3] = (bytes.len() - 3) as u8;
        let check = checksum(&bytes[2..]);
        bytes.push(check).ok()?;
        Some(Self(bytes))
    }

    /// The packet's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A valid reply found among received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'b> {
    /// The servo that answered.
    pub id: u8,
    /// Its error byte.
    pub error: u8,
    /// Register values.
    pub data: &'b [u8],
}

/// Walks over received bytes and yields every valid reply of one data length; skips what is not one.
#[derive(Debug)]
pub struct Replies<'b> {
    bytes: &'b [u8],
    at: usize,
    data_length: usize,
    skipped: usize,
}

impl<'b> Replies<'b> {
    /// Looks for replies with `data_length` bytes of data.
    pub fn new(bytes: &'b [u8], data_length: usize) -> Self {
        Self { bytes, at: 0, data_length, skipped: 0 }
    }

    /// Bytes passed over so far that belonged to no valid reply.
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

impl<'b> Iterator for Replies<'b> {
    type Item = Reply<'b>;

    fn next(&mut self) -> Option<Reply<'b>> {
        let length = REPLY_OVERHEAD + self.data_length;
        while let Some(packet) = self.bytes.get(self.at..self.at + length) {
            let body = &packet[2..length - 1];
            if packet[0] == 0xFF
                && packet[1] == 0xFF
                && usize::from(packet[3]) == self.data_length + 2
                && packet[length - 1] == checksum(body)
            {
                self.at += length;
                return Some(Reply { id: packet[2], error: packet[4], data: &packet[5..length - 1] });
            }
            self.at += 1;
            self.skipped += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_known_bytes() {
        let read = Request::new(1, Instruction::Read, &[0x38, 2]).expect("short");
        assert_eq!(read.bytes(), [0xFF, 0xFF, 0x01, 0x04, 0x02, 0x38, 0x02, 0xBE]);
        let sync =
            Request::new(BROADCAST, Instruction::SyncRead, &[0x38, 15, 1, 2, 3, 4, 5, 6]).expect("short");
        assert_eq!(
            sync.bytes(),
            [0xFF, 0xFF, 0xFE, 0x0A, 0x82, 0x38, 0x0F, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x19]
        );
    }

    #[test]
    fn a_request_longer_than_the_longest_packet_is_not_built() {
        assert!(Request::new(1, Instruction::Write, &[0; 58]).is_some());
        assert!(Request::new(1, Instruction::Write, &[0; 59]).is_none());
    }

    #[test]
    fn the_known_reply_is_found_behind_garbage_and_before_more() {
        let bytes = [0x00, 0xFF, 0xFF, 0xFF, 0x01, 0x04, 0x00, 0x80, 0x08, 0x72, 0xFF];
        let mut replies = Replies::new(&bytes, 2);
        assert_eq!(replies.next(), Some(Reply { id: 1, error: 0, data: &[0x80, 0x08] }));
        assert_eq!(replies.skipped(), 2);
        assert_eq!(replies.next(), None);
    }

    #[test]
    fn a_reply_with_one_wrong_bit_is_no_reply() {
        let good = [0xFF, 0xFF, 0x01, 0x04, 0x00, 0x80, 0x08, 0x72];
        for bit in 0..64 {
            let mut bytes = good;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Replies::new(&bytes, 2).next(), None, "bit {bit}");
        }
    }
}
