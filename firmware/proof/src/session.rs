//! A scripted session of the whole controller: power-up, a move, JOG of joints and of the TCP, TRACK, an upload
//! that plays, a test signal, and every example message. Both sides run, messages come as bytes and go as bytes, the servos
//! answer on the bus; every byte that goes out is hashed.

use core::cell::RefCell;

use firmware_core::bus::packet::Instruction;
use firmware_core::bus::registers;
use firmware_core::control::Control;
use firmware_core::motion::plan::crc32c;
use firmware_core::network::{Banner, Network, NetworkOptions};
use firmware_core::platform::{ClientId, ControlPort, Health, ImuSample, NetworkPort, Transport};
use firmware_core::protocol::{ApiLevel, build, codes};
use firmware_core::shared::{Mailbox, PlayParams, Shared};

use crate::hash::Hash;
use crate::probe::{Counts, Depth, Probe, line};
use crate::servos::Servos;
use crate::vectors;

/// Bus time of one byte at 1 Mbaud (µs).
const BYTE_US: u64 = 10;
/// Time a servo takes before it answers (µs).
const TURNAROUND_US: u64 = 60;
/// Instruction and address of a SYNC WRITE of goals.
const GOALS_HEAD: [u8; 2] = [Instruction::SyncWrite as u8, registers::GOAL_POSITION];
/// The network side's grid (µs).
const TICK_US: u64 = 1_000;
/// Period of JOG and TRACK messages (µs).
const STREAM_PERIOD_US: u64 = 20_000;
/// Pose to work from: tool down.
const READY_DEG: [f32; 6] = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0];

const WEB: ClientId = ClientId { transport: Transport::WebSocket, number: 1 };
const UDP: ClientId = ClientId { transport: Transport::Udp, number: 1 };

/// The board: time, servos, and hashes of all that goes out. Its own work is counted apart.
struct Board<'p, P> {
    probe: &'p mut P,
    now_us: u64,
    servos: Servos,
    bus: Hash,
    messages: Hash,
    sent: u32,
    /// Packets on the bus in this control step.
    packets: u32,
    /// One of them wrote goals.
    goals_written: bool,
    own: u32,
}

impl<P: Probe> Board<'_, P> {
    /// Does the board's own work, which is not the controller's.
    fn apart<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.probe.counter();
        let result = work(self);
        if let (Some(before), Some(after)) = (before, self.probe.counter()) {
            self.own += after.wrapping_sub(before);
        }
        result
    }

    fn sample(&self) -> ImuSample {
        let wobble = (self.now_us / 2_000 % 64) as i16;
        ImuSample { acc: [wobble, -wobble, 4096], gyro: [0, wobble, -3] }
    }
}

impl<P: Probe> ControlPort for Board<'_, P> {
    fn now_us(&mut self) -> u64 {
        self.now_us
    }

    fn send(&mut self, bytes: &[u8]) {
        self.apart(|board| {
            board.bus.bytes(bytes);
            board.servos.take(bytes);
            board.packets += 1;
            board.goals_written |= bytes.get(4..6) == Some(&GOALS_HEAD[..]);
            board.now_us += bytes.len() as u64 * BYTE_US + TURNAROUND_US;
        });
    }

    fn receive(&mut self, buffer: &mut [u8], timeout_us: u32) -> usize {
        self.apart(|board| {
            let count = board.servos.give(buffer);
            board.now_us += count as u64 * BYTE_US;
            if count < buffer.len() {
                board.now_us += u64::from(timeout_us);
            }
            count
        })
    }

    fn discard_input(&mut self) {
        self.apart(|board| board.servos.discard());
    }

    fn imu(&mut self) -> Option<ImuSample> {
        Some(self.sample())
    }
}

impl<P: Probe> NetworkPort for Board<'_, P> {
    fn send(&mut self, to: ClientId, message: &[u8]) {
        self.apart(|board| {
            board.messages.word(u32::from(to == WEB));
            board.messages.bytes(message);
            board.sent += 1;
        });
    }

    fn broadcast(&mut self, line: &str) {
        self.apart(|board| board.messages.bytes(line.as_bytes()));
    }

    fn imu(&mut self) -> Option<ImuSample> {
        Some(self.sample())
    }

    fn health(&mut self) -> Health {
        Health { ip: [192, 168, 4, 2], rssi_dbm: -51, heap_free: 158_000, wifi_drops: 0 }
    }
}

