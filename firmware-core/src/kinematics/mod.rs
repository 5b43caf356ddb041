//! The kinematics of the arm: poses and Jacobian of the flange and the gripper's tool point.
//!
//! Angles in degrees, lengths in mm, rotations row-major with the columns = tool axes in the base frame.
//!
//! | File | Is |
//! | --- | --- |
//! | [`chain`] | the table: translations and rotations from joint to joint |
//! | `forward`(mod@forward) | frames of the joints and poses of the TCP, link by link |
//! | `posture` | pose and Jacobian of the TCP at once, in the plane of the arm, where they are simple |

pub mod chain;
mod forward;
mod posture;

pub use crate::math::vector::{Matrix3, Vector3};
pub use forward::{Pose, Tcp, forward, joint_frames};
pub use posture::{Jacobian, PlaneJacobian, PlaneTwist, Posture, jacobian};
