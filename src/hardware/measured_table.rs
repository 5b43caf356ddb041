//! What the lab measured of each joint, as numbers for the plant `measured`.

use firmware_core::joints::JOINTS;

use super::servo::STEP_DEG;
use crate::servo_model::{MEASURED, SecondOrder};

/// Gain P at which the frequencies and damping ratios were measured.
const MEASURED_P: f64 = 32.0;

/// The numbers of one joint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JointModel {
    /// Natural frequency at P = 32 (rad/s).
    pub(crate) frequency_rad_s: f64,
    /// Damping ratio at P = 32.
    pub(crate) damping_ratio: f64,
    /// Stiffness of the servo's loop (% per degree, per unit of P).
    pub(crate) percent_per_deg_and_p: f64,
    /// Coulomb friction in motion (%).
    pub(crate) friction_percent: f64,
    /// What holds the joint at rest beyond that (%), without a minimum starting force.
    pub(crate) sticking_percent: f64,
    /// That fades away above this speed (°/s).
    pub(crate) sticking_below_dps: f64,
    /// Viscous friction, which costs duty (% per °/s).
    pub(crate) viscous_percent_s_deg: f64,
    /// Acceleration limit (°/s²): register 85 × 100 steps/s².
    pub(crate) accel_limit_dps2: f64,
    /// Speed limit (°/s): register 84 × 50 steps/s.
    pub(crate) speed_limit_dps: f64,
    /// Play of the gear outside the encoder (°).
    pub(crate) play_deg: f64,
}

impl JointModel {
    /// Inertia (% per °/s²).
    pub(crate) const fn inertia(&self) -> f64 {
        self.percent_per_deg_and_p * MEASURED_P / (self.frequency_rad_s * self.frequency_rad_s)
    }

    /// Damping in all (% per °/s).
    pub(crate) const fn damping(&self) -> f64 {
        2.0 * self.damping_ratio * self.frequency_rad_s * self.inertia()
    }
}

const fn row(
    servo: SecondOrder,
    percent_per_deg: f64,
    friction_percent: f64,
    sticking_percent: f64,
    viscous_percent_s_deg: f64,
    limits: (f64, f64),
    play_deg: f64,
) -> JointModel {
    JointModel {
        frequency_rad_s: servo.frequency_rad_s,
        damping_ratio: servo.damping_ratio,
        percent_per_deg_and_p: percent_per_deg / MEASURED_P,
        friction_percent,
        sticking_percent,
        sticking_below_dps: 3.0,
        viscous_percent_s_deg,
        accel_limit_dps2: limits.0 * 100.0 * STEP_DEG,
        speed_limit_dps: limits.1 * 50.0 * STEP_DEG,
        play_deg,
    }
}

/// J1–J7. Frequency, damping and limits are measured, and J1's friction (its load is 2.8 % and 0.53 % per °/s).
/// Stiffness (% per degree at P = 32): J2 and J3 from their steady errors of 1.34° and 0.84° under gravity. The
/// other numbers are fitted to the measured lags, steady errors, sticking and circles. J7 is not measured: it is as
/// stiff as an object is to the plant `lag`.
pub(crate) const MODELS: [JointModel; JOINTS] = [
    row(MEASURED[0], 8.0, 2.8, 6.5, 0.53, (50.0, 68.0), 0.0),
    row(MEASURED[1], 16.8, 5.0, 13.0, 0.53, (50.0, 68.0), 1.5),
    row(MEASURED[2], 11.9, 5.0, 9.0, 0.53, (50.0, 68.0), 1.9),
    row(MEASURED[3], 9.0, 3.5, 5.5, 0.4, (250.0, 120.0), 1.0),
    row(MEASURED[4], 10.0, 3.3, 6.0, 0.4, (250.0, 150.0), 0.0),
    row(MEASURED[5], 18.0, 0.5, 0.5, 0.4, (250.0, 150.0), 0.0),
    row(
        SecondOrder { frequency_rad_s: 40.0, damping_ratio: 0.9 },
        10.0 * MEASURED_P / 150.0,
        1.0,
        0.5,
        0.2,
        (250.0, 150.0),
        0.0,
    ),
];

/// What J5's encoder reads beyond the true angle q: 1.493 sin q + 0.598 sin 2q + 0.018 (cos q − 1) −
/// 0.377 (cos 2q − 1) degrees.
fn j5_encoder_error_deg(deg: f64) -> f64 {
    let (sin, cos) = libm::sincos(deg.to_radians());
    let (sin_2, cos_2) = (2.0 * sin * cos, cos * cos - sin * sin);
    1.493 * sin + 0.598 * sin_2 + 0.018 * (cos - 1.0) - 0.377 * (cos_2 - 1.0)
}

/// What J5's encoder reads when the link is at `deg`.
pub(crate) fn j5_encoder_deg(deg: f64) -> f64 {
    deg + j5_encoder_error_deg(deg)
}

/// Where J5's link is when its encoder reads `encoder_deg`.
pub(crate) fn j5_link_deg(encoder_deg: f64) -> f64 {
    // The error changes by less than a tenth of the angle: each round gains more than a digit.
    (0..5).fold(encoder_deg, |deg, _| encoder_deg - j5_encoder_error_deg(deg))
}

/// Vibration of the hand (g, RMS of each axis) at gain P of J1–J3 that move at `dps`.
///
/// Measured above 2.5 Hz while circling: 155 mg at P = 32, 400 at 64, 610 at 96, all axes together.
pub(crate) fn vibration_g(p: f64, dps: [f64; 3]) -> f64 {
    /// Speed of these joints on the circle (°/s, root of the sum of squares).
    const CIRCLING_DPS: f64 = 20.0;
    let rms_g = if p <= 32.0 {
        0.155 * p / 32.0
    } else if p <= 64.0 {
        0.155 + (0.400 - 0.155) * (p - 32.0) / 32.0
    } else {
        0.400 + (0.610 - 0.400) * (p - 64.0) / 32.0
    };
    let speed_dps = dps.iter().map(|dps| dps * dps).sum::<f64>().sqrt();
    rms_g * (speed_dps / CIRCLING_DPS).min(1.0) / 3.0_f64.sqrt()
}
