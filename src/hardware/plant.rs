//! The plant behind the servos: one of the models, asked the same questions.

use serde::{Deserialize, Serialize};

use firmware_core::joints::JOINTS;

use super::drive::{Drive, Motion};
use super::plant_lag::LagJoint;

/// Which model moves the joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum PlantKind {
    /// Each joint follows its goal with a lag of 0.12 s, at most 90 °/s.
    #[default]
    Lag,
}

impl PlantKind {
    /// Probability that a servo loses a SYNC WRITE that comes right after another.
    pub fn lost_sync_write(self) -> f64 {
        match self {
            Self::Lag => 0.0,
        }
    }
}

/// The joints and what they are mounted on.
#[derive(Debug, Clone)]
pub(crate) enum Plant {
    /// See [`PlantKind::Lag`].
    Lag(Box<[LagJoint; JOINTS]>),
}

impl Plant {
    /// The joints at rest at `pose_deg`, with these orders.
    pub(crate) fn new(kind: PlantKind, pose_deg: &[f64; JOINTS], drives: &[Drive; JOINTS]) -> Self {
        match kind {
            PlantKind::Lag => Self::Lag(Box::new(core::array::from_fn(|joint| {
                LagJoint::new(pose_deg[joint], drives[joint])
            }))),
        }
    }

    /// What the encoder of `joint` sees at `t_us`.
    pub(crate) fn encoder(&self, joint: usize, t_us: u64) -> Motion {
        match self {
            Self::Lag(joints) => joints[joint].motion(t_us),
        }
    }

    /// How the link after `joint` truly moves at `t_us`.
    pub(crate) fn link(&self, joint: usize, t_us: u64) -> Motion {
        match self {
            Self::Lag(joints) => joints[joint].motion(t_us),
        }
    }

    /// Temperature of the servo of `joint` at `t_us` (°C).
    pub(crate) fn temperature_c(&self, joint: usize, t_us: u64) -> f64 {
        match self {
            Self::Lag(joints) => joints[joint].temperature_c(t_us),
        }
    }

    /// What `joint` pushes against a wall at `t_us` (%).
    pub(crate) fn push_percent(&self, joint: usize, t_us: u64) -> f64 {
        match self {
            Self::Lag(joints) => joints[joint].push_percent(t_us),
        }
    }

    /// How long `joint` has borne more than its overload load without a break (µs).
    pub(crate) fn overloaded_for_us(&self, joint: usize, t_us: u64) -> u64 {
        match self {
            Self::Lag(joints) => joints[joint].overloaded_for_us(t_us),
        }
    }

    /// Sets the overload load of `joint` (%), from its next order on.
    pub(crate) fn set_overload(&mut self, joint: usize, percent: f64) {
        match self {
            Self::Lag(joints) => joints[joint].set_overload(percent),
        }
    }

    /// When the object between the fingers slips away (µs), if it does before the next order.
    pub(crate) fn slips_at_us(&self, joint: usize) -> Option<u64> {
        match self {
            Self::Lag(joints) => joints[joint].slips_at_us(),
        }
    }

    /// A new order for `joint` at `t_us`.
    pub(crate) fn order(&mut self, joint: usize, t_us: u64, drive: &Drive) {
        match self {
            Self::Lag(joints) => joints[joint].order(t_us, drive),
        }
    }

    /// A hand puts the link after `joint` at `deg`.
    pub(crate) fn put(&mut self, joint: usize, t_us: u64, deg: f64) {
        match self {
            Self::Lag(joints) => joints[joint].put(t_us, deg),
        }
    }
}
