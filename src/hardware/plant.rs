//! The plant behind the servos: one of the models, asked the same questions.

use serde::{Deserialize, Serialize};

use firmware_core::joints::{J7, JOINTS};

use super::drive::{Drive, Felt, Motion};
use super::plant_lag::LagJoint;
use super::plant_measured::MeasuredArm;

/// Which model moves the joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum PlantKind {
    /// Each joint follows its goal with a lag of 0.12 s, at most 90 °/s.
    #[default]
    Lag,
    /// What the lab measured on its arm: loops, friction, sticking, sag under gravity, play, encoder error.
    Measured,
}

impl PlantKind {
    /// Probability that a servo loses a SYNC WRITE that comes right after another.
    pub fn lost_sync_write(self) -> f64 {
        match self {
            Self::Lag => 0.0,
            Self::Measured => 0.1,
        }
    }
}

/// The joints and what they are mounted on.
#[derive(Debug, Clone)]
pub(crate) enum Plant {
    /// See [`PlantKind::Lag`].
    Lag(Box<[LagJoint; JOINTS]>),
    /// See [`PlantKind::Measured`].
    Measured(Box<MeasuredArm>),
}

impl Plant {
    /// The joints at rest at `pose_deg`, with these orders.
    pub(crate) fn new(kind: PlantKind, pose_deg: &[f64; JOINTS], drives: &[Drive; JOINTS]) -> Self {
        match kind {
            PlantKind::Lag => Self::Lag(Box::new(core::array::from_fn(|joint| {
                LagJoint::new(pose_deg[joint], drives[joint])
            }))),
            PlantKind::Measured => Self::Measured(Box::new(MeasuredArm::new(pose_deg, drives))),
        }
    }

    /// What the encoder of `joint` sees at `t_us`.
    pub(crate) fn encoder(&self, joint: usize, t_us: u64) -> Motion {
        match self {
            Self::Lag(joints) => joints[joint].motion(t_us),
            Self::Measured(arm) => arm.encoder(joint, t_us),
        }
    }

    /// How the link after `joint` truly moves at `t_us`.
    pub(crate) fn link(&self, joint: usize, t_us: u64) -> Motion {
        match self {
            Self::Lag(joints) => joints[joint].motion(t_us),
            Self::Measured(arm) => arm.link(joint, t_us),
        }
    }

    /// Temperature of the servo of `joint` at `t_us` (°C).
    pub(crate) fn temperature_c(&self, joint: usize, t_us: u64) -> f64 {
        match self {
            Self::Lag(joints) => joints[joint].temperature_c(t_us),
            Self::Measured(arm) => arm.temperature_c(joint, t_us),
        }
    }

    /// What the servo of `joint` feels at `t_us`.
    pub(crate) fn felt(&self, joint: usize, t_us: u64) -> Felt {
        match self {
            Self::Lag(joints) => joints[joint].felt(t_us),
            Self::Measured(arm) => arm.felt(joint, t_us),
        }
    }

    /// The object between the fingers has slipped away by `t_us`, and nobody has taken note of it.
    pub(crate) fn slipped_by(&self, t_us: u64) -> bool {
        match self {
            Self::Lag(joints) => joints[J7].slips_at_us().is_some_and(|slip_us| slip_us <= t_us),
            Self::Measured(arm) => arm.slipped_by(t_us),
        }
    }

    /// Somebody has taken note of the slip, and orders J7 anew.
    pub(crate) fn forget_slip(&mut self) {
        match self {
            Self::Lag(_) => {}
            Self::Measured(arm) => arm.forget_slip(),
        }
    }

    /// Time has come to `t_us`: what is integrated is integrated so far.
    pub(crate) fn advance(&mut self, t_us: u64) {
        match self {
            Self::Lag(_) => {}
            Self::Measured(arm) => arm.advance(t_us),
        }
    }

    /// Vibration of the hand at `t_us` (g, RMS of each axis).
    pub(crate) fn vibration_g(&self, t_us: u64) -> f64 {
        match self {
            Self::Lag(_) => 0.0,
            Self::Measured(arm) => arm.vibration_g(t_us),
        }
    }

    /// Sets the mass at the tool point (g) from `t_us` on.
    pub(crate) fn set_payload(&mut self, t_us: u64, grams: f64) {
        match self {
            Self::Lag(_) => {}
            Self::Measured(arm) => {
                arm.advance(t_us);
                arm.set_payload(grams);
            }
        }
    }

    /// A new order for `joint` at `t_us`.
    pub(crate) fn order(&mut self, joint: usize, t_us: u64, drive: &Drive) {
        match self {
            Self::Lag(joints) => joints[joint].order(t_us, drive),
            Self::Measured(arm) => arm.order(joint, t_us, drive),
        }
    }

    /// A hand puts the link after `joint` at `deg`.
    pub(crate) fn put(&mut self, joint: usize, t_us: u64, deg: f64) {
        match self {
            Self::Lag(joints) => joints[joint].put(t_us, deg),
            Self::Measured(arm) => arm.put(joint, t_us, deg),
        }
    }
}
