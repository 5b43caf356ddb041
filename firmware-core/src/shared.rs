//! The mailbox between the network side and the control side: all that the two cores share.
//!
//! The network side writes the first half of [`Shared`], the control side the second. What the control side
//! publishes carries the time of its publication, and the network side sees nothing before that time: a
//! platform may run a whole control step, bus transactions included, before the network ticks that fall
//! into it, and the outcome is the same as on two cores.

use heapless::{Deque, Vec};

use crate::joints::{JOINTS, JointValues};
use crate::motion::plan::Plan;
use crate::motion::signal;
use crate::platform::ClientId;
use crate::telemetry_ring::TelemetryRing;

/// Messages the outgoing queue holds.
pub const OUTBOX_CAPACITY: usize = 16;
/// STATE requests that can wait for a read; one more is answered from the last read.
pub const STATE_REQUESTS: usize = 16;
/// Longest reply the control side posts: a REG_READ reply of 32 bytes (5 + 32), STATE of 7 joints (71).
pub const REPLY_BYTES: usize = 72;
/// Most bytes of one REG_READ or REG_WRITE.
pub const REGISTER_BYTES: usize = 32;

/// Control rates that PLAY and PLAY_SIGNAL accept (Hz).
pub const PLAY_RATES_HZ: core::ops::RangeInclusive<u16> = 50..=800;

/// The parameters of PLAY and PLAY_SIGNAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayParams {
    /// Control rate (Hz), see [`PLAY_RATES_HZ`].
    pub rate_hz: u16,
    /// Goal speed of the servos (steps/s).
    pub speed_cap_sps: u16,
    /// Largest allowed distance from ref (steps).
    pub max_error_steps: u16,
    /// Largest allowed distance from the start pose (steps).
    pub start_tolerance_steps: u16,
}

/// Work for the control side that takes it out of idle. One is pending at a time.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Hold the goals and clear an error. `None`: the button, without ACK.
    Hold(Option<ClientId>),
    /// A checked MOVE_TO.
    MoveTo {
        /// Who asked.
        client: ClientId,
        /// Goals (°), inside the limits less the margin.
        goal: JointValues,
        /// Duration (ms), 0 = the shortest.
        duration_ms: u16,
    },
    /// PLAY of the valid plan in [`Shared::plan`].
    Play {
        /// Who asked.
        client: ClientId,
        /// Its parameters.
        params: PlayParams,
    },
    /// PLAY_SIGNAL with parameters that passed [`signal::Params::validate`].
    PlaySignal {
        /// Who asked.
        client: ClientId,
        /// The PLAY parameters.
        params: PlayParams,
        /// The signal.
        signal: signal::Params,
    },
    /// Start the streamed run of [`Shared::stream`].
    Stream(ClientId),
    /// REG_READ with a checked id (1–7) and length (1–32).
    RegisterRead {
        /// Who asked.
        client: ClientId,
        /// Servo id, 1–7.
        id: u8,
        /// First register.
        address: u8,
        /// Number of registers.
        length: u8,
    },
    /// REG_WRITE with checked id, length and addresses.
    RegisterWrite {
        /// Who asked.
        client: ClientId,
        /// Servo id, 1–7.
        id: u8,
        /// First register.
        address: u8,
        /// Values.
        data: Vec<u8, REGISTER_BYTES>,
    },
    /// A firmware update begins: bus off.
    OtaBegin,
    /// The firmware update failed: bus on, hold.
    OtaFailed,
}

/// What a JOG or TRACK message asks of the streamed run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StreamCommand {
    /// JOG frame 0: joint velocities (°/s).
    Joints(JointValues),
    /// JOG frame 1 or 2: a twist of the TCP.
    Twist {
        /// The twist is in tool axes (frame 2), not in base axes (frame 1).
        tool: bool,
        /// Linear velocity (mm/s).
        linear_mm_s: [f32; 3],
        /// Angular velocity (rad/s).
        angular_rad_s: [f32; 3],
        /// J7's own velocity (°/s).
        j7_dps: f32,
        /// Joint speed cap (°/s).
        speed_cap_dps: f32,
    },
    /// TRACK: goals (°) and top speed (°/s).
    Track {
        /// Goals (°).
        goal: JointValues,
        /// Top speed (°/s).
        vmax_dps: f32,
    },
}

