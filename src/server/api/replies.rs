//! The JSON of replies.

use std::collections::BTreeMap;

use firmware_core::joints::{ARM_JOINTS, JOINTS};
use firmware_core::kinematics::{self, Tcp};
use serde::Serialize;
use utoipa::ToSchema;

use super::error::{ApiError, Code};
use super::requests::{Parameter, RecordingFormat, SpeedValue};
use crate::atom::{StateName, Truth, client_name};
use crate::scenario::outcome::{Outcome, Verdict};
use crate::scenario::report::FailureReport;

/// What really is, beside the protocol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TruthReply {
    /// Virtual time (s).
    pub t_s: f64,
    /// The controller's state.
    pub state: StateName,
    /// Joints in use, 6 or 7.
    pub joints_in_use: u8,
    /// True joint angles, J1–J7 (°).
    pub angle_deg: [f64; JOINTS],
    /// True joint speeds (°/s).
    pub speed_dps: [f64; JOINTS],
    /// Goal registers as angles (°).
    pub goal_deg: [f64; JOINTS],
    /// Torque is on.
    pub torque_on: [bool; JOINTS],
    /// Loads (% of full torque).
    pub load_percent: [f64; JOINTS],
    /// Temperatures of the servos (°C).
    pub temperature_c: [f64; JOINTS],
    /// Voltages at the servos (V).
    pub voltage_v: [f64; JOINTS],
    /// Position of the TCP, of the true angles (mm, base frame).
    pub tcp_mm: [f32; 3],
    /// Orientation of the TCP: rows of the rotation matrix, base frame.
    pub tcp_rotation: [[f32; 3]; 3],
    /// The LED matrix, row by row, as `#rrggbb`.
    pub led: Vec<String>,
    /// Who has control.
    pub holder: Option<String>,
    /// A valid plan is there.
    pub plan_valid: bool,
    /// The servo bus.
    pub bus: BusReply,
    /// Register writes that had to be repeated since power-up.
    pub write_retries: u32,
    /// Who is connected.
    pub clients: Vec<ClientReply>,
    /// Messages lost on the way to the controller.
    pub messages_lost: u64,
}

/// What travelled on the servo bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct BusReply {
    /// Requests that servos understood.
    pub requests: u64,
    /// Replies of servos.
    pub replies: u64,
    /// Bytes of the controller.
    pub bytes_sent: u64,
}

/// One client of the ATOM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ClientReply {
    /// Its name, as faults and conditions take it.
    pub name: String,
    /// Messages that wait for it to read.
    pub waiting: usize,
    /// Messages it lost because it did not read.
    pub lost: u64,
    /// Its address, of a UDP client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

impl TruthReply {
    pub(super) fn new(truth: &Truth, clients: Vec<ClientReply>, messages_lost: u64) -> Self {
        let arm_deg: [f32; ARM_JOINTS] = core::array::from_fn(|joint| truth.angle_deg[joint] as f32);
        let tcp = if usize::from(truth.n) == JOINTS { Tcp::Gripper } else { Tcp::Flange };
        let pose = kinematics::forward(&arm_deg, tcp);
        Self {
            t_s: truth.t_us as f64 / 1e6,
            state: truth.state.into(),
            joints_in_use: truth.n,
            angle_deg: truth.angle_deg,
            speed_dps: truth.speed_dps,
            goal_deg: truth.goal_deg,
            torque_on: truth.torque_on,
            load_percent: truth.load_percent,
            temperature_c: truth.temperature_c,
            voltage_v: truth.voltage_v,
            tcp_mm: pose.position_mm,
            tcp_rotation: pose.rotation,
            led: truth.led.iter().map(|[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}")).collect(),
            holder: truth.holder.map(client_name::name),
            plan_valid: truth.plan_valid,
            bus: BusReply {
                requests: truth.bus.requests,
                replies: truth.bus.replies,
                bytes_sent: truth.bus.bytes_sent,
            },
            write_retries: truth.write_retries,
            clients,
            messages_lost,
        }
    }
}

/// Virtual time and its speed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ClockReply {
    /// Virtual time (s).
    pub t_s: f64,
    /// How fast it goes when it is not paused.
    pub speed: SpeedValue,
    /// It stands still.
    pub paused: bool,
    /// Sessions that paused it; empty text for a pause without a session.
    pub paused_by: Vec<String>,
}

