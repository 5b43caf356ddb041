//! Joint motion in steps of dt: JOG frame 0 and TRACK.
//!
//! No input panics. A target that is not finite asks for rest, a step time outside (0, 1] s makes no step,
//! and a joint whose own goal is not finite stays where it is.

use crate::joints::{JOINTS, Joint, JointTable, SPEED_LIMIT_DPS};

/// Highest joint speed of JOG (°/s).
pub const JOG_SPEED_DPS: f32 = 30.0;
/// Acceleration of JOG (°/s²).
pub const JOG_ACCEL_DPS2: f32 = 200.0;
/// At and below this speed a joint is at rest (°/s).
const REST_DPS: f32 = 0.001;
/// Longest step (s): a run clamps its steps to 6 ms, so anything longer is a mistake of the caller.
const STEP_S_MAX: f32 = 1.0;
/// TRACK lands on its goal only from a speed of at most this many steps' change: from a higher one it would
/// stop harder than the joint may.
const LANDING_CHANGES_MAX: f32 = 1.5;

/// Goals and speeds of the joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointMotion {
    /// Goals (°).
    pub q_deg: [f32; JOINTS],
    /// Speeds (°/s).
    pub v_dps: [f32; JOINTS],
}

/// Highest speed from which a stop within `distance_deg` is possible at `accel_dps2` in steps of `dt_s`
/// (°/s); 0 for a distance of 0 or less and for NaN. `accel_dps2` and `dt_s` are above 0.
///
/// The discrete form: √(2ad) would leave a step of speed at the limit.
pub fn stoppable_speed_dps(distance_deg: f32, accel_dps2: f32, dt_s: f32) -> f32 {
    if distance_deg > 0.0 {
        let change_dps = accel_dps2 * dt_s;
        change_dps * (libm::sqrtf(0.25 + 2.0 * distance_deg / (change_dps * dt_s)) - 0.5)
    } else {
        0.0
    }
}

/// The step time is one that a step can be made of.
fn is_step(dt_s: f32) -> bool {
    dt_s > 0.0 && dt_s <= STEP_S_MAX
}

/// Makes a speed that is not finite 0. False: the goal itself is not finite, and the joint must stay.
fn is_ready(q_deg: f32, v_dps: &mut f32) -> bool {
    if !q_deg.is_finite() || !v_dps.is_finite() {
        *v_dps = 0.0;
    }
    q_deg.is_finite()
}

/// A speed of 0 or more, lowered to one from which a stop within `distance_deg` is possible.
///
/// Most speeds are far from their braking distance, and the ESP32 has no divide and no square root: v is
/// surely stoppable when v (v + a·dt) dt < 2 d·a·dt with room for rounding.
fn lowered_to_stop(v_dps: f32, distance_deg: f32, accel_dps2: f32, dt_s: f32) -> f32 {
    const ROUNDING_ROOM: f32 = 1.0001;
    let per_step = accel_dps2 * dt_s;
    if v_dps * (v_dps + per_step) * dt_s * ROUNDING_ROOM < 2.0 * distance_deg * per_step {
        return v_dps;
    }
    v_dps.min(stoppable_speed_dps(distance_deg, accel_dps2, dt_s))
}

/// The range a joint may move in: its limits less the margin, widened to where the joint is, so that a joint
/// found outside only comes back.
#[derive(Clone, Copy)]
struct Range {
    low_deg: f32,
    high_deg: f32,
}

impl Range {
    fn of(joint: &Joint, q_deg: f32) -> Self {
        Self { low_deg: joint.min_goal_deg().min(q_deg), high_deg: joint.max_goal_deg().max(q_deg) }
    }

    /// Lowers a speed to what can still stop at the end it goes to.
    fn stoppable(self, v_dps: f32, q_deg: f32, accel_dps2: f32, dt_s: f32) -> f32 {
        let room_deg = if v_dps < 0.0 { q_deg - self.low_deg } else { self.high_deg - q_deg };
        lowered_to_stop(v_dps.abs(), room_deg, accel_dps2, dt_s).copysign(v_dps)
    }
}

