//! Who is connected, and the way to each: WebSocket connections with their outboxes, UDP sources.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::api::replies::ClientReply;
use super::inputs::MESSAGES_PER_TICK;
use crate::atom::{Atom, ClientId, TICK_US, Transport, client_name};

/// Messages that wait for one WebSocket. A client that does not read loses what comes beyond them; nobody
/// else notices.
pub const OUTBOX_MESSAGES: usize = 128;
/// UDP sources known at once.
pub const UDP_SOURCES_MAX: usize = 256;
/// With all places taken, a new UDP source gets the place of the one that has been silent longest, if neither
/// it sent nor anything was sent to it for this long. By then it has no subscription, run or control left.
pub const UDP_SILENCE_MIN: Duration = Duration::from_secs(5);

/// The server's number of a WebSocket connection.
pub(super) type ConnectionNumber = u64;

/// What goes to a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outgoing {
    /// A message: one binary frame.
    Message(Vec<u8>),
    /// A status log line: one text frame.
    Line(Arc<str>),
}

/// The sending end of a WebSocket's outbox.
pub(super) type Outbox = mpsc::Sender<Outgoing>;

/// Makes an outbox.
pub(super) fn outbox() -> (Outbox, mpsc::Receiver<Outgoing>) {
    mpsc::channel(OUTBOX_MESSAGES)
}

#[derive(Debug)]
struct WebSocketClient {
    outbox: Outbox,
    lost_messages: u64,
}

impl WebSocketClient {
    fn send(&mut self, client: ClientId, message: Outgoing) {
        match self.outbox.try_send(message) {
            Err(TrySendError::Full(_)) => {
                if self.lost_messages == 0 {
                    tracing::warn!("WebSocket client {} does not read: it loses messages", client.number);
                }
                self.lost_messages += 1;
            }
            // It is closing; the input that says so is on its way.
            Ok(()) | Err(TrySendError::Closed(_)) => {}
        }
    }
}

#[derive(Debug)]
struct UdpSource {
    address: SocketAddr,
    last_active: Instant,
    /// The network tick of its latest message, and how many came in that tick.
    tick: u64,
    messages: usize,
}

impl UdpSource {
    fn new(address: SocketAddr, at: Instant) -> Self {
        Self { address, last_active: at, tick: 0, messages: 0 }
    }

    /// Counts a message. Tells whether it is within the source's share of the present tick.
    fn count(&mut self, now_us: u64) -> bool {
        let tick = now_us / TICK_US;
        if tick != self.tick {
            (self.tick, self.messages) = (tick, 0);
        }
        self.messages += 1;
        self.messages <= MESSAGES_PER_TICK
    }
}

/// All clients of one ATOM.
#[derive(Debug)]
pub(super) struct Clients {
    udp_socket: UdpSocket,
    connections: BTreeMap<ConnectionNumber, ClientId>,
    websockets: BTreeMap<ClientId, WebSocketClient>,
    udp_addresses: BTreeMap<SocketAddr, ClientId>,
    udp_sources: BTreeMap<ClientId, UdpSource>,
    refused_sources: u64,
}

impl Clients {
    /// No client yet. Replies to UDP sources leave from `udp_socket`, which must not block.
    pub(super) fn new(udp_socket: UdpSocket) -> Self {
        Self {
            udp_socket,
            connections: BTreeMap::new(),
            websockets: BTreeMap::new(),
            udp_addresses: BTreeMap::new(),
            udp_sources: BTreeMap::new(),
            refused_sources: 0,
        }
    }

    /// A WebSocket opened.
    pub(super) fn open(&mut self, atom: &mut Atom, connection: ConnectionNumber, outbox: Outbox) {
        let client = atom.connect(Transport::WebSocket);
        self.connections.insert(connection, client);
        self.websockets.insert(client, WebSocketClient { outbox, lost_messages: 0 });
        tracing::info!("WebSocket client {} connected", client.number);
    }

    /// The client of a WebSocket connection, while it is open.
    pub(super) fn websocket(&self, connection: ConnectionNumber) -> Option<ClientId> {
        self.connections.get(&connection).copied()
    }

    /// A WebSocket closed.
    pub(super) fn close(&mut self, atom: &mut Atom, connection: ConnectionNumber) {
        let Some(client) = self.connections.remove(&connection) else { return };
        let lost = self.websockets.remove(&client).map_or(0, |websocket| websocket.lost_messages);
        atom.close(client);
        tracing::info!("WebSocket client {} closed, {lost} messages lost", client.number);
    }

