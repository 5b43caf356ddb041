//! Improv packets: found among other text on the serial port, and built.
//!
//! `IMPROV`, version 1, type, length, data, checksum (low byte of the sum of all bytes before it). What the ATOM
//! sends ends with a line feed, so that a terminal shows the log between packets as lines.

use heapless::Vec;

/// What every packet begins with: the name and version 1.
const HEAD: &[u8; 7] = b"IMPROV\x01";
/// Most data bytes: the length is a byte.
pub const DATA_BYTES: usize = 255;
/// Longest packet with its line feed.
pub const PACKET_BYTES: usize = HEAD.len() + 2 + DATA_BYTES + 2;

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The ATOM's state.
    State = 1,
    /// The last error.
    Error = 2,
    /// A command to the ATOM.
    Command = 3,
    /// The result of a command.
    Result = 4,
}

/// State of the provisioning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Ready for settings.
    Ready = 2,
    /// Joining a network.
    Provisioning = 3,
    /// Connected.
    Provisioned = 4,
}

/// Error of the last command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Error {
    /// None.
    None = 0,
    /// The packet's checksum or its lengths do not fit.
    InvalidPacket = 1,
    /// No such command.
    UnknownCommand = 2,
    /// The network could not be joined.
    UnableToConnect = 3,
    /// Refused: the robot moves or is being updated.
    Unknown = 0xFF,
}

/// Commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// WiFi settings: join this network.
    Settings = 1,
    /// Ask for the state.
    State = 2,
    /// Ask who this is.
    DeviceInfo = 3,
    /// Ask which networks there are.
    Scan = 4,
}

impl Command {
    /// The command of a byte.
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::Settings, Self::State, Self::DeviceInfo, Self::Scan]
            .into_iter()
            .find(|command| *command as u8 == byte)
    }
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// The bytes of a packet. Data past 255 bytes is left out.
pub fn packet(kind: Kind, data: &[u8]) -> Vec<u8, PACKET_BYTES> {
    let data = &data[..data.len().min(DATA_BYTES)];
    let parts = [HEAD, &[kind as u8, data.len() as u8][..], data];
    let mut bytes: Vec<u8, PACKET_BYTES> = parts.into_iter().flatten().copied().collect();
    let sum = checksum(&bytes);
    bytes.extend([sum, b'\n']);
    bytes
}

/// The result of a command: strings, each with its length in front. A string that does not fit any more ends the
/// list.
pub fn result(command: Command, strings: &[&str]) -> Vec<u8, PACKET_BYTES> {
    let mut data: Vec<u8, DATA_BYTES> = Vec::from_array([command as u8, 0]);
    for text in strings {
        let fits = text.len() < DATA_BYTES - data.len();
        if !fits {
            break;
        }
        data.extend(core::iter::once(text.len() as u8).chain(text.bytes()));
    }
    data[1] = data.len() as u8 - 2;
    packet(Kind::Result, &data)
}

/// What was found on the serial port.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "it is looked at once and dropped, and nothing is allocated")]
pub enum Found {
    /// A packet with a right checksum: its type byte and data.
    Packet(u8, Vec<u8, DATA_BYTES>),
    /// A packet with a wrong checksum.
    Broken,
}

/// Finds packets in a stream of bytes.
#[derive(Debug, Default)]
pub struct Parser {
    bytes: Vec<u8, PACKET_BYTES>,
}

impl Parser {
    /// Takes the next byte.
    pub fn take(&mut self, byte: u8) -> Option<Found> {
        let at = self.bytes.len();
        if at < HEAD.len() && byte != HEAD[at] {
            // Other text. It may be the beginning of a packet: the head's first byte does not come again in it.
            self.bytes.clear();
            if byte == HEAD[0] {
                self.bytes.extend([byte]);
            }
            return None;
        }
        self.bytes.extend([byte]);
        let data_at = HEAD.len() + 2;
        let length = usize::from(*self.bytes.get(data_at - 1)?);
        let (body, sum) = self.bytes.get(..=data_at + length)?.split_at(data_at + length);
        let found = if *sum == [checksum(body)] {
            Found::Packet(body[HEAD.len()], body[data_at..].iter().copied().collect())
        } else {
            Found::Broken
        };
        self.bytes.clear();
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> std::vec::Vec<Found> {
        let mut parser = Parser::default();
        bytes.iter().filter_map(|byte| parser.take(*byte)).collect()
    }

    extern crate std;

    #[test]
    fn the_published_request_for_the_state_is_found_between_text() {
        let bytes = b"log line\nIMPIMPROV\x01\x03\x02\x02\x00\xE5boot";
        assert_eq!(found(bytes), [Found::Packet(3, Vec::from_array([2, 0]))]);
    }

    #[test]
    fn a_wrong_checksum_is_a_broken_packet_and_the_next_one_is_found() {
        let bytes = b"IMPROV\x01\x03\x02\x02\x00\xE4IMPROV\x01\x03\x02\x02\x00\xE5";
        assert_eq!(found(bytes), [Found::Broken, Found::Packet(3, Vec::from_array([2, 0]))]);
    }

    #[test]
    fn a_state_has_the_published_bytes() {
        assert_eq!(packet(Kind::State, &[State::Ready as u8]), *b"IMPROV\x01\x01\x01\x02\xE2\n");
    }

    #[test]
    fn strings_that_do_not_fit_are_left_out_whole() {
        let long = "x".repeat(200);
        let bytes = result(Command::DeviceInfo, &["a", &long, &long]);
        assert_eq!(usize::from(bytes[8]), 2 + 2 + 201, "the second long string is not there");
        assert_eq!(usize::from(bytes[10]), 2 + 201);
    }
}
