//! What the ATOM answers to Improv commands, and what it asks of the platform.

use core::fmt::Write;

use heapless::{String, Vec};

use super::packet::{self, Command, Error, Found, Kind, PACKET_BYTES, Parser, State};

/// A network that is not joined by then is given up (µs).
pub const CONNECT_TIMEOUT_US: u64 = 20_000_000;
/// Longest network name (bytes).
pub const SSID_BYTES: usize = 32;
/// Longest passphrase (bytes).
pub const PASSWORD_BYTES: usize = 64;
/// Longest address of the Control page with `?atom=<ip>`.
const URL_BYTES: usize = 200;

/// A network and its passphrase, empty for an open network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Its name.
    pub ssid: String<SSID_BYTES>,
    /// Its passphrase.
    pub password: String<PASSWORD_BYTES>,
}

/// Who the ATOM says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Version of the firmware: major, minor, patch.
    pub version: [u8; 3],
    /// Address of the Control page; empty: no address is given.
    pub page: &'static str,
}

/// What matters of the rest of the ATOM when a command comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// Time since power-up (µs).
    pub now_us: u64,
    /// The robot moves or is being updated: settings and scan are refused.
    pub busy: bool,
    /// The address in the network that is joined.
    pub ip: Option<[u8; 4]>,
}

/// What the platform shall do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Join this network, and save it once [`Improv::tick`] says so.
    Join(Credentials),
    /// Save this network: it was joined.
    Save(Credentials),
    /// Go back to the network before: this one could not be joined in time.
    GoBack,
    /// Scan, then call [`Improv::network`] for each network and [`Improv::scanned`].
    Scan,
}

/// The session on the serial port.
#[derive(Debug)]
pub struct Improv {
    device: Device,
    parser: Parser,
    joining: Option<(Credentials, u64)>,
}

/// Bytes to send.
pub type Packet = Vec<u8, PACKET_BYTES>;

impl Improv {
    /// A session in which nothing was said yet.
    pub fn new(device: Device) -> Self {
        Self { device, parser: Parser::default(), joining: None }
    }

    /// Takes a byte from the serial port. `send` gets what is answered.
    pub fn receive(
        &mut self,
        byte: u8,
        situation: Situation,
        send: &mut impl FnMut(&Packet),
    ) -> Option<Action> {
        match self.parser.take(byte)? {
            Found::Broken => {
                send_error(Error::InvalidPacket, send);
                None
            }
            Found::Packet(kind, data) if kind == Kind::Command as u8 => self.command(&data, situation, send),
            // States, errors and results go the other way.
            Found::Packet(_, _) => None,
        }
    }

    /// Looks whether the network that is being joined is there, or has taken too long.
    pub fn tick(&mut self, situation: Situation, send: &mut impl FnMut(&Packet)) -> Option<Action> {
        let (_, until_us) = self.joining.as_ref()?;
        match situation.ip {
            Some(ip) => {
                let (credentials, _) = self.joining.take()?;
                send_state(State::Provisioned, send);
                self.send_url(Command::Settings, ip, send);
                Some(Action::Save(credentials))
            }
            None if situation.now_us >= *until_us => {
                self.joining = None;
                send_error(Error::UnableToConnect, send);
                send_state(State::Ready, send);
                Some(Action::GoBack)
            }
            None => None,
        }
    }

    /// Reports a network that the scan found.
    pub fn network(ssid: &str, rssi_dbm: i8, secured: bool, send: &mut impl FnMut(&Packet)) {
        let mut rssi = String::<4>::new();
        // Four characters hold every i8.
        let _written = write!(rssi, "{rssi_dbm}");
        send(&packet::result(Command::Scan, &[ssid, &rssi, if secured { "YES" } else { "NO" }]));
    }

    /// The scan is over.
    pub fn scanned(send: &mut impl FnMut(&Packet)) {
        send(&packet::result(Command::Scan, &[]));
    }