    /// The ATOM closed a WebSocket: without an outbox its connection ends.
    pub(super) fn cut(&mut self, client: ClientId) {
        self.websockets.remove(&client);
    }

    /// The client behind a UDP source, a new one if it is new, for a message that came from it. `None` when the
    /// message must be dropped: the source sends too much, or every place is taken by one that is active.
    pub(super) fn udp(&mut self, atom: &mut Atom, source: SocketAddr, at: Instant) -> Option<ClientId> {
        if let Some(&client) = self.udp_addresses.get(&source) {
            self.touch(client, at);
            let within = self.udp_sources.get_mut(&client).is_some_and(|source| source.count(atom.now_us()));
            return within.then_some(client);
        }
        if self.udp_addresses.len() >= UDP_SOURCES_MAX && !self.forget_silent_source(atom, at) {
            self.refused_sources += 1;
            if self.refused_sources.is_power_of_two() {
                tracing::warn!(
                    "{UDP_SOURCES_MAX} UDP sources are active, datagrams of others are ignored ({} so far)",
                    self.refused_sources
                );
            }
            return None;
        }
        let client = atom.connect(Transport::Udp);
        self.udp_addresses.insert(source, client);
        self.udp_sources.insert(client, UdpSource::new(source, at));
        tracing::info!("UDP client {} at {source}", client.number);
        Some(client)
    }

    /// Forgets the source that has been silent longest. Tells whether there was one silent long enough.
    fn forget_silent_source(&mut self, atom: &mut Atom, at: Instant) -> bool {
        let silent = self
            .udp_sources
            .iter()
            .min_by_key(|(_, source)| source.last_active)
            .filter(|(_, source)| at.saturating_duration_since(source.last_active) >= UDP_SILENCE_MIN)
            .map(|(&client, source)| (client, source.address));
        let Some((client, address)) = silent else { return false };
        self.udp_sources.remove(&client);
        self.udp_addresses.remove(&address);
        atom.close(client);
        true
    }

    fn touch(&mut self, client: ClientId, at: Instant) {
        if let Some(source) = self.udp_sources.get_mut(&client) {
            source.last_active = source.last_active.max(at);
        }
    }

    /// Everyone who is connected.
    pub(super) fn ids(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.websockets.keys().chain(self.udp_sources.keys()).copied()
    }

    /// Everyone who is connected, for people.
    pub(super) fn list(&self) -> Vec<ClientReply> {
        let websockets = self.websockets.iter().map(|(&client, websocket)| ClientReply {
            name: client_name::name(client),
            waiting: websocket.outbox.max_capacity() - websocket.outbox.capacity(),
            lost: websocket.lost_messages,
            address: None,
        });
        let udp_sources = self.udp_sources.iter().map(|(&client, source)| ClientReply {
            name: client_name::name(client),
            waiting: 0,
            lost: 0,
            address: Some(source.address.to_string()),
        });
        websockets.chain(udp_sources).collect()
    }

    /// Another ATOM takes the place of the one they knew: WebSockets end, UDP sources must send again.
    pub(super) fn forget_all(&mut self) {
        self.connections.clear();
        self.websockets.clear();
        self.udp_addresses.clear();
        self.udp_sources.clear();
    }

    /// Sends a message to its client. One that is gone or does not read loses it.
    pub(super) fn send(&mut self, to: ClientId, message: Vec<u8>, now: Instant) {
        match to.transport {
            Transport::WebSocket => {
                if let Some(websocket) = self.websockets.get_mut(&to) {
                    websocket.send(to, Outgoing::Message(message));
                }
            }
            Transport::Udp => {
                self.touch(to, now);
                let Some(source) = self.udp_sources.get(&to) else { return };
                if let Err(error) = self.udp_socket.send_to(&message, source.address) {
                    tracing::debug!("UDP message to {} lost: {error}", source.address);
                }
            }
        }
    }