/// A whole ATOM, and counts of its cycles.
struct Session<'p, P> {
    board: Board<'p, P>,
    shared: RefCell<Shared>,
    network: Network,
    control: Control,
    control_wake_us: u64,
    tick_us: u64,
    /// Control cycles: steps of a SYNC WRITE, a SYNC READ and at most a slow read.
    cycles: Counts,
    /// All other control steps.
    other_steps: Counts,
    /// Stack of the control side's steps, the proof's servos beneath it in the place of a UART.
    control_depth: Depth,
    /// Stack of the network side's ticks and of what it does with a message.
    network_depth: Depth,
}

impl<P: Probe> Session<'_, P> {
    /// The control side has a step of its own to do at `now_us`.
    fn control_due(&self, now_us: u64) -> bool {
        self.control_wake_us <= now_us || self.shared.borrow().doorbell
    }

    fn control_step(&mut self) {
        (self.board.own, self.board.packets, self.board.goals_written) = (0, 0, false);
        self.board.probe.paint_stack();
        let before = self.board.probe.counter();
        self.control_wake_us = self.control.step(&mut self.board, &self.shared);
        if let (Some(before), Some(after)) = (before, self.board.probe.counter()) {
            let counted = after.wrapping_sub(before).saturating_sub(self.board.own);
            let runs = self.shared.borrow().view.latest().state.is_run();
            let cycle = runs && self.board.goals_written && (2..=3).contains(&self.board.packets);
            if cycle { self.cycles.add(counted) } else { self.other_steps.add(counted) }
        }
        self.control_depth.add(self.board.probe);
    }

    /// Lets time pass until `until_us`, both sides in turn: the control side at its wake-ups, the network side
    /// on its grid.
    fn run_until(&mut self, until_us: u64) {
        while self.tick_us <= until_us {
            let now_us = self.tick_us;
            while self.control_due(now_us) && self.board.now_us <= now_us {
                self.board.now_us = self.board.now_us.max(self.control_wake_us.min(now_us));
                self.control_step();
            }
            self.board.probe.paint_stack();
            self.network.tick(now_us, &self.shared, &mut self.board);
            self.network_depth.add(self.board.probe);
            self.tick_us += TICK_US;
        }
    }

    fn message(&mut self, from: ClientId, bytes: &[u8]) {
        let now_us = self.tick_us - TICK_US;
        self.board.probe.paint_stack();
        self.network.receive(now_us, from, bytes, &self.shared, &mut self.board);
        self.network_depth.add(self.board.probe);
    }

    /// Sends `message` every 20 ms for `duration_us`.
    fn stream(&mut self, message: &[u8], duration_us: u64) {
        let end_us = self.tick_us + duration_us;
        self.message(WEB, &build::subscribe(100));
        while self.tick_us < end_us {
            self.message(WEB, message);
            self.run_until(self.tick_us + STREAM_PERIOD_US - TICK_US);
        }
    }

    /// Ends a part of the script: a line with all hashes, the positions and the state, and the counts of its
    /// control steps.
    fn part(&mut self, name: &str) {
        let now_us = self.tick_us - TICK_US;
        let state = self.network.state(now_us, &self.shared);
        let positions = self.shared.with(|shared| shared.view.at(now_us).joints.position);
        let (bus, messages, sent) = (self.board.bus.value(), self.board.messages.value(), self.board.sent);
        line(
            self.board.probe,
            format_args!(
                "session, {name}: state {} t {now_us} sent {sent} bus {bus:016x} messages {messages:016x}",
                state as u8
            ),
        );
        line(self.board.probe, format_args!("session, {name}: positions {positions:?}"));
        core::mem::take(&mut self.cycles).report(&alloc::format!("control cycle, {name}"), self.board.probe);
        core::mem::take(&mut self.other_steps)
            .report(&alloc::format!("other step, {name}"), self.board.probe);
    }
}