/// The latest JOG or TRACK message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stream {
    /// Who sent it.
    pub client: ClientId,
    /// What it asks.
    pub command: StreamCommand,
    /// When the network side took it (µs).
    pub t_us: u64,
    /// The sender's WebSocket closed: the deadman trips at once.
    pub abandoned: bool,
}

/// What GRIPPER of API level 4.6 asks of the gripper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GripperGoal {
    /// An opening (0.1 %): 0 closed, 1000 open.
    Opening {
        /// The opening (0.1 %).
        permille: u16,
    },
    /// Torque off.
    TorqueOff,
}

/// The controller's state byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum State {
    /// Starting.
    #[default]
    Booting = 0,
    /// Holding the pose, no valid plan.
    Holding = 1,
    /// Holding the pose, with a valid plan.
    Ready = 2,
    /// PLAY or PLAY_SIGNAL.
    Playing = 3,
    /// Bus or tracking error, or the turn of J6 is unknown.
    Error = 4,
    /// Firmware update.
    Ota = 5,
    /// MOVE_TO.
    Moving = 6,
    /// JOG.
    Jogging = 7,
    /// TRACK.
    Tracking = 8,
}

impl State {
    /// All of them, in the order of their bytes.
    pub const ALL: [Self; 9] = [
        Self::Booting,
        Self::Holding,
        Self::Ready,
        Self::Playing,
        Self::Error,
        Self::Ota,
        Self::Moving,
        Self::Jogging,
        Self::Tracking,
    ];

    /// The state of a state byte, `None` for a byte of no state.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Its name in small letters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Booting => "booting",
            Self::Holding => "holding",
            Self::Ready => "ready",
            Self::Playing => "playing",
            Self::Error => "error",
            Self::Ota => "ota",
            Self::Moving => "moving",
            Self::Jogging => "jogging",
            Self::Tracking => "tracking",
        }
    }

    /// A run is on: playing, moving, jogging or tracking.
    pub fn is_run(self) -> bool {
        match self {
            Self::Playing | Self::Moving | Self::Jogging | Self::Tracking => true,
            Self::Booting | Self::Holding | Self::Ready | Self::Error | Self::Ota => false,
        }
    }
}

/// The last reading of the joints, in wire encoding (see [`crate::units`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JointState {
    /// J1–J6 all answered the last read.
    pub ok: bool,
    /// Position (steps).
    pub position: [u16; JOINTS],
    /// The goal the joint holds or follows (steps).
    pub goal: [u16; JOINTS],
    /// Speed (steps/s, sign in bit 15).
    pub speed: [u16; JOINTS],
    /// Load (0.1 %, sign in bit 10).
    pub load: [u16; JOINTS],
    /// Temperature (°C), from the slow read.
    pub temperature_c: [u8; JOINTS],
    /// Voltage (0.1 V), from the slow read.
    pub voltage_dv: [u8; JOINTS],
    /// Status (register 65), from the slow read.
    pub status: [u8; JOINTS],
}

/// What the control side shows of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each shown to clients on its own")]
pub struct View {
    /// Its state. Never [`State::Ready`]: whether a plan is valid the network side knows.
    pub state: State,
    /// It has taken a request and works on it.
    pub working: bool,
    /// Joints in use: 6, or 7 while J7 is found.
    pub n: u8,
    /// The last reading.
    pub joints: JointState,
    /// When that reading was made (µs); 0 before the first.
    pub read_at_us: u64,
    /// The gains and settings of J1–J6 took at power-up.
    pub gains_ok: bool,
    /// The turn of J6 is unknown.
    pub turn_unknown: bool,
    /// J7's torque is derated by heat.
    pub j7_derated: bool,
    /// Writes that had to be repeated since power-up.
    pub write_retries: u32,
    /// Progress of the motion part of a run (0–1000); 1000 while settling.
    pub progress_permille: u16,
}

impl View {
    /// Booting, nothing read yet.
    pub const fn new() -> Self {
        Self {
            state: State::Booting,
            working: false,
            n: 0,
            joints: JointState {
                ok: false,
                position: [0; JOINTS],
                goal: [0; JOINTS],
                speed: [0; JOINTS],
                load: [0; JOINTS],
                temperature_c: [0; JOINTS],
                voltage_dv: [0; JOINTS],
                status: [0; JOINTS],
            },
            read_at_us: 0,
            gains_ok: false,
            turn_unknown: false,
            j7_derated: false,
            write_retries: 0,
            progress_permille: 0,
        }
    }
}

impl Default for View {
    fn default() -> Self {
        Self::new()
    }
}

