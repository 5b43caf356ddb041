//! Pose and Jacobian of the TCP at once, computed in the plane of the arm.
//!
//! The axes of J2, J3 and J4 are parallel, and J1 passes through the origin of J2. In the frame of J2 before
//! its turn (the *plane frame*: z along those axes) these three joints do nothing but turn and shift the
//! plane. Their columns of the Jacobian therefore have three zeros each, exactly:
//!
//! ```text
//!                J2 J3 J4    J1 J5 J6
//! vx, vy, ωz  (   inner      coupling )
//! vz, ωx, ωy  (     0         outer   )
//! ```
//!
//! What needs a 6 × 6 matrix in the base frame needs two of 3 × 3 here.

use super::chain::LINKS;
use super::forward::{Pose, Tcp};
use crate::joints::ARM_JOINTS;
use crate::math::sin_cos_deg;
use crate::math::vector::{
    Matrix3, Vector3, add, cross, mul_transposed, mul_vector, product, scale, subtract,
};

/// The geometric Jacobian in the base frame, one column per joint: linear velocity (mm/rad) of the TCP, then
/// angular velocity.
pub type Jacobian = [[f32; 6]; ARM_JOINTS];

/// The joints of the first three columns, then those of the last three (indices).
const COLUMNS: [usize; ARM_JOINTS] = [1, 2, 3, 0, 4, 5];

// What makes the plane: J1 turns about the base's z axis, no way from J1 to J2, J2 to J3 a shift, J3 to J4 a
// shift and a turn about z.
const _: () = {
    let [j1, j2, j3, j4, ..] = &LINKS;
    assert!(is(j1.translation_mm[0], 0.0) && is(j1.translation_mm[1], 0.0));
    assert!(is(j1.rotation[0][0], 1.0) && is(j1.rotation[1][1], 1.0) && is(j1.rotation[2][2], 1.0));
    assert!(is(j2.translation_mm[0], 0.0) && is(j2.translation_mm[1], 0.0) && is(j2.translation_mm[2], 0.0));
    assert!(is(j3.rotation[0][0], 1.0) && is(j3.rotation[1][1], 1.0) && is(j3.rotation[2][2], 1.0));
    assert!(is(j4.rotation[2][0], 0.0) && is(j4.rotation[2][1], 0.0) && is(j4.rotation[2][2], 1.0));
};

const fn is(entry: f32, exactly: f32) -> bool {
    entry.to_bits() == exactly.to_bits()
}

/// A velocity in the plane frame, split as the Jacobian is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaneTwist {
    /// vx, vy, ωz: inside the plane.
    pub inner: Vector3,
    /// vz, ωx, ωy: out of it.
    pub outer: Vector3,
}

/// The Jacobian in the plane frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaneJacobian {
    /// Rows vx, vy, ωz; columns J2, J3, J4.
    pub inner: Matrix3,
    /// Rows vx, vy, ωz; columns J1, J5, J6.
    pub coupling: Matrix3,
    /// Rows vz, ωx, ωy; columns J1, J5, J6.
    pub outer: Matrix3,
}

impl PlaneJacobian {
    /// With its linear rows (mm/rad) times `factor`.
    #[inline]
    pub fn with_linear_rows_times(&self, factor: f32) -> Self {
        let [inner_x, inner_y, inner_turn] = &self.inner;
        let [coupling_x, coupling_y, coupling_turn] = &self.coupling;
        let [outer_z, outer_turn_x, outer_turn_y] = &self.outer;
        Self {
            inner: [scale(factor, inner_x), scale(factor, inner_y), *inner_turn],
            coupling: [scale(factor, coupling_x), scale(factor, coupling_y), *coupling_turn],
            outer: [scale(factor, outer_z), *outer_turn_x, *outer_turn_y],
        }
    }

    /// The velocity that the joint speeds `rates` (J1–J6) give.
    #[inline]
    pub fn twist(&self, rates: &[f32; ARM_JOINTS]) -> PlaneTwist {
        let [j1, j2, j3, j4, j5, j6] = *rates;
        let (first, last) = ([j2, j3, j4], [j1, j5, j6]);
        PlaneTwist {
            inner: add(&mul_vector(&self.inner, &first), &mul_vector(&self.coupling, &last)),
            outer: mul_vector(&self.outer, &last),
        }
    }
}

/// The arm at given joint angles, seen from its plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posture {
    /// Orientation of the plane frame in the base frame.
    base_from_plane: Matrix3,
    /// The TCP in the base frame.
    pose: Pose,
    jacobian: PlaneJacobian,
}

