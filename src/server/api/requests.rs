//! The JSON of requests. Every field that is not named here is refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::condition::Condition;
use super::error::{ApiError, Code};
use crate::atom::ApiLevel;
use crate::atom::fault::{Scope, Value};
use crate::server::Speed;

/// Longest time in a request (s of virtual time): 100 days.
pub const SECONDS_MAX: f64 = 8_640_000.0;
/// Shortest period of a fault that comes again (s).
const PERIOD_S_MIN: f64 = 0.001;
/// Speed factors that are taken.
const FACTORS: std::ops::RangeInclusive<f64> = 0.001..=10_000.0;

/// A body without fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A parameter of a fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Parameter {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of numbers.
    Numbers(Vec<f64>),
}

impl From<&Parameter> for Value {
    fn from(parameter: &Parameter) -> Self {
        match parameter {
            Parameter::Number(number) => Self::Number(*number),
            Parameter::Text(text) => Self::Text(text.clone()),
            Parameter::Numbers(numbers) => Self::Numbers(numbers.clone()),
        }
    }
}

/// A fault with its scope. Parameters of the fault stand beside `name`, as the table of faults lists them:
/// `{"name": "wifi.latency", "ms": 50, "for_s": 2}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FaultRequest {
    /// Its name, such as `wifi.stall`.
    pub name: String,
    /// It starts this much later (s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_s: Option<f64>,
    /// It lasts this long (s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_s: Option<f64>,
    /// It starts again with this period (s, from 0.001), until it is cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
    /// Probability of each start, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The fault's own parameters.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, Parameter>,
}

impl FaultRequest {
    /// When it is there.
    pub(super) fn scope(&self) -> Result<Scope, ApiError> {
        let probability = self.probability.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&probability) {
            return Err(invalid("probability", "0 to 1", probability));
        }
        if let Some(every_s) = self.every_s.filter(|every_s| *every_s < PERIOD_S_MIN) {
            return Err(invalid("every_s", "a period of at least 0.001", every_s));
        }
        let optional = |name, seconds: Option<f64>| seconds.map(|s| micros(name, s)).transpose();
        Ok(Scope {
            after_us: micros("after_s", self.after_s.unwrap_or(0.0))?,
            for_us: optional("for_s", self.for_s)?,
            every_us: optional("every_s", self.every_s)?,
            probability,
        })
    }
}

/// What loses power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum PowerCycled {
    /// The ATOM; the servos keep their power and their registers.
    Atom,
    /// The servos; the ATOM keeps its power.
    Servos,
    /// Both.
    #[default]
    Both,
}

impl PowerCycled {
    pub(super) fn fault(self) -> &'static str {
        match self {
            Self::Atom => "power.cycle_atom",
            Self::Servos => "power.cycle_servos",
            Self::Both => "power.cycle_both",
        }
    }
}

/// A power cycle.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PowerCycleRequest {
    /// What loses power.
    pub what: PowerCycled,
    /// Without power for this long (s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_s: Option<f64>,
}

/// An object between the fingers, by one of its measures; with none the object is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ObjectRequest {
    /// J7 touches it at this angle (°, −51.5 to 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angle_deg: Option<f64>,
    /// Its width (mm, 6 to 43.4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width_mm: Option<f64>,
}

/// Where the arm is put.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PoseRequest {
    /// Angles of J1–J6, or J1–J7 (°).
    pub angles_deg: Vec<f64>,
}

/// How the ATOM starts anew. What is not given stays as it was.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResetRequest {
    /// Seed of everything random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Angles of J1–J6, or J1–J7 (°).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angles_deg: Option<Vec<f64>>,
    /// The gripper is plugged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gripper: Option<bool>,
    /// Firmware generation: `4.1`, `4.2`, `4.4`, `4.6`, `5.0` or `5.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// Start at power-up and show booting, rather than with power-up done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<bool>,
}

