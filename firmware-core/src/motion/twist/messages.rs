//! What goes into a step of the end-effector JOG, and what it reports.

use crate::math::vector::Vector3;

/// A twist of the TCP in the base frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist {
    /// Linear velocity (mm/s).
    pub linear_mm_s: Vector3,
    /// Angular velocity (rad/s).
    pub angular_rad_s: Vector3,
}

/// What the TCP shall do. When the run stops it is the zero twist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwistCommand {
    /// The twist is in tool axes, not in base axes.
    pub tool: bool,
    /// Linear velocity (mm/s).
    pub linear_mm_s: Vector3,
    /// Angular velocity (rad/s).
    pub angular_rad_s: Vector3,
    /// Joint speed cap (°/s), above 0; above 90 it is 90.
    pub speed_cap_dps: f32,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwistReport {
    /// Share of the wanted joint speeds (0…1); 0 when blocked or braking.
    pub factor: f32,
    /// The joint (index) whose bound sets the factor.
    pub limiting_joint: Option<usize>,
    /// Smallest singular value of the Jacobian, linear rows in units of 100 mm; at most three steps old.
    pub sigma_min: f32,
    /// The least squares are damped: the smallest singular value is below 0.05.
    pub damped: bool,
    /// The joints cannot give the twist: the arm brakes and stays.
    pub blocked: bool,
}