impl Posture {
    /// At the joint angles `q_deg` of J1–J6 (°).
    #[inline]
    pub fn new(q_deg: &[f32; ARM_JOINTS], tcp: Tcp) -> Self {
        let (sin1, cos1) = sin_cos_deg(q_deg[0]);
        let [plane_x, plane_y, plane_z] = &LINKS[1].rotation;
        let base_from_plane = [
            subtract(&scale(cos1, plane_x), &scale(sin1, plane_y)),
            add(&scale(sin1, plane_x), &scale(cos1, plane_y)),
            *plane_z,
        ];

        let turn2 = Turn::by_deg(q_deg[1]);
        let turn3 = turn2.then(Turn::by_deg(q_deg[2]));
        let turn4 = turn3.then(Turn::OF_LINK_4).then(Turn::by_deg(q_deg[3]));
        let [j3_x, j3_y] = turn2.shift([0.0; 2], &LINKS[2].translation_mm);
        let [j4_x, j4_y] = turn3.shift([j3_x, j3_y], &LINKS[3].translation_mm);
        let j4 = Pose {
            rotation: [[turn4.cos, -turn4.sin, 0.0], [turn4.sin, turn4.cos, 0.0], [0.0, 0.0, 1.0]],
            position_mm: [j4_x, j4_y, LINKS[2].translation_mm[2] + LINKS[3].translation_mm[2]],
        };
        let j5 = j4.next::<4>(q_deg[4]);
        let flange = j5.next::<5>(q_deg[5]);
        let tool = flange.tool(tcp);

        let [x, y, _z] = tool.position_mm;
        let axis1 = LINKS[1].rotation[2];
        let (axis5, axis6) = (j5.z_axis(), flange.z_axis());
        let linear1 = cross(&axis1, &tool.position_mm);
        let linear5 = cross(&axis5, &subtract(&tool.position_mm, &j5.position_mm));
        let linear6 = cross(&axis6, &subtract(&tool.position_mm, &flange.position_mm));
        let jacobian = PlaneJacobian {
            inner: [[-y, j3_y - y, j4_y - y], [x, x - j3_x, x - j4_x], [1.0; 3]],
            coupling: [
                [linear1[0], linear5[0], linear6[0]],
                [linear1[1], linear5[1], linear6[1]],
                [axis1[2], axis5[2], axis6[2]],
            ],
            outer: [
                [linear1[2], linear5[2], linear6[2]],
                [axis1[0], axis5[0], axis6[0]],
                [axis1[1], axis5[1], axis6[1]],
            ],
        };
        let pose = Pose {
            rotation: product(&base_from_plane, &tool.rotation),
            position_mm: add(&LINKS[0].translation_mm, &mul_vector(&base_from_plane, &tool.position_mm)),
        };
        Self { base_from_plane, pose, jacobian }
    }

    /// The TCP in the base frame.
    #[inline]
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// The Jacobian in the plane frame, linear rows in mm/rad.
    #[inline]
    pub fn plane_jacobian(&self) -> &PlaneJacobian {
        &self.jacobian
    }

    /// A velocity of the base frame in the plane frame.
    #[inline]
    pub fn to_plane(&self, linear: &Vector3, angular: &Vector3) -> PlaneTwist {
        let [vx, vy, vz] = mul_transposed(&self.base_from_plane, linear);
        let [turn_x, turn_y, turn_z] = mul_transposed(&self.base_from_plane, angular);
        PlaneTwist { inner: [vx, vy, turn_z], outer: [vz, turn_x, turn_y] }
    }

    /// A velocity of the plane frame in the base frame: linear, angular.
    #[inline]
    pub fn to_base(&self, twist: &PlaneTwist) -> (Vector3, Vector3) {
        let ([vx, vy, turn_z], [vz, turn_x, turn_y]) = (twist.inner, twist.outer);
        (
            mul_vector(&self.base_from_plane, &[vx, vy, vz]),
            mul_vector(&self.base_from_plane, &[turn_x, turn_y, turn_z]),
        )
    }

