//! The turns of J6: a multi-turn servo counts from its one-turn reading, so the reading can be whole turns off.

use crate::bus::{Bus, BusError, driver::id_of, registers};
use crate::joints::{J6, Joint};
use crate::platform::ControlPort;
use crate::units::{STEPS_PER_TURN, steps_to_deg};

/// Nearer than this to the middle of the gap between the limits the turn cannot be told (°).
const GAP_UNKNOWN_DEG: f32 = 1.5;

/// Middle of the gap between the upper limit and the lower limit one turn on (°): +135° for J6.
fn gap_middle_deg(joint: &Joint) -> f32 {
    joint.max_deg + (360.0 - (joint.max_deg - joint.min_deg)) / 2.0
}

/// Puts J6's servo into multi-turn: phase bit 4, no angle limits. Both verified.
///
/// # Errors
/// What the last try found.
pub(super) fn set_up<P: ControlPort>(bus: &mut Bus<'_, P>) -> Result<(), BusError> {
    let mut phase = [0];
    bus.read(id_of(J6), registers::PHASE, &mut phase)?;
    bus.write_verified(id_of(J6), registers::PHASE, &[phase[0] | registers::PHASE_MULTI_TURN])?;
    bus.write_verified(id_of(J6), registers::ANGLE_LIMITS, &[0; 4])?;
    Ok(())
}

/// Steps to add to J6's readings so that its angle lies in the one turn around its limits; `None` when the
/// reading is so near the gap that the turn cannot be told. `j6` has the limits.
pub(super) fn offset_of(reading_steps: i32, j6: &Joint) -> Option<i32> {
    let gap_deg = gap_middle_deg(j6);
    let mut offset = 0;
    let mut deg = steps_to_deg(J6, reading_steps);
    while deg > gap_deg {
        deg -= 360.0;
        offset -= j6.sign * STEPS_PER_TURN;
    }
    while deg < gap_deg - 360.0 {
        deg += 360.0;
        offset += j6.sign * STEPS_PER_TURN;
    }
    let distance = (gap_deg - deg).min(deg - (gap_deg - 360.0));
    (distance >= GAP_UNKNOWN_DEG).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joints::{TABLE, table_with_j6_limits};
    use crate::units::deg_to_steps;

    fn offset_of(reading_steps: i32) -> Option<i32> {
        super::offset_of(reading_steps, &TABLE[J6])
    }

    #[test]
    fn with_symmetric_limits_the_gap_is_at_180_degrees() {
        let [.., j6, _j7] = table_with_j6_limits(-135.0, 135.0);
        let offset_of = |deg| super::offset_of(deg_to_steps(J6, deg), &j6);
        assert_eq!(offset_of(170.0), Some(0));
        assert_eq!(offset_of(190.0), Some(4096));
        assert_eq!(offset_of(-190.0), Some(-4096));
        assert_eq!(offset_of(179.0), None);
    }

    #[test]
    fn one_turn_taken_off_the_angle_is_plus_4096_steps() {
        // 180° stands above the gap middle: it is −180°.
        assert_eq!(offset_of(deg_to_steps(J6, 180.0)), Some(4096));
        assert_eq!(offset_of(deg_to_steps(J6, 0.0)), Some(0));
        assert_eq!(offset_of(deg_to_steps(J6, -200.0) - 4096), Some(4096));
        assert_eq!(offset_of(deg_to_steps(J6, 100.0) + 2 * 4096), Some(-2 * 4096));
    }

    #[test]
    fn the_turn_is_unknown_within_1_5_degrees_of_the_gap() {
        for deg in [133.6, 135.0, 136.4, -226.0, -225.0, -223.6] {
            assert_eq!(offset_of(deg_to_steps(J6, deg)), None, "{deg}°");
        }
        for deg in [133.4, 136.6, -226.6, -223.4] {
            assert!(offset_of(deg_to_steps(J6, deg)).is_some(), "{deg}°");
        }
    }
}
