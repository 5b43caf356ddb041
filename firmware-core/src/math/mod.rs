//! Elementary functions in f32, one implementation for every target: the simulator and the ESP32 compute the
//! same bits.
//!
//! Sine and cosine are range reduction and polynomials in f32, since the common library computes them in
//! f64, which the ESP32 does in software. The others are called where speed does not matter. No fused
//! multiply-add anywhere.

mod trigonometry;

pub use trigonometry::{sin, sin_cos, sin_cos_deg};

/// Square root, correctly rounded.
pub fn sqrt(x: f32) -> f32 {
    libm::sqrtf(x)
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
