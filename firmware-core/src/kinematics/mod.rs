//! The kinematic chain: forward kinematics and Jacobian of the flange and the gripper TCP.

pub mod chain;

/// The tool point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tcp {
    /// The flange: without the gripper.
    Flange,
    /// Between the finger pads.
    Gripper,
}
