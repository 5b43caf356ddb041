//! Square root, arc cosine, exponential, logarithm and power, from libm: software in f32 on every target.

/// Square root of `x`, correctly rounded; NaN below 0.
pub fn sqrt(x: f32) -> f32 {
    libm::sqrtf(x)
}

/// Arc cosine of `x` (rad, 0 to π); NaN outside −1…1.
pub fn acos(x: f32) -> f32 {
    libm::acosf(x)
}

/// e to the power of `x`.
pub fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// Natural logarithm of `x`; NaN below 0.
pub fn ln(x: f32) -> f32 {
    libm::logf(x)
}

/// `x` to the power of `y`.
pub fn powf(x: f32, y: f32) -> f32 {
    libm::powf(x, y)
}
