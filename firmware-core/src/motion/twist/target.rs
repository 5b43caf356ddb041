//! The target pose: the error to it, and how it moves with the twist. No division, no square root.

use super::Twist;
use crate::kinematics::Pose;
use crate::math::vector::{Vector3, add, cross, dot, scale, subtract};

/// Further than this from the target the present pose becomes the target: 5 mm, and the sine of 3°.
const POSITION_MM_MAX: f32 = 5.0;
const ROTATION_SIN_MAX: f32 = 0.052_335_956;

/// Position (mm) and rotation vector (rad) from `pose` to `target`, as a twist of one second; `None` past 5
/// mm or 3°.
#[inline]
pub(super) fn error(target: &Pose, pose: &Pose) -> Option<Twist> {
    let linear_mm_s = subtract(&target.position_mm, &pose.position_mm);
    if dot(&linear_mm_s, &linear_mm_s) > POSITION_MM_MAX * POSITION_MM_MAX {
        return None;
    }
    // R_target·R_nowᵀ: entry (row, column) is the product of two rows.
    let turn = |row: usize, column: usize| dot(&target.rotation[row], &pose.rotation[column]);
    let sine = [turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1)].map(|s| 0.5 * s);
    let sine2 = dot(&sine, &sine);
    let trace = turn(0, 0) + turn(1, 1) + turn(2, 2);
    // A trace below 1 is a turn of more than 90°.
    if trace < 1.0 || sine2 > ROTATION_SIN_MAX * ROTATION_SIN_MAX {
        return None;
    }
    // angle / sine of a small angle, as a series: within 1e-8 up to 3°.
    let stretch = 1.0 + sine2 * (1.0 / 6.0 + sine2 * (3.0 / 40.0));
    Some(Twist { linear_mm_s, angular_rad_s: scale(stretch, &sine) })
}

/// Moves and turns `target` with `twist` for `dt_s`.
#[inline]
pub(super) fn advance(target: &mut Pose, twist: &Twist, dt_s: f32) {
    target.position_mm = add(&target.position_mm, &scale(dt_s, &twist.linear_mm_s));
    let angle = scale(dt_s, &twist.angular_rad_s);
    let angle2 = dot(&angle, &angle);
    if angle2 > 0.0 {
        turn(target, &angle, angle2);
    }
}

/// Turns `target` by a rotation vector (rad) of a small angle, whose square is `angle2`.
fn turn(target: &mut Pose, angle: &Vector3, angle2: f32) {
    let [x, y, z] = *angle;
    // The exponential map less 1 as a series: the angle of a step is far below 0.1 rad.
    let first = 1.0 - angle2 * (1.0 / 6.0);
    let second = 0.5 - angle2 * (1.0 / 24.0);
    let by = [
        [-second * (y * y + z * z), second * x * y - first * z, second * x * z + first * y],
        [second * x * y + first * z, -second * (x * x + z * z), second * y * z - first * x],
    ];
    let [x_row, y_row, z_row] = &target.rotation;
    let turned = |row: &Vector3, by: &Vector3| {
        add(row, &add(&add(&scale(by[0], x_row), &scale(by[1], y_row)), &scale(by[2], z_row)))
    };
    // Rounding must not add up over the minutes of a run: rows of length 1, at right angles.
    let x_row = unit(&turned(x_row, &by[0]));
    let y_row = turned(y_row, &by[1]);
    let y_row = unit(&subtract(&y_row, &scale(dot(&x_row, &y_row), &x_row)));
    target.rotation = [x_row, y_row, cross(&x_row, &y_row)];
}

/// A vector of about unit length, brought to it without a square root.
fn unit(v: &Vector3) -> Vector3 {
    scale(1.5 - 0.5 * dot(v, v), v)
}
