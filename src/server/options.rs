//! What a server is asked to do, and where it listens.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::api::Access;
use super::pacer::Speed;

/// WebSocket connections served at once unless an option says otherwise.
pub const CONNECTIONS_DEFAULT: u16 = 256;

/// What a server is asked to do.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerOptions {
    /// Where HTTP and the WebSocket listen; port 0 takes a free one.
    pub http: SocketAddr,
    /// Where UDP commands arrive; port 0 takes a free one.
    pub udp: SocketAddr,
    /// Where the status log goes by UDP, if anywhere.
    pub status_log: Option<SocketAddr>,
    /// How virtual time follows real time.
    pub speed: Speed,
    /// There is a WebSocket: the oldest firmware has none, and `/ws` answers 404. A reset to another firmware changes it.
    pub websocket: bool,
    /// Who may use the command API.
    pub access: Access,
    /// Where clients of the command API may keep traces and recordings; nowhere without it.
    pub commands_folder: Option<PathBuf>,
    /// WebSocket connections served at once; one more is answered 503.
    pub connections_max: usize,
}

/// Where a server listens, with the real ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoints {
    /// HTTP and the WebSocket (path `/ws`).
    pub http: SocketAddr,
    /// There is a WebSocket.
    pub websocket: bool,
    /// UDP commands.
    pub udp: SocketAddr,
}

impl Endpoints {
    /// The address a browser or client connects to, if there is a WebSocket.
    pub fn websocket_url(&self) -> Option<String> {
        self.websocket.then(|| format!("ws://{}/ws", self.http))
    }
}