    fn command(
        &mut self,
        data: &[u8],
        situation: Situation,
        send: &mut impl FnMut(&Packet),
    ) -> Option<Action> {
        let [command, length, body @ ..] = data else {
            send_error(Error::InvalidPacket, send);
            return None;
        };
        if usize::from(*length) != body.len() {
            send_error(Error::InvalidPacket, send);
            return None;
        }
        let Some(command) = Command::from_byte(*command) else {
            send_error(Error::UnknownCommand, send);
            return None;
        };
        match command {
            Command::Settings | Command::Scan if situation.busy => {
                send_error(Error::Unknown, send);
                None
            }
            Command::Settings => self.settings(body, situation.now_us, send),
            Command::Scan => {
                send_error(Error::None, send);
                Some(Action::Scan)
            }
            Command::State => {
                send_state(self.state(situation), send);
                if let Some(ip) = situation.ip.filter(|_| self.joining.is_none()) {
                    self.send_url(Command::State, ip, send);
                }
                None
            }
            Command::DeviceInfo => {
                let [major, minor, patch] = self.device.version;
                let mut version = String::<{ "255.255.255".len() }>::new();
                // That holds every version.
                let _written = write!(version, "{major}.{minor}.{patch}");
                let strings = ["myCobot 280 controller", &version, "ESP32", "mycobot"];
                send(&packet::result(Command::DeviceInfo, &strings));
                None
            }
        }
    }

    fn settings(&mut self, body: &[u8], now_us: u64, send: &mut impl FnMut(&Packet)) -> Option<Action> {
        let Some(credentials) = credentials(body) else {
            send_error(Error::InvalidPacket, send);
            return None;
        };
        send_error(Error::None, send);
        send_state(State::Provisioning, send);
        self.joining = Some((credentials.clone(), now_us + CONNECT_TIMEOUT_US));
        Some(Action::Join(credentials))
    }

    fn state(&self, situation: Situation) -> State {
        match (&self.joining, situation.ip) {
            (Some(_), _) => State::Provisioning,
            (None, Some(_)) => State::Provisioned,
            (None, None) => State::Ready,
        }
    }

    fn send_url(&self, command: Command, [a, b, c, d]: [u8; 4], send: &mut impl FnMut(&Packet)) {
        let mut url = String::<URL_BYTES>::new();
        let page = self.device.page;
        let whole = !page.is_empty() && write!(url, "{page}?atom={a}.{b}.{c}.{d}").is_ok();
        let strings = [url.as_str()];
        send(&packet::result(command, &strings[..usize::from(whole)]));
    }
}

fn send_error(error: Error, send: &mut impl FnMut(&Packet)) {
    send(&packet::packet(Kind::Error, &[error as u8]));
}

fn send_state(state: State, send: &mut impl FnMut(&Packet)) {
    send(&packet::packet(Kind::State, &[state as u8]));
}

/// The network name (not empty) and the passphrase, each with its length in front.
fn credentials(body: &[u8]) -> Option<Credentials> {
    let (ssid, rest) = string(body)?;
    let (password, rest) = string(rest)?;
    (!ssid.is_empty() && rest.is_empty()).then_some(Credentials { ssid, password })
}

