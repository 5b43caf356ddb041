//! [`Atom`]: inputs, virtual time, outputs.

use std::cell::RefCell;
use std::collections::VecDeque;

use firmware_core::control::Control;
use firmware_core::network::{Banner, Network, NetworkOptions};
use firmware_core::platform::{ClientId, Health, Transport};
use firmware_core::shared::{Shared, State};

use super::effects::Effects;
use super::fault::Schedule;
use super::inbox::{Inbox, Input};
use super::journal::{AtomInput, Journal, JournalEntry};
use super::options::Options;
use super::ports::{ControlSide, CpuModel, NetworkSide};
use super::replay::Replay;
use super::wireless::{Arrival, Wireless};
use crate::hardware::{Hardware, HardwareError};
use crate::link::Profile;

/// What the status log names as the build.
const BUILD: &str = env!("CARGO_PKG_VERSION");
/// Period of the network side (µs of virtual time).
pub const TICK_US: u64 = 1_000;
/// Power-up is over after this long, whatever the servos do (µs).
const BOOT_US_MAX: u64 = 60_000_000;
/// Free heap without a plan (bytes).
const HEAP_BYTES: u32 = 158_000;

/// What an output is and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// One binary message to one client.
    Message {
        /// When it left (µs).
        t_us: u64,
        /// Who gets it.
        to: ClientId,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// The ATOM closed a WebSocket: it lost power or its address, or a fault closed it.
    Closed {
        /// When (µs).
        t_us: u64,
        /// Whose.
        client: ClientId,
    },
    /// A status log line to every WebSocket (text frame) and to the UDP broadcast.
    StatusLine {
        /// When it left (µs).
        t_us: u64,
        /// The line, without line end.
        line: String,
    },
}

/// One whole simulated ATOM.
///
/// Synchronous and deterministic: no socket, no wall clock, no thread. The same options and the same timed
/// inputs give the same outputs, whatever the sizes of the steps in which time is advanced: all that is due
/// up to a time has happened before an input at that time is taken, and messages wait for the next network
/// tick, at most 1 ms.
#[derive(Debug)]
pub struct Atom {
    pub(super) options: Options,
    pub(super) hardware: Hardware,
    pub(super) network: Network,
    pub(super) control: Control,
    pub(super) mailbox: RefCell<Shared>,
    pub(super) inbox: Inbox,
    pub(super) wireless: Wireless,
    pub(super) faults: Schedule,
    pub(super) effects: Effects,
    pub(super) outputs: VecDeque<Output>,
    pub(super) journal: Journal,
    pub(super) replay: Replay,
    /// All that is due up to here has happened (virtual µs).
    pub(super) now_us: u64,
    pub(super) power_up_us: u64,
    pub(super) control_due_us: u64,
    /// The control side's last step ended here: it does not step again before.
    pub(super) control_free_us: u64,
    clients_made: u32,
}

impl Atom {
    /// Makes an ATOM. Unless `boot` is set, power-up has been done: it holds its pose, or shows the error it
    /// found, and [`Atom::now_us`] says how long that took.
    ///
    /// # Errors
    /// A pose or an object that the hardware cannot have.
    pub fn new(options: &Options) -> Result<Self, HardwareError> {
        options.check()?;
        let mut atom = Self {
            hardware: Hardware::new(&options.hardware)?,
            network: new_network(options),
            control: Control::new(options.level),
            mailbox: RefCell::default(),
            inbox: Inbox::default(),
            wireless: Wireless::new(options.hardware.seed, options.wifi),
            faults: Schedule::new(options.hardware.seed),
            effects: Effects::default(),
            outputs: VecDeque::new(),
            journal: Journal::default(),
            replay: Replay::new(options.recording.clone()),
            now_us: 0,
            power_up_us: 0,
            control_due_us: 0,
            control_free_us: 0,
            clients_made: 0,
            options: options.clone(),
        };
        while !options.boot && atom.state() == State::Booting && atom.now_us < BOOT_US_MAX {
            atom.advance_to(atom.now_us + TICK_US);
        }
        atom.outputs.clear();
        Ok(atom)
    }

