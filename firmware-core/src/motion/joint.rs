//! Joint motion in steps of dt: JOG frame 0 and TRACK.

use crate::joints::{JOINTS, Joint, SPEED_LIMIT_DPS, TABLE};

/// Highest joint speed of JOG (°/s).
pub const JOG_SPEED_DPS: f32 = 30.0;
/// Acceleration of JOG (°/s²).
pub const JOG_ACCEL_DPS2: f32 = 200.0;
/// At and below this speed a joint is at rest (°/s).
const REST_DPS: f32 = 0.001;

/// Goals and speeds of the joints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointMotion {
    /// Goals (°).
    pub q_deg: [f32; JOINTS],
    /// Speeds (°/s).
    pub v_dps: [f32; JOINTS],
}

/// Highest speed from which a stop within `distance_deg` is possible at `accel_dps2` in steps of `dt_s`
/// (°/s); 0 for a distance of 0 or less. The discrete form: √(2ad) would leave a step of speed at the limit.
pub fn stoppable_speed_dps(distance_deg: f32, accel_dps2: f32, dt_s: f32) -> f32 {
    if distance_deg <= 0.0 {
        return 0.0;
    }
    let per_step = accel_dps2 * dt_s;
    per_step * (libm::sqrtf(0.25 + 2.0 * distance_deg / (per_step * dt_s)) - 0.5)
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

    /// Clamps a speed to what can still stop at either end.
    fn stoppable(self, v_dps: f32, q_deg: f32, accel_dps2: f32, dt_s: f32) -> f32 {
        let up = stoppable_speed_dps(self.high_deg - q_deg, accel_dps2, dt_s);
        let down = stoppable_speed_dps(q_deg - self.low_deg, accel_dps2, dt_s);
        v_dps.clamp(-down, up)
    }
}

/// Moves one joint by its speed; a step past the range lands on it, and the speed is the step made.
fn integrate(q_deg: &mut f32, v_dps: &mut f32, range: Range, dt_s: f32) {
    let next_deg = *q_deg + *v_dps * dt_s;
    let landed_deg = next_deg.clamp(range.low_deg, range.high_deg);
    if landed_deg != next_deg {
        *v_dps = (landed_deg - *q_deg) / dt_s;
    }
    *q_deg = landed_deg;
}

fn approach(v_dps: f32, target_dps: f32, change_dps: f32) -> f32 {
    target_dps.clamp(v_dps - change_dps, v_dps + change_dps)
}

/// One step of JOG frame 0 for the first `n` joints toward the speeds `target_dps`.
///
/// A joint faster than 30 °/s, handed over from TRACK or the TCP, brakes at its own acceleration limit.
pub fn jog_step(motion: &mut JointMotion, target_dps: &[f32; JOINTS], n: usize, dt_s: f32) {
    for (index, joint) in TABLE.iter().enumerate().take(n) {
        let (q_deg, v_dps) = (&mut motion.q_deg[index], &mut motion.v_dps[index]);
        let fast = v_dps.abs() > JOG_SPEED_DPS;
        let accel_dps2 = if fast { joint.accel_limit_dps2 } else { JOG_ACCEL_DPS2 };
        let range = Range::of(joint, *q_deg);
        let wanted_dps = target_dps[index].clamp(-JOG_SPEED_DPS, JOG_SPEED_DPS);
        let wanted_dps = range.stoppable(wanted_dps, *q_deg, accel_dps2, dt_s);
        *v_dps = approach(*v_dps, wanted_dps, accel_dps2 * dt_s);
        integrate(q_deg, v_dps, range, dt_s);
    }
}

/// One step of TRACK for the first `n` joints toward `goal_deg` at up to `vmax_dps`; with `stopping` they
/// brake to rest.
pub fn track_step(
    motion: &mut JointMotion,
    goal_deg: &[f32; JOINTS],
    n: usize,
    vmax_dps: f32,
    stopping: bool,
    dt_s: f32,
) {
    let vmax_dps = vmax_dps.min(SPEED_LIMIT_DPS);
    for (index, joint) in TABLE.iter().enumerate().take(n) {
        let (q_deg, v_dps) = (&mut motion.q_deg[index], &mut motion.v_dps[index]);
        let accel_dps2 = joint.accel_limit_dps2;
        let change_dps = accel_dps2 * dt_s;
        let goal_deg = goal_deg[index].clamp(joint.min_goal_deg(), joint.max_goal_deg());
        let error_deg = goal_deg - *q_deg;
        let range = Range::of(joint, *q_deg);
        let wanted_dps = if stopping {
            0.0
        } else {
            vmax_dps.min(stoppable_speed_dps(error_deg.abs(), accel_dps2, dt_s)).copysign(error_deg)
        };
        let wanted_dps = range.stoppable(wanted_dps, *q_deg, accel_dps2, dt_s);
        let before_dps = *v_dps;
        *v_dps = approach(before_dps, wanted_dps, change_dps);
        let step_deg = *v_dps * dt_s;
        let reaches = error_deg != 0.0 && step_deg * error_deg.signum() >= error_deg.abs();
        if !stopping && reaches && before_dps.abs() <= 1.5 * change_dps {
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
