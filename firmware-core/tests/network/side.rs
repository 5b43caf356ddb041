//! The network side on a bench: a platform that records, and a control side that the test plays.

use std::cell::RefCell;

use firmware_core::network::{Banner, Network, NetworkOptions};
use firmware_core::platform::{ClientId, Health, ImuSample, NetworkPort, Transport};
use firmware_core::protocol::layout::Layout;
use firmware_core::protocol::{ApiLevel, reply};
use firmware_core::shared::{Posted, Request, Shared, State, View};
use firmware_core::telemetry_ring::TelemetrySample;

pub(crate) const UDP: ClientId = ClientId { transport: Transport::Udp, number: 1 };
pub(crate) const UDP_2: ClientId = ClientId { transport: Transport::Udp, number: 2 };
pub(crate) const WEB: ClientId = ClientId { transport: Transport::WebSocket, number: 3 };
pub(crate) const WEB_2: ClientId = ClientId { transport: Transport::WebSocket, number: 4 };

/// The platform: keeps what is sent.
#[derive(Default)]
pub(crate) struct Port {
    pub(crate) sent: Vec<(ClientId, Vec<u8>)>,
    pub(crate) lines: Vec<String>,
    pub(crate) imu: Option<ImuSample>,
    pub(crate) health: Health,
}

impl NetworkPort for Port {
    fn send(&mut self, to: ClientId, message: &[u8]) {
        self.sent.push((to, message.to_vec()));
    }

    fn broadcast(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn imu(&mut self) -> Option<ImuSample> {
        self.imu
    }

    fn health(&mut self) -> Health {
        self.health
    }
}

/// The network side, its platform and its mailbox.
pub(crate) struct Side {
    pub(crate) network: Network,
    pub(crate) shared: RefCell<Shared>,
    pub(crate) port: Port,
    pub(crate) now_us: u64,
}

impl Side {
    /// Holding, six joints, nothing pending, at 10 s.
    pub(crate) fn new() -> Self {
        Self::at_level(ApiLevel::V5_1)
    }

    pub(crate) fn at_level(level: ApiLevel) -> Self {
        let options = NetworkOptions {
            level,
            max_subscribers: 4,
            plan_bytes_max: 120_024,
            banner: Banner::Simulator,
            build: "abc123",
        };
        let mut side = Self {
            network: Network::new(options),
            shared: RefCell::default(),
            port: Port { imu: Some(ImuSample::default()), ..Port::default() },
            now_us: 0,
        };
        side.show(|view| {
            view.state = State::Holding;
            view.n = 6;
            view.gains_ok = true;
        });
        side.tick_to(10_000_000);
        side.port.lines.clear();
        side
    }

    /// Booting, as at power-up.
    pub(crate) fn booting() -> Self {
        let mut side = Self::new();
        side.show(|view| *view = View::default());
        side
    }

    /// Seven joints.
    pub(crate) fn with_gripper() -> Self {
        let mut side = Self::new();
        side.show(|view| view.n = 7);
        side
    }

    /// The control side shows another view.
    pub(crate) fn show(&mut self, change: impl FnOnce(&mut View)) {
        let mut shared = self.shared.borrow_mut();
        let mut view = *shared.view.at(self.now_us);
        change(&mut view);
        shared.view.show(view);
    }

    /// The control side is in `state`, with nothing pending.
    pub(crate) fn state(&mut self, state: State) {
        self.show(|view| view.state = state);
    }

    /// The control side takes the pending request and works on it.
    pub(crate) fn take(&mut self) -> Request {
        let request = self.shared.borrow_mut().request.take().expect("a pending request");
        self.show(|view| view.working = true);
        request
    }

    /// The control side is done with the request, and in `state`.
    pub(crate) fn finish(&mut self, state: State) {
        self.show(|view| {
            view.working = false;
            view.state = state;
        });
    }

    /// The control side takes the pending request and its run begins.
    pub(crate) fn run(&mut self, state: State) {
        self.take();
        self.finish(state);
    }

    pub(crate) fn pending(&self) -> Option<Request> {
        self.shared.borrow().request.clone()
    }

    pub(crate) fn stopped(&self) -> bool {
        self.shared.borrow().stop
    }

    /// The control side posts a reply.
    pub(crate) fn post(&mut self, at_us: u64, to: ClientId, message: &impl Layout, ends_run: bool) {
        let message = message.encode();
        self.shared.borrow_mut().post(Posted { at_us, to, message, ends_run });
    }

    pub(crate) fn push_telemetry(&mut self, sample: TelemetrySample) {
        assert!(self.shared.borrow_mut().telemetry.push(&sample), "the ring is full");
    }

    /// Hands a message in and returns what goes to its sender at once.
    pub(crate) fn send(&mut self, from: ClientId, bytes: &[u8]) -> Vec<Vec<u8>> {
        let before = self.port.sent.len();
        self.network.receive(self.now_us, from, bytes, &self.shared, &mut self.port);
        self.port.sent[before..]
            .iter()
            .filter(|(to, _)| *to == from)
            .map(|(_, bytes)| bytes.clone())
            .collect()
    }