    /// How it started.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Virtual time (µs).
    pub fn now_us(&self) -> u64 {
        self.now_us
    }

    /// The state as the network side shows it.
    pub fn state(&self) -> State {
        self.network.state(self.firmware_us(self.now_us), &self.mailbox)
    }

    /// True angle (°) of joint `joint` (index, 0 = J1) now.
    pub fn deg(&self, joint: usize) -> f64 {
        self.hardware.deg(joint, self.now_us)
    }

    /// A WebSocket opens, or the first datagram of a UDP source comes.
    pub fn connect(&mut self, transport: Transport) -> ClientId {
        self.clients_made += 1;
        let client = ClientId { transport, number: self.clients_made };
        self.note(|| AtomInput::Connect(client));
        self.wireless.connect(self.now_us, client);
        client
    }

    /// Gives the link of one client another quality than [`Options::wifi`].
    pub fn set_wifi(&mut self, client: ClientId, profile: Profile) {
        self.note(|| AtomInput::Wifi { client, profile });
        self.wireless.set_profile(self.now_us, client, profile);
    }

    /// A client is gone: its WebSocket closed, or the server forgets a UDP source.
    pub fn close(&mut self, client: ClientId) {
        self.note(|| AtomInput::Close(client));
        if self.wireless.close(self.now_us, client) {
            self.inbox.close(client);
            self.wireless.remove(client);
        }
    }

    /// Bytes of one message from a client, now.
    pub fn receive(&mut self, client: ClientId, bytes: &[u8]) {
        self.note(|| AtomInput::Message { client, bytes: bytes.to_vec() });
        if !self.wireless.reaches(client) {
            return;
        }
        if self.effects.powered() && self.wireless.send_to_atom(self.now_us, client, bytes) {
            self.inbox.push(client, bytes);
        }
    }

    /// Messages lost because a client sent more in one tick than its share of memory, on a link, or because the
    /// controller had more replies than room for them.
    pub fn messages_lost(&self) -> u64 {
        self.inbox.lost() + self.wireless.lost() + u64::from(self.mailbox.borrow().outbox_lost)
    }

    /// Advances virtual time to `t_us`; all that is due up to then happens. A time in the past does nothing.
    pub fn advance_to(&mut self, t_us: u64) {
        loop {
            // Looked up before time moves on: the next tick is always later than now.
            let (faults_us, arrivals_us) = (self.faults.next_due_us(), self.wireless.next_due_us());
            let (tick_us, control_us) = (self.tick_due_us(), self.control_step_due_us());
            let due_us = faults_us.min(arrivals_us).min(tick_us).min(control_us);
            if due_us > t_us {
                break;
            }
            self.now_us = self.now_us.max(due_us);
            // At one instant: the network side, then faults, then what arrives (the next tick takes it), then
            // the control side, which finds what the network side left.
            if tick_us == due_us {
                self.tick();
            } else if faults_us == due_us {
                self.change_faults();
            } else if arrivals_us == due_us {
                self.take_arrivals();
            } else {
                self.step_control();
            }
        }
        self.now_us = self.now_us.max(t_us);
    }

    /// When the next thing is due (µs): until then `advance_to` changes nothing that anyone can see.
    pub fn next_due_us(&self) -> u64 {
        let world_us = self.faults.next_due_us().min(self.wireless.next_due_us());
        world_us.min(self.tick_due_us()).min(self.control_step_due_us())
    }

    /// The oldest output that was not taken yet.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Takes note of an input at the present.
    pub(super) fn note(&mut self, input: impl FnOnce() -> AtomInput) {
        let now_us = self.now_us;
        self.journal.keep(|| JournalEntry::Input(now_us, input()));
    }

    pub(super) fn firmware_us(&self, virtual_us: u64) -> u64 {
        virtual_us - self.power_up_us
    }

