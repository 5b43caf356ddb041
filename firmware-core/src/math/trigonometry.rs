//! Sine and cosine: range reduction to ±45° and polynomials.

use core::f32::consts::FRAC_2_PI;

/// π/2 in four parts. The first three have nine bits, so that their products with a whole number of up to
/// fifteen bits are exact.
#[expect(clippy::excessive_precision, clippy::unreadable_literal, reason = "the parts are exact")]
const FRAC_PI_2_PARTS: [f32; 4] =
    [1.5703125, 0.00048351287841796875, 3.1385570764541626e-07, 6.07709993438732e-11];
const DEG_TO_RAD: f32 = core::f32::consts::PI / 180.0;
/// Adding and subtracting this rounds an f32 of magnitude below 2²² to a whole number (ties to even).
const ROUNDER: f32 = 12_582_912.0;

/// Minimax polynomials on ±π/4: sin(x) = x + x³·S(x²), cos(x) = 1 − x²/2 + x⁴·C(x²).
const S: [f32; 3] = [-1.666_665_5e-1, 8.332_161e-3, -1.951_529_6e-4];
const C: [f32; 3] = [4.166_664_6e-2, -1.388_731_6e-3, 2.443_315_7e-5];

/// Sine and cosine of `x` (rad). Within 2 ulp of the true values, or 1e-7 near a zero, for |x| up to 20,000.
pub fn sin_cos(x: f32) -> (f32, f32) {
    let quarter_turns = round(x * FRAC_2_PI);
    let [a, b, c, d] = FRAC_PI_2_PARTS;
    let reduced = x - quarter_turns * a - quarter_turns * b - quarter_turns * c - quarter_turns * d;
    in_quadrant(reduced, quarter_turns)
}

/// Sine of `x` (rad), as [`sin_cos`].
pub fn sin(x: f32) -> f32 {
    sin_cos(x).0
}

/// Sine and cosine of `deg` (°). The reduction is exact, so there is no error near multiples of 90°.
pub fn sin_cos_deg(deg: f32) -> (f32, f32) {
    let quarter_turns = round(deg * (1.0 / 90.0));
    in_quadrant((deg - 90.0 * quarter_turns) * DEG_TO_RAD, quarter_turns)
}

fn round(x: f32) -> f32 {
    (x + ROUNDER) - ROUNDER
}

/// Sine and cosine of `x` (within ±π/4 or a little more) after `quarter_turns` turns by π/2.
fn in_quadrant(x: f32, quarter_turns: f32) -> (f32, f32) {
    let x2 = x * x;
    let sin = x + x * x2 * (S[0] + x2 * (S[1] + x2 * S[2]));
    let cos = 1.0 - 0.5 * x2 + x2 * x2 * (C[0] + x2 * (C[1] + x2 * C[2]));
    // Casting keeps the low bits of negative numbers in two's complement.
    match quarter_turns as i32 & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _three => (-cos, sin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units of the last place of `exact`, with a floor for values near 0.
    fn ulps(found: f32, exact: f64) -> f64 {
        let ulp = f64::from(f32::EPSILON) * exact.abs().max(0.06);
        (f64::from(found) - exact).abs() / ulp
    }

    #[test]
    fn degrees_are_within_2_ulp_over_three_turns() {
        let worst = (-108_000..=108_000)
            .map(|k| k as f32 * 0.01)
            .map(|deg| {
                let (sin, cos) = sin_cos_deg(deg);
                let rad = f64::from(deg).to_radians();
                ulps(sin, libm::sin(rad)).max(ulps(cos, libm::cos(rad)))
            })
            .fold(0.0, f64::max);
        assert!(worst > 0.1 && worst <= 2.0, "{worst}");
    }

    #[test]
    fn radians_are_within_2_ulp_over_the_phases_of_a_chirp() {
        let worst = (0..2_000_000)
            .map(|k| k as f32 * 0.01 - 100.0)
            .map(|x| {
                let (sin, cos) = sin_cos(x);
                ulps(sin, libm::sin(f64::from(x))).max(ulps(cos, libm::cos(f64::from(x))))
            })
            .fold(0.0, f64::max);
        assert!(worst > 0.1 && worst <= 2.0, "{worst}");
    }

    #[test]
    fn multiples_of_90_degrees_are_exact() {
        for (deg, expected) in
            [(0.0, (0.0, 1.0)), (90.0, (1.0, 0.0)), (-90.0, (-1.0, 0.0)), (180.0, (0.0, -1.0))]
        {
            assert_eq!(sin_cos_deg(deg), expected, "{deg}");
        }
        assert_eq!(sin_cos_deg(-225.0).0, -sin_cos_deg(225.0).0);
    }
}
