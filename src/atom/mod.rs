//! One whole simulated ATOM as a value: both firmware sides, bus, servos, gripper, IMU and ground truth.
//!
//! Synchronous and deterministic: no socket, no wall clock, no thread. The same options and the same timed
//! inputs give the same outputs, whatever the sizes of the steps in which time is advanced: all that is due
//! up to a time has happened before an input at that time is taken.

pub mod fault;

use std::collections::VecDeque;

pub use firmware_core::platform::{ClientId, Transport};

/// How an ATOM starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Seed of every random stream.
    pub seed: u64,
    /// The gripper is plugged in.
    pub gripper: bool,
    /// An object between the fingers stops J7 at this angle (°, −51.5…0) when it closes.
    pub object_deg: Option<f64>,
    /// True joint angles at power-up (°): J1–J7.
    pub pose_deg: [f64; 7],
    /// Subscribers served at once.
    pub max_subscribers: usize,
    /// Memory for plans (bytes).
    pub plan_bytes_max: usize,
    /// Modelled CPU time of a control cycle (µs).
    pub cpu_cycle_us: u32,
    /// Start at power-up and show booting, rather than with power-up done.
    pub boot: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            gripper: true,
            object_deg: None,
            pose_deg: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -20.0],
            max_subscribers: 8,
            plan_bytes_max: 120_024,
            cpu_cycle_us: 0,
            boot: false,
        }
    }
}

/// Why an ATOM cannot be made from these options. The message says what was expected and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionsError(pub String);

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
    /// A status log line to every WebSocket (text frame) and to the UDP broadcast.
    StatusLine {
        /// When it left (µs).
        t_us: u64,
        /// The line, without line end.
        line: String,
    },
}

/// One whole simulated ATOM.
#[derive(Debug)]
pub struct Atom {
    now_us: u64,
    next_client: u32,
    outputs: VecDeque<Output>,
}

impl Atom {
    /// Makes an ATOM. With `boot` off, power-up has been done: it holds its pose at time 0.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(_options: &Options) -> Result<Self, OptionsError> {
        Ok(Self { now_us: 0, next_client: 0, outputs: VecDeque::new() })
    }

    /// Virtual time (µs).
    pub fn now_us(&self) -> u64 {
        self.now_us
    }

    /// A WebSocket opens, or the first datagram of a UDP source comes.
    pub fn connect(&mut self, transport: Transport) -> ClientId {
        self.next_client += 1;
        ClientId { transport, number: self.next_client }
    }

    /// A client is gone: its WebSocket closed, or the server forgets a UDP source.
    pub fn close(&mut self, _client: ClientId) {}

    /// Bytes of one message from a client, now.
    pub fn receive(&mut self, _client: ClientId, _bytes: &[u8]) {}

    /// Advances virtual time to `t_us`; all that is due up to then happens. A time in the past does nothing.
    pub fn advance_to(&mut self, t_us: u64) {
        self.now_us = self.now_us.max(t_us);
    }

    /// When the next thing is due (µs): until then `advance_to` changes nothing that anyone can see.
    pub fn next_due_us(&self) -> u64 {
        self.now_us + 1_000_000
    }

    /// The oldest output that was not taken yet.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
}