/// A fault that is there or still to come.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FaultReply {
    /// Its number, for clearing it.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its parameters as given.
    pub parameters: BTreeMap<String, Parameter>,
    /// It is there now; otherwise it waits for its start.
    pub active: bool,
    /// The session it ends with.
    pub session: Option<String>,
}

/// All faults that are there or still to come.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FaultsReply {
    /// The faults.
    pub faults: Vec<FaultReply>,
}

/// A trace or recording that is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordingReply {
    /// Its number, for ending it.
    pub id: u32,
    /// What is kept.
    pub format: RecordingFormat,
    /// The file, or the folder of files, in the folder of `--commands-folder`.
    pub file: String,
    /// The session it ends with.
    pub session: Option<String>,
    /// Why nothing more is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// All traces and recordings that are on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RecordingsReply {
    /// They.
    pub recordings: Vec<RecordingReply>,
}

/// What came of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunReply {
    /// Its name, with case and seed.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// Everything was as expected.
    pub passed: bool,
    /// How long it took (s of virtual time).
    pub virtual_s: f64,
    /// What was not as expected.
    pub failures: Vec<FailureReport>,
}

impl RunReply {
    /// The answer to an outcome.
    pub(in crate::server) fn of(outcome: &Outcome) -> Result<Self, ApiError> {
        let failures = match &outcome.verdict {
            Verdict::Passed => &[][..],
            Verdict::Failed(failures) => failures,
            Verdict::Impossible(message) => {
                return Err(ApiError::new(Code::InvalidScenario, message.as_str()));
            }
            Verdict::TimedOut => return Err(ApiError::interrupted("the scenario was broken off")),
        };
        Ok(Self {
            name: outcome.name.clone(),
            seed: outcome.seed,
            passed: failures.is_empty(),
            virtual_s: outcome.virtual_us as f64 / 1e6,
            failures: failures.iter().map(FailureReport::from).collect(),
        })
    }

    pub(in crate::server) fn into_reply(self) -> Reply {
        Reply::Run(self)
    }
}

/// A fault of the table.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CatalogueEntry {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// What clients see of it.
    pub shows: &'static str,
    /// Its parameters by name: what each may be.
    pub parameters: BTreeMap<&'static str, String>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SessionReply {
    /// Its name: give it in the header `Atom-Session`.
    pub session: String,
    /// It ends when no request has named it for this long (s of real time).
    pub lease_s: f64,
}

/// The simulator answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HealthReply {
    /// Always `ok`: a simulation that failed answers nothing.
    pub status: &'static str,
    /// Version of the simulator.
    pub version: &'static str,
}

/// Something that happened, as the event stream tells it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The session of this stream, its first event.
    Session {
        /// Its name: give it in the header `Atom-Session`.
        session: String,
    },
    /// A fault started.
    FaultStarted {
        /// Virtual time (s).
        t_s: f64,
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
    },
    /// A fault ended.
    FaultEnded {
        /// Virtual time (s).
        t_s: f64,
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
    },
    /// Speed or pauses changed.
    Clock(ClockReply),
    /// The ATOM was reset: time starts again, clients must connect again.
    Reset {
        /// Virtual time (s).
        t_s: f64,
    },
    /// This many events were lost because the stream was not read.
    Lost {
        /// How many.
        count: u64,
    },
}

impl Event {
    /// Its name in the stream.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Session { .. } => "session",
            Self::FaultStarted { .. } => "fault_started",
            Self::FaultEnded { .. } => "fault_ended",
            Self::Clock(_) => "clock",
            Self::Reset { .. } => "reset",
            Self::Lost { .. } => "lost",
        }
    }
}

/// What the simulation answers to an order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(in crate::server) enum Reply {
    Truth(Box<TruthReply>),
    Clock(ClockReply),
    Fault(FaultReply),
    Faults(FaultsReply),
    Recording(RecordingReply),
    Recordings(RecordingsReply),
    Run(RunReply),
}
