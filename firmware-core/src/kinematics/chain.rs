//! The kinematic chain of the arm: the one table of its translations and rotations.
//!
//! Read off the robot's description. Each joint turns about its own z axis.

use crate::joints::ARM_JOINTS;

/// From one frame to the next: a fixed translation, then a fixed rotation, then the joint's own turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Translation (mm).
    pub translation_mm: [f32; 3],
    /// Rotation, row-major.
    pub rotation: [[f32; 3]; 3],
}

/// From the base to J1, from J1 to J2, … to J6. The flange is the frame of J6 after its turn.
#[rustfmt::skip]
pub const LINKS: [Link; ARM_JOINTS] = [
    Link {
        translation_mm: [0.0, 0.0, 131.56],
        rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    },
    Link {
        translation_mm: [0.0, 0.0, 0.0],
        rotation: [
            [1.349_244e-11, 1.0, -3.673_205e-6],
            [3.673_205e-6, -3.673_205e-6, -1.0],
            [-1.0, 0.0, -3.673_205e-6],
        ],
    },
    Link {
        translation_mm: [-110.4, 0.0, 0.0],
        rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    },
    Link {
        translation_mm: [-96.0, 0.0, 64.62],
        rotation: [[-3.673_205e-6, 1.0, 0.0], [-1.0, -3.673_205e-6, 0.0], [0.0, 0.0, 1.0]],
    },
    Link {
        translation_mm: [0.0, -73.18, 0.0],
        rotation: [
            [-3.673_205e-6, -1.0, 3.673_205e-6],
            [0.0, -3.673_205e-6, -1.0],
            [1.0, -3.673_205e-6, 1.349_244e-11],
        ],
    },
    Link {
        translation_mm: [0.0, 43.2, 0.0],
        rotation: [
            [0.707_105_5, -0.707_108_1, -2.597_353e-6],
            [0.0, -3.673_205e-6, 1.0],
            [-0.707_108_1, -0.707_105_5, -2.597_343e-6],
        ],
    },
];

/// The tool point with the gripper, in the flange frame (mm): between the finger pads.
pub const GRIPPER_TCP_MM: [f32; 3] = [-0.6, 8.2, 100.0];
