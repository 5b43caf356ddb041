//! Kinematics of the arm for programs on the host: TCP pose, Jacobian, singular values, joint angles for a
//! pose.
//!
//! Forward kinematics and Jacobian are the controller's own, in single precision: 0.0005 mm. Angles in
//! degrees, lengths in mm, rotations row-major with the columns = tool axes in the base frame.

use firmware_core::joints::{ARM_JOINTS, TABLE};
pub use firmware_core::kinematics::Tcp;
use firmware_core::kinematics::{self, Posture};
use firmware_core::motion::twist::LINEAR_UNIT_MM;
use firmware_core::motion::twist::damped_turns_rad;

/// Joint angles J1–J6 (°).
pub type Angles = [f64; ARM_JOINTS];
/// A rotation, row-major.
pub type Rotation = [[f64; 3]; 3];

/// The inverse has arrived within this of position (mm) and orientation (rad).
const ARRIVED_MM: f64 = 0.002;
const ARRIVED_RAD: f64 = 2e-5;
/// Longest way of one step of the inverse: the Jacobian holds this far.
const STEP_MM_MAX: f64 = 20.0;
const STEP_RAD_MAX: f64 = 0.2;
/// Steps of the inverse at most; a reachable pose takes a few dozen.
const STEPS_MAX: usize = 1_000;

/// A pose of the TCP in the base frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Position (mm).
    pub position_mm: [f64; 3],
    /// Orientation.
    pub rotation: Rotation,
}

/// No joint angles were found for a pose.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum InverseError {
    /// The steps ended away from the pose, without a joint at a limit.
    #[error(
        "expected joint angles for the pose, found none nearer than {off_mm:.2} mm and {off_deg:.2}°: it is out of \
         reach or behind a singular pose; start from another pose"
    )]
    OutOfReach {
        /// Distance left (mm).
        off_mm: f64,
        /// Angle left (°).
        off_deg: f64,
    },
    /// The steps ended away from the pose, with a joint at its limit.
    #[error(
        "expected joint angles for the pose, found none nearer than {off_mm:.2} mm and {off_deg:.2}°: J{joint} is at \
         its limit less the margin, {limit_deg}°; start from another pose"
    )]
    AtLimit {
        /// Distance left (mm).
        off_mm: f64,
        /// Angle left (°).
        off_deg: f64,
        /// Number of the first joint at a limit, 1–6.
        joint: usize,
        /// That limit (°).
        limit_deg: f64,
    },
}

/// Pose of the TCP.
pub fn forward(angles_deg: &Angles, tcp: Tcp) -> Pose {
    let pose = kinematics::forward(&single(angles_deg), tcp);
    Pose {
        position_mm: pose.position_mm.map(f64::from),
        rotation: pose.rotation.map(|row| row.map(f64::from)),
    }
}

/// Geometric Jacobian in the base frame, row by row: linear velocity of the TCP (mm/rad), then angular
/// velocity; one column per joint.
pub fn jacobian(angles_deg: &Angles, tcp: Tcp) -> [[f64; ARM_JOINTS]; 6] {
    let columns = kinematics::jacobian(&single(angles_deg), tcp);
    core::array::from_fn(|row| core::array::from_fn(|joint| f64::from(columns[joint][row])))
}

/// Singular values of the Jacobian with its linear rows in units of [`LINEAR_UNIT_MM`], the largest first.
///
/// The end-effector JOG damps its motion where the last is below
/// [`SIGMA_DAMPED`](firmware_core::motion::twist::SIGMA_DAMPED).
pub fn singular_values(angles_deg: &Angles, tcp: Tcp) -> [f64; 6] {
    let mut rows = jacobian(angles_deg, tcp);
    for entry in rows[..3].iter_mut().flatten() {
        *entry /= f64::from(LINEAR_UNIT_MM);
    }
    let mut values = orthogonal_rows(rows).map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt());
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Turns pairs of rows into each other until all are at right angles (one-sided Jacobi): their lengths are
/// then the singular values.
fn orthogonal_rows(mut rows: [[f64; 6]; 6]) -> [[f64; 6]; 6] {
    /// Six rows are at right angles after five or six rounds.
    const ROUNDS: usize = 12;
    for _ in 0..ROUNDS {
        for first in 0..5 {
            for second in first + 1..6 {
                let product = |a: usize, b: usize| -> f64 { (0..6).map(|k| rows[a][k] * rows[b][k]).sum() };
                let (size1, size2, mixed) =
                    (product(first, first), product(second, second), product(first, second));
                if mixed.abs() <= 1e-15 * (size1 * size2).sqrt() {
                    continue;
                }
                let ratio = (size2 - size1) / (2.0 * mixed);
                let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                let sine = cosine * tangent;
                for k in 0..6 {
                    let (a, b) = (rows[first][k], rows[second][k]);
                    rows[first][k] = cosine * a - sine * b;
                    rows[second][k] = sine * a + cosine * b;
                }
            }
        }
    }
    rows
}

