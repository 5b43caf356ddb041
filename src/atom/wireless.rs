//! Everything between the clients and the network side: links with their profiles, the association, and the
//! faults of radio and clients.

use std::collections::{BTreeMap, BTreeSet};

use firmware_core::platform::ClientId;
use firmware_core::protocol::codes;

use super::fault::{ClientFault, FaultId, WifiFault};
use crate::link::random::Random;
use crate::link::settings::{DATAGRAM_BUFFER_BYTES, STREAM_BUFFER_BYTES};
use crate::link::{Association, Direction, Gate, Links, Parcel, Profile, Pushed, Settings, is_stream};

/// Longest random message of a garbage client (bytes).
const GARBAGE_BYTES_MAX: u64 = 64;
/// Random streams of garbage lie above those of links and faults.
const FORK: u64 = 1 << 41;
/// The ATOM's address and signal strength (dBm) unless a fault changes them.
const ADDRESS: [u8; 4] = [127, 0, 0, 1];
const RSSI_DBM: i8 = -50;

/// A fault of radio or client that is there.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Active {
    Wifi { client: Option<ClientId>, direction: Option<Direction>, fault: WifiFault },
    Client { client: ClientId, fault: ClientFault },
}

/// A client that sends by itself.
#[derive(Debug, Clone)]
struct Sender {
    client: ClientId,
    period_us: u64,
    next_us: u64,
    garbage: Option<Random>,
}

/// What has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arrival {
    /// A message at the network side.
    AtAtom(ClientId, Vec<u8>),
    /// The end of a client's connection, at the network side.
    Closed(ClientId),
    /// A message at a client.
    AtClient(ClientId, Vec<u8>),
}

/// The air between clients and network side.
#[derive(Debug)]
pub(super) struct Wireless {
    seed: u64,
    profile: Profile,
    links: Links,
    association: Association,
    clients: BTreeSet<ClientId>,
    profiles: BTreeMap<ClientId, Profile>,
    active: BTreeMap<FaultId, Active>,
    senders: BTreeMap<FaultId, Sender>,
    address: [u8; 4],
    /// When the next message arrives or a sender sends (µs), kept so that asking costs nothing.
    next_us: u64,
}

impl Wireless {
    pub(super) fn new(seed: u64, profile: Profile) -> Self {
        Self {
            seed,
            profile,
            links: Links::new(seed),
            association: Association::default(),
            clients: BTreeSet::new(),
            profiles: BTreeMap::new(),
            active: BTreeMap::new(),
            senders: BTreeMap::new(),
            address: ADDRESS,
            next_us: u64::MAX,
        }
    }

    /// The ATOM restarts: it forgets drops, and joins at once if the access point is there. Profiles and faults
    /// stay, they are not the ATOM's.
    pub(super) fn restart(&mut self, now_us: u64) {
        let dropped = |active: &Active| matches!(active, Active::Wifi { fault: WifiFault::Drop, .. });
        self.association = Association::start(now_us, !self.active.values().any(dropped));
        self.refresh_all(now_us);
    }

    pub(super) fn connect(&mut self, now_us: u64, client: ClientId) {
        self.clients.insert(client);
        self.refresh(now_us, client);
    }

    pub(super) fn set_profile(&mut self, now_us: u64, client: ClientId, profile: Profile) {
        self.profiles.insert(client, profile);
        self.refresh(now_us, client);
    }

    /// Forgets a client and all that is on its way.
    pub(super) fn remove(&mut self, client: ClientId) {
        self.clients.remove(&client);
        self.profiles.remove(&client);
        // Nobody is left to send for.
        self.senders.retain(|_, sender| sender.client != client);
        self.links.remove(client);
        self.find_next();
    }

    /// A client's messages can come in: a WebSocket must still be open.
    pub(super) fn reaches(&self, client: ClientId) -> bool {
        !is_stream(client) || self.clients.contains(&client)
    }

    pub(super) fn clients(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.clients.iter().copied()
    }

    /// A message of a client. True: it is at the network side at once.
    pub(super) fn send_to_atom(&mut self, now_us: u64, client: ClientId, bytes: &[u8]) -> bool {
        if self.links.push(now_us, client, Direction::ToAtom, bytes).is_none() {
            return true;
        }
        self.find_next();
        false
    }

    /// A client closes. True: the network side notices at once.
    pub(super) fn close(&mut self, now_us: u64, client: ClientId) -> bool {
        let at_once = !self.links.push_close(now_us, client);
        self.find_next();
        at_once
    }

