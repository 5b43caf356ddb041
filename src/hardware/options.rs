//! How the hardware is at the start, and what of that cannot be.

use serde::{Deserialize, Serialize};

use firmware_core::joints::JOINTS;

use super::gripper::{CLOSED_DEG, CLOSED_MM, OPEN_DEG, OPEN_MM, Object};
use super::plant::PlantKind;

/// All joints at zero (°), with the fingers where they mostly are. Singular: no end-effector JOG from here.
pub const ZERO_DEG: [f64; JOINTS] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -20.0];
/// The elbow at a right angle (°): far from what is singular.
pub const READY_DEG: [f64; JOINTS] = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0, -20.0];

/// How far each joint goes by hand (°), measured at the robot: J1–J6 (J6 with the gripper's cable) and the fingers.
pub const END_STOPS_DEG: [(f64, f64); JOINTS] = [
    (-170.9, 170.9),
    (-143.2, 142.5),
    (-155.7, 154.8),
    (-156.4, 157.1),
    (-162.8, 164.7),
    (-237.1, 139.9),
    (CLOSED_DEG, OPEN_DEG),
];

/// How the hardware is at the start: servos just powered up, torque off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HardwareOptions {
    /// Seed of all noise and chance.
    pub seed: u64,
    /// The model that moves the joints.
    pub plant: PlantKind,
    /// The gripper is plugged in.
    pub gripper: bool,
    /// An object between the fingers.
    pub object: Option<Object>,
    /// True joint angles (°): J1–J7.
    pub pose_deg: [f64; JOINTS],
    /// Probability that a servo loses a SYNC WRITE that comes right after another; `None`: what the plant has.
    pub lost_sync_write: Option<f64>,
}

impl Default for HardwareOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            plant: PlantKind::default(),
            gripper: true,
            object: None,
            pose_deg: ZERO_DEG,
            lost_sync_write: None,
        }
    }
}

/// Why the hardware cannot be as it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum HardwareError {
    /// A joint beyond its end stops.
    #[error("J{joint} at {found}° is outside its end stops; expected {low:.1} to {high:.1}°")]
    OutsideEndStops {
        /// Joint number, 1–7.
        joint: usize,
        /// The angle wanted (°).
        found: f64,
        /// Lower end stop (°).
        low: f64,
        /// Upper end stop (°).
        high: f64,
    },
    /// An object that the fingers do not reach, or that is too wide for them.
    #[error(
        "an object at {found}° is out of the fingers' reach; expected {CLOSED_DEG:.1} (closed) to {OPEN_DEG}° \
         (open), which is a width from {CLOSED_MM} to {OPEN_MM} mm"
    )]
    ObjectOutOfReach {
        /// The angle of J7 at which the fingers would touch it (°).
        found: f64,
    },
    /// A value outside its range.
    #[error("{what} of {found}; expected {low} to {high}")]
    OutOfRange {
        /// What the value is.
        what: &'static str,
        /// The value wanted.
        found: f64,
        /// Lowest possible.
        low: f64,
        /// Highest possible.
        high: f64,
    },
}

impl HardwareOptions {
    /// Checks every value.
    ///
    /// # Errors
    /// The first value that cannot be.
    pub fn check(&self) -> Result<(), HardwareError> {
        for (joint, &deg) in self.pose_deg.iter().enumerate() {
            check_angle(joint, deg)?;
        }
        if let Some(object) = &self.object {
            check_object(object)?;
        }
        check_range("a probability", self.lost_sync_write.unwrap_or(0.0), 0.0, 1.0)
    }
}

/// Checks that `low` ≤ `found` ≤ `high`.
pub(crate) fn check_range(what: &'static str, found: f64, low: f64, high: f64) -> Result<(), HardwareError> {
    if (low..=high).contains(&found) {
        Ok(())
    } else {
        Err(HardwareError::OutOfRange { what, found, low, high })
    }
}

/// Checks that joint `joint` (index) can be at `deg`.
pub(crate) fn check_angle(joint: usize, deg: f64) -> Result<(), HardwareError> {
    let (low, high) = END_STOPS_DEG[joint];
    if (low..=high).contains(&deg) {
        Ok(())
    } else {
        Err(HardwareError::OutsideEndStops { joint: joint + 1, found: deg, low, high })
    }
}

/// Checks that the fingers can hold `object`.
pub(crate) fn check_object(object: &Object) -> Result<(), HardwareError> {
    if !object.size.fits() {
        return Err(HardwareError::ObjectOutOfReach { found: object.size.contact_deg() });
    }
    check_range("a stiffness (%/°)", object.stiffness_percent_deg, 0.1, 1_000.0)?;
    check_range("a mass (g)", object.mass_g, 0.0, 1_000.0)?;
    check_range("a load at which it slips (%)", object.slips_above_percent.unwrap_or(0.0), 0.0, 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::gripper::ObjectSize;

    #[test]
    fn the_default_is_possible_and_every_end_stop_is() {
        assert_eq!(HardwareOptions::default().check(), Ok(()));
        for pose_deg in [END_STOPS_DEG.map(|(low, _)| low), END_STOPS_DEG.map(|(_, high)| high)] {
            assert_eq!(HardwareOptions { pose_deg, ..HardwareOptions::default() }.check(), Ok(()));
        }
    }

    #[test]
    fn a_pose_outside_names_joint_range_and_value() {
        for value in [171.0, -171.0, f64::NAN, f64::INFINITY] {
            let mut options = HardwareOptions::default();
            options.pose_deg[0] = value;
            let message = options.check().expect_err("outside").to_string();
            assert_eq!(
                message,
                format!("J1 at {value}° is outside its end stops; expected -170.9 to 170.9°")
            );
        }
    }

    #[test]
    fn an_object_must_fit_and_make_sense() {
        let with = |object| HardwareOptions { object: Some(object), ..HardwareOptions::default() }.check();
        assert_eq!(with(Object::of(ObjectSize::AngleDeg(-30.0))), Ok(()));
        assert_eq!(
            with(Object::of(ObjectSize::AngleDeg(-60.0))),
            Err(HardwareError::ObjectOutOfReach { found: -60.0 })
        );
        let soft = Object { stiffness_percent_deg: 0.0, ..Object::of(ObjectSize::WidthMm(20.0)) };
        assert!(matches!(with(soft), Err(HardwareError::OutOfRange { found: 0.0, .. })));
    }
}