/// Moves one joint by its speed; a step past the range lands on it, and the speed is the step made.
fn integrate(q_deg: &mut f32, v_dps: &mut f32, range: Range, dt_s: f32) {
    let next_deg = *q_deg + *v_dps * dt_s;
    if (range.low_deg..=range.high_deg).contains(&next_deg) {
        *q_deg = next_deg;
    } else {
        let landed_deg = next_deg.clamp(range.low_deg, range.high_deg);
        *v_dps = (landed_deg - *q_deg) / dt_s;
        *q_deg = landed_deg;
    }
}

/// The speed after one step from `v_dps` toward `target_dps`.
fn approach(v_dps: f32, target_dps: f32, change_dps: f32) -> f32 {
    target_dps.clamp(v_dps - change_dps, v_dps + change_dps)
}

/// One step of JOG frame 0 for the first `n` joints of `table` toward the speeds `target_dps`.
///
/// Targets are clamped to ±30 °/s, and to what can still stop at the limits less the margin. A joint faster
/// than 30 °/s, handed over from TRACK or the TCP, brakes at its own acceleration limit.
pub fn jog_step(
    motion: &mut JointMotion,
    target_dps: &[f32; JOINTS],
    n: usize,
    table: &JointTable,
    dt_s: f32,
) {
    if !is_step(dt_s) {
        return;
    }
    for (index, joint) in table.iter().enumerate().take(n) {
        let (q_deg, v_dps) = (&mut motion.q_deg[index], &mut motion.v_dps[index]);
        if !is_ready(*q_deg, v_dps) {
            continue;
        }
        let fast = v_dps.abs() > JOG_SPEED_DPS;
        let accel_dps2 = if fast { joint.accel_limit_dps2 } else { JOG_ACCEL_DPS2 };
        let range = Range::of(joint, *q_deg);
        let target_dps = if target_dps[index].is_finite() { target_dps[index] } else { 0.0 };
        let wanted_dps = target_dps.clamp(-JOG_SPEED_DPS, JOG_SPEED_DPS);
        let wanted_dps = range.stoppable(wanted_dps, *q_deg, accel_dps2, dt_s);
        *v_dps = approach(*v_dps, wanted_dps, accel_dps2 * dt_s);
        integrate(q_deg, v_dps, range, dt_s);
    }
}

/// One step of TRACK for the first `n` joints of `table` toward `goal_deg`, each at up to `vmax_dps` (0 to 90 °/s,
/// clamped; NaN is 0); with `stopping` they brake to rest. Goals are clamped to the limits less the margin.
pub fn track_step(
    motion: &mut JointMotion,
    goal_deg: &[f32; JOINTS],
    n: usize,
    table: &JointTable,
    vmax_dps: f32,
    stopping: bool,
    dt_s: f32,
) {
    if !is_step(dt_s) {
        return;
    }
    let vmax_dps = if vmax_dps > 0.0 { vmax_dps.min(SPEED_LIMIT_DPS) } else { 0.0 };
    for (index, joint) in table.iter().enumerate().take(n) {
        let (q_deg, v_dps) = (&mut motion.q_deg[index], &mut motion.v_dps[index]);
        if !is_ready(*q_deg, v_dps) {
            continue;
        }
        let stopping = stopping || !goal_deg[index].is_finite();
        let accel_dps2 = joint.accel_limit_dps2;
        let change_dps = accel_dps2 * dt_s;
        let goal_deg = goal_deg[index].clamp(joint.min_goal_deg(), joint.max_goal_deg());
        let error_deg = goal_deg - *q_deg;
        let range = Range::of(joint, *q_deg);
        let wanted_dps = if stopping {
            0.0
        } else {
            lowered_to_stop(vmax_dps, error_deg.abs(), accel_dps2, dt_s).copysign(error_deg)
        };
        let wanted_dps = range.stoppable(wanted_dps, *q_deg, accel_dps2, dt_s);
        let before_dps = *v_dps;
        *v_dps = approach(before_dps, wanted_dps, change_dps);
        let reaches = error_deg != 0.0 && *v_dps * dt_s * error_deg.signum() >= error_deg.abs();
        if !stopping && reaches && before_dps.abs() <= LANDING_CHANGES_MAX * change_dps {
            *q_deg = goal_deg;
            *v_dps = 0.0;
        } else {
            integrate(q_deg, v_dps, range, dt_s);
        }
    }
}

/// The first `n` joints are at rest.
pub fn at_rest(motion: &JointMotion, n: usize) -> bool {
    motion.v_dps[..n].iter().all(|v_dps| v_dps.abs() <= REST_DPS)
}
