//! The smallest singular value of the Jacobian: Householder tridiagonalisation of J·Jᵀ, then Newton's method
//! on the characteristic polynomial from below, which climbs to the smallest root and never passes it.

use super::{Scaled, Symmetric};
use crate::kinematics::Jacobian;
use crate::math::sqrt;

/// Newton steps at most; each at least divides the distance, near the root it squares it.
const NEWTON_STEPS_MAX: usize = 24;
/// A step below this share of the root ends the search.
const NEWTON_SHARE: f32 = 1e-5;

/// Smallest singular value of `jacobian` with linear rows in units of 100 mm.
pub fn smallest_singular_value(jacobian: &Jacobian) -> f32 {
    sqrt(smallest_eigenvalue(&Scaled::new(jacobian).squared).max(0.0))
}

/// A symmetric tridiagonal matrix: diagonal, and squares of what is beside it.
struct Tridiagonal {
    diagonal: [f32; 6],
    beside2: [f32; 5],
}

/// Smallest eigenvalue of a positive semidefinite matrix.
pub(super) fn smallest_eigenvalue(a: &Symmetric) -> f32 {
    tridiagonal(a).smallest_eigenvalue()
}

/// Householder reflections from the last row up.
fn tridiagonal(lower: &Symmetric) -> Tridiagonal {
    let mut a = *lower;
    let mut beside2 = [0.0; 5];
    for last in (2..6).rev() {
        // Reflect row `last`, columns 0..last, onto its last entry.
        let size2: f32 = a[last][..last].iter().map(|x| x * x).sum();
        beside2[last - 1] = size2;
        let rest2 = size2 - a[last][last - 1] * a[last][last - 1];
        if rest2 <= f32::EPSILON * size2 * f32::EPSILON {
            continue;
        }
        let size = sqrt(size2).copysign(a[last][last - 1]);
        let mut u = a[last];
        u[last - 1] += size;
        // H = I − u·uᵀ/h with h = |u|²/2.
        let inverse_h = 1.0 / (size2 + size * a[last][last - 1]);
        let mut p = [0.0; 6];
        let mut up = 0.0;
        for row in 0..last {
            let mut sum = 0.0;
            for column in 0..last {
                let entry = if column <= row { a[row][column] } else { a[column][row] };
                sum += entry * u[column];
            }
            p[row] = sum * inverse_h;
            up += p[row] * u[row];
        }
        let half = 0.5 * up * inverse_h;
        for row in 0..last {
            p[row] -= half * u[row];
        }
        for row in 0..last {
            for column in 0..=row {
                a[row][column] -= u[row] * p[column] + p[row] * u[column];
            }
        }
    }
    beside2[0] = a[1][0] * a[1][0];
    Tridiagonal { diagonal: core::array::from_fn(|k| a[k][k]), beside2 }
}

impl Tridiagonal {
    /// The characteristic polynomial and its derivative at `x`.
    fn polynomial(&self, x: f32) -> (f32, f32) {
        let (mut before, mut slope_before) = (1.0, 0.0);
        let mut value = self.diagonal[0] - x;
        let mut slope = -1.0;
        for k in 1..6 {
            let lead = self.diagonal[k] - x;
            let next = lead * value - self.beside2[k - 1] * before;
            let slope_next = lead * slope - value - self.beside2[k - 1] * slope_before;
            (before, slope_before) = (value, slope);
            (value, slope) = (next, slope_next);
        }
        (value, slope)
    }

    fn smallest_eigenvalue(&self) -> f32 {
        let mut x = 0.0;
        for _ in 0..NEWTON_STEPS_MAX {
            let (value, slope) = self.polynomial(x);
            // Past the root by rounding, or at it.
            if value <= 0.0 || slope >= 0.0 {
                break;
            }
            let step = -value / slope;
            x += step;
            if step <= NEWTON_SHARE * x {
                break;
            }
        }
        x
    }
}
