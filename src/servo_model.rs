//! How the lab's servos answer, measured on its arm: what the plant `measured` is built from, and what a plan can be
//! corrected by.

use firmware_core::joints::ARM_JOINTS;

/// A joint with its servo as a damped oscillator of the second order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SecondOrder {
    /// Natural frequency (rad/s).
    pub frequency_rad_s: f64,
    /// Damping ratio.
    pub damping_ratio: f64,
}

const fn measured(frequency_rad_s: f64, damping_ratio: f64) -> SecondOrder {
    SecondOrder { frequency_rad_s, damping_ratio }
}

/// J1–J6 at gains P 32, D 8, I 0.
pub const MEASURED: [SecondOrder; ARM_JOINTS] = [
    measured(14.8, 0.82),
    measured(14.7, 0.75),
    measured(14.2, 0.78),
    measured(34.4, 0.65),
    measured(52.4, 0.77),
    measured(54.9, 0.83),
];
/// Lag of J1–J6 behind slow motion, sines of 4 s (s).
pub const LAGS_S: [f64; ARM_JOINTS] = [0.120, 0.113, 0.120, 0.054, 0.038, 0.028];
