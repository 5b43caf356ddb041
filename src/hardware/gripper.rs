//! The gripper's fingers and what they hold.

use firmware_core::units::{DEG_PER_STEP, ZERO_STEPS};
use serde::{Deserialize, Serialize};

/// Angle of J7 with closed fingers (°): step 1462.
pub const CLOSED_DEG: f64 = (1_462 - ZERO_STEPS) as f64 * DEG_PER_STEP as f64;
/// Angle of J7 with open fingers (°): step 2048.
pub const OPEN_DEG: f64 = 0.0;
/// Distance of the pads with closed fingers (mm).
pub const CLOSED_MM: f64 = 6.0;
/// Distance of the pads with open fingers (mm).
pub const OPEN_MM: f64 = 43.4;
/// Load per degree of squeeze of an ordinary object (%/°).
pub const STIFFNESS_PERCENT_DEG: f64 = 10.0;

/// Distance of the pads (mm) at an angle of J7 (°); roughly linear on the real gripper, exactly here.
pub fn width_mm(deg: f64) -> f64 {
    OPEN_MM + (deg - OPEN_DEG) * ((OPEN_MM - CLOSED_MM) / (OPEN_DEG - CLOSED_DEG))
}

/// Angle of J7 (°) at a distance of the pads (mm).
pub fn angle_deg(width_mm: f64) -> f64 {
    OPEN_DEG + (width_mm - OPEN_MM) * ((OPEN_DEG - CLOSED_DEG) / (OPEN_MM - CLOSED_MM))
}

/// The size of an object between the fingers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum ObjectSize {
    /// J7 touches it at this angle (°, −51.5…0).
    AngleDeg(f64),
    /// It is this wide (mm, 6…43.4).
    WidthMm(f64),
}

impl ObjectSize {
    /// The angle of J7 at which the fingers touch it (°).
    pub fn contact_deg(self) -> f64 {
        match self {
            Self::AngleDeg(deg) => deg,
            Self::WidthMm(width) => angle_deg(width),
        }
    }

    /// True when the open fingers can take it in.
    pub fn fits(self) -> bool {
        let grain_mm = 0.01;
        (CLOSED_MM - grain_mm..=OPEN_MM + grain_mm).contains(&width_mm(self.contact_deg()))
    }
}

/// An object between the fingers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Its size.
    pub size: ObjectSize,
    /// Load per degree between the goal of J7 and the object (%/°).
    pub stiffness_percent_deg: f64,
    /// Its mass (g): more load on J2 and J3 while it is held.
    pub mass_g: f64,
    /// It slips away when the load exceeds this (%).
    pub slips_above_percent: Option<f64>,
}

impl Object {
    /// A light, stiff object of this size that does not slip.
    pub fn of(size: ObjectSize) -> Self {
        Self { size, stiffness_percent_deg: STIFFNESS_PERCENT_DEG, mass_g: 0.0, slips_above_percent: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_open_and_the_closed_gripper() {
        assert!((width_mm(OPEN_DEG) - 43.4).abs() < 1e-9);
        assert!((width_mm(CLOSED_DEG) - 6.0).abs() < 1e-9);
        assert!((width_mm(angle_deg(20.0)) - 20.0).abs() < 1e-9);
        assert!((angle_deg(24.7) + 25.752).abs() < 0.001);
    }

    #[test]
    fn objects_wider_than_the_open_gripper_do_not_fit() {
        assert!(ObjectSize::WidthMm(43.4).fits() && ObjectSize::AngleDeg(-51.5).fits());
        assert!(!ObjectSize::WidthMm(50.0).fits() && !ObjectSize::AngleDeg(1.0).fits());
        assert!(!ObjectSize::WidthMm(f64::NAN).fits());
    }
}