    /// Sends a status log line to every WebSocket.
    pub(super) fn broadcast(&mut self, line: &Arc<str>) {
        for (&client, websocket) in &mut self.websockets {
            websocket.send(client, Outgoing::Line(Arc::clone(line)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atom::Options;
    use crate::server::pacer::wall_now;

    fn fixture() -> (Atom, Clients) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.set_nonblocking(true).expect("a socket that does not block");
        (Atom::new(&Options::default()).expect("the defaults are valid"), Clients::new(socket))
    }

    fn source(number: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 10_000 + number))
    }

    fn fill(atom: &mut Atom, clients: &mut Clients, at: Instant) {
        for number in 0..UDP_SOURCES_MAX as u16 {
            assert!(clients.udp(atom, source(number), at).is_some());
        }
    }

    #[test]
    fn a_udp_source_keeps_its_client() {
        let (mut atom, mut clients) = fixture();
        let at = wall_now();
        let first = clients.udp(&mut atom, source(1), at);
        assert_ne!(clients.udp(&mut atom, source(2), at), first);
        assert_eq!(clients.udp(&mut atom, source(1), at + Duration::from_hours(1)), first);
    }

    #[test]
    fn a_new_source_takes_the_place_of_the_longest_silent_one() {
        let (mut atom, mut clients) = fixture();
        let at = wall_now();
        let first = clients.udp(&mut atom, source(0), at).expect("a place");
        fill(&mut atom, &mut clients, at + Duration::from_secs(1));
        // The first source sent last a second later than it came; source 1 is now the longest silent.
        clients.touch(first, at + Duration::from_secs(2));
        let later = at + Duration::from_secs(1) + UDP_SILENCE_MIN;
        assert!(clients.udp(&mut atom, source(9_999), later).is_some());
        assert_eq!(clients.udp_addresses.len(), UDP_SOURCES_MAX);
        assert_eq!(clients.udp_addresses.get(&source(0)), Some(&first));
        assert!(!clients.udp_addresses.contains_key(&source(1)));
    }

    #[test]
    fn active_sources_are_never_disturbed_by_new_ones() {
        let (mut atom, mut clients) = fixture();
        let at = wall_now();
        fill(&mut atom, &mut clients, at);
        let soon = at + UDP_SILENCE_MIN.mul_f64(0.99);
        assert_eq!(clients.udp(&mut atom, source(9_999), soon), None);
        assert_eq!(clients.udp_addresses.len(), UDP_SOURCES_MAX);
    }

    #[test]
    fn a_source_that_only_receives_is_active() {
        let (mut atom, mut clients) = fixture();
        let at = wall_now();
        fill(&mut atom, &mut clients, at);
        let receivers: Vec<ClientId> = clients.udp_sources.keys().copied().collect();
        for client in receivers {
            clients.send(client, vec![0x84], at + Duration::from_secs(4));
        }
        assert_eq!(clients.udp(&mut atom, source(9_999), at + Duration::from_secs(8)), None);
    }

    #[test]
    fn a_source_loses_what_it_sends_beyond_its_share_of_a_tick_and_others_do_not() {
        let (mut atom, mut clients) = fixture();
        let at = wall_now();
        clients.udp(&mut atom, source(1), at);
        let taken = (0..1_000).filter(|_| clients.udp(&mut atom, source(1), at).is_some()).count();
        assert_eq!(taken, MESSAGES_PER_TICK);
        assert!(clients.udp(&mut atom, source(2), at).is_some());
        atom.advance_to(atom.now_us() + TICK_US);
        assert!(clients.udp(&mut atom, source(1), at).is_some());
    }

    #[test]
    fn a_client_that_does_not_read_loses_the_newest_messages_and_no_other_does() {
        let (mut atom, mut clients) = fixture();
        let ((slow_outbox, mut slow), (outbox, mut reader)) = (outbox(), outbox());
        clients.open(&mut atom, 1, slow_outbox);
        clients.open(&mut atom, 2, outbox);
        let line: Arc<str> = Arc::from("line");
        for count in 0..OUTBOX_MESSAGES + 10 {
            let to = clients.websocket(1).expect("it is open");
            clients.send(to, vec![count as u8], wall_now());
            clients.broadcast(&line);
            assert_eq!(reader.try_recv(), Ok(Outgoing::Line(Arc::clone(&line))));
        }
        let waiting: Vec<Outgoing> = std::iter::from_fn(|| slow.try_recv().ok()).collect();
        assert_eq!(waiting.len(), OUTBOX_MESSAGES);
        assert_eq!(waiting.first(), Some(&Outgoing::Message(vec![0])));
    }
}