    /// The geometric Jacobian in the base frame.
    pub fn jacobian(&self) -> Jacobian {
        let PlaneJacobian { inner, coupling, outer } = &self.jacobian;
        let mut jacobian = [[0.0; 6]; ARM_JOINTS];
        for (place, joint) in COLUMNS.into_iter().enumerate() {
            let column = place % 3;
            let twist = if place < 3 {
                PlaneTwist { inner: inner.map(|row| row[column]), outer: [0.0; 3] }
            } else {
                PlaneTwist { inner: coupling.map(|row| row[column]), outer: outer.map(|row| row[column]) }
            };
            let ([vx, vy, vz], [turn_x, turn_y, turn_z]) = self.to_base(&twist);
            jacobian[joint] = [vx, vy, vz, turn_x, turn_y, turn_z];
        }
        jacobian
    }
}

/// Geometric Jacobian of the TCP in the base frame at `q_deg` (°).
pub fn jacobian(q_deg: &[f32; ARM_JOINTS], tcp: Tcp) -> Jacobian {
    Posture::new(q_deg, tcp).jacobian()
}

/// A turn inside the plane.
#[derive(Clone, Copy)]
struct Turn {
    sin: f32,
    cos: f32,
}

impl Turn {
    /// The fixed turn from J3 to J4.
    const OF_LINK_4: Self = Self { sin: LINKS[3].rotation[1][0], cos: LINKS[3].rotation[0][0] };

    #[inline]
    fn by_deg(deg: f32) -> Self {
        let (sin, cos) = sin_cos_deg(deg);
        Self { sin, cos }
    }

    #[inline]
    fn then(self, next: Self) -> Self {
        Self {
            sin: self.sin * next.cos + self.cos * next.sin,
            cos: self.cos * next.cos - self.sin * next.sin,
        }
    }

    /// `from` and then `by_mm` in turned axes, inside the plane.
    #[inline]
    fn shift(self, from: [f32; 2], by_mm: &Vector3) -> [f32; 2] {
        let [x, y, _z] = *by_mm;
        [from[0] + (self.cos * x - self.sin * y), from[1] + (self.sin * x + self.cos * y)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::forward;
    use super::*;

    const POSES_DEG: [[f32; ARM_JOINTS]; 4] = [
        [0.0; ARM_JOINTS],
        [0.0, 0.0, -90.0, 0.0, 0.0, 0.0],
        [150.0, -120.0, 140.0, -100.0, 130.0, -200.0],
        [-33.0, 25.0, -70.0, 41.0, -12.0, 77.0],
    ];

    #[test]
    fn the_plane_gives_the_pose_that_the_links_give() {
        for q_deg in POSES_DEG {
            for tcp in [Tcp::Flange, Tcp::Gripper] {
                let (found, expected) = (Posture::new(&q_deg, tcp).pose, forward(&q_deg, tcp));
                for axis in 0..3 {
                    let off_mm = (found.position_mm[axis] - expected.position_mm[axis]).abs();
                    assert!(off_mm < 3e-4, "{q_deg:?}: {off_mm} mm");
                    for column in 0..3 {
                        let off = (found.rotation[axis][column] - expected.rotation[axis][column]).abs();
                        assert!(off < 1e-6, "{q_deg:?}: {off}");
                    }
                }
            }
        }
    }

    #[test]
    fn joint_speeds_move_the_tcp_as_the_jacobian_says() {
        let rates = [0.3, -0.2, 0.5, 0.1, -0.4, 0.6];
        let dt_s = 1e-2_f32;
        for q_deg in POSES_DEG {
            let moved = |sense: f32| -> [f32; ARM_JOINTS] {
                core::array::from_fn(|joint| q_deg[joint] + (sense * dt_s * rates[joint]).to_degrees())
            };
            let (ahead, behind) = (forward(&moved(1.0), Tcp::Gripper), forward(&moved(-1.0), Tcp::Gripper));
            let posture = Posture::new(&q_deg, Tcp::Gripper);
            let (linear, _angular) = posture.to_base(&posture.jacobian.twist(&rates));
            for axis in 0..3 {
                let found = (ahead.position_mm[axis] - behind.position_mm[axis]) / (2.0 * dt_s);
                assert!((found - linear[axis]).abs() < 0.05, "{found} mm/s, expected {}", linear[axis]);
            }
        }
    }

    #[test]
    fn a_velocity_goes_to_the_plane_and_back() {
        let posture = Posture::new(&POSES_DEG[3], Tcp::Gripper);
        let (linear, angular) = ([10.0, -20.0, 30.0], [0.1, 0.2, -0.3]);
        let (linear_back, angular_back) = posture.to_base(&posture.to_plane(&linear, &angular));
        for axis in 0..3 {
            assert!((linear_back[axis] - linear[axis]).abs() < 1e-4);
            assert!((angular_back[axis] - angular[axis]).abs() < 1e-6);
        }
    }
}