    /// Hands a message in; nothing may be answered at once.
    pub(crate) fn silent(&mut self, from: ClientId, bytes: &[u8]) {
        let replies = self.send(from, bytes);
        assert!(replies.is_empty(), "{bytes:02x?} was answered with {replies:02x?}");
    }

    /// Hands a message in; its ACK must have this status.
    pub(crate) fn acked(&mut self, from: ClientId, bytes: &[u8], status: i8) {
        assert_eq!(self.send(from, bytes), [ack(bytes[0], status)], "reply to {bytes:02x?}");
    }

    /// Ticks once a millisecond up to `t_us`, and returns what was sent.
    pub(crate) fn tick_to(&mut self, t_us: u64) -> Vec<(ClientId, Vec<u8>)> {
        let before = self.port.sent.len();
        while self.now_us < t_us {
            self.now_us += 1_000;
            self.network.tick(self.now_us, &self.shared, &mut self.port);
        }
        self.port.sent[before..].to_vec()
    }

    pub(crate) fn tick_ms(&mut self, ms: u64) -> Vec<(ClientId, Vec<u8>)> {
        self.tick_to(self.now_us + ms * 1_000)
    }

    pub(crate) fn close(&mut self, client: ClientId) {
        self.network.closed(self.now_us, client, &self.shared);
    }

    pub(crate) fn holder(&self) -> Option<ClientId> {
        self.network.holder(self.now_us)
    }

    /// Uploads a plan of two samples and makes it valid.
    pub(crate) fn upload(&mut self, from: ClientId) {
        self.acked(from, &[0x04, 2, 0, 0, 0, 250, 0], 0);
        let samples = [0x08_u8; 48];
        assert_eq!(self.send(from, &plan_data(0, 2, &samples)), [ack_value(0x05, 0, 0)]);
        self.acked(from, &plan_end(&samples), 0);
    }
}

pub(crate) fn ack(code: u8, status: i8) -> Vec<u8> {
    ack_value(code, status, 0)
}

pub(crate) fn ack_value(code: u8, status: i8, value: u32) -> Vec<u8> {
    reply::Ack { code, status, value }.encode::<8>().to_vec()
}

pub(crate) fn plan_data(offset: u32, count: u16, samples: &[u8]) -> Vec<u8> {
    [&[0x05][..], &offset.to_le_bytes(), &count.to_le_bytes(), samples].concat()
}

pub(crate) fn plan_end(samples: &[u8]) -> Vec<u8> {
    [&[0x06][..], &firmware_core::motion::plan::crc32c(samples).to_le_bytes()].concat()
}

/// A message of `length` bytes: its code, `head`, then zeros.
pub(crate) fn message(head: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = head.to_vec();
    bytes.resize(length, 0);
    bytes
}

/// PLAY at 500 Hz.
pub(crate) const PLAY: [u8; 9] = [0x07, 0xF4, 0x01, 0xD0, 0x07, 0xE3, 0x00, 0x22, 0x00];

/// PLAY_SIGNAL: a chirp of J1 that passes every check.
pub(crate) fn play_signal() -> Vec<u8> {
    let signal = [
        0x01, 0x01, 0x00, 0x00, 0x20, 0x41, 0xCD, 0xCC, 0x4C, 0x3E, 0x00, 0x00, 0xA0, 0x40, 0x00, 0x00, 0xC0,
        0x41, 0x00, 0x00, 0xF0, 0x42, 0x00, 0x00, 0x96, 0x43,
    ];
    message(&[&[0x0B][..], &PLAY[1..], &signal].concat(), 47)
}

/// MOVE_TO of all joints to 0°.
pub(crate) fn move_to(n: usize) -> Vec<u8> {
    message(&[0x0E], 3 + 2 * n)
}

/// JOG frame 0 at 1 °/s.
pub(crate) fn jog(n: usize) -> Vec<u8> {
    let mut bytes = message(&[0x0F, 0], 2 + 2 * n);
    bytes[2] = 10;
    bytes
}

/// TRACK of all joints to 0° at 30 °/s.
pub(crate) fn track(n: usize) -> Vec<u8> {
    let mut bytes = message(&[0x10], 3 + 2 * n);
    bytes[1 + 2 * n] = 0x2C;
    bytes[2 + 2 * n] = 0x01;
    bytes
}

/// End-effector JOG with this velocity of J7 (0.1 °/s).
pub(crate) fn jog_twist(frame: u8, j7: i16) -> Vec<u8> {
    let mut bytes = message(&[0x0F, frame], 18);
    bytes[14..16].copy_from_slice(&j7.to_le_bytes());
    bytes
}

/// MOVE_TO, or TRACK, with one joint (index) at an angle (0.01°).
pub(crate) fn with_goal(mut bytes: Vec<u8>, joint: usize, cdeg: i16) -> Vec<u8> {
    bytes[1 + 2 * joint..3 + 2 * joint].copy_from_slice(&cdeg.to_le_bytes());
    bytes
}