    /// A message of the network side. True: it is at the client at once.
    pub(super) fn send_to_client(&mut self, now_us: u64, client: ClientId, bytes: &[u8]) -> bool {
        match self.links.push(now_us, client, Direction::FromAtom, bytes) {
            None => true,
            Some(Pushed::Taken | Pushed::Lost) => {
                self.find_next();
                false
            }
        }
    }

    /// When something arrives or is sent next (µs), `u64::MAX` for never.
    pub(super) fn next_due_us(&self) -> u64 {
        self.next_us
    }

    /// The next arrival by `now_us`.
    pub(super) fn pop(&mut self, now_us: u64) -> Option<Arrival> {
        if self.next_us > now_us {
            return None;
        }
        self.rejoin(now_us);
        self.send_due(now_us);
        let arrival = self.links.pop(now_us).map(|(client, direction, parcel)| match (direction, parcel) {
            (Direction::ToAtom, Parcel::Message(bytes)) => Arrival::AtAtom(client, bytes),
            (Direction::FromAtom, Parcel::Message(bytes)) => Arrival::AtClient(client, bytes),
            (Direction::ToAtom | Direction::FromAtom, Parcel::Close) => Arrival::Closed(client),
        });
        self.find_next();
        arrival
    }

    /// A fault of the radio starts.
    pub(super) fn start_wifi(
        &mut self,
        now_us: u64,
        id: FaultId,
        client: Option<ClientId>,
        direction: Option<Direction>,
        fault: WifiFault,
    ) {
        match fault {
            WifiFault::Drop => self.association.drop(now_us, u64::MAX),
            WifiFault::Address(address) => self.address = address,
            WifiFault::Stall
            | WifiFault::Latency(_)
            | WifiFault::Jitter(_)
            | WifiFault::Loss(_)
            | WifiFault::Duplicate(_)
            | WifiFault::Reorder { .. }
            | WifiFault::Bandwidth(_)
            | WifiFault::Rssi(_) => {}
        }
        self.active.insert(id, Active::Wifi { client, direction, fault });
        self.refresh_all(now_us);
    }

    /// A fault of a client starts.
    pub(super) fn start_client(&mut self, now_us: u64, id: FaultId, client: ClientId, fault: ClientFault) {
        let sender = |per_s: u32, garbage| Sender {
            client,
            period_us: 1_000_000 / u64::from(per_s.max(1)),
            next_us: now_us,
            garbage,
        };
        match fault {
            // A client that closed sends nothing more, however often the fault starts again.
            ClientFault::Garbage(_) | ClientFault::Flood(_) if !self.clients.contains(&client) => {}
            ClientFault::Garbage(per_s) => {
                let random = Random::new(self.seed, FORK + u64::from(id.0));
                self.senders.insert(id, sender(per_s, Some(random)));
            }
            ClientFault::Flood(per_s) => {
                self.senders.insert(id, sender(per_s, None));
            }
            ClientFault::HalfOpen | ClientFault::SlowReader(_) | ClientFault::Disconnect => {}
        }
        self.active.insert(id, Active::Client { client, fault });
        self.refresh_all(now_us);
    }

    /// A fault ends.
    pub(super) fn end(&mut self, now_us: u64, id: FaultId) {
        self.senders.remove(&id);
        if let Some(Active::Wifi { fault: WifiFault::Drop, .. }) = self.active.remove(&id) {
            self.association.return_at(now_us);
        }
        self.refresh_all(now_us);
    }

    /// Associations lost since power-up.
    pub(super) fn drops(&self) -> u32 {
        self.association.drops()
    }

    /// The ATOM is in its network.
    pub(super) fn is_up(&self, now_us: u64) -> bool {
        self.association.is_up(now_us)
    }

    pub(super) fn address(&self) -> [u8; 4] {
        self.address
    }

    /// Signal strength (dBm).
    pub(super) fn rssi_dbm(&self) -> i8 {
        let of_fault = |active: &Active| match active {
            Active::Wifi { fault: WifiFault::Rssi(dbm), .. } => Some(*dbm),
            Active::Wifi { .. } | Active::Client { .. } => None,
        };
        self.active.values().rev().find_map(of_fault).unwrap_or(RSSI_DBM)
    }

    /// Messages lost on links.
    pub(super) fn lost(&self) -> u64 {
        self.links.lost()
    }

