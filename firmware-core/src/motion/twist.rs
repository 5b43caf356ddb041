//! End-effector JOG: the TCP follows a twist.

use crate::kinematics::Tcp;
use crate::motion::joint::JointMotion;

/// What the TCP shall do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwistCommand {
    /// The twist is in tool axes, not in base axes.
    pub tool: bool,
    /// Linear velocity (mm/s).
    pub linear_mm_s: [f32; 3],
    /// Angular velocity (rad/s).
    pub angular_rad_s: [f32; 3],
    /// Joint speed cap (°/s).
    pub speed_cap_dps: f32,
}

/// The controller.
#[derive(Debug)]
pub struct TwistController;

impl TwistController {
    /// Enters.
    pub fn enter(_motion: &JointMotion, _tcp: Tcp) -> Self {
        Self
    }

    /// One step.
    pub fn step(&mut self, motion: &mut JointMotion, _command: &TwistCommand, _dt_s: f32) {
        motion.v_dps[..6].fill(0.0);
    }
}
