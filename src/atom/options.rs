//! How a simulated ATOM starts.

use firmware_core::protocol::ApiLevel;

use super::ports::CpuModel;
use crate::hardware::HardwareOptions;
use crate::link::Profile;

/// How an ATOM starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The arm: seed, plant, pose, gripper, object.
    pub hardware: HardwareOptions,
    /// The firmware generation whose API it speaks.
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
        }
    }
}
