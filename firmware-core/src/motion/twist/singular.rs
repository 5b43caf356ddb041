//! The smallest singular value σ of the Jacobian.
//!
//! σ = |det J| / (largest singular value of the adjugate of J). The adjugate follows from those of the two
//! blocks without a division, so that a singular pose is no special case. The largest singular value is a
//! well-conditioned number, which the smallest eigenvalue of `JJᵀ` in single precision is not: near a
//! singular pose its rounding is that of σ², here that of σ.
//!
//! Householder reflections make the adjugate's square tridiagonal; Newton's method on the characteristic
//! polynomial descends to its largest root from above and never passes it.
//!
//! Four square roots and four divisions for the reflections, one division per Newton step (three to five as a
//! rule), two of each besides.

use super::least_squares::LeastSquares;
use crate::kinematics::PlaneJacobian;
use crate::math::sqrt;
use crate::math::vector::{dot, mul_transposed, mul_vector, scale};

/// The unit of the linear rows (mm): a length of the arm, so that the rows compare.
pub const LINEAR_UNIT_MM: f32 = 100.0;
/// Newton steps at most: where roots coincide a step halves the distance, elsewhere it squares it.
const NEWTON_STEPS_MAX: usize = 24;
/// A step below this share of the root ends the search.
const NEWTON_SHARE: f32 = 1e-5;

/// A symmetric 6 × 6 matrix; only the lower triangle is used.
type Symmetric = [[f32; 6]; 6];

/// Smallest singular value of a Jacobian with linear rows in mm/rad, in units of 100 mm.
pub fn smallest_singular_value(jacobian: &PlaneJacobian) -> f32 {
    of_scaled(&LeastSquares::new(jacobian.with_linear_rows_times(1.0 / LINEAR_UNIT_MM)))
}

/// Smallest singular value of a Jacobian whose adjugates are known.
pub(super) fn of_scaled(system: &LeastSquares) -> f32 {
    let (inner, inner_determinant) = &system.inner;
    let (outer, outer_determinant) = &system.outer;
    // The adjugate of (I C; 0 O) is (|O|·adj I, −adj I·C·adj O; 0, |I|·adj O).
    let corner = inner.map(|row| scale(*outer_determinant, &row));
    let lower = outer.map(|row| scale(*inner_determinant, &row));
    let coupling = &system.jacobian.coupling;
    let right = inner.map(|row| mul_transposed(outer, &mul_transposed(coupling, &row)));
    let determinant = inner_determinant * outer_determinant;

    let mut square = [[0.0; 6]; 6];
    for row in 0..3 {
        for column in 0..=row {
            square[row][column] = dot(&corner[row], &corner[column]) + dot(&right[row], &right[column]);
            square[row + 3][column + 3] = dot(&lower[row], &lower[column]);
        }
        // The sign of this block changes no eigenvalue.
        square[row + 3][..3].copy_from_slice(&mul_vector(&right, &lower[row]));
    }
    let trace: f32 = (0..6).map(|k| square[k][k]).sum();
    if trace < f32::MIN_POSITIVE {
        return 0.0;
    }
    let unit = 1.0 / trace;
    for row in &mut square {
        for entry in row {
            *entry *= unit;
        }
    }
    determinant.abs() / sqrt(trace * tridiagonal(square).largest_eigenvalue())
}

/// A symmetric tridiagonal matrix: diagonal, and squares of what is beside it.
struct Tridiagonal {
    diagonal: [f32; 6],
    beside2: [f32; 5],
}

/// Householder reflections from the last row up.
fn tridiagonal(mut a: Symmetric) -> Tridiagonal {
    let mut beside2 = [0.0; 5];
    for last in (2..6).rev() {
        // Reflect row `last`, columns 0..last, onto its last entry.
        let size2: f32 = a[last][..last].iter().map(|x| x * x).sum();
        beside2[last - 1] = size2;
        if size2 < f32::MIN_POSITIVE {
            continue;
        }
        let size = sqrt(size2).copysign(a[last][last - 1]);
        let mut u = a[last];
        u[last - 1] += size;
        // H = 1 − u·uᵀ/h with h = |u|²/2.
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
        let mut value = x - self.diagonal[0];
        let mut slope = 1.0;
        for k in 1..6 {
            let lead = x - self.diagonal[k];
            let next = lead * value - self.beside2[k - 1] * before;
            let slope_next = lead * slope + value - self.beside2[k - 1] * slope_before;
            (before, slope_before) = (value, slope);
            (value, slope) = (next, slope_next);
        }
        (value, slope)
    }

    /// Of a matrix without negative eigenvalues whose trace is 1.
    fn largest_eigenvalue(&self) -> f32 {
        // The sum of the squared entries is that of the squared eigenvalues: its root is no smaller than any.
        let diagonal2: f32 = self.diagonal.iter().map(|d| d * d).sum();
        let mut x = sqrt(diagonal2 + 2.0 * self.beside2.iter().sum::<f32>());
        for _ in 0..NEWTON_STEPS_MAX {
            let (value, slope) = self.polynomial(x);
            // Past the root by rounding, or at it.
            if value <= 0.0 || slope <= 0.0 {
                break;
            }
            let step = value / slope;
            x -= step;
            if step <= NEWTON_SHARE * x {
                break;
            }
        }
        x
    }
}
