//! How a simulated ATOM starts.

use serde::{Deserialize, Serialize};

use firmware_core::protocol::ApiLevel;

use super::ports::CpuModel;
use super::replay::Recording;
use crate::hardware::{HardwareError, HardwareOptions, check_range};
use crate::link::Profile;

/// How an ATOM starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The arm: seed, plant, pose, gripper, object.
    pub hardware: HardwareOptions,
    /// The firmware generation whose API it speaks.
    #[serde(with = "level_name")]
    pub level: ApiLevel,
    /// Subscribers served at once.
    pub max_subscribers: usize,
    /// Memory for plans (bytes).
    pub plan_bytes_max: usize,
    /// Modelled CPU times of the control side.
    pub cpu: CpuModel,
    /// Quality of every client's WiFi, unless [`super::Atom::set_wifi`] says otherwise.
    pub wifi: Profile,
    /// Start at power-up and show booting, rather than with power-up done.
    pub boot: bool,
    /// What PLAY and PLAY_SIGNAL play; `None`: they run in the simulation. Traces do not keep it.
    #[serde(skip)]
    pub recording: Option<Recording>,
}

/// Most subscribers that an ATOM can be asked to serve.
pub const SUBSCRIBERS_MAX: usize = 256;
/// Most memory for plans that it can be asked to have (bytes).
const PLAN_BYTES_LIMIT: usize = 16 << 20;
/// Longest modelled computation (µs).
const CPU_US_MAX: f64 = 1_000_000.0;

impl Options {
    /// Checks every value.
    ///
    /// # Errors
    /// The first value that cannot be.
    pub fn check(&self) -> Result<(), HardwareError> {
        self.hardware.check()?;
        check_range("a number of subscribers", self.max_subscribers as f64, 1.0, SUBSCRIBERS_MAX as f64)?;
        check_range("a plan memory (bytes)", self.plan_bytes_max as f64, 0.0, PLAN_BYTES_LIMIT as f64)?;
        check_range("a control cycle's computation (µs)", f64::from(self.cpu.cycle_us), 0.0, CPU_US_MAX)?;
        check_range("an end-effector step (µs)", f64::from(self.cpu.twist_step_us), 0.0, CPU_US_MAX)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hardware: HardwareOptions::default(),
            level: ApiLevel::default(),
            max_subscribers: 8,
            plan_bytes_max: 120_024,
            cpu: CpuModel::default(),
            wifi: Profile::Ideal,
            boot: false,
            recording: None,
        }
    }
}

/// The short name of an API level, as files have it.
mod level_name {
    use firmware_core::protocol::ApiLevel;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    pub(super) fn serialize<S: Serializer>(level: &ApiLevel, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(level.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ApiLevel, D::Error> {
        let name = String::deserialize(deserializer)?;
        ApiLevel::from_name(&name)
            .ok_or_else(|| D::Error::custom(format!("expected an API level such as 5.1, found {name}")))
    }
}
