//! Sine and cosine in f32: an argument reduced to ±45°, then a polynomial; at most 2 ulp off.
//!
//! The ESP32 adds and multiplies f32 in hardware, divides in software and has no f64: there is no division
//! here, and no f64. The polynomials are those of the Cephes library (public domain).

use core::f32::consts::FRAC_2_PI;

/// Degrees to radians; this f32 is 0.13 half-ulp off π/180, so that no correction is needed.
const RADIANS_PER_DEGREE: f32 = 1.745_329_2e-2;
/// Adding this and taking it off again rounds to the nearest integer; the low bits of the sum are that
/// integer.
const ROUNDER: f32 = 12_582_912.0;
/// π/2 in parts of ten bits, so that a part times a quadrant number below 2¹⁴ is exact; the last part has 24
/// bits.
const HALF_PI: [f32; 5] = [1.570_312_5, 4.825_592e-4, 1.266_598_7e-6, 9.913_492e-10, 7.443_547e-13];

/// The arguments (rad, either sign) up to which [`sin`] and [`cos`] reduce in f32; above they fall back on
/// libm, equally exact and on the ESP32 much slower. A test signal's phase stays below 15,000 rad.
pub const RADIANS_MAX: f32 = 20_000.0;

/// Sine of `x` (rad), at most 2 ulp off.
pub fn sin(x: f32) -> f32 {
    sin_cos(x).0
}

/// Cosine of `x` (rad), at most 2 ulp off.
pub fn cos(x: f32) -> f32 {
    sin_cos(x).1
}

/// Sine and cosine of `x` (rad), at most 2 ulp off.
pub fn sin_cos(x: f32) -> (f32, f32) {
    if !(-RADIANS_MAX..=RADIANS_MAX).contains(&x) {
        return libm::sincosf(x);
    }
    let rounded = x * FRAC_2_PI + ROUNDER;
    let quadrant = rounded - ROUNDER;
    // The first two parts leave no rounding error; those of the next two are kept and added last.
    let coarse = (x - quadrant * HALF_PI[0]) - quadrant * HALF_PI[1];
    let (fine, lost) = difference(coarse, quadrant * HALF_PI[2]);
    let (finer, lost_next) = difference(fine, quadrant * HALF_PI[3]);
    let reduced = finer + ((lost + lost_next) - quadrant * HALF_PI[4]);
    in_quadrant(rounded.to_bits(), reduced)
}

/// `a − b`, and what rounding took from it; exact where |a| ≥ |b| or the difference needs no rounding.
fn difference(a: f32, b: f32) -> (f32, f32) {
    let rounded = a - b;
    (rounded, (a - rounded) - b)
}

/// Sine and cosine of `x_deg` (°, up to ± 10⁶), at most 2 ulp off: exact at multiples of 90°.
#[inline]
pub fn sin_cos_deg(x_deg: f32) -> (f32, f32) {
    let rounded = x_deg * (1.0 / 90.0) + ROUNDER;
    let quadrant = rounded - ROUNDER;
    in_quadrant(rounded.to_bits(), (x_deg - quadrant * 90.0) * RADIANS_PER_DEGREE)
}

