//! Minimum-jerk moves: position over time, the shortest duration, and which goals are allowed.

use crate::joints::{Joint, JointTable, JointValues, SPEED_LIMIT_DPS, TABLE};

/// Peak speed of a move of distance d in time T, in d/T.
const PEAK_SPEED: f32 = 1.875;
/// Peak acceleration, in d/T².
const PEAK_ACCEL: f32 = 5.77;
/// Shortest duration of any move (s).
const DURATION_S_MIN: f32 = 0.2;

/// Share of the way made at the share `x` of the time: x³(10 − 15x + 6x²), x clamped to 0…1 (NaN
/// to 0).
pub fn position(x: f32) -> f32 {
    let x = if x > 0.0 { x.min(1.0) } else { 0.0 };
    x * x * x * (10.0 + x * (6.0 * x - 15.0))
}

/// Shortest duration (s) of a move of the first joints from `start_deg` to `goal_deg` that keeps each inside
/// its speed and acceleration limits; at least 0.2 s. NaN counts as no distance: goals are checked first,
/// with [`first_joint_outside`].
pub fn shortest_duration_s(start_deg: &[f32], goal_deg: &[f32]) -> f32 {
    let joints = start_deg.iter().zip(goal_deg).zip(&TABLE);
    joints.fold(DURATION_S_MIN, |longest_s, ((start, goal), joint)| {
        let distance_deg = (goal - start).abs();
        let for_speed_s = PEAK_SPEED * distance_deg / SPEED_LIMIT_DPS;
        let for_accel_s = libm::sqrtf(PEAK_ACCEL * distance_deg / joint.accel_limit_dps2);
        longest_s.max(for_speed_s).max(for_accel_s)
    })
}

/// The first joint (index) whose goal (°) is not inside its limits of `table` less the margin; NaN is not
/// inside. `goal.n` is at most 7.
pub fn first_joint_outside(goal: &JointValues, table: &JointTable) -> Option<usize> {
    let inside = |joint: &Joint, goal_deg| (joint.min_goal_deg()..=joint.max_goal_deg()).contains(goal_deg);
    goal.values[..goal.n].iter().zip(table).position(|(goal_deg, joint)| !inside(joint, goal_deg))
}