fn string<const N: usize>(bytes: &[u8]) -> Option<(String<N>, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(*length))?;
    let text = core::str::from_utf8(text).ok()?;
    Some((String::try_from(text).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: Device = Device { version: [5, 1, 0], page: "https://example.org/control" };
    const CALM: Situation = Situation { now_us: 1_000_000, busy: false, ip: None };
    const ADDRESS: [u8; 4] = [192, 168, 4, 20];

    /// The packets of an exchange, each without its head and checksum: type, then data.
    type Sent = alloc::vec::Vec<alloc::vec::Vec<u8>>;

    fn exchange(improv: &mut Improv, data: &[u8], situation: Situation) -> (Option<Action>, Sent) {
        let mut sent = Sent::new();
        let mut action = None;
        for byte in &packet::packet(Kind::Command, data) {
            let got = improv.receive(*byte, situation, &mut |packet| sent.push(inside(packet)));
            action = action.or(got);
        }
        (action, sent)
    }

    fn inside(packet: &Packet) -> alloc::vec::Vec<u8> {
        [&packet[7..8], &packet[9..packet.len() - 2]].concat()
    }

    fn text(strings: &[&str]) -> alloc::vec::Vec<u8> {
        strings.iter().flat_map(|text| core::iter::once(text.len() as u8).chain(text.bytes())).collect()
    }

    fn result_of(command: u8, strings: &[&str]) -> alloc::vec::Vec<u8> {
        let strings = text(strings);
        [&[4, command, strings.len() as u8][..], &strings].concat()
    }

    fn settings() -> alloc::vec::Vec<u8> {
        let body = text(&["lab", "secret 12"]);
        [&[1, body.len() as u8][..], &body].concat()
    }

    #[test]
    fn the_state_is_ready_without_a_network_and_comes_with_the_address_with_one() {
        let mut improv = Improv::new(DEVICE);
        assert_eq!(exchange(&mut improv, &[2, 0], CALM), (None, alloc::vec![alloc::vec![1, 2]]));
        let connected = Situation { ip: Some(ADDRESS), ..CALM };
        let url = "https://example.org/control?atom=192.168.4.20";
        let expected = alloc::vec![alloc::vec![1, 4], result_of(2, &[url])];
        assert_eq!(exchange(&mut improv, &[2, 0], connected), (None, expected));
    }

    #[test]
    fn device_info_names_firmware_version_chip_and_device() {
        let expected = result_of(3, &["myCobot 280 controller", "5.1.0", "ESP32", "mycobot"]);
        assert_eq!(exchange(&mut Improv::new(DEVICE), &[3, 0], CALM), (None, alloc::vec![expected]));
    }

    #[test]
    fn a_network_is_saved_only_once_it_is_joined() {
        let mut improv = Improv::new(DEVICE);
        let (action, sent) = exchange(&mut improv, &settings(), CALM);
        let Some(Action::Join(credentials)) = action else { panic!("{action:?}") };
        assert_eq!((credentials.ssid.as_str(), credentials.password.as_str()), ("lab", "secret 12"));
        assert_eq!(sent, [[2, 0], [1, 3]], "no error, provisioning");

        let mut sent = Sent::new();
        let mut send = |packet: &Packet| sent.push(inside(packet));
        assert_eq!(improv.tick(Situation { now_us: 20_999_999, ..CALM }, &mut send), None);
        let joined = Situation { ip: Some(ADDRESS), now_us: 20_999_999, busy: false };
        assert_eq!(improv.tick(joined, &mut send), Some(Action::Save(credentials)));
        assert_eq!(improv.tick(joined, &mut send), None, "once");
        assert_eq!(sent[0], [1, 4]);
        assert_eq!(sent[1], result_of(1, &["https://example.org/control?atom=192.168.4.20"]));
    }

    #[test]
    fn after_20_s_it_says_unable_to_connect_and_goes_back() {
        let mut improv = Improv::new(DEVICE);
        exchange(&mut improv, &settings(), CALM);
        let mut sent = Sent::new();
        let late = Situation { now_us: CALM.now_us + CONNECT_TIMEOUT_US, ..CALM };
        let action = improv.tick(late, &mut |packet| sent.push(inside(packet)));
        assert_eq!(action, Some(Action::GoBack));
        assert_eq!(sent, [[2, 3], [1, 2]]);
    }

    #[test]
    fn settings_and_scan_are_refused_while_the_robot_moves() {
        let moving = Situation { busy: true, ..CALM };
        for data in [settings(), alloc::vec![4, 0]] {
            let (action, sent) = exchange(&mut Improv::new(DEVICE), &data, moving);
            assert_eq!((action, sent), (None, alloc::vec![alloc::vec![2, 0xFF]]));
        }
    }

    #[test]
    fn a_scan_reports_each_network_and_then_an_empty_result() {
        let (action, _) = exchange(&mut Improv::new(DEVICE), &[4, 0], CALM);
        assert_eq!(action, Some(Action::Scan));
        let mut sent = Sent::new();
        let mut send = |packet: &Packet| sent.push(inside(packet));
        Improv::network("lab", -61, true, &mut send);
        Improv::network("guests", -128, false, &mut send);
        Improv::scanned(&mut send);
        let expected = [
            result_of(4, &["lab", "-61", "YES"]),
            result_of(4, &["guests", "-128", "NO"]),
            result_of(4, &[]),
        ];
        assert_eq!(sent, expected);
    }

    #[test]
    fn broken_lengths_and_unknown_commands_are_named() {
        let broken: [&[u8]; 5] = [&[], &[2], &[2, 1], &[1, 3, 1, b'a', 9], &[1, 2, 0, 0]];
        for data in broken {
            let (action, sent) = exchange(&mut Improv::new(DEVICE), data, CALM);
            assert_eq!((action, sent), (None, alloc::vec![alloc::vec![2, 1]]), "{data:?}");
        }
        let (_, sent) = exchange(&mut Improv::new(DEVICE), &[9, 0], CALM);
        assert_eq!(sent, [[2, 2]]);
    }
}
