//! Raw servo values ↔ units of the interface.
//!
//! As the API of controller firmware 5.1 has them. Rounding is to the nearest, halves away from zero.

use crate::joints::{J6, TABLE};

/// Servo steps of one turn.
pub const STEPS_PER_TURN: i32 = 4096;
/// Servo step of the joint angle 0°.
pub const ZERO_STEPS: i32 = 2048;
/// Degrees of one servo step.
pub const DEG_PER_STEP: f32 = 360.0 / STEPS_PER_TURN as f32;

/// Steps of a sign-magnitude register value (sign in bit 15).
pub fn from_sign_magnitude(raw: u16) -> i32 {
    let magnitude = i32::from(raw & 0x7FFF);
    if raw & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// Sign-magnitude register value of steps, limited to ±32,767.
pub fn to_sign_magnitude(steps: i32) -> u16 {
    let magnitude = steps.unsigned_abs().min(0x7FFF) as u16;
    if steps < 0 { magnitude | 0x8000 } else { magnitude }
}

/// Angle (°) of joint `joint` (index, 0 = J1) at `steps` (multi-turn steps allowed).
pub fn steps_to_deg(joint: usize, steps: i32) -> f32 {
    (TABLE[joint].sign * (steps - ZERO_STEPS)) as f32 * DEG_PER_STEP
}

/// Nearest servo step of an angle (°) of joint `joint` (index), clamped to the joint's range of positions:
/// 0–4095, on J6 ±32,767.
pub fn deg_to_steps(joint: usize, deg: f32) -> i32 {
    let steps = ZERO_STEPS + TABLE[joint].sign * libm::roundf(deg * (STEPS_PER_TURN as f32 / 360.0)) as i32;
    if joint == J6 { steps.clamp(-32_767, 32_767) } else { steps.clamp(0, STEPS_PER_TURN - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_magnitude_round_trips() {
        for steps in [-32_767, -4096, -1, 0, 1, 4095, 32_767] {
            assert_eq!(from_sign_magnitude(to_sign_magnitude(steps)), steps);
        }
    }
}