/// Runs the session.
pub fn run(probe: &mut impl Probe) {
    let options = NetworkOptions {
        level: ApiLevel::V5_1,
        max_subscribers: 4,
        plan_bytes_max: 20_000,
        banner: Banner::Lab,
        build: "proof",
    };
    let board = Board {
        probe,
        now_us: 0,
        servos: Servos::new(),
        bus: Hash::default(),
        messages: Hash::default(),
        sent: 0,
        packets: 0,
        goals_written: false,
        own: 0,
    };
    let mut session = Session {
        board,
        shared: RefCell::new(Shared::default()),
        network: Network::new(options),
        control: Control::new(ApiLevel::V5_1),
        control_wake_us: 0,
        tick_us: 0,
        cycles: Counts::default(),
        other_steps: Counts::default(),
        control_depth: Depth::default(),
        network_depth: Depth::default(),
    };
    motion(&mut session);
    uploads(&mut session);
    examples(&mut session);
    session.control_depth.report("the control side", session.board.probe);
    session.network_depth.report("the network side", session.board.probe);
}

/// Power-up, a move and the streamed modes.
fn motion(session: &mut Session<'_, impl Probe>) {
    session.run_until(1_000_000);
    session.part("power-up");

    session.message(UDP, &build::subscribe(50));
    session.message(WEB, &build::subscribe(100));
    session.run_until(session.tick_us + 300_000);
    session.part("idle with two subscribers");

    session.message(WEB, &build::move_to(&READY_DEG, 0));
    session.run_until(session.tick_us + 3_500_000);
    session.part("MOVE_TO");

    session.stream(&build::jog(&[10.0, -8.0, 0.0, 12.0, 0.0, -25.0]), 600_000);
    session.run_until(session.tick_us + 500_000);
    session.part("JOG of joints");

    session.stream(&build::jog_tcp(1, [20.0, 5.0, -8.0], [0.0, 2.0, 10.0], 0.0, 45.0), 600_000);
    session.stream(&build::jog_tcp(2, [0.0, 0.0, 15.0], [5.0, 0.0, 0.0], 10.0, 45.0), 600_000);
    session.run_until(session.tick_us + 500_000);
    session.part("JOG of the TCP");

    session.stream(&build::track(&[8.0, -6.0, -80.0, 5.0, 4.0, 30.0, -20.0], 45.0), 1_200_000);
    session.part("TRACK");
    session.run_until(session.tick_us + 500_000);
    session.part("deadman");
}

/// A plan uploaded and played, and a test signal that is stopped.
fn uploads(session: &mut Session<'_, impl Probe>) {
    const SAMPLES: u16 = 128;
    const PER_MESSAGE: usize = 16;
    const PLAY: PlayParams =
        PlayParams { rate_hz: 500, speed_cap_sps: 2_000, max_error_steps: 227, start_tolerance_steps: 60 };
    let start = session.shared.with(|shared| shared.view.latest().joints.goal);
    let mut samples = alloc::vec::Vec::new();
    for sample in 0..SAMPLES {
        for _cmd_and_reference in 0..2 {
            for steps in &start[..6] {
                samples.extend((steps + sample / 2).to_le_bytes());
            }
        }
    }
    session.message(WEB, &build::control(0));
    session.message(UDP, &build::control(1));
    session.message(UDP, &build::plan_begin(u32::from(SAMPLES), 250, true, 6));
    for (part, bytes) in samples.chunks(24 * PER_MESSAGE).enumerate() {
        let mut message = alloc::vec::Vec::from(
            build::plan_data_head((part * PER_MESSAGE) as u32, (bytes.len() / 24) as u16).as_slice(),
        );
        message.extend_from_slice(bytes);
        session.message(UDP, &message);
        session.run_until(session.tick_us + 5_000);
    }
    session.message(UDP, &build::plan_end(crc32c(&samples)));
    session.message(UDP, &build::play(PLAY));
    session.run_until(session.tick_us + 2_500_000);
    session.part("PLAY");

    if let Some(bytes) = vectors::SIGNAL_PARAMS.iter().next().and_then(|bytes| bytes.try_into().ok()) {
        session.message(UDP, &build::play_signal(PLAY, bytes));
    }
    session.run_until(session.tick_us + 1_000_000);
    session.message(WEB, &build::plain(codes::STOP));
    session.run_until(session.tick_us + 1_000_000);
    session.part("PLAY_SIGNAL and STOP");
}

/// Every example message, from a client that takes control with the first that needs it.
fn examples(session: &mut Session<'_, impl Probe>) {
    let web_two = ClientId { transport: Transport::WebSocket, number: 2 };
    for bytes in vectors::PROTOCOL.iter() {
        session.message(web_two, bytes);
        session.run_until(session.tick_us + 2_000);
    }
    session.part("example messages");
}