/// Joint angles at which the TCP has the pose `target`, found from `start_deg` by the damped steps of the
/// end-effector JOG. They are inside the limits less the margin, so that a `MOVE_TO` accepts them; the start
/// is brought inside first. The keep-outs of the end-effector JOG are no limits here.
///
/// # Errors
/// [`InverseError`] when the steps end anywhere else: the pose is out of reach, or the way from this start to
/// it is.
pub fn inverse(target: &Pose, start_deg: &Angles, tcp: Tcp) -> Result<Angles, InverseError> {
    let mut angles_deg: Angles = core::array::from_fn(|joint| within_limits(joint, start_deg[joint]));
    for _ in 0..STEPS_MAX {
        let (linear_mm, angular_rad) = way(&forward(&angles_deg, tcp), target);
        if length(&linear_mm) <= ARRIVED_MM && length(&angular_rad) <= ARRIVED_RAD {
            return Ok(angles_deg);
        }
        // One share for both, so that the TCP goes straight.
        let share = (STEP_MM_MAX / length(&linear_mm)).min(STEP_RAD_MAX / length(&angular_rad)).min(1.0);
        let step = |v: &[f64; 3]| v.map(|x| (share * x) as f32);
        let posture = Posture::new(&single(&angles_deg), tcp);
        let turns_rad = damped_turns_rad(&posture, &step(&linear_mm), &step(&angular_rad));
        for joint in 0..ARM_JOINTS {
            let turn_deg = f64::from(turns_rad[joint]).to_degrees();
            angles_deg[joint] = within_limits(joint, angles_deg[joint] + turn_deg);
        }
    }
    Err(not_found(target, &angles_deg, tcp))
}

fn not_found(target: &Pose, angles_deg: &Angles, tcp: Tcp) -> InverseError {
    let (linear_mm, angular_rad) = way(&forward(angles_deg, tcp), target);
    let (off_mm, off_deg) = (length(&linear_mm), length(&angular_rad).to_degrees());
    let at_limit = |joint: &usize| {
        let (low_deg, high_deg) = limits_deg(*joint);
        angles_deg[*joint] <= low_deg || angles_deg[*joint] >= high_deg
    };
    match (0..ARM_JOINTS).find(at_limit) {
        Some(joint) => {
            InverseError::AtLimit { off_mm, off_deg, joint: joint + 1, limit_deg: angles_deg[joint] }
        }
        None => InverseError::OutOfReach { off_mm, off_deg },
    }
}

fn limits_deg(joint: usize) -> (f64, f64) {
    (f64::from(TABLE[joint].min_goal_deg()), f64::from(TABLE[joint].max_goal_deg()))
}

fn within_limits(joint: usize, deg: f64) -> f64 {
    let (low_deg, high_deg) = limits_deg(joint);
    deg.clamp(low_deg, high_deg)
}

fn single(angles_deg: &Angles) -> [f32; ARM_JOINTS] {
    angles_deg.map(|deg| deg as f32)
}

