//! One factor for all joints, so that the TCP keeps its direction at every limit; braking when none exists.
//!
//! On the ESP32 a division and a square root are library calls. So each condition is first tested by
//! multiplication, and only one that is violated divides. The bodies of these tests are more than one
//! operation, so that no compiler computes the division before it knows.

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

/// Acceleration that is used, J1–J6 (°/s²).
const ACCEL_DPS2: [f32; ARM_JOINTS] = {
    let mut accel_dps2 = [0.0; ARM_JOINTS];
    let mut joint = 0;
    while joint < ARM_JOINTS {
        accel_dps2[joint] = ACCEL_SHARE * TABLE[joint].accel_limit_dps2;
        joint += 1;
    }
    accel_dps2
};

/// Bounds of J1–J6 without the keep-outs.
const BOUNDS: [Bounds; ARM_JOINTS] = {
    let mut bounds = [Bounds { low_deg: 0.0, high_deg: 0.0 }; ARM_JOINTS];
    let mut joint = 0;
    while joint < ARM_JOINTS {
        bounds[joint] = Bounds {
            low_deg: TABLE[joint].min_goal_deg() + EXTRA_MARGIN_DEG,
            high_deg: TABLE[joint].max_goal_deg() - EXTRA_MARGIN_DEG,
        };
        joint += 1;
    }
    bounds
};

/// Where a joint may go (°).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    low_deg: f32,
    high_deg: f32,
}

/// The bounds of J1–J6 at `q_deg`. A joint on one side of a singular angle, at 10° or more from it, stays
/// there; a joint nearer may leave either way.
pub(super) fn bounds(q_deg: &[f32; ARM_JOINTS]) -> [Bounds; ARM_JOINTS] {
    let mut bounds = BOUNDS;
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

    /// The goal `next_deg` of a joint at `q_deg`, not past the bounds; a joint outside only comes back.
    pub(super) fn land_deg(self, q_deg: f32, next_deg: f32) -> f32 {
        next_deg.clamp(self.low_deg.min(q_deg), self.high_deg.max(q_deg))
    }
}

/// Speed from which a joint stops within `room_deg`.
fn braking_speed_dps(room_deg: f32, accel_dps2: f32, dt_s: f32) -> f32 {
    if room_deg <= 0.0 {
        return 0.0;
    }
    (sqrt(2.0 * accel_dps2 * room_deg) - 0.5 * accel_dps2 * dt_s).max(0.0)
}

/// How the wanted speeds are scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scaling {
    /// All by one factor, 0…1.
    Factor(f32),
    /// No factor keeps every joint inside its acceleration.
    Brake,
}

/// Finds the largest factor with which every joint stays below the cap and its braking speed and changes its
/// speed by at most its acceleration; and the joint whose bound decides it.
#[inline]
pub(super) fn scaling(
    q_deg: &[f32; ARM_JOINTS],
    v_dps: &[f32; ARM_JOINTS],
    wanted_dps: &[f32; ARM_JOINTS],
    bounds: &[Bounds; ARM_JOINTS],
    cap_dps: f32,
    dt_s: f32,
) -> (Scaling, Option<usize>) {
    // The factor that speeds allow, and the range that accelerations allow.
    let fastest_dps = wanted_dps.iter().fold(cap_dps, |fastest_dps, wanted| fastest_dps.max(wanted.abs()));
    let mut factor = if fastest_dps > cap_dps { cap_dps / fastest_dps } else { 1.0 };
    let (mut low, mut high) = (0.0_f32, 1.0_f32);
    let mut limiting_joint = None;
    let mut possible = true;
    for joint in 0..ARM_JOINTS {
        let wanted = wanted_dps[joint];
        let change_dps = ACCEL_DPS2[joint] * dt_s;
        let size_dps = wanted.abs();
        if size_dps < SPEED_NONE_DPS {
            possible &= v_dps[joint].abs() <= change_dps;
            continue;
        }
        let room_deg = bounds[joint].room_deg(q_deg[joint], wanted);
        // factor·size ≤ √(2a·room) − a·dt/2, squared.
        let sum_dps = factor * size_dps + 0.5 * change_dps;
        if factor > 0.0 && sum_dps * sum_dps > 2.0 * ACCEL_DPS2[joint] * room_deg {
            factor = braking_speed_dps(room_deg, ACCEL_DPS2[joint], dt_s) / size_dps;
            limiting_joint = Some(joint);
        }
        // The present speed along the wanted direction.
        let along_dps = if wanted > 0.0 { v_dps[joint] } else { -v_dps[joint] };
        let (least_dps, most_dps) = (along_dps - change_dps, along_dps + change_dps);
        if high * size_dps > most_dps || low * size_dps < least_dps {
            let per_speed = 1.0 / size_dps;
            high = high.min(most_dps * per_speed);
            low = low.max(least_dps * per_speed);
        }
    }
    let factor = factor.min(high);
    let scaling = if possible && low <= factor { Scaling::Factor(factor) } else { Scaling::Brake };
    (scaling, limiting_joint)
}

/// Speeds that brake all joints by one factor: the one that brakes hardest loses at most its acceleration,
/// and each stays under its braking speed.
///
/// The bound wins: a joint that another mode hands over too fast to stop before a keep-out loses more than its
/// acceleration (J3 or J5, up to 600 °/s² seen instead of 400), as on the robot, rather than enter it.
pub(super) fn brake(
    q_deg: &[f32; ARM_JOINTS],
    v_dps: &[f32; ARM_JOINTS],
    bounds: &[Bounds; ARM_JOINTS],
    dt_s: f32,
) -> [f32; ARM_JOINTS] {
    let mut keep = 0.0_f32;
    for (v, accel_dps2) in v_dps.iter().zip(&ACCEL_DPS2) {
        let left_dps = v.abs() - accel_dps2 * dt_s;
        if left_dps > keep * v.abs() {
            keep = left_dps / v.abs();
        }
    }
    core::array::from_fn(|joint| {
        let kept_dps = keep * v_dps[joint];
        let room_deg = bounds[joint].room_deg(q_deg[joint], kept_dps);
        let most_dps = braking_speed_dps(room_deg, ACCEL_DPS2[joint], dt_s);
        kept_dps.clamp(-most_dps, most_dps)
    })
}
