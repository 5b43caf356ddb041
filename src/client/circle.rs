//! The circle that the lab measures its arm with, and how far a flange was off its plan.

use core::f64::consts::TAU;

use firmware_core::joints::{ARM_JOINTS, JOINTS};
use firmware_core::kinematics::chain::LINKS;

use super::plan::{Plan, Sample};
use crate::kinematics::{self, Angles, Tcp};
use crate::recording::Row;

/// Samples per second of the plan.
const RATE_HZ: u16 = 250;
/// Radius (mm), distance ahead of the base (mm) and height of the centre (mm).
const RADIUS_MM: f64 = 50.0;
const AHEAD_MM: f64 = 170.0;
const HEIGHT_MM: f64 = 310.0;
/// From the zero pose to the circle, and back (s); a lap (s); laps; speeding up and slowing down (s).
const WAY_S: f64 = 3.0;
const LAP_S: f64 = 4.0;
const LAPS: f64 = 2.0;
const EASE_S: f64 = 1.0;
/// Offset of the arm's plane from the base axis (mm).
const SIDE_MM: f64 = -translation_mm(3)[2];
/// Lengths of the upper arm and the forearm (mm).
const UPPER_MM: f64 = -translation_mm(2)[0];
const FORE_MM: f64 = -translation_mm(3)[0];
/// Height of J2 (mm).
const SHOULDER_MM: f64 = translation_mm(0)[2];
/// The flange's height above J4's axis and its distance ahead of it (mm).
const FLANGE_UP_MM: f64 = -translation_mm(4)[1];
const FLANGE_AHEAD_MM: f64 = translation_mm(5)[1];

/// A link's translation in the arm's chain.
const fn translation_mm(link: usize) -> [f64; 3] {
    let [x, y, z] = LINKS[link].translation_mm;
    [x as f64, y as f64, z as f64]
}

/// The plan: from the zero pose to the top of a vertical circle of radius 50 mm whose centre is 170 mm ahead at a
/// height of 310 mm (3 s), two laps of 4 s, eased over 1 s, and back (3 s), with the flange turned as in the zero pose.
pub fn plan() -> Plan {
    let laps_s = LAPS * LAP_S + EASE_S;
    let samples = (0..=((2.0 * WAY_S + laps_s) * f64::from(RATE_HZ)) as usize).map(|k| {
        let t_s = k as f64 / f64::from(RATE_HZ);
        let end_s = 2.0 * WAY_S + laps_s;
        let share = min_jerk(t_s / WAY_S) * min_jerk((end_s - t_s) / WAY_S);
        let angles_deg = pose(phase((t_s - WAY_S).clamp(0.0, laps_s), laps_s));
        let mut pose_deg = [0.0; JOINTS];
        for joint in 0..ARM_JOINTS {
            pose_deg[joint] = share * angles_deg[joint];
        }
        Sample { cmd_deg: pose_deg, reference_deg: pose_deg }
    });
    Plan { rate_hz: RATE_HZ, joints: ARM_JOINTS, cubic: false, samples: samples.collect() }
}

/// Angle on the circle (rad) after `t_s` of `laps_s`.
fn phase(t_s: f64, laps_s: f64) -> f64 {
    let omega = TAU / LAP_S;
    if t_s < EASE_S {
        0.5 * omega * t_s * t_s / EASE_S
    } else if t_s < laps_s - EASE_S {
        omega * (t_s - 0.5 * EASE_S)
    } else {
        let left_s = laps_s - t_s;
        LAPS * TAU - 0.5 * omega * left_s * left_s / EASE_S
    }
}

