//! The kinematics of the arm: poses and Jacobian of the flange and the gripper's tool point.
//!
//! Angles in degrees, lengths in mm, rotations row-major with the columns = tool axes in the base frame.

pub mod chain;
mod forward;

pub use forward::{Jacobian, Matrix3, Pose, Tcp, Vector3, forward, jacobian, mul_vector, pose_and_jacobian};
