//! The file format of scenarios, as types. The JSON Schema is generated from them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::condition::Condition;
use super::fault_entry::FaultEntry;

/// A scenario file: an arm, clients that send messages, faults, and expectations, all in virtual time.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Name: small letters, digits and hyphens; unique among the files that run together.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// What it shows, in one line.
    pub purpose: String,
    /// Seed of every random stream; 0 when it is not given.
    #[serde(default)]
    pub seed: u64,
    /// API level; `5.1` when it is not given.
    #[schemars(with = "Option<String>")]
    pub api: Option<Spanned<String>>,
    /// It ends after this long (s, virtual).
    #[schemars(with = "f64")]
    pub duration_s: Spanned<f64>,
    /// Words to select by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Afterwards the arm must still hold, answer and move.
    #[serde(default)]
    pub recovery: bool,
    /// The arm.
    #[serde(default)]
    #[schemars(with = "Arm")]
    pub arm: Option<Spanned<Arm>>,
    /// Cases and seeds: the file runs once for each.
    #[serde(default)]
    pub parameters: Parameters,
    /// Clients.
    #[serde(default, rename = "client")]
    #[schemars(with = "Vec<Client>")]
    pub clients: Vec<Spanned<Client>>,
    /// What the clients do.
    #[serde(default, rename = "step")]
    #[schemars(with = "Vec<Step>")]
    pub steps: Vec<Spanned<Step>>,
    /// What goes wrong.
    #[serde(default, rename = "fault")]
    #[schemars(with = "Vec<FaultEntry>")]
    pub faults: Vec<Spanned<FaultEntry>>,
    /// What must come of it.
    #[serde(default, rename = "expect")]
    #[schemars(with = "Vec<Expect>")]
    pub expects: Vec<Spanned<Expect>>,
}

/// The arm and how the ATOM starts.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// True joint angles at power-up (°), 6 or 7; J7 −20° when it is not given. The ready pose when nothing
    /// is given: 0, 0, −90, 0, 0, 0.
    pub pose_deg: Option<Vec<f64>>,
    /// The gripper is plugged in; true when it is not given.
    pub gripper: Option<bool>,
    /// An object between the fingers stops J7 at this angle (°).
    pub object_deg: Option<f64>,
    /// The servos' plant: `lag` or `measured`.
    pub plant: Option<Plant>,
    /// The clients' WiFi: `ideal`, `lab` or `hotspot`.
    pub wifi: Option<WifiName>,
    /// Memory for plans (bytes).
    pub plan_bytes_max: Option<usize>,
    /// Subscribers served at once.
    pub max_subscribers: Option<usize>,
    /// Modelled CPU time of a control cycle (µs).
    pub cpu_cycle_us: Option<u32>,
    /// The scenario begins at power-up, with booting.
    pub boot: Option<bool>,
}

/// How the servos move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Plant {
    /// First-order lag.
    Lag,
    /// As the lab measured its arm.
    Measured,
}

/// A named quality of WiFi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WifiName {
    /// No delay, nothing lost.
    Ideal,
    /// The lab's access point.
    Lab,
    /// A phone's hotspot.
    Hotspot,
}

/// Cases and seeds.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// First and last seed.
    #[schemars(with = "Option<[u64; 2]>")]
    pub seeds: Option<Spanned<[u64; 2]>>,
    /// Cases. Each has a `case` name, and values that replace `"${key}"` everywhere in the file.
    #[serde(default)]
    pub cases: Vec<BTreeMap<String, serde_json::Value>>,
}

/// A client.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Name.
    pub name: String,
    /// How it is connected.
    pub transport: TransportName,
    /// It subscribes at this rate (Hz) when it connects, and renews every second.
    pub subscribe_hz: Option<u16>,
    /// Its WiFi; the arm's when it is not given.
    pub wifi: Option<WifiName>,
    /// It connects at the start; true when it is not given.
    pub connected: Option<bool>,
}

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransportName {
    /// UDP.
    Udp,
    /// WebSocket.
    Websocket,
}

