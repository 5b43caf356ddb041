//! What a fault does, as types. Units are in the names; joints count from 0 (J1).

use firmware_core::platform::ClientId;

use crate::link::Direction;

/// A fault with its scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What it does.
    pub kind: FaultKind,
    /// When.
    pub scope: Scope,
}

/// When a fault is there.
#[derive(Debug, Clone, Copy, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
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
        client: Option<ClientId>,
        /// One direction, or both.
        direction: Option<Direction>,
        /// What happens.
        fault: WifiFault,
    },
    /// A client misbehaves.
    Client {
        /// Which.
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

/// How one servo misbehaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServoFault {
    /// It answers nothing.
    Silent,
    /// It answers this much later (µs).
    Slow(u32),
    /// Its position stays where it is, without force from outside.
    Stuck,
    /// It is held within ± this angle (°) of where it is; it pushes, with load.
    Blocked(f64),
    /// It gives no torque.
    Limp,
    /// Its encoder reads off by this (°).
    EncoderOffset(f64),
    /// Extra friction (% of full load).
    Friction(f64),
    /// Its overload protection trips: torque off, status bit set.
    Overload,
    /// It is this hot (°C), whatever it does.
    OverTemperature(f64),
    /// It reports this model number.
    WrongModel(u16),
    /// It is not on the bus from the next power-up on.
    Missing,
    /// It power-cycles: registers at their power-up values.
    Reset,
}

/// What happens to bytes on the servo bus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BusFault {
    /// Each bit is inverted with this probability.
    BitErrors(f64),
    /// Each byte is dropped with this probability.
    DroppedBytes(f64),
    /// A random byte follows each byte with this probability.
    ExtraBytes(f64),
    /// Each SYNC WRITE is lost to each servo with this probability.
    LostSyncWrite(f64),
    /// No byte passes.
    Disconnected,
    /// Another talker sends bursts of random bytes, this often (µs).
    Talker(u32),
}

/// The size of an object between the fingers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ObjectSize {
    /// J7 touches it at this angle (°, −51.5…0).
    AngleDeg(f64),
    /// It is this wide (mm, 6…43.4).
    WidthMm(f64),
}

/// The gripper and what it grasps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GripperFault {
    /// Its plug is pulled.
    Unplug,
    /// Its plug is put in.
    PlugIn,
    /// An object is put between the fingers.
    ObjectIn {
        /// Its size.
        size: ObjectSize,
        /// Load per degree of squeeze (%/°).
        stiffness_percent_deg: f64,
    },
    /// The object is taken out.
    ObjectOut,
    /// The object slips when the load exceeds this (%).
    Slip(f64),
    /// It is this hot (°C).
    Hot(f64),
}

/// Forces and hands on the arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ArmFault {
    /// Joints that are limp or without power are moved to these angles (°), J1–J6.
    Moved([f64; 6]),
    /// Something pushes a joint with this load (%, signed), against its drive.
    Collision {
        /// Joint index, 0–5.
        joint: usize,
        /// Load (% of the joint's full torque), positive toward positive angles.
        load_percent: f64,
    },
    /// The gripper carries this mass (g).
    Payload(f64),
}

/// The motion sensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ImuFault {
    /// Not found at boot.
    Absent,
    /// Stops answering.
    Silent,
    /// Repeats its last sample.
    Stuck,
    /// A further bias.
    Bias {
        /// Acceleration (g).
        acc_g: [f64; 3],
        /// Angular rate (°/s).
        gyro_dps: [f64; 3],
    },
    /// Its noise is multiplied by this.
    Noise(f64),
    /// Every axis reads its positive full scale.
    Saturate,
}

/// What happens on the radio.
#[derive(Debug, Clone, Copy, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuFault {
    /// Each control cycle takes this much longer (µs).
    SlowCycle(u32),
    /// The network side does not run.
    NetworkStall,
    /// The control side does not run.
    ControlStall,
}

/// Supply and power cycles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PowerFault {
    /// The servos see this voltage (V).
    BrownOut(f64),
    /// The ATOM restarts; the servos keep their power.
    CycleAtom,
    /// The servos restart; the ATOM keeps its power.
    CycleServos,
    /// Both restart.
    CycleBoth,
    /// Both restart, and meanwhile J6 is turned by hand to this angle (°).
    J6Turned(f64),
}

/// A firmware update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtaEvent {
    /// It begins.
    Begin,
    /// It ends well: the ATOM restarts.
    End,
    /// It fails.
    Fail,
}