fn length(v: &[f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Way (mm) and rotation vector (rad, base frame) from one pose to another.
fn way(from: &Pose, to: &Pose) -> ([f64; 3], [f64; 3]) {
    let linear_mm = core::array::from_fn(|axis| to.position_mm[axis] - from.position_mm[axis]);
    let turn = |row: usize, column: usize| -> f64 {
        (0..3).map(|k| to.rotation[row][k] * from.rotation[column][k]).sum()
    };
    let sine = [turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1)].map(|s| s / 2.0);
    let size = length(&sine);
    let cosine = (turn(0, 0) + turn(1, 1) + turn(2, 2) - 1.0) / 2.0;
    let angle = libm::atan2(size, cosine);
    if size > 1e-6 {
        return (linear_mm, sine.map(|s| s * angle / size));
    }
    if cosine > 0.0 {
        return (linear_mm, sine);
    }
    // Half a turn: (turn + 1) / 2 is the axis times itself, and its longest column is the axis, but for its
    // length.
    let column = |k: usize| -> [f64; 3] {
        core::array::from_fn(|row| turn(row, k) + if row == k { 1.0 } else { 0.0 })
    };
    let longest =
        (1..3).fold(
            column(0),
            |longest, k| {
                if length(&column(k)) > length(&longest) { column(k) } else { longest }
            },
        );
    (linear_mm, longest.map(|x| x * angle / length(&longest)))
}

/// The orientation after turns about the base's fixed axes x, y and z, in this order (°): roll, pitch, yaw.
pub fn rotation_of_rpy(rpy_deg: [f64; 3]) -> Rotation {
    let [(sr, cr), (sp, cp), (sy, cy)] = rpy_deg.map(|deg| libm::sincos(deg.to_radians()));
    [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
}

/// Roll, pitch and yaw (°) of an orientation, pitch in −90…90; where it is ±90 the yaw is 0.
pub fn rpy_of_rotation(rotation: &Rotation) -> [f64; 3] {
    let [[r11, r12, _], [r21, r22, _], [r31, r32, r33]] = *rotation;
    let cosine = libm::hypot(r11, r21);
    let rpy = if cosine > 1e-6 {
        [libm::atan2(r32, r33), libm::atan2(-r31, cosine), libm::atan2(r21, r11)]
    } else {
        [libm::atan2(-r31.signum() * r12, r22), libm::atan2(-r31, cosine), 0.0]
    };
    rpy.map(f64::to_degrees)
}

#[cfg(test)]
mod tests {
    use firmware_core::motion::twist::{SIGMA_DAMPED, smallest_singular_value};

    use super::*;

    const READY_DEG: Angles = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0];

    fn assert_pose(found: &Pose, expected: &Pose, tolerance_mm: f64, tolerance_deg: f64) {
        let (linear_mm, angular_rad) = way(found, expected);
        assert!(length(&linear_mm) <= tolerance_mm, "{} mm", length(&linear_mm));
        assert!(length(&angular_rad).to_degrees() <= tolerance_deg, "{}°", length(&angular_rad).to_degrees());
    }

    #[test]
    fn the_ready_pose_has_the_tool_straight_down() {
        let pose = forward(&READY_DEG, Tcp::Gripper);
        for (found, expected) in pose.position_mm.iter().zip([163.806, -58.397, 98.760]) {
            assert!((found - expected).abs() < 1e-3, "{:?}", pose.position_mm);
        }
        assert!((pose.rotation[2][2] + 1.0).abs() < 1e-5, "{:?}", pose.rotation);
    }

    #[test]
    fn the_zero_pose_has_two_singular_values_of_nearly_0() {
        let ready = singular_values(&READY_DEG, Tcp::Gripper);
        assert!((ready[5] - 0.2894).abs() < 1e-3, "{ready:?}");
        assert!(ready.is_sorted_by(|a, b| a >= b), "{ready:?}");
        let zero = singular_values(&[0.0; 6], Tcp::Gripper);
        assert!(zero[4] < 1e-4 && zero[3] > 0.9, "{zero:?}");
    }

    #[test]
    fn the_controller_finds_the_smallest_singular_value_in_single_precision() {
        let mut state = 1_u64;
        let mut angle_deg = |most: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            most * ((state >> 32) as f64 / f64::from(u32::MAX) * 2.0 - 1.0)
        };
        let mut singular = 0;
        for k in 0..2_000 {
            let mut angles_deg: Angles = core::array::from_fn(|_| angle_deg(135.0));
            // Every other pose is next to a singular one, or at it.
            if k % 2 == 0 {
                angles_deg[2] = angle_deg(0.5);
            }
            if k % 4 == 0 {
                angles_deg[4] = 90.0 + angle_deg(0.5);
            }
            let posture = Posture::new(&single(&angles_deg), Tcp::Gripper);
            let found = f64::from(smallest_singular_value(posture.plane_jacobian()));
            let exact = singular_values(&angles_deg, Tcp::Gripper)[5];
            assert!(
                (found - exact).abs() <= 2e-5 + 1e-4 * exact,
                "{found}, expected {exact} at {angles_deg:?}"
            );
            singular += u32::from(exact < f64::from(SIGMA_DAMPED));
        }
        assert!(singular > 500, "{singular} poses were near a singular one");
    }

    #[test]
    fn the_squares_of_the_singular_values_add_up_to_those_of_the_entries() {
        let angles_deg = [10.0, -20.0, 30.0, -40.0, 50.0, -60.0];
        let mut rows = jacobian(&angles_deg, Tcp::Gripper);
        rows[..3].iter_mut().flatten().for_each(|entry| *entry /= f64::from(LINEAR_UNIT_MM));
        let entries: f64 = rows.iter().flatten().map(|x| x * x).sum();
        let values = singular_values(&angles_deg, Tcp::Gripper);
        assert!((values.iter().map(|v| v * v).sum::<f64>() - entries).abs() < 1e-9 * entries);
        assert!((values[5] - 0.111_553_8).abs() < 1e-4, "as recorded from the robot: {values:?}");
    }

    #[test]
    fn the_inverse_finds_the_pose_again_from_elsewhere() {
        let poses_deg = [
            [20.0, -15.0, -70.0, 10.0, 25.0, -30.0],
            [-40.0, 25.0, -100.0, -20.0, -30.0, 60.0],
            [60.0, -40.0, -60.0, 40.0, 50.0, -90.0],
        ];
        for angles_deg in poses_deg {
            for tcp in [Tcp::Gripper, Tcp::Flange] {
                let target = forward(&angles_deg, tcp);
                let found = inverse(&target, &READY_DEG, tcp).expect("the pose is within reach");
                assert_pose(&forward(&found, tcp), &target, 0.003, 0.002);
            }
        }
    }

    #[test]
    fn what_cannot_be_reached_is_an_error_that_says_how_near_the_arm_comes() {
        let mut target = forward(&READY_DEG, Tcp::Gripper);
        target.position_mm[0] = 900.0;
        let error = inverse(&target, &READY_DEG, Tcp::Gripper).expect_err("nobody's arm is that long");
        let (InverseError::OutOfReach { off_mm, .. } | InverseError::AtLimit { off_mm, .. }) = error;
        assert!(off_mm > 300.0, "{error}");
    }

    #[test]
    fn roll_pitch_and_yaw_go_there_and_back() {
        for rpy_deg in [[10.0, -20.0, 30.0], [180.0, 0.0, -135.0], [-170.0, 80.0, 5.0], [25.0, 90.0, 0.0]] {
            let rotation = rotation_of_rpy(rpy_deg);
            let again = rotation_of_rpy(rpy_of_rotation(&rotation));
            for (found, expected) in again.iter().flatten().zip(rotation.iter().flatten()) {
                assert!((found - expected).abs() < 1e-6, "{rpy_deg:?}");
            }
        }
    }

    #[test]
    fn half_a_turn_has_an_axis() {
        let from = Pose { position_mm: [0.0; 3], rotation: rotation_of_rpy([0.0; 3]) };
        for (rpy_deg, axis) in [([180.0, 0.0, 0.0], 0), ([0.0, 180.0, 0.0], 1), ([0.0, 0.0, 180.0], 2)] {
            let (_linear, angular) = way(&from, &Pose { rotation: rotation_of_rpy(rpy_deg), ..from });
            assert!((angular[axis].abs() - core::f64::consts::PI).abs() < 1e-6, "{angular:?}");
        }
    }
}
