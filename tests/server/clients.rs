//! Clients on real sockets, one blocking call at a time.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use tungstenite::{Message, WebSocket};

use super::simulator::{SOON, Simulator, now};

pub(crate) const PING: &[u8] = &[0x01];
pub(crate) const STATE: &[u8] = &[0x02];
pub(crate) const PONG: u8 = 0x81;
pub(crate) const ACK: u8 = 0x83;
pub(crate) const TELEM: u8 = 0x84;
pub(crate) const DONE: u8 = 0x85;
pub(crate) const STREAM: u8 = 0x88;

/// CONTROL: 0 release, 1 take, 2 take over.
pub(crate) fn control(action: u8) -> Vec<u8> {
    vec![0x0D, action]
}

/// SUBSCRIBE at a rate (Hz).
pub(crate) fn subscribe(rate_hz: u16) -> Vec<u8> {
    [&[0x0C][..], &rate_hz.to_le_bytes()].concat()
}

/// `MOVE_TO` of six joints (°), in the shortest time.
pub(crate) fn move_to(goal_deg: [i16; 6]) -> Vec<u8> {
    let mut message = vec![0x0E];
    for goal_deg in goal_deg {
        message.extend((goal_deg * 100).to_le_bytes());
    }
    message.extend(0_u16.to_le_bytes());
    message
}

/// The status in an ACK.
pub(crate) fn ack_status(reply: &[u8]) -> i8 {
    assert_eq!((reply[0], reply.len()), (ACK, 7), "{reply:02x?} is no ACK");
    reply[2] as i8
}

/// The time left, `None` when it is over.
fn wait_until(until: Instant) -> Option<Duration> {
    Some(until.saturating_duration_since(now())).filter(|wait| !wait.is_zero())
}

/// A client that sends and receives messages, whatever it is connected by.
pub(crate) trait Client {
    fn send(&mut self, message: &[u8]);
    /// The next message, or `None` when none comes until then.
    fn receive_until(&mut self, until: Instant) -> Option<Vec<u8>>;

    /// The next message, or `None` after a wait.
    fn receive_within(&mut self, wait: Duration) -> Option<Vec<u8>> {
        self.receive_until(now() + wait)
    }

    /// The next message with this code; others are passed over.
    fn receive_code(&mut self, code: u8) -> Vec<u8> {
        let until = now() + SOON;
        while let Some(message) = self.receive_until(until) {
            if message[0] == code {
                return message;
            }
        }
        panic!("no message {code:02x} within {SOON:?}");
    }

    /// Sends a request and returns the first message with this code.
    fn ask(&mut self, request: &[u8], code: u8) -> Vec<u8> {
        self.send(request);
        self.receive_code(code)
    }
}

/// A UDP client on a port of its own.
pub(crate) struct UdpClient(pub(crate) UdpSocket);

impl UdpClient {
    pub(crate) fn new(simulator: &Simulator) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.connect(simulator.udp).expect("loopback");
        Self(socket)
    }
}

impl Client for UdpClient {
    fn send(&mut self, message: &[u8]) {
        self.0.send(message).expect("loopback takes datagrams");
    }

    fn receive_until(&mut self, until: Instant) -> Option<Vec<u8>> {
        let mut buffer = [0; 2048];
        self.0.set_read_timeout(Some(wait_until(until)?)).expect("a wait above zero");
        self.0.recv(&mut buffer).ok().map(|length| buffer[..length].to_vec())
    }
}

/// What a WebSocket brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Message(Vec<u8>),
    Line(String),
    /// The connection was closed with this code (1005: none given, 1006: without a close frame).
    Closed(u16),
}

/// A WebSocket client.
pub(crate) struct WebClient(pub(crate) WebSocket<TcpStream>);

impl WebClient {
    pub(crate) fn new(simulator: &Simulator) -> Self {
        Self::open(simulator.websocket, None).expect("a WebSocket opens")
    }

    /// Opens a WebSocket as a page of this web origin would.
    pub(crate) fn open(address: SocketAddr, origin: Option<&str>) -> Result<Self, String> {
        Self::open_within(address, origin, SOON)
    }

    /// As `open`, with a wait for the answer.
    pub(crate) fn open_within(
        address: SocketAddr,
        origin: Option<&str>,
        wait: Duration,
    ) -> Result<Self, String> {
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(wait)).expect("a wait above zero");
        stream.set_nodelay(true).expect("a TCP socket");
        let mut request = tungstenite::client::ClientRequestBuilder::new(
            format!("ws://{address}/ws").parse().expect("an address"),
        );
        if let Some(origin) = origin {
            request = request.with_header("Origin", origin);
        }
        tungstenite::client(request, stream)
            .map(|(socket, _)| Self(socket))
            .map_err(|error| error.to_string())
    }

    /// The next thing that comes, or `None` after a wait.
    pub(crate) fn event_within(&mut self, wait: Duration) -> Option<Event> {
        self.event_until(now() + wait)
    }

    fn event_until(&mut self, until: Instant) -> Option<Event> {
        loop {
            self.0.get_ref().set_read_timeout(Some(wait_until(until)?)).expect("a wait above zero");
            match self.0.read() {
                Ok(Message::Binary(bytes)) => return Some(Event::Message(bytes.to_vec())),
                Ok(Message::Text(line)) => return Some(Event::Line(line.to_string())),
                Ok(Message::Close(frame)) => {
                    return Some(Event::Closed(frame.map_or(1005, |frame| frame.code.into())));
                }
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
                Err(tungstenite::Error::Io(error))
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
                {
                    return None;
                }
                Err(_) => return Some(Event::Closed(1006)),
            }
        }
    }

    /// Waits until the connection closes and returns the code.
    pub(crate) fn close_code(&mut self) -> u16 {
        let until = now() + SOON;
        loop {
            match self.event_until(until) {
                Some(Event::Closed(code)) => return code,
                Some(Event::Message(_) | Event::Line(_)) => {}
                None => panic!("the connection did not close within {SOON:?}"),
            }
        }
    }

    /// The next status log line.
    pub(crate) fn line(&mut self) -> String {
        let until = now() + SOON;
        loop {
            match self.event_until(until) {
                Some(Event::Line(line)) => return line,
                Some(Event::Message(_)) => {}
                other => panic!("expected a status log line within {SOON:?}, found {other:?}"),
            }
        }
    }
}

impl Client for WebClient {
    fn send(&mut self, message: &[u8]) {
        self.0.send(Message::Binary(message.to_vec().into())).expect("the connection is open");
    }

    fn receive_until(&mut self, until: Instant) -> Option<Vec<u8>> {
        loop {
            match self.event_until(until)? {
                Event::Message(bytes) => return Some(bytes),
                Event::Line(_) => {}
                Event::Closed(code) => panic!("the connection was closed with {code}"),
            }
        }
    }
}