/// A value that becomes visible at a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Published<T: Copy> {
    shown: T,
    next: Option<(u64, T)>,
}

impl<T: Copy> Published<T> {
    /// Shows `value`.
    pub const fn new(value: T) -> Self {
        Self { shown: value, next: None }
    }

    /// Shows `value` at once. For the start of a control step, where the step's time is the real time.
    pub fn show(&mut self, value: T) {
        self.shown = value;
        self.next = None;
    }

    /// Shows `value` from `at_us` on. At most once in a control step, so a value that still waits is of an
    /// earlier step: its time has come, though nobody looked.
    pub fn show_from(&mut self, at_us: u64, value: T) {
        if let Some((_, waiting)) = self.next.take() {
            self.shown = waiting;
        }
        self.next = Some((at_us, value));
    }

    /// The value as seen at `now_us`.
    pub fn at(&mut self, now_us: u64) -> &T {
        if let Some((t, value)) = self.next
            && t <= now_us
        {
            self.show(value);
        }
        &self.shown
    }

    /// The newest value, visible or not.
    pub fn latest(&self) -> &T {
        self.next.as_ref().map_or(&self.shown, |(_, value)| value)
    }

    /// The value shown last.
    pub fn shown(&self) -> &T {
        &self.shown
    }

    /// The value that waits, and when it becomes visible (µs).
    pub fn waiting(&self) -> Option<(u64, &T)> {
        self.next.as_ref().map(|(t, value)| (*t, value))
    }
}

/// A finished reply of the control side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Visible from this time on (µs).
    pub at_us: u64,
    /// Who gets it.
    pub to: ClientId,
    /// The message.
    pub message: Vec<u8, REPLY_BYTES>,
    /// It ends a run: it goes out after the run's last telemetry.
    pub ends_run: bool,
}

/// All that the two sides share.
#[derive(Debug)]
pub struct Shared {
    // Network side → control side.
    /// The pending request. The control side takes it at the start of a step.
    pub request: Option<Request>,
    /// Clients that wait for a STATE reply. Never makes anything busy.
    pub state_requests: Deque<ClientId, STATE_REQUESTS>,
    /// STOP, HOLD or the button ends the run. Cleared when the network side accepts a request that starts one.
    pub stop: bool,
    /// The latest JOG or TRACK message.
    pub stream: Option<Stream>,
    /// The latest GRIPPER message of API level 4.6; the control side takes it, in runs too.
    pub gripper_goal: Option<GripperGoal>,
    /// How often the control side reads the joints while idle (Hz, the highest subscribed rate), 0 = never.
    pub idle_read_hz: u16,
    /// The plan. Written while no PLAY runs or is pending, read by the control side.
    pub plan: Plan,
    /// The network side left something new for the control side: step it without waiting for its wake-up.
    pub doorbell: bool,

    // Control side → network side.
    /// What the control side shows of itself.
    pub view: Published<View>,
    /// Finished replies.
    pub outbox: Deque<Posted, OUTBOX_CAPACITY>,
    /// Replies lost because the outbox was full.
    pub outbox_lost: u32,
    /// Telemetry of the run.
    pub telemetry: TelemetryRing,
    /// Longest end-effector step (µs) since the network side last took this figure and set it to 0.
    pub twist_us_max: u32,
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    /// The mailbox at power-up. Constant, so that a chip has it in place and never on a stack: the telemetry
    /// ring makes it large.
    pub const fn new() -> Self {
        Self {
            request: None,
            state_requests: Deque::new(),
            stop: false,
            stream: None,
            gripper_goal: None,
            idle_read_hz: 0,
            plan: Plan::new(),
            doorbell: false,
            view: Published::new(View::new()),
            outbox: Deque::new(),
            outbox_lost: 0,
            telemetry: TelemetryRing::new(),
            twist_us_max: 0,
        }
    }

    /// Posts a reply; a full outbox loses it and counts.
    pub fn post(&mut self, posted: Posted) {
        if self.outbox.push_back(posted).is_err() {
            self.outbox_lost += 1;
        }
    }
}

/// The place where the two sides meet. Each access is short; neither side holds it while it waits.
pub trait Mailbox {
    /// Runs `access` with the shared part.
    fn with<R>(&self, access: impl FnOnce(&mut Shared) -> R) -> R;
}

impl Mailbox for core::cell::RefCell<Shared> {
    fn with<R>(&self, access: impl FnOnce(&mut Shared) -> R) -> R {
        access(&mut self.borrow_mut())
    }
}
