//! Vectors of three and 3 × 3 matrices: the few operations that kinematics and the end-effector JOG need.

/// Three components.
pub type Vector3 = [f32; 3];
/// Three rows.
pub type Matrix3 = [Vector3; 3];

/// The matrix of no change.
pub const IDENTITY: Matrix3 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// a · b
#[inline]
pub fn dot(a: &Vector3, b: &Vector3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b
#[inline]
pub fn cross(a: &Vector3, b: &Vector3) -> Vector3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a + b
#[inline]
pub fn add(a: &Vector3, b: &Vector3) -> Vector3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// a − b
#[inline]
pub fn subtract(a: &Vector3, b: &Vector3) -> Vector3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// factor · v
#[inline]
pub fn scale(factor: f32, v: &Vector3) -> Vector3 {
    [factor * v[0], factor * v[1], factor * v[2]]
}

/// The product of a matrix and a vector.
#[inline]
pub fn mul_vector(m: &Matrix3, v: &Vector3) -> Vector3 {
    [dot(&m[0], v), dot(&m[1], v), dot(&m[2], v)]
}

/// The product of a transposed matrix and a vector.
#[inline]
pub fn mul_transposed(m: &Matrix3, v: &Vector3) -> Vector3 {
    add(&add(&scale(v[0], &m[0]), &scale(v[1], &m[1])), &scale(v[2], &m[2]))
}

/// The product of two matrices.
#[inline]
pub fn product(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    [mul_transposed(b, &a[0]), mul_transposed(b, &a[1]), mul_transposed(b, &a[2])]
}

/// The matrix with rows and columns exchanged.
#[inline]
pub fn transposed(m: &Matrix3) -> Matrix3 {
    core::array::from_fn(|row| core::array::from_fn(|column| m[column][row]))
}

/// The adjugate and the determinant of a matrix: m · adjugate = determinant · 1. No division.
#[inline]
pub fn adjugate(m: &Matrix3) -> (Matrix3, f32) {
    let columns = [cross(&m[1], &m[2]), cross(&m[2], &m[0]), cross(&m[0], &m[1])];
    (transposed(&columns), dot(&m[0], &columns[0]))
}

/// A positive definite 3 × 3 matrix as L·D·Lᵀ: three divisions, no square root.
#[derive(Debug, Clone, Copy)]
pub struct Positive {
    /// Entries (1, 0), (2, 0), (2, 1) of L.
    lower: Vector3,
    /// 1 / D.
    inverse_diagonal: Vector3,
}

impl Positive {
    /// Of `m`, symmetric and positive definite; its lower triangle is read.
    pub fn new(m: &Matrix3) -> Self {
        let first = 1.0 / m[0][0];
        let (lower_10, lower_20) = (m[1][0] * first, m[2][0] * first);
        let second = 1.0 / (m[1][1] - lower_10 * m[1][0]);
        let left_21 = m[2][1] - lower_20 * m[1][0];
        let lower_21 = left_21 * second;
        let third = 1.0 / (m[2][2] - lower_20 * m[2][0] - lower_21 * left_21);
        Self { lower: [lower_10, lower_20, lower_21], inverse_diagonal: [first, second, third] }
    }

    /// The x with matrix · x = b.
    pub fn solve(&self, b: &Vector3) -> Vector3 {
        let [lower_10, lower_20, lower_21] = self.lower;
        let forward_1 = b[1] - lower_10 * b[0];
        let forward_2 = b[2] - lower_20 * b[0] - lower_21 * forward_1;
        let x2 = forward_2 * self.inverse_diagonal[2];
        let x1 = forward_1 * self.inverse_diagonal[1] - lower_21 * x2;
        let x0 = b[0] * self.inverse_diagonal[0] - lower_10 * x1 - lower_20 * x2;
        [x0, x1, x2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: Matrix3 = [[2.0, -1.0, 0.5], [0.25, 3.0, -2.0], [1.0, 0.5, 4.0]];

    fn assert_near(found: &Vector3, expected: &Vector3) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
        }
    }

    #[test]
    fn products_are_those_of_rows_and_columns() {
        let v = [1.0, 2.0, -3.0];
        assert_near(&mul_vector(&ANY, &v), &[-1.5, 12.25, -10.0]);
        assert_near(&mul_transposed(&ANY, &v), &mul_vector(&transposed(&ANY), &v));
        let squared = product(&ANY, &ANY);
        assert_near(&mul_vector(&squared, &v), &mul_vector(&ANY, &mul_vector(&ANY, &v)));
        assert_near(&cross(&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]), &[0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_matrix_times_its_adjugate_is_its_determinant() {
        let (adjugate, determinant) = adjugate(&ANY);
        assert!((determinant - 27.5625).abs() < 1e-4, "{determinant}");
        for (row, unit) in product(&ANY, &adjugate).iter().zip(&IDENTITY) {
            assert_near(row, &scale(determinant, unit));
        }
    }

    #[test]
    fn a_positive_matrix_is_solved() {
        let squared = product(&ANY, &transposed(&ANY));
        let x = [0.5, -1.0, 2.0];
        assert_near(&Positive::new(&squared).solve(&mul_vector(&squared, &x)), &x);
    }
}