/// One thing that a client does. It begins at `at_s`; without, when the client's step before it is over, or
/// at 0.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The client.
    pub client: String,
    /// Name of this step, for expectations and failures.
    pub label: Option<String>,
    /// It begins at this time (s).
    pub at_s: Option<f64>,
    /// It begins this long after the step before it is over (s).
    pub after_s: Option<f64>,
    /// Then it waits until this is true.
    #[schemars(with = "Option<Condition>")]
    pub when: Option<Spanned<Condition>>,
    /// The longest wait (s); to the scenario's end when it is not given. A wait that is not over then fails.
    pub wait_s: Option<f64>,
    /// What it does.
    #[serde(rename = "do")]
    #[schemars(with = "Action")]
    pub action: Spanned<Action>,
    /// It does so again with this period (ms), for `for_s`.
    pub every_ms: Option<f64>,
    /// How long it repeats (s).
    pub for_s: Option<f64>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing: the step only waits.
    Wait,
    /// Connects.
    Connect,
    /// Closes its connection.
    Close,
    /// PING.
    Ping,
    /// STATE.
    State,
    /// HOLD.
    Hold,
    /// STOP.
    Stop,
    /// CONTROL.
    Control(ControlName),
    /// SUBSCRIBE, once.
    Subscribe {
        /// Rate (Hz), 0 ends it.
        hz: u16,
    },
    /// MOVE_TO.
    MoveTo(MoveTo),
    /// JOG, joints.
    Jog {
        /// 6 or 7 velocities (°/s).
        dps: Vec<f32>,
    },
    /// JOG of the TCP.
    JogTcp(JogTcp),
    /// TRACK.
    Track {
        /// 6 or 7 goals (°).
        goal_deg: Vec<f32>,
        /// Top speed (°/s).
        vmax_dps: f32,
    },
    /// PLAN_BEGIN, PLAN_DATA and PLAN_END, each sent again every 200 ms until its ACK comes.
    Plan(PlanUpload),
    /// PLAY.
    Play(Play),
    /// PLAY_SIGNAL.
    PlaySignal(PlaySignal),
    /// REG_READ.
    ReadRegister {
        /// Servo id.
        id: u8,
        /// First register.
        address: u8,
        /// Registers.
        length: u8,
    },
    /// REG_WRITE.
    WriteRegister {
        /// Servo id.
        id: u8,
        /// First register.
        address: u8,
        /// Values.
        data: Vec<u8>,
    },
    /// Any bytes, in hex.
    Raw {
        /// Hex digits, spaces between bytes allowed.
        hex: String,
    },
}

/// What CONTROL asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlName {
    /// Release.
    Release,
    /// Take.
    Take,
    /// Take over.
    TakeOver,
}

/// MOVE_TO.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveTo {
    /// 6 or 7 goals (°).
    pub goal_deg: Vec<f32>,
    /// Duration (s); the shortest when it is not given.
    pub duration_s: Option<f64>,
}

/// JOG of the TCP.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JogTcp {
    /// Base or tool frame; base when it is not given.
    pub frame: Option<FrameName>,
    /// Linear velocity (mm/s).
    #[serde(default)]
    pub mm_s: [f32; 3],
    /// Angular velocity (°/s).
    #[serde(default)]
    pub dps: [f32; 3],
    /// J7 velocity (°/s).
    #[serde(default)]
    pub j7_dps: f32,
    /// Joint speed cap (°/s); 36 when it is not given.
    pub cap_dps: Option<f32>,
}

/// A frame of the TCP's twist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameName {
    /// Base axes.
    Base,
    /// Tool axes.
    Tool,
}

/// A plan: poses in time, straight lines between them, or a file.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanUpload {
    /// Samples per second.
    pub rate_hz: u16,
    /// Cubic interpolation on the ATOM.
    #[serde(default)]
    pub cubic: bool,
    /// Poses: time (s), then 6 or 7 angles (°).
    #[serde(default)]
    pub points: Vec<Vec<f64>>,
    /// A plan or recording as CSV, as `atom-sim play` reads it: the columns `t` (s), `q_plan_1` to `q_plan_6` (or 7)
    /// and, where they differ, `q_cmd_1` …; a row per sample (°). Beside the scenario or in a folder there; its
    /// samples are uploaded with `rate_hz`.
    pub csv: Option<String>,
    /// The CRC is wrong.
    #[serde(default)]
    pub wrong_crc: bool,
}

/// PLAY.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Play {
    /// Control rate (Hz); 500 when it is not given.
    pub rate_hz: Option<u16>,
    /// Speed cap of the servos (steps/s); 2000 when it is not given.
    pub speed_cap_sps: Option<u16>,
    /// Largest tracking error (steps); 227 when it is not given.
    pub max_error_steps: Option<u16>,
    /// Start tolerance (steps); 50 when it is not given.
    pub start_tolerance_steps: Option<u16>,
}

/// PLAY_SIGNAL.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaySignal {
    /// Joint, 1–6.
    pub joint: u8,
    /// `chirp` or `steps`.
    pub kind: SignalName,
    /// Amplitude (°).
    pub amp_deg: f32,
    /// First frequency of a chirp (Hz).
    #[serde(default)]
    pub f0_hz: f32,
    /// Last frequency of a chirp (Hz).
    #[serde(default)]
    pub f1_hz: f32,
    /// Duration (s).
    pub duration_s: f32,
    /// Speed limit (°/s).
    pub vmax_dps: f32,
    /// Acceleration limit (°/s²).
    pub amax_dps2: f32,
    /// Base pose (°).
    pub base_deg: [f32; 6],
    /// PLAY parameters.
    pub play: Option<Play>,
}

/// A test signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignalName {
    /// A sine of rising frequency.
    Chirp,
    /// Steps.
    Steps,
}

/// One thing that must come of it, with exactly one of the times.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// What.
    #[schemars(with = "Condition")]
    pub that: Spanned<Condition>,
    /// True at this time (s).
    pub at_s: Option<f64>,
    /// True at some moment between these times (s).
    pub within_s: Option<[f64; 2]>,
    /// True at every moment between these times (s).
    pub always_s: Option<[f64; 2]>,
    /// True at no moment between these times (s).
    pub never_s: Option<[f64; 2]>,
    /// True at some moment up to this time (s).
    pub eventually_s: Option<f64>,
    /// The times count from the beginning of the step with this label.
    pub after: Option<String>,
    /// Why, for the report of a failure.
    pub why: Option<String>,
}
