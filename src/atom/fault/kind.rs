//! What a fault does, as types. Units are in the names; joints count from 0 (J1).

use serde::{Deserialize, Serialize};

use firmware_core::platform::ClientId;

use crate::atom::client_name;
pub use crate::hardware::{ArmFault, BusFault, GripperFault, ImuFault, ObjectSize, PowerFault, ServoFault};
use crate::link::Direction;

/// A fault with its scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What it does.
    pub kind: FaultKind,
    /// When.
    pub scope: Scope,
}

/// When a fault is there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// It starts this long after it is given (µs).
    pub after_us: u64,
    /// It ends this long after its start (µs); `None`: when it is cleared.
    pub for_us: Option<u64>,
    /// It starts again at this period (µs), until it is cleared.
    pub every_us: Option<u64>,
    /// Probability (0…1) of each start.
    pub probability: f64,
}

impl Scope {
    /// From now until it is cleared.
    pub const NOW: Self = Self { after_us: 0, for_us: None, every_us: None, probability: 1.0 };
}

/// What a fault does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FaultKind {
    /// One servo misbehaves.
    Servo {
        /// Joint index, 0–6.
        joint: usize,
        /// How.
        fault: ServoFault,
    },
    /// Bytes on the servo bus.
    Bus(BusFault),
    /// The gripper and what it grasps.
    Gripper(GripperFault),
    /// Forces and hands on the arm.
    Arm(ArmFault),
    /// The motion sensor.
    Imu(ImuFault),
    /// The radio.
    Wifi {
        /// One client, or all.
        #[serde(with = "client_name::optional")]
        client: Option<ClientId>,
        /// One direction, or both.
        direction: Option<Direction>,
        /// What happens.
        fault: WifiFault,
    },
    /// A client misbehaves.
    Client {
        /// Which.
        #[serde(with = "client_name")]
        client: ClientId,
        /// How.
        fault: ClientFault,
    },
    /// The controller's processor is late.
    Cpu(CpuFault),
    /// Supply and power cycles.
    Power(PowerFault),
    /// A firmware update.
    Ota(OtaEvent),
    /// Memory for plans is limited to this many bytes.
    HeapLimit(usize),
    /// The ATOM's button is pressed.
    Button,
}

/// What happens on the radio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum WifiFault {
    /// Nothing passes; afterwards all that waited comes at once.
    Stall,
    /// Further delay (µs).
    Latency(u64),
    /// Further delay, uniform up to this (µs).
    Jitter(u64),
    /// Probability that a datagram is lost (on a stream: comes 200 ms later).
    Loss(f64),
    /// Probability that a datagram comes twice.
    Duplicate(f64),
    /// Probability that a datagram is held back, and for how long (µs).
    Reorder {
        /// Probability.
        probability: f64,
        /// Held back (µs).
        by_us: u64,
    },
    /// Bytes per second.
    Bandwidth(u32),
    /// The association is lost; the ATOM joins again at the first try after the end, every 15 s.
    Drop,
    /// The ATOM gets another address: WebSockets break, UDP clients must send again.
    Address([u8; 4]),
    /// Signal strength (dBm).
    Rssi(i8),
}

/// How a client misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum ClientFault {
    /// It is gone without a word: nothing arrives, nothing is read, nothing is closed.
    HalfOpen,
    /// It reads this many bytes per second.
    SlowReader(u32),
    /// Its connection closes.
    Disconnect,
    /// It sends random messages, this many per second.
    Garbage(u32),
    /// It sends PINGs, this many per second.
    Flood(u32),
}

/// The controller's processor is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CpuFault {
    /// Each control cycle takes this much longer (µs).
    SlowCycle(u32),
    /// The network side does not run.
    NetworkStall,
    /// The control side does not run.
    ControlStall,
}

/// A firmware update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OtaEvent {
    /// It begins.
    Begin,
    /// It ends well: the ATOM restarts.
    End,
    /// It fails.
    Fail,
}