/// Joint angles (°) on the circle. J4 keeps J5's axis upright, so J5 turns the flange back by what J1 turns the arm.
fn pose(phase: f64) -> Angles {
    let (sin, cos) = libm::sincos(phase);
    let (x_mm, y_mm) = (AHEAD_MM - FLANGE_AHEAD_MM, SIDE_MM + RADIUS_MM * sin);
    let ahead_mm = (x_mm * x_mm + y_mm * y_mm - SIDE_MM * SIDE_MM).sqrt();
    let up_mm = HEIGHT_MM + RADIUS_MM * cos - FLANGE_UP_MM - SHOULDER_MM;
    let turn = libm::atan2(y_mm, x_mm) - libm::atan2(SIDE_MM, ahead_mm);
    let reach2 = ahead_mm * ahead_mm + up_mm * up_mm;
    let elbow = libm::acos((reach2 - UPPER_MM * UPPER_MM - FORE_MM * FORE_MM) / (2.0 * UPPER_MM * FORE_MM));
    let shoulder = libm::atan2(ahead_mm, up_mm)
        - libm::atan2(FORE_MM * libm::sin(elbow), UPPER_MM + FORE_MM * libm::cos(elbow));
    [turn, -shoulder, -elbow, shoulder + elbow, -turn, 0.0].map(f64::to_degrees)
}

fn min_jerk(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)
}

/// How far the measured flange was from the planned one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlangeError {
    /// Root of the mean square (mm).
    pub rms_mm: f64,
    /// Largest (mm).
    pub max_mm: f64,
    /// When the largest was (s).
    pub max_at_s: f64,
}

/// Distance of the flange at the measured angles from the flange at the wanted ones, over the rows up to `until_s`.
/// `None` without rows.
pub fn flange_error(rows: &[Row], until_s: f64) -> Option<FlangeError> {
    let flange = |deg: &[f64; JOINTS]| {
        let angles: Angles = core::array::from_fn(|joint| deg[joint]);
        kinematics::forward(&angles, Tcp::Flange).position_mm
    };
    let (mut squares, mut count) = (0.0, 0_u32);
    let mut worst = (0.0, 0.0);
    for row in rows.iter().filter(|row| row.t_s <= until_s) {
        let (planned, found) = (flange(&row.reference_deg), flange(&row.position_deg));
        let square: f64 = planned.iter().zip(found).map(|(a, b)| (a - b) * (a - b)).sum();
        squares += square;
        count += 1;
        if square > worst.0 {
            worst = (square, row.t_s);
        }
    }
    (count > 0).then(|| FlangeError {
        rms_mm: (squares / f64::from(count)).sqrt(),
        max_mm: worst.0.sqrt(),
        max_at_s: worst.1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_3751_samples_begins_and_ends_at_zero_and_is_the_circle_between() {
        let plan = plan();
        assert_eq!((plan.samples.len(), plan.duration_s()), (3751, 15.0));
        for end in [&plan.samples[0], &plan.samples[3750]] {
            assert_eq!(end.reference_deg, [0.0; JOINTS]);
        }
        for sample in &plan.samples[750..3000] {
            let angles: Angles = core::array::from_fn(|joint| sample.reference_deg[joint]);
            let [x, y, z] = kinematics::forward(&angles, Tcp::Flange).position_mm;
            let radius_mm = libm::hypot(y - SIDE_MM, z - HEIGHT_MM);
            assert!((radius_mm - RADIUS_MM).abs() < 0.02 && (x - AHEAD_MM).abs() < 0.02, "{x} {y} {z}");
        }
        assert!(plan.top_speeds_dps().iter().all(|dps| *dps < 90.0));
    }

    #[test]
    fn a_flange_error_is_the_distance_of_the_flanges() {
        let mut row = Row::default();
        row.position_deg[0] = 1.0;
        let error = flange_error(&[row, Row::default()], 1.0).expect("rows");
        // 77.7 mm from J1's axis: 1° is 1.356 mm.
        assert!((error.max_mm - 1.356).abs() < 0.002, "{error:?}");
        assert!((error.rms_mm - error.max_mm / 2.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!(flange_error(&[], 1.0), None);
    }
}
