//! Vectors and rotations in three dimensions, double precision.

/// A vector.
pub(crate) type Vector = [f64; 3];
/// A matrix, row by row.
pub(crate) type Matrix = [[f64; 3]; 3];

/// No turn.
pub(crate) const IDENTITY: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// a + b.
pub(crate) fn sum(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// v · factor.
pub(crate) fn scaled(v: Vector, factor: f64) -> Vector {
    v.map(|component| component * factor)
}

/// a × b.
pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// m · v.
pub(crate) fn apply(m: &Matrix, v: Vector) -> Vector {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// mᵀ · v.
pub(crate) fn apply_transposed(m: &Matrix, v: Vector) -> Vector {
    core::array::from_fn(|column| m[0][column] * v[0] + m[1][column] * v[1] + m[2][column] * v[2])
}

/// a · b.
pub(crate) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    a.map(|row| apply_transposed(b, row))
}

/// `m` turned about its own z axis by `deg`.
pub(crate) fn turned_about_z(m: &Matrix, deg: f64) -> Matrix {
    let (sin, cos) = libm::sincos(deg.to_radians());
    m.map(|[x, y, z]| [x * cos + y * sin, y * cos - x * sin, z])
}

/// The z axis of a frame, in the axes its rotation is given in.
pub(crate) fn z_axis(m: &Matrix) -> Vector {
    [m[0][2], m[1][2], m[2][2]]
}
