//! The target pose: the error to it, and how it moves with the twist.

use super::Twist;
use crate::kinematics::{Matrix3, Pose, Vector3};

/// Further than this from the target the present pose becomes the target: 5 mm, and the sine of 3°.
const POSITION_MM_MAX: f32 = 5.0;
const ROTATION_SIN_MAX: f32 = 0.052_335_956;

/// Position (mm) and rotation vector (rad) from `pose` to `target`; `None` past 5 mm or 3°.
pub(super) fn error(target: &Pose, pose: &Pose) -> Option<Twist> {
    let linear_mm_s: Vector3 = core::array::from_fn(|axis| target.position_mm[axis] - pose.position_mm[axis]);
    if square(&linear_mm_s) > POSITION_MM_MAX * POSITION_MM_MAX {
        return None;
    }
    // R_target·R_nowᵀ: entry (row, column) is the product of two rows.
    let turn = |row: usize, column: usize| {
        let (a, b) = (&target.rotation[row], &pose.rotation[column]);
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    };
    let sine = [turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1)].map(|s| 0.5 * s);
    let sine2 = square(&sine);
    let trace = turn(0, 0) + turn(1, 1) + turn(2, 2);
    // A trace below 1 is a turn of more than 90°.
    if trace < 1.0 || sine2 > ROTATION_SIN_MAX * ROTATION_SIN_MAX {
        return None;
    }
    // angle / sine of a small angle, as a series: within 1e-8 up to 3°.
    let stretch = 1.0 + sine2 * (1.0 / 6.0 + sine2 * (3.0 / 40.0));
    Some(Twist { linear_mm_s, angular_rad_s: sine.map(|s| s * stretch) })
}

fn square(v: &Vector3) -> f32 {
    v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
}

/// Moves and turns `target` with `twist` for `dt_s`.
pub(super) fn advance(target: &mut Pose, twist: &Twist, dt_s: f32) {
    for (position, v) in target.position_mm.iter_mut().zip(&twist.linear_mm_s) {
        *position += v * dt_s;
    }
    let [x, y, z] = twist.angular_rad_s.map(|w| w * dt_s);
    // The exponential map as a series: the angle of a step is far below 0.1 rad.
    let angle2 = x * x + y * y + z * z;
    let a = 1.0 - angle2 * (1.0 / 6.0);
    let b = 0.5 - angle2 * (1.0 / 24.0);
    let turn: Matrix3 = [
        [1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y],
        [b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x],
        [b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)],
    ];
    let from = target.rotation;
    for (row, turn) in target.rotation.iter_mut().zip(&turn) {
        for (column, entry) in row.iter_mut().enumerate() {
            *entry = turn[0] * from[0][column] + turn[1] * from[1][column] + turn[2] * from[2][column];
        }
    }
}
