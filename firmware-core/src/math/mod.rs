//! Elementary functions in f32, one implementation for every target: the same bits on the ESP32 and on the
//! host. No fused multiply-add, no f64.
//!
//! | File | Is |
//! | --- | --- |
//! | `trig` | sine and cosine of radians and of degrees: range reduction and polynomials in f32 |
//! | `elementary` | square root, arc cosine, exponential, logarithm, power, where speed does not matter |
//! | [`vector`] | vectors of three, 3 × 3 matrices |

mod elementary;
mod trig;
pub mod vector;

pub use elementary::{acos, exp, ln, powf, sqrt};
pub use trig::{RADIANS_MAX, cos, sin, sin_cos, sin_cos_deg};
