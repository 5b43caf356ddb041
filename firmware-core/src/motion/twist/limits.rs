//! One factor for all joints, so that the TCP keeps its direction at every limit; braking when none exists.

use crate::joints::{ARM_JOINTS, TABLE};
use crate::math::sqrt;

/// The end-effector JOG stops this much before where the other modes stop (°).
const EXTRA_MARGIN_DEG: f32 = 0.5;
/// Keep-out on either side of a singular angle (°).
const KEEP_OUT_DEG: f32 = 10.0;
/// Singular angles: J3 straight, J5 with J4 and J6 parallel (joint index, °).
const SINGULAR_DEG: [(usize, f32); 3] = [(2, 0.0), (4, 90.0), (4, -90.0)];
/// Share of a joint's acceleration limit that is used.
const ACCEL_SHARE: f32 = 0.8;
/// A wanted speed below this is none (°/s).
const SPEED_NONE_DPS: f32 = 1e-6;

/// Where a joint may go (°).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    low_deg: f32,
    high_deg: f32,
}

/// The bounds of J1–J6 at `q_deg`.
pub(super) fn bounds(q_deg: &[f32; ARM_JOINTS]) -> [Bounds; ARM_JOINTS] {
    let mut bounds: [Bounds; ARM_JOINTS] = core::array::from_fn(|joint| Bounds {
        low_deg: TABLE[joint].min_goal_deg() + EXTRA_MARGIN_DEG,
        high_deg: TABLE[joint].max_goal_deg() - EXTRA_MARGIN_DEG,
    });
    for (joint, singular_deg) in SINGULAR_DEG {
        let bounds = &mut bounds[joint];
        if q_deg[joint] >= singular_deg + KEEP_OUT_DEG {
            bounds.low_deg = bounds.low_deg.max(singular_deg + KEEP_OUT_DEG);
        } else if q_deg[joint] <= singular_deg - KEEP_OUT_DEG {
            bounds.high_deg = bounds.high_deg.min(singular_deg - KEEP_OUT_DEG);
        }
    }
    bounds
}

impl Bounds {
    /// Way left in the direction of `v` (°).
    fn room_deg(self, q_deg: f32, v: f32) -> f32 {
        if v > 0.0 { self.high_deg - q_deg } else { q_deg - self.low_deg }
    }

    /// Moves on by `v_dps`, not past the bounds; a joint outside only comes back. Returns the new goal and the
    /// speed of the step made.
    pub(super) fn integrate(self, q_deg: f32, v_dps: f32, dt_s: f32) -> (f32, f32) {
        let next_deg = q_deg + v_dps * dt_s;
        let low_deg = self.low_deg.min(q_deg);
        let high_deg = self.high_deg.max(q_deg);
        let landed_deg = next_deg.clamp(low_deg, high_deg);
        // The step made, not the one wanted: a speed too small to move the goal is rest.
        (landed_deg, (landed_deg - q_deg) / dt_s)
    }
}

fn accel_dps2(joint: usize) -> f32 {
    ACCEL_SHARE * TABLE[joint].accel_limit_dps2
}

/// Speed from which the joint stops within `room_deg`.
fn braking_speed_dps(room_deg: f32, accel_dps2: f32, dt_s: f32) -> f32 {
    if room_deg <= 0.0 {
        return 0.0;
    }
    (sqrt(2.0 * accel_dps2 * room_deg) - 0.5 * accel_dps2 * dt_s).max(0.0)
}

/// How the wanted speeds are scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scaling {
    /// All by one factor.
    Factor {
        /// 0…1.
        factor: f32,
        /// The joint whose bound decides.
        limiting_joint: Option<usize>,
    },
    /// No factor keeps every joint inside its acceleration.
    Brake {
        /// The joint whose bound decides.
        limiting_joint: Option<usize>,
    },
}

/// Finds the largest factor with which every joint stays below the cap and its braking speed and changes its
/// speed by at most its acceleration.
pub(super) fn scale(
    q_deg: &[f32; ARM_JOINTS],
    v_dps: &[f32; ARM_JOINTS],
    wanted_dps: &[f32; ARM_JOINTS],
    bounds: &[Bounds; ARM_JOINTS],
    cap_dps: f32,
    dt_s: f32,
) -> Scaling {
    // The factor that speeds allow, and the range that accelerations allow.
    let mut factor = 1.0_f32;
    let (mut low, mut high) = (0.0_f32, 1.0_f32);
    let mut limiting_joint = None;
    let mut possible = true;
    for joint in 0..ARM_JOINTS {
        let (v, wanted) = (v_dps[joint], wanted_dps[joint]);
        let accel_dps2 = accel_dps2(joint);
        let change_dps = accel_dps2 * dt_s;
        if wanted.abs() < SPEED_NONE_DPS {
            possible &= v.abs() <= change_dps;
            continue;
        }
        let size = wanted.abs();
        let per_speed = 1.0 / size;
        // The present speed along the wanted direction.
        let along = if wanted > 0.0 { v } else { -v };
        let room_deg = bounds[joint].room_deg(q_deg[joint], wanted);
        let braking_dps = braking_speed_dps(room_deg, accel_dps2, dt_s);
        let most_dps = cap_dps.min(braking_dps);
        if most_dps < factor * size {
            factor = most_dps * per_speed;
            limiting_joint = (braking_dps < cap_dps).then_some(joint);
        }
        high = high.min((along + change_dps) * per_speed);
        low = low.max((along - change_dps) * per_speed);
    }
    let factor = factor.min(high);
    if possible && low <= factor {
        Scaling::Factor { factor, limiting_joint }
    } else {
        Scaling::Brake { limiting_joint }
    }
}

/// Brakes all joints by one factor: the one that brakes hardest loses at most its acceleration, and each
/// stays under its braking speed.
pub(super) fn brake(
    q_deg: &[f32; ARM_JOINTS],
    v_dps: &[f32; ARM_JOINTS],
    bounds: &[Bounds; ARM_JOINTS],
    dt_s: f32,
) -> [f32; ARM_JOINTS] {
    let mut keep = 0.0_f32;
    for (joint, v) in v_dps.iter().enumerate() {
        let change_dps = accel_dps2(joint) * dt_s;
        if v.abs() > change_dps {
            keep = keep.max(1.0 - change_dps / v.abs());
        }
    }
    core::array::from_fn(|joint| {
        let kept = keep * v_dps[joint];
        let room_deg = bounds[joint].room_deg(q_deg[joint], kept);
        let most = braking_speed_dps(room_deg, accel_dps2(joint), dt_s);
        kept.clamp(-most, most)
    })
}
