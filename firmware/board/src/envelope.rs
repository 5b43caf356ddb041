//! What the sockets and the network side say to each other, as messages of a [`Queue`].

use firmware_core::platform::{ClientId, Transport};
use firmware_core::protocol::telemetry::PACKET_BYTES_MAX;

use crate::queue::Queue;

/// Longest message of the protocol, either way: what a UDP packet holds (bytes).
pub const MESSAGE_BYTES: usize = PACKET_BYTES_MAX;
/// Longest envelope in a queue: a message behind its client's number (bytes).
pub const ENVELOPE_BYTES: usize = MESSAGE_BYTES + 4;

const UDP: u8 = 0;
const WEB: u8 = 1;
const OPENED: u8 = 2;
const CLOSED: u8 = 3;
const BINARY: u8 = 4;
const TEXT: u8 = 5;

/// From the sockets to the network side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inward<'m> {
    /// A client is on the WebSocket of this place.
    Opened {
        /// Which of the WebSockets.
        place: u8,
        /// The client's number.
        number: u32,
    },
    /// It is gone.
    Closed {
        /// Which of the WebSockets.
        place: u8,
        /// The client's number.
        number: u32,
    },
    /// A client's message.
    Message {
        /// From whom.
        from: ClientId,
        /// Its bytes.
        message: &'m [u8],
    },
}

impl<'m> Inward<'m> {
    /// Puts it into a queue. False: it does not fit and is lost.
    pub fn put<const BYTES: usize>(&self, queue: &mut Queue<BYTES>) -> bool {
        match *self {
            Self::Opened { place, number } => queue.put(OPENED, &[&number.to_le_bytes(), &[place]]),
            Self::Closed { place, number } => queue.put(CLOSED, &[&number.to_le_bytes(), &[place]]),
            Self::Message { from, message } => {
                let tag = match from.transport {
                    Transport::Udp => UDP,
                    Transport::WebSocket => WEB,
                };
                queue.put(tag, &[&from.number.to_le_bytes(), message])
            }
        }
    }

    /// What was put into a queue as this; `None` for what was not.
    pub fn read(tag: u8, bytes: &'m [u8]) -> Option<Self> {
        let (number, rest) = bytes.split_first_chunk()?;
        let number = u32::from_le_bytes(*number);
        let from = |transport| ClientId { transport, number };
        match (tag, rest) {
            (UDP, message) => Some(Self::Message { from: from(Transport::Udp), message }),
            (WEB, message) => Some(Self::Message { from: from(Transport::WebSocket), message }),
            (OPENED, &[place]) => Some(Self::Opened { place, number }),
            (CLOSED, &[place]) => Some(Self::Closed { place, number }),
            _other => None,
        }
    }
}

/// From the network side to the sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outward<'m> {
    /// Number of the client.
    pub to: u32,
    /// A text, a line of the status log; otherwise a message of the protocol.
    pub text: bool,
    /// Its bytes.
    pub message: &'m [u8],
}

impl<'m> Outward<'m> {
    /// Puts it into a queue. False: it does not fit and is lost.
    pub fn put<const BYTES: usize>(&self, queue: &mut Queue<BYTES>) -> bool {
        queue.put(if self.text { TEXT } else { BINARY }, &[&self.to.to_le_bytes(), self.message])
    }

    /// What was put into a queue as this; `None` for what was not.
    pub fn read(tag: u8, bytes: &'m [u8]) -> Option<Self> {
        let (to, message) = bytes.split_first_chunk()?;
        let text = match tag {
            TEXT => true,
            BINARY => false,
            _other => return None,
        };
        Some(Self { to: u32::from_le_bytes(*to), text, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sockets_say_comes_out_as_it_was_put_in() {
        let from = |transport| ClientId { transport, number: 0xFEDC_BA98 };
        let all = [
            Inward::Opened { place: 3, number: 1 },
            Inward::Closed { place: 255, number: u32::MAX },
            Inward::Message { from: from(Transport::Udp), message: &[] },
            Inward::Message { from: from(Transport::WebSocket), message: &[2; MESSAGE_BYTES] },
        ];
        let mut queue = Queue::<2_000>::new();
        for inward in &all {
            assert!(inward.put(&mut queue));
        }
        let mut buffer = [0; ENVELOPE_BYTES];
        for inward in all {
            let (tag, length) = queue.take(&mut buffer).expect("one of them");
            assert_eq!(Inward::read(tag, &buffer[..length]), Some(inward));
            assert_eq!(Outward::read(tag, &buffer[..length]), None, "the other way");
        }
    }

    #[test]
    fn what_goes_to_the_sockets_comes_out_as_it_was_put_in() {
        let mut queue = Queue::<2_000>::new();
        let mut buffer = [0; ENVELOPE_BYTES];
        for (text, message) in [(true, &b"line"[..]), (false, &[7; MESSAGE_BYTES])] {
            let outward = Outward { to: 70_000, text, message };
            assert!(outward.put(&mut queue));
            let (tag, length) = queue.take(&mut buffer).expect("it");
            assert_eq!(Outward::read(tag, &buffer[..length]), Some(outward));
            assert_eq!(Inward::read(tag, &buffer[..length]), None, "the other way");
        }
    }

    #[test]
    fn bytes_that_are_nothing_of_that_are_nothing() {
        for tag in 0..=255 {
            assert_eq!(Inward::read(tag, &[1, 2, 3]), None, "without a number");
            assert_eq!(Outward::read(tag, &[1, 2, 3]), None, "without a number");
        }
        assert_eq!(Inward::read(OPENED, &[1, 0, 0, 0]), None, "without a place");
        assert_eq!(Inward::read(CLOSED, &[1, 0, 0, 0, 1, 2]), None, "with two");
    }
}
