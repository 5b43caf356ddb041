//! One WebSocket connection on the server's side: the upgrade on `/ws`, then frames. Sans-IO.
//!
//! Frame headers and masks are edge-ws's, the accept key edge-http's, the request is parsed by httparse.

use core::fmt::Write;

use edge_http::ws::{MAX_BASE64_KEY_RESPONSE_LEN, sec_key_response};
use edge_ws::{Error as FrameError, FrameHeader, FrameType};
use heapless::{String, Vec};

use crate::envelope::MESSAGE_BYTES;

/// Path of the WebSocket.
pub const PATH: &str = "/ws";
/// TCP port of HTTP and the WebSocket.
pub const PORT: u16 = 80;
/// Longest request head.
const REQUEST_BYTES: usize = 1024;
/// Most header lines of a request.
const REQUEST_HEADERS: usize = 32;
/// Bytes kept of what was received: a whole frame must fit.
const INPUT_BYTES: usize = MESSAGE_BYTES + FrameHeader::MAX_LEN;
/// Longest payload of ping, pong and close.
const CONTROL_BYTES: usize = 125;
/// Longest head of a frame without a mask (bytes).
const HEAD_BYTES: usize = 10;

/// What comes out of a connection.
pub trait Output {
    /// Bytes for the client: a whole frame, or a part of the upgrade. Taken whole or not at all.
    fn send(&mut self, bytes: &[u8]);

    /// A message of the client.
    fn message(&mut self, message: &[u8]);
}

/// Why a connection is over; what was to be said to the client has been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// The request is no WebSocket upgrade on `/ws`.
    NotFound,
    /// The request cannot be read, or is longer than 1,024 bytes.
    BadRequest,
    /// The client closed.
    ByClient,
    /// The client broke the WebSocket protocol.
    Protocol,
    /// A message longer than 1,472 bytes.
    TooLong,
}