/// Sine and cosine of `x` (rad, ±π/4) turned by as many quarter turns as the two low bits of `quadrant` say.
///
/// The choices are made on bits, without a branch, so that a compiler may do several angles at once.
#[inline]
fn in_quadrant(quadrant: u32, x: f32) -> (f32, f32) {
    let square = x * x;
    let sine = x + x * square * (-1.666_665_5e-1 + square * (8.332_161e-3 + square * -1.951_529_6e-4));
    let cosine = 1.0 - 0.5 * square
        + square * square * (4.166_664_6e-2 + square * (-1.388_731_6e-3 + square * 2.443_315_7e-5));
    let (sine, cosine) = (sine.to_bits(), cosine.to_bits());
    let swap = (quadrant & 1).wrapping_neg();
    let exchanged = (sine ^ cosine) & swap;
    let sign_of_sine = (quadrant & 2) << 30;
    let sign_of_cosine = (quadrant.wrapping_add(1) & 2) << 30;
    (f32::from_bits((sine ^ exchanged) ^ sign_of_sine), f32::from_bits((cosine ^ exchanged) ^ sign_of_cosine))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance of `found` from `exact` in units of the last place of the f32 nearest to `exact`.
    fn ulps(found: f32, exact: f64) -> f64 {
        let nearest = (exact as f32).abs().max(f32::MIN_POSITIVE);
        let spacing = f64::from(f32::from_bits(nearest.to_bits() + 1)) - f64::from(nearest);
        libm::fabs(f64::from(found) - exact) / spacing
    }

    /// The largest error (ulp) of `found` against `exact`, and where.
    fn worst(
        arguments: impl Iterator<Item = f32>,
        found: impl Fn(f32) -> (f32, f32),
        exact: impl Fn(f32) -> (f64, f64),
    ) -> (f64, f32) {
        arguments.fold((0.0, 0.0), |worst, x| {
            let ((sine, cosine), (exact_sine, exact_cosine)) = (found(x), exact(x));
            let error = ulps(sine, exact_sine).max(ulps(cosine, exact_cosine));
            if error > worst.0 { (error, x) } else { worst }
        })
    }

    /// Both signs of every `stride`th f32 from `low` to `high`.
    fn floats(low: f32, high: f32, stride: usize) -> impl Iterator<Item = f32> {
        (low.to_bits()..=high.to_bits()).step_by(stride).map(f32::from_bits).flat_map(|x| [x, -x])
    }

    fn exact_deg(x_deg: f32) -> (f64, f64) {
        let quadrant = libm::round(f64::from(x_deg) / 90.0);
        let (sine, cosine) = libm::sincos((f64::from(x_deg) - 90.0 * quadrant).to_radians());
        match (quadrant as i64).rem_euclid(4) {
            0 => (sine, cosine),
            1 => (cosine, -sine),
            2 => (-sine, -cosine),
            _three => (-cosine, sine),
        }
    }

    #[test]
    fn radians_are_within_2_ulp_over_the_phases_of_the_test_signals() {
        let all = floats(1e-9, RADIANS_MAX, 101);
        let (error, x) = worst(all, sin_cos, |x| libm::sincos(f64::from(x)));
        assert!(error <= 2.0, "{error} ulp at {x}");
        assert!(error > 0.5, "{error} ulp: the comparison compares nothing");
    }

    #[test]
    fn radians_next_to_multiples_of_a_quarter_turn_are_within_2_ulp() {
        let near = (0..12_700_u32).flat_map(|quadrant| {
            let nearest = (f64::from(quadrant) * core::f64::consts::FRAC_PI_2) as f32;
            (-3..=3).map(move |offset| f32::from_bits(nearest.to_bits().saturating_add_signed(offset)))
        });
        let near = near.filter(|x| *x <= RADIANS_MAX);
        let (error, x) = worst(near, sin_cos, |x| libm::sincos(f64::from(x)));
        assert!(error <= 2.0, "{error} ulp at {x}");
    }

    #[test]
    fn degrees_are_within_2_ulp_over_the_angles_of_the_arm() {
        let (error, x) = worst(floats(1e-6, 720.0, 101), sin_cos_deg, exact_deg);
        assert!(error <= 2.0, "{error} ulp at {x}°");
        assert!(error > 0.5, "{error} ulp: the comparison compares nothing");
    }

    #[test]
    fn multiples_of_a_right_angle_are_exact() {
        for turns in -3_i16..=3 {
            let at = |deg: i16| sin_cos_deg(f32::from(360 * turns + deg));
            assert_eq!([at(0), at(90), at(180), at(270)], [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)]);
        }
    }

    #[test]
    fn arguments_past_the_range_and_not_finite_are_answered_as_by_libm() {
        let far = 1.0e7_f32;
        assert!(ulps(sin(far), libm::sin(1.0e7)) <= 1.0);
        assert!(sin(f32::NAN).is_nan() && cos(f32::INFINITY).is_nan());
        let (sine, cosine) = sin_cos_deg(f32::NAN);
        assert!(sine.is_nan() && cosine.is_nan());
    }
}
