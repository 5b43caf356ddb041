//! Joint speeds for a twist by damped least squares, q̇ = Jᵀ(JJᵀ + λ²I)⁻¹ξ, block by block.
//!
//! With J = (I C; 0 O), the blocks of [`PlaneJacobian`], and no damping, q̇ = J⁻¹ξ: the outer joints follow
//! from O alone, then the inner ones from I, with one division each. With damping, eliminating the outer
//! joints leaves sums of positive terms only, so that nothing cancels next to a singular pose:
//!
//! ```text
//! G = OᵀO + λ²,  g = G⁻¹Oᵀξ_outer,  (IIᵀ + λ² + λ²·C·G⁻¹·Cᵀ)·y = ξ_inner − C·g
//! inner joints: Iᵀy        outer joints: g + λ²·G⁻¹·Cᵀ·y
//! ```
//!
//! Two divisions without damping, six with it; no square root in either case.

use crate::joints::ARM_JOINTS;
use crate::kinematics::{PlaneJacobian, PlaneTwist};
use crate::math::vector::{
    Matrix3, Positive, Vector3, add, adjugate, dot, mul_transposed, mul_vector, product, scale, subtract,
    transposed,
};

/// The damping begins below this smallest singular value; the largest λ is the same.
pub const SIGMA_DAMPED: f32 = 0.05;
/// With a determinant below this the smallest singular value is below [`SIGMA_DAMPED`], whatever an older
/// step found.
const DETERMINANT_MIN: f32 =
    SIGMA_DAMPED * SIGMA_DAMPED * SIGMA_DAMPED * SIGMA_DAMPED * SIGMA_DAMPED * SIGMA_DAMPED;

/// λ² at a smallest singular value.
pub(super) fn damping(sigma_min: f32) -> f32 {
    if sigma_min >= SIGMA_DAMPED {
        return 0.0;
    }
    let share = sigma_min * (1.0 / SIGMA_DAMPED);
    SIGMA_DAMPED * SIGMA_DAMPED * (1.0 - share * share)
}

/// The Jacobian with linear rows in units of 100 mm, and what its inverse and its smallest singular value
/// share.
pub(super) struct LeastSquares {
    pub(super) jacobian: PlaneJacobian,
    /// Adjugate and determinant of the inner block.
    pub(super) inner: (Matrix3, f32),
    /// Adjugate and determinant of the outer block.
    pub(super) outer: (Matrix3, f32),
}

impl LeastSquares {
    #[inline]
    pub(super) fn new(jacobian: PlaneJacobian) -> Self {
        Self { inner: adjugate(&jacobian.inner), outer: adjugate(&jacobian.outer), jacobian }
    }

    /// Speeds of J1–J6 (rad/s) for the twist `xi` with `damping` = λ².
    #[inline]
    pub(super) fn solve(&self, xi: &PlaneTwist, damping: f32) -> [f32; ARM_JOINTS] {
        let (first, last) = if damping > 0.0 {
            self.damped(xi, damping)
        } else if (self.inner.1 * self.outer.1).abs() < DETERMINANT_MIN {
            // The smallest singular value is up to three steps old and the arm got here in less.
            self.damped(xi, SIGMA_DAMPED * SIGMA_DAMPED)
        } else {
            self.exact(xi)
        };
        let ([j2, j3, j4], [j1, j5, j6]) = (first, last);
        [j1, j2, j3, j4, j5, j6]
    }

    /// Speeds of J2, J3, J4 and of J1, J5, J6.
    #[inline]
    fn exact(&self, xi: &PlaneTwist) -> (Vector3, Vector3) {
        let last = scale(1.0 / self.outer.1, &mul_vector(&self.outer.0, &xi.outer));
        let left = subtract(&xi.inner, &mul_vector(&self.jacobian.coupling, &last));
        (scale(1.0 / self.inner.1, &mul_vector(&self.inner.0, &left)), last)
    }

    fn damped(&self, xi: &PlaneTwist, damping: f32) -> (Vector3, Vector3) {
        let PlaneJacobian { inner, coupling, outer } = &self.jacobian;
        let reduced = Positive::new(&plus_diagonal(product(&transposed(outer), outer), damping));
        let last_alone = reduced.solve(&mul_transposed(outer, &xi.outer));
        // G⁻¹Cᵀ, transposed: one solution per row of C.
        let couplings = coupling.map(|row| reduced.solve(&row));
        let mut normal = plus_diagonal(product(inner, &transposed(inner)), damping);
        for (row, coupling) in normal.iter_mut().zip(coupling) {
            for (entry, solved) in row.iter_mut().zip(&couplings) {
                *entry += damping * dot(coupling, solved);
            }
        }
        let left = subtract(&xi.inner, &mul_vector(coupling, &last_alone));
        let y = Positive::new(&normal).solve(&left);
        let last = add(&last_alone, &scale(damping, &mul_transposed(&couplings, &y)));
        (mul_transposed(inner, &y), last)
    }
}

fn plus_diagonal(mut m: Matrix3, damping: f32) -> Matrix3 {
    for (k, row) in m.iter_mut().enumerate() {
        row[k] += damping;
    }
    m
}
