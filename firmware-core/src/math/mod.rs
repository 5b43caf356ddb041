//! Elementary functions in f32, one implementation for every target.

/// Sine of `x` (rad).
pub fn sin(x: f32) -> f32 {
    libm::sinf(x)
}

/// e to the power of `x`.
pub fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// Natural logarithm of `x`.
pub fn ln(x: f32) -> f32 {
    libm::logf(x)
}

/// `x` to the power of `y`.
pub fn powf(x: f32, y: f32) -> f32 {
    libm::powf(x, y)
}
