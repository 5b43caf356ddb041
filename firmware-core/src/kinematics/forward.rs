//! Forward kinematics, link by link: the frame of each joint, the pose of the TCP.

use super::chain::{GRIPPER_TCP_MM, LINKS};
use crate::joints::ARM_JOINTS;
use crate::math::sin_cos_deg;
use crate::math::vector::{IDENTITY, Matrix3, Vector3, add, mul_vector};

/// Entries of the chain smaller than this move nothing: 1e-9 of a length of the arm.
const NOTHING: f32 = 1e-9;

/// The tool point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tcp {
    /// The flange: without the gripper.
    Flange,
    /// Between the finger pads of the gripper.
    Gripper,
}

impl Tcp {
    /// Its place in the flange frame (mm).
    pub const fn offset_mm(self) -> Vector3 {
        match self {
            Self::Flange => [0.0; 3],
            Self::Gripper => GRIPPER_TCP_MM,
        }
    }
}

/// A pose in the base frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Orientation: columns = axes in the base frame.
    pub rotation: Matrix3,
    /// Position (mm).
    pub position_mm: Vector3,
}

impl Pose {
    /// The base frame itself.
    const BASE: Self = Self { rotation: IDENTITY, position_mm: [0.0; 3] };

    /// The next joint's frame: link `N`'s translation and rotation, then the joint's turn about z. The loops
    /// unroll, and the chain's zeros cost nothing.
    #[expect(clippy::inline_always, reason = "its link is a constant only where it is inlined")]
    #[inline(always)]
    pub(super) fn next<const N: usize>(&self, deg: f32) -> Self {
        let link = const { &LINKS[N] };
        let (sin, cos) = sin_cos_deg(deg);
        let mut position_mm = self.position_mm;
        let mut rotation = [[0.0; 3]; 3];
        for row in 0..3 {
            let from = &self.rotation[row];
            for (entry, length) in from.iter().zip(&link.translation_mm) {
                if *length != 0.0 {
                    position_mm[row] += entry * length;
                }
            }
            let mut fixed = [0.0; 3];
            for (column, sum) in fixed.iter_mut().enumerate() {
                for (entry, turn) in from.iter().zip(&link.rotation) {
                    if turn[column].abs() > NOTHING {
                        *sum += entry * turn[column];
                    }
                }
            }
            let [x, y, z] = fixed;
            rotation[row] = [x * cos + y * sin, y * cos - x * sin, z];
        }
        Self { rotation, position_mm }
    }

    /// The TCP of an arm with this flange.
    pub(super) fn tool(&self, tcp: Tcp) -> Self {
        let offset_mm = mul_vector(&self.rotation, &tcp.offset_mm());
        Self { rotation: self.rotation, position_mm: add(&self.position_mm, &offset_mm) }
    }

    /// The z axis, about which a joint turns.
    pub(super) fn z_axis(&self) -> Vector3 {
        [self.rotation[0][2], self.rotation[1][2], self.rotation[2][2]]
    }
}

/// Frames of J1 to J6 after their turns, at the angles `q_deg` (°). The last is the flange; a sensor on the
/// link between J5 and J6 turns with the frame of J5.
pub fn joint_frames(q_deg: &[f32; ARM_JOINTS]) -> [Pose; ARM_JOINTS] {
    let j1 = Pose::BASE.next::<0>(q_deg[0]);
    let j2 = j1.next::<1>(q_deg[1]);
    let j3 = j2.next::<2>(q_deg[2]);
    let j4 = j3.next::<3>(q_deg[3]);
    let j5 = j4.next::<4>(q_deg[4]);
    let j6 = j5.next::<5>(q_deg[5]);
    [j1, j2, j3, j4, j5, j6]
}

/// Pose of the TCP at the joint angles `q_deg` of J1–J6 (°).
pub fn forward(q_deg: &[f32; ARM_JOINTS], tcp: Tcp) -> Pose {
    joint_frames(q_deg)[ARM_JOINTS - 1].tool(tcp)
}