    fn rejoin(&mut self, now_us: u64) {
        if self.association.settle(now_us) {
            self.refresh_all(now_us);
        }
    }

    fn send_due(&mut self, now_us: u64) {
        for sender in self.senders.values_mut().filter(|sender| sender.next_us <= now_us) {
            let bytes = match &mut sender.garbage {
                None => vec![codes::PING],
                Some(random) => {
                    let length = random.below(GARBAGE_BYTES_MAX + 1);
                    (0..length).map(|_| random.bits() as u8).collect()
                }
            };
            sender.next_us += sender.period_us;
            // A fault's message goes the client's way, and that lane always exists: see `refresh`.
            self.links.lane(sender.client, Direction::ToAtom).push(now_us, &bytes);
        }
    }

    fn refresh_all(&mut self, now_us: u64) {
        for client in self.clients.clone() {
            self.refresh(now_us, client);
        }
        self.find_next();
    }

    /// Brings the lanes of a client in line with its profile, the faults and the association.
    fn refresh(&mut self, now_us: u64, client: ClientId) {
        for direction in Direction::ALL {
            let settings = self.settings(client, direction);
            let gate = self.gate(now_us, client, direction);
            let ideal = settings.is_transparent() && gate == Gate::Open;
            if !ideal || self.links.has_lane(client, direction) {
                let lane = self.links.lane(client, direction);
                lane.set(now_us, settings);
                lane.set_gate(gate);
            }
        }
        self.find_next();
    }

    fn faults_of(&self, client: ClientId, direction: Direction) -> impl Iterator<Item = Active> + '_ {
        self.active.values().copied().filter(move |active| match active {
            Active::Wifi { client: of, direction: way, .. } => {
                of.is_none_or(|of| of == client) && way.is_none_or(|way| way == direction)
            }
            Active::Client { client: of, .. } => *of == client,
        })
    }

    fn settings(&self, client: ClientId, direction: Direction) -> Settings {
        let stream = is_stream(client);
        let profile = self.profiles.get(&client).copied().unwrap_or(self.profile);
        let mut settings = profile.settings(stream);
        for active in self.faults_of(client, direction) {
            settings.buffer_bytes = if stream { STREAM_BUFFER_BYTES } else { DATAGRAM_BUFFER_BYTES };
            match active {
                Active::Wifi { fault, .. } => apply_wifi(&mut settings, fault),
                Active::Client { fault: ClientFault::SlowReader(bytes_s), .. } => {
                    if direction == Direction::FromAtom {
                        settings.bandwidth_bytes_s = Some(bytes_s);
                    }
                }
                Active::Client { .. } => {}
            }
        }
        settings
    }

    fn gate(&self, now_us: u64, client: ClientId, direction: Direction) -> Gate {
        let half_open = |active: &Active| match active {
            Active::Client { fault, .. } => *fault == ClientFault::HalfOpen,
            Active::Wifi { .. } => false,
        };
        let stalled = |active: &Active| match active {
            Active::Wifi { fault, .. } => *fault == WifiFault::Stall,
            Active::Client { .. } => false,
        };
        if !self.is_up(now_us) || self.faults_of(client, direction).any(|active| half_open(&active)) {
            Gate::Broken
        } else if self.faults_of(client, direction).any(|active| stalled(&active)) {
            Gate::Held
        } else {
            Gate::Open
        }
    }

    fn find_next(&mut self) {
        let sender_us = self.senders.values().map(|sender| sender.next_us).min().unwrap_or(u64::MAX);
        let rejoin_us = self.association.rejoins_us().unwrap_or(u64::MAX);
        self.next_us = self.links.next_due_us().unwrap_or(u64::MAX).min(sender_us).min(rejoin_us);
    }
}

fn apply_wifi(settings: &mut Settings, fault: WifiFault) {
    match fault {
        WifiFault::Latency(us) => settings.base_us += us,
        WifiFault::Jitter(us) => settings.jitter_us += us,
        WifiFault::Loss(chance) => settings.loss = settings.loss.max(chance),
        WifiFault::Duplicate(chance) => settings.duplicate = settings.duplicate.max(chance),
        WifiFault::Reorder { probability, by_us } => {
            settings.reorder = settings.reorder.max(probability);
            settings.reorder_us = by_us;
        }
        WifiFault::Bandwidth(bytes_s) => settings.bandwidth_bytes_s = Some(bytes_s),
        WifiFault::Stall | WifiFault::Drop | WifiFault::Address(_) | WifiFault::Rssi(_) => {}
    }
}