    /// The next step of the control side (virtual µs).
    fn control_step_due_us(&self) -> u64 {
        if self.effects.control_runs() { self.control_due_us } else { u64::MAX }
    }

    /// The next network tick that has something to do (virtual µs).
    fn tick_due_us(&self) -> u64 {
        if !self.effects.network_runs() {
            return u64::MAX;
        }
        let now_us = self.firmware_us(self.now_us);
        let next_us = (now_us / TICK_US + 1) * TICK_US;
        if !self.inbox.is_empty() {
            return self.power_up_us + next_us;
        }
        let wake_us = self.network.next_wake_us(&self.mailbox);
        wake_us
            .max(next_us)
            .checked_next_multiple_of(TICK_US)
            .map_or(u64::MAX, |wake_us| self.power_up_us + wake_us)
    }

    fn tick(&mut self) {
        self.with_network(|network, inbox, now_us, mailbox, port| {
            while let Some((client, input)) = inbox.pop() {
                match input {
                    Input::Message(bytes) => network.receive(now_us, client, &bytes, mailbox, port),
                    Input::Closed => network.closed(now_us, client, mailbox),
                }
            }
            network.tick(now_us, mailbox, port);
        });
    }

    /// Lets the network side do something now; what it leaves for the control side, that finds.
    pub(super) fn with_network(
        &mut self,
        act: impl FnOnce(&mut Network, &mut Inbox, u64, &RefCell<Shared>, &mut NetworkSide<'_>),
    ) {
        let now_us = self.firmware_us(self.now_us);
        let mut port = NetworkSide {
            hardware: &mut self.hardware,
            virtual_us: self.now_us,
            health: Health {
                ip: self.wireless.address(),
                rssi_dbm: self.wireless.rssi_dbm(),
                heap_free: HEAP_BYTES.saturating_sub(self.mailbox.borrow().plan.bytes() as u32),
                wifi_drops: self.wireless.drops(),
            },
            wireless: &mut self.wireless,
            outputs: &mut self.outputs,
        };
        act(&mut self.network, &mut self.inbox, now_us, &self.mailbox, &mut port);
        if self.mailbox.borrow().doorbell {
            self.control_due_us = self.control_due_us.min(self.now_us.max(self.control_free_us));
        }
    }

    fn take_arrivals(&mut self) {
        match self.wireless.pop(self.now_us) {
            Some(Arrival::AtAtom(client, bytes)) if self.effects.powered() => self.inbox.push(client, &bytes),
            Some(Arrival::AtAtom(..)) | None => {}
            Some(Arrival::Closed(client)) => {
                self.inbox.close(client);
                self.wireless.remove(client);
            }
            Some(Arrival::AtClient(to, bytes)) => {
                self.outputs.push_back(Output::Message { t_us: self.now_us, to, bytes });
            }
        }
    }

    fn step_control(&mut self) {
        let now_us = self.firmware_us(self.now_us);
        if let Some(next_us) = self.replay.step(now_us, &mut self.mailbox.borrow_mut()) {
            self.control_due_us = self.power_up_us + next_us;
            return;
        }
        let mut port = ControlSide {
            hardware: &mut self.hardware,
            virtual_us: self.now_us,
            power_up_us: self.power_up_us,
            cpu: CpuModel {
                cycle_us: self.options.cpu.cycle_us + self.effects.extra_cycle_us(),
                ..self.options.cpu
            },
        };
        let wake_us = self.control.step(&mut port, &self.mailbox);
        self.control_free_us = port.virtual_us;
        self.control_due_us = wake_us.saturating_add(self.power_up_us);
    }
}

pub(super) fn new_network(options: &Options) -> Network {
    Network::new(NetworkOptions {
        level: options.level,
        max_subscribers: options.max_subscribers,
        plan_bytes_max: options.plan_bytes_max,
        banner: Banner::Simulator,
        build: BUILD,
    })
}