impl Closed {
    /// Code of the close frame.
    const fn code(self) -> u16 {
        match self {
            Self::NotFound | Self::BadRequest | Self::ByClient => 1000,
            Self::Protocol => 1002,
            Self::TooLong => 1009,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Upgrade,
    Open,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    phase: Phase,
    input: Vec<u8, INPUT_BYTES>,
    /// The parts of a fragmented message so far.
    message: Vec<u8, MESSAGE_BYTES>,
    /// A fragmented message is coming, and it is binary.
    fragments: Option<bool>,
}

impl Default for Connection {
    fn default() -> Self {
        Self { phase: Phase::Upgrade, input: Vec::new(), message: Vec::new(), fragments: None }
    }
}

/// The header of a frame to the client; the payload follows it.
pub fn frame_head(text: bool, payload_bytes: usize) -> Vec<u8, HEAD_BYTES> {
    head(if text { FrameType::Text(false) } else { FrameType::Binary(false) }, payload_bytes)
}

fn head(frame_type: FrameType, payload_bytes: usize) -> Vec<u8, HEAD_BYTES> {
    let header = FrameHeader { frame_type, payload_len: payload_bytes as u64, mask_key: None };
    let mut bytes = [0; HEAD_BYTES];
    // They hold every header without a mask.
    let length = header.serialize(&mut bytes).unwrap_or(0);
    bytes[..length].iter().copied().collect()
}

impl Connection {
    /// The upgrade is done: messages may be sent.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Takes bytes of the client, in pieces of any size.
    ///
    /// # Errors
    /// [`Closed`]: the connection is over.
    pub fn receive(&mut self, mut bytes: &[u8], output: &mut impl Output) -> Result<(), Closed> {
        while !bytes.is_empty() {
            let room = INPUT_BYTES - self.input.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.input.extend(now.iter().copied());
            bytes = later;
            let before = self.input.len();
            self.parse(output)?;
            // A frame that fills the whole input and is still not complete can never be completed.
            if self.input.len() == INPUT_BYTES && self.input.len() == before {
                return Err(close(Closed::TooLong, output));
            }
        }
        Ok(())
    }

    fn parse(&mut self, output: &mut impl Output) -> Result<(), Closed> {
        loop {
            let taken = match self.phase {
                Phase::Upgrade => self.upgrade(output)?,
                Phase::Open => self.frame(output)?,
            };
            if taken == 0 {
                return Ok(());
            }
            let rest = self.input.len() - taken;
            self.input.copy_within(taken.., 0);
            self.input.truncate(rest);
        }
    }

    /// Answers the request once it is complete; returns its length.
    fn upgrade(&mut self, output: &mut impl Output) -> Result<usize, Closed> {
        let mut headers = [httparse::EMPTY_HEADER; REQUEST_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(&self.input) {
            Ok(httparse::Status::Complete(length)) if length <= REQUEST_BYTES => length,
            Ok(httparse::Status::Partial) if self.input.len() <= REQUEST_BYTES => return Ok(0),
            Ok(_) | Err(_) => {
                refuse("400 Bad Request", "this is no HTTP request, or a too long one", output);
                return Err(Closed::BadRequest);
            }
        };
        let header = |name: &str| {
            let mut found = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            found.next().and_then(|header| core::str::from_utf8(header.value).ok())
        };
        let has = |name: &str, word: &str| {
            header(name)
                .is_some_and(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
        };
        let path = request.path.map(|path| path.split('?').next().unwrap_or(path));
        if request.method != Some("GET") || path != Some(PATH) {
            refuse("404 Not Found", "the ATOM serves a WebSocket on /ws", output);
            return Err(Closed::NotFound);
        }
        let upgrades = has("Upgrade", "websocket") && has("Connection", "Upgrade");
        let (true, true, Some(key)) =
            (upgrades, has("Sec-WebSocket-Version", "13"), header("Sec-WebSocket-Key"))
        else {
            refuse("426 Upgrade Required", "connect with a WebSocket client, version 13", output);
            return Err(Closed::NotFound);
        };
        let mut accept = [0; MAX_BASE64_KEY_RESPONSE_LEN];
        output.send(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
        );
        output.send(sec_key_response(key, &mut accept).as_bytes());
        output.send(b"\r\n\r\n");
        self.phase = Phase::Open;
        Ok(length)
    }

    /// Handles the next frame once it is complete; returns its length.
    fn frame(&mut self, output: &mut impl Output) -> Result<usize, Closed> {
        let (header, head_bytes) = match FrameHeader::deserialize(&self.input) {
            Ok(found) => found,
            Err(FrameError::Incomplete(_)) => return Ok(0),
            Err(
                FrameError::Invalid
                | FrameError::BufferOverflow
                | FrameError::InvalidLen
                | FrameError::Io(()),
            ) => return Err(close(Closed::Protocol, output)),
        };
        let Some(payload_bytes) = usize::try_from(header.payload_len).ok().filter(|n| *n <= MESSAGE_BYTES)
        else {
            return Err(close(Closed::TooLong, output));
        };
        // Every frame of a client is masked.
        if header.mask_key.is_none() {
            return Err(close(Closed::Protocol, output));
        }
        let end = head_bytes + payload_bytes;
        // The first bit of a frame says that it is the last of its message.
        let last = self.input[0] & 0x80 != 0;
        let Some(payload) = self.input.get_mut(head_bytes..end) else { return Ok(0) };
        header.mask(payload, 0);
        let control = match header.frame_type {
            FrameType::Ping | FrameType::Pong | FrameType::Close => true,
            FrameType::Text(_) | FrameType::Binary(_) | FrameType::Continue(_) => false,
        };
        // Control frames are short and in one piece.
        if control && (payload_bytes > CONTROL_BYTES || !last) {
            return Err(close(Closed::Protocol, output));
        }
        match header.frame_type {
            FrameType::Binary(false) if self.fragments.is_none() => output.message(payload),
            // The log goes as text to the client; text of the client means nothing.
            FrameType::Text(false) if self.fragments.is_none() => {}
            FrameType::Binary(true) if self.fragments.is_none() => self.begin_message(true, head_bytes, end),
            FrameType::Text(true) if self.fragments.is_none() => self.begin_message(false, head_bytes, end),
            FrameType::Continue(last) => self.continue_message(last, head_bytes, end, output)?,
            FrameType::Binary(_) | FrameType::Text(_) => return Err(close(Closed::Protocol, output)),
            FrameType::Ping => {
                let head = head(FrameType::Pong, payload_bytes);
                let mut pong = Vec::<u8, { HEAD_BYTES + CONTROL_BYTES }>::new();
                // In one piece: a frame is sent whole or not at all. It fits by its sizes.
                if pong
                    .extend_from_slice(&head)
                    .and_then(|()| pong.extend_from_slice(&self.input[head_bytes..end]))
                    .is_ok()
                {
                    output.send(&pong);
                }
            }
            FrameType::Pong => {}
            FrameType::Close => return Err(close(Closed::ByClient, output)),
        }
        Ok(end)
    }

    fn begin_message(&mut self, binary: bool, from: usize, to: usize) {
        self.fragments = Some(binary);
        // A frame's payload is at most a message.
        self.message = self.input[from..to].iter().copied().collect();
    }

    fn continue_message(
        &mut self,
        last: bool,
        from: usize,
        to: usize,
        output: &mut impl Output,
    ) -> Result<(), Closed> {
        let Some(binary) = self.fragments else { return Err(close(Closed::Protocol, output)) };
        if self.message.extend_from_slice(&self.input[from..to]).is_err() {
            return Err(close(Closed::TooLong, output));
        }
        if last {
            self.fragments = None;
            if binary {
                output.message(&self.message);
            }
            self.message.clear();
        }
        Ok(())
    }
}

fn close(why: Closed, output: &mut impl Output) -> Closed {
    let code = why.code().to_be_bytes();
    let frame: Vec<u8, { HEAD_BYTES + 2 }> =
        head(FrameType::Close, code.len()).iter().copied().chain(code).collect();
    output.send(&frame);
    why
}

fn refuse(status: &str, text: &str, output: &mut impl Output) {
    let mut answer = String::<256>::new();
    let length = text.len() + 1;
    // Statuses and texts are ours and short.
    let _written = write!(
        answer,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
    );
    output.send(answer.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[derive(Default)]
    struct Seen {
        sent: Vec<u8>,
        messages: Vec<Vec<u8>>,
    }

    impl Output for Seen {
        fn send(&mut self, bytes: &[u8]) {
            self.sent.extend(bytes);
        }

        fn message(&mut self, message: &[u8]) {
            self.messages.push(message.to_vec());
        }
    }

    const REQUEST: &[u8] = b"GET /ws HTTP/1.1\r\nHost: 192.168.4.2\r\nConnection: keep-alive, Upgrade\r\n\
        Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    fn open() -> (Connection, Seen) {
        let (mut connection, mut seen) = (Connection::default(), Seen::default());
        assert_eq!(connection.receive(REQUEST, &mut seen), Ok(()));
        assert!(connection.is_open());
        seen.sent.clear();
        (connection, seen)
    }

    /// A frame of a client, masked.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mask = [0x11, 0x22, 0x33, 0x44];
        let mut bytes = std::vec![first];
        if payload.len() < 126 {
            bytes.push(0x80 | payload.len() as u8);
        } else {
            bytes.push(0xFE);
            bytes.extend((payload.len() as u16).to_be_bytes());
        }
        bytes.extend(mask);
        bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        bytes
    }

    #[test]
    fn the_upgrade_of_the_standard_gets_its_accept_key_in_pieces_of_any_size() {
        for size in [1, 7, REQUEST.len()] {
            let (mut connection, mut seen) = (Connection::default(), Seen::default());
            for piece in REQUEST.chunks(size) {
                assert_eq!(connection.receive(piece, &mut seen), Ok(()));
            }
            let answer = std::string::String::from_utf8(seen.sent).expect("text");
            assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
            assert!(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{answer}");
        }
    }

    #[test]
    fn other_requests_are_refused_with_a_reason() {
        for (request, status, closed) in [
            ("GET / HTTP/1.1\r\n\r\n", "404", Closed::NotFound),
            ("POST /ws HTTP/1.1\r\n\r\n", "404", Closed::NotFound),
            ("GET /ws HTTP/1.1\r\nHost: a\r\n\r\n", "426", Closed::NotFound),
            ("\x16\x03\x01 TLS\r\n\r\n", "400", Closed::BadRequest),
        ] {
            let mut seen = Seen::default();
            let outcome = Connection::default().receive(request.as_bytes(), &mut seen);
            assert_eq!(outcome, Err(closed), "{request}");
            assert!(seen.sent.starts_with(std::format!("HTTP/1.1 {status} ").as_bytes()), "{request}");
        }
        let mut seen = Seen::default();
        let endless = [&b"GET /ws HTTP/1.1\r\nX: "[..], &[b'x'; 3000]].concat();
        assert_eq!(Connection::default().receive(&endless, &mut seen), Err(Closed::BadRequest));
        // As long a head is refused whether it comes at once or not.
        let long = [&b"GET /ws HTTP/1.1\r\nX: "[..], &[b'x'; 1_100], b"\r\n\r\n"].concat();
        for piece in [256, long.len()] {
            let mut connection = Connection::default();
            let refused =
                long.chunks(piece).map(|bytes| connection.receive(bytes, &mut seen)).find(Result::is_err);
            assert_eq!(refused, Some(Err(Closed::BadRequest)), "in pieces of {piece} bytes");
        }
    }

    #[test]
    fn binary_frames_are_messages_whole_cut_and_fragmented() {
        let (mut connection, mut seen) = open();
        let long: Vec<u8> = (0..MESSAGE_BYTES).map(|k| k as u8).collect();
        let bytes = [
            frame(0x82, b"\x01"),
            frame(0x82, &long),
            frame(0x02, b"ab"),
            frame(0x89, b"ping"),
            frame(0x80, b"cd"),
            frame(0x81, b"text"),
        ]
        .concat();
        for piece in bytes.chunks(100) {
            assert_eq!(connection.receive(piece, &mut seen), Ok(()));
        }
        assert_eq!(seen.messages, [b"\x01".to_vec(), long, b"abcd".to_vec()]);
        assert_eq!(seen.sent, b"\x8A\x04ping", "the ping between the fragments is answered");
    }

    #[test]
    fn what_breaks_the_protocol_closes_with_its_code() {
        let unmasked = std::vec![0x82, 0x01, 0x07];
        let too_long = frame(0x82, &[0; MESSAGE_BYTES + 1]);
        let fragments = [frame(0x02, &[0; 1000]), frame(0x80, &[0; 1000])].concat();
        for (bytes, closed, code) in [
            (unmasked, Closed::Protocol, 1002_u16),
            (frame(0x83, b""), Closed::Protocol, 1002),
            (frame(0xC2, b""), Closed::Protocol, 1002),
            (frame(0x80, b"no beginning"), Closed::Protocol, 1002),
            (frame(0x89, &[0; 126]), Closed::Protocol, 1002),
            (frame(0x09, b"a part of a ping"), Closed::Protocol, 1002),
            (too_long, Closed::TooLong, 1009),
            (fragments, Closed::TooLong, 1009),
            (frame(0x88, &1001_u16.to_be_bytes()), Closed::ByClient, 1000),
        ] {
            let (mut connection, mut seen) = open();
            assert_eq!(connection.receive(&bytes, &mut seen), Err(closed), "{bytes:02x?}");
            assert_eq!(seen.sent, [&[0x88, 2][..], &code.to_be_bytes()].concat());
        }
    }

    #[test]
    fn heads_of_frames_to_the_client_are_not_masked() {
        assert_eq!(frame_head(false, 93).as_slice(), [0x82, 93]);
        assert_eq!(frame_head(true, 300).as_slice(), [0x81, 126, 1, 44]);
    }
}
