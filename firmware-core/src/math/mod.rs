//! Elementary functions in f32, one implementation for every target: the same bits on the ESP32 and on the host.
//!
//! | File | Is |
//! | --- | --- |
//! | [`trig`] | sine and cosine of radians and of degrees: range reduction and polynomials in f32 |
//! | [`elementary`] | square root, arc cosine, exponential, logarithm, power, where speed does not matter |

mod elementary;
mod trig;

pub use elementary::{acos, exp, ln, powf, sqrt};
pub use trig::{RADIANS_MAX, cos, sin, sin_cos, sin_cos_deg};
