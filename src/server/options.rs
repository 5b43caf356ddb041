//! What a server is asked to do, and where it listens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
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
    /// The address a browser or client of this machine connects to, if there is a WebSocket. A server that listens on
    /// all addresses is there on loopback.
    pub fn websocket_url(&self) -> Option<String> {
        let ip = match self.http.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        self.websocket.then(|| format!("ws://{}/ws", SocketAddr::new(ip, self.http.port())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_one_that_can_be_connected_to() {
        let url = |http: &str| {
            let http = http.parse().expect("an address");
            Endpoints { http, websocket: true, udp: http }.websocket_url().expect("a WebSocket")
        };
        assert_eq!(url("192.168.1.7:8281"), "ws://192.168.1.7:8281/ws");
        assert_eq!(url("0.0.0.0:8281"), "ws://127.0.0.1:8281/ws");
        assert_eq!(url("[::]:80"), "ws://[::1]:80/ws");
    }
}