impl ResetRequest {
    pub(super) fn level(&self) -> Result<Option<ApiLevel>, ApiError> {
        let Some(name) = &self.api else { return Ok(None) };
        ApiLevel::from_name(name).map(Some).ok_or_else(|| {
            let names: Vec<&str> = ApiLevel::ALL.iter().map(|level| level.name()).collect();
            invalid("api", &format!("one of {}", names.join(", ")), name)
        })
    }
}

/// What is kept of an ATOM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum RecordingFormat {
    /// `NAME.jsonl`: every input and output with its virtual time, for `atom-sim replay`.
    Trace,
    /// `NAME/run-001.csv`, …: the telemetry of each run.
    Csv,
    /// `NAME.mcap`: joints, TCP, IMU, state and events, for Foxglove and other viewers.
    Mcap,
}

/// A trace or recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordingRequest {
    /// What is kept.
    pub format: RecordingFormat,
    /// Name of the file: 1 to 64 letters, digits, `-` and `_`.
    pub name: String,
    /// Reset as it starts, as `POST /api/reset` does. A trace always begins with a reset: a replay needs the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<ResetRequest>,
}

/// A scenario to run live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioRequest {
    /// The text of a scenario file.
    pub toml: String,
    /// Which of them, when the file has several by its cases or seeds: the name that `atom-sim run` shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Reset the ATOM to what the scenario starts with; otherwise it runs on the ATOM as it stands.
    #[serde(default = "default_fresh")]
    pub fresh: bool,
}

fn default_fresh() -> bool {
    true
}

/// A speed: a factor of real time from 0.001 to 10000, or `"max"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum SpeedValue {
    /// Virtual seconds per real second.
    Factor(f64),
    /// `"max"`: as fast as the host goes.
    Name(String),
}

impl SpeedValue {
    pub(super) fn speed(&self) -> Result<Speed, ApiError> {
        match self {
            Self::Factor(factor) if FACTORS.contains(factor) => Ok(Speed::Factor(*factor)),
            Self::Factor(factor) => Err(invalid("speed", "0.001 to 10000, or \"max\"", factor)),
            Self::Name(name) if name == "max" => Ok(Speed::Max),
            Self::Name(name) => {
                Err(invalid("speed", "a number or \"max\"; to stop time, POST /api/pause", name))
            }
        }
    }
}

/// How fast virtual time goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SpeedRequest {
    /// The speed.
    pub speed: SpeedValue,
}

/// Network ticks to go on while time is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StepRequest {
    /// How many ticks of 1 ms, 1 to 60000.
    pub ticks: u32,
}

impl Default for StepRequest {
    fn default() -> Self {
        Self { ticks: 1 }
    }
}

/// Time to go on while time is paused.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvanceRequest {
    /// How far (s).
    pub for_s: f64,
}

/// A wait until something is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitRequest {
    /// What is waited for.
    pub until: Condition,
    /// Longest wait (s of virtual time).
    #[serde(default = "default_timeout_s")]
    pub timeout_s: f64,
    /// While time is paused, let it go on for this wait, and stop it at that instant.
    #[serde(default)]
    pub advance: bool,
}

/// Longest wait when none is given (s).
pub fn default_timeout_s() -> f64 {
    60.0
}

/// A session that lives by its lease.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionRequest {
    /// It ends when no request has named it for this long (s of real time, 0.1 to 3600).
    pub lease_s: f64,
}

impl Default for SessionRequest {
    fn default() -> Self {
        Self { lease_s: 10.0 }
    }
}

/// Microseconds of a time in a request.
pub(super) fn micros(name: &str, seconds: f64) -> Result<u64, ApiError> {
    if (0.0..=SECONDS_MAX).contains(&seconds) {
        Ok((seconds * 1e6).round() as u64)
    } else {
        Err(invalid(name, &format!("0 to {SECONDS_MAX} s"), seconds))
    }
}

pub(super) fn invalid(name: &str, expected: &str, found: impl std::fmt::Display) -> ApiError {
    ApiError::new(Code::InvalidValue, format!("{name}: expected {expected}, found {found}"))
}
