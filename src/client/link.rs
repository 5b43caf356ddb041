//! The way to an ATOM: UDP or WebSocket, blocking, with a clock for retries.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::str::FromStr;
use std::time::{Duration, Instant};

use tungstenite::{Message, WebSocket};

/// Pause after the answer that nobody is there.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);
/// UDP port of the commands.
const UDP_PORT: u16 = 5006;
/// UDP port of the status log.
const LOG_PORT: u16 = 5005;
/// Longest time to connect.
const CONNECT: Duration = Duration::from_secs(5);

/// Where an ATOM is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Host and port.
    Udp(String),
    /// Host and port, path.
    WebSocket {
        /// Host and port.
        host: String,
        /// Path, `/ws` on every ATOM.
        path: String,
    },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(host) => write!(f, "udp://{host}"),
            Self::WebSocket { host, path } => write!(f, "ws://{host}{path}"),
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let with_port = |host: &str, port: u16| {
            if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") }
        };
        if let Some(host) = text.strip_prefix("udp://").filter(|host| !host.is_empty()) {
            return Ok(Self::Udp(with_port(host.trim_end_matches('/'), UDP_PORT)));
        }
        match text.strip_prefix("ws://").filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                let (host, path) = rest.split_once('/').unwrap_or((rest, "ws"));
                Ok(Self::WebSocket { host: with_port(host, 80), path: format!("/{path}") })
            }
            None => Err(format!(
                "expected ws://HOST[:PORT]/ws or udp://HOST[:{UDP_PORT}], found `{text}`; a simulator on this machine \
                 is ws://127.0.0.1:8281/ws, the robot ws://mycobot.local/ws"
            )),
        }
    }
}

/// What came from the ATOM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// A message.
    Message(Vec<u8>),
    /// A line of the status log.
    Line(String),
}

#[derive(Debug)]
enum Kind {
    Udp { socket: UdpSocket, log: Option<UdpSocket> },
    WebSocket(Box<WebSocket<TcpStream>>),
}

/// An open way to an ATOM.
#[derive(Debug)]
pub struct Link {
    kind: Kind,
    opened: Instant,
}

#[expect(clippy::disallowed_methods, reason = "a client of a real robot lives in real time")]
fn wall_now() -> Instant {
    Instant::now()
}

impl Link {
    /// Opens the way.
    ///
    /// # Errors
    /// A host that is not there or does not answer; the message says what to do.
    pub fn open(target: &Target) -> io::Result<Self> {
        let kind = match target {
            Target::Udp(host) => {
                let to = resolve(host)?;
                let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
                socket.connect(to)?;
                // Another program may read the status log already; then nobody says what the peer is.
                let log = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, LOG_PORT)).ok();
                Kind::Udp { socket, log }
            }
            Target::WebSocket { host, path } => {
                let stream = TcpStream::connect_timeout(&resolve(host)?, CONNECT)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(CONNECT))?;
                let (socket, _) = tungstenite::client(format!("ws://{host}{path}"), stream)
                    .map_err(|error| io::Error::other(error.to_string()))?;
                Kind::WebSocket(Box::new(socket))
            }
        };
        Ok(Self { kind, opened: wall_now() })
    }

    /// Time since it was opened (µs).
    pub fn now_us(&self) -> u64 {
        wall_now().saturating_duration_since(self.opened).as_micros() as u64
    }

    /// Messages may get lost on it, or come twice.
    pub fn is_lossy(&self) -> bool {
        match self.kind {
            Kind::Udp { .. } => true,
            Kind::WebSocket(_) => false,
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// The socket's.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.kind {
            // A refused datagram counts as lost; retries and time-outs notice.
            Kind::Udp { socket, .. } => match socket.send(bytes) {
                Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => Err(error),
                Ok(_) | Err(_) => Ok(()),
            },
            Kind::WebSocket(socket) => socket
                .send(Message::binary(bytes.to_vec()))
                .map_err(|error| io::Error::other(error.to_string())),
        }
    }

    /// The next thing that comes until `until_us`; `None` when nothing came, or nothing that is the ATOM's.
    ///
    /// # Errors
    /// The socket's; a connection that was closed.
    pub fn receive(&mut self, until_us: u64) -> io::Result<Option<Incoming>> {
        let wait_us = until_us.saturating_sub(self.now_us()).max(1);
        let wait = Some(Duration::from_micros(wait_us));
        match &mut self.kind {
            Kind::Udp { socket, log } => {
                if let Some(line) = log.as_ref().and_then(read_line) {
                    return Ok(Some(Incoming::Line(line)));
                }
                socket.set_read_timeout(wait)?;
                let mut buffer = [0; 2048];
                match socket.recv(&mut buffer) {
                    Ok(count) => Ok(Some(Incoming::Message(buffer[..count].to_vec()))),
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                        // Nobody is there now. That answer comes at once, and the wait is for whoever comes back.
                        std::thread::sleep(REFUSED_PAUSE.min(Duration::from_micros(wait_us)));
                        Ok(None)
                    }
                    Err(error) if is_silence(&error) => Ok(None),
                    Err(error) => Err(error),
                }
            }
            Kind::WebSocket(socket) => {
                socket.get_ref().set_read_timeout(wait)?;
                match socket.read() {
                    Ok(Message::Binary(bytes)) => Ok(Some(Incoming::Message(bytes.to_vec()))),
                    Ok(Message::Text(line)) => Ok(Some(Incoming::Line(line.to_string()))),
                    Ok(Message::Close(_)) => Err(io::Error::other("the ATOM closed the connection")),
                    Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => Ok(None),
                    Err(tungstenite::Error::Io(error)) if is_silence(&error) => Ok(None),
                    Err(error) => Err(io::Error::other(error.to_string())),
                }
            }
        }
    }
}

fn read_line(log: &UdpSocket) -> Option<String> {
    log.set_nonblocking(true).ok()?;
    let mut buffer = [0; 1024];
    let count = log.recv(&mut buffer).ok()?;
    Some(String::from_utf8_lossy(&buffer[..count]).into_owned())
}

/// Nothing came, or a signal came first.
fn is_silence(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    [Interrupted, TimedOut, WouldBlock].contains(&error.kind())
}

fn resolve(host: &str) -> io::Result<SocketAddr> {
    let mut addresses: Vec<SocketAddr> = host.to_socket_addrs()?.collect();
    addresses.sort_by_key(|address| !address.is_ipv4());
    addresses.first().copied().ok_or_else(|| io::Error::other(format!("{host} has no address")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_the_ports_of_the_robot_unless_they_name_one() {
        assert_eq!("udp://10.0.0.7".parse(), Ok(Target::Udp("10.0.0.7:5006".to_owned())));
        let web = |host: &str, path: &str| Target::WebSocket { host: host.to_owned(), path: path.to_owned() };
        assert_eq!("ws://mycobot.local/ws".parse(), Ok(web("mycobot.local:80", "/ws")));
        assert_eq!("ws://127.0.0.1:8281".parse(), Ok(web("127.0.0.1:8281", "/ws")));
        assert!("10.0.0.7".parse::<Target>().expect_err("no scheme").contains("ws://127.0.0.1:8281/ws"));
    }
}
