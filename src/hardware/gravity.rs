//! What gravity asks of J2 and J3: the loads (%) that hold the arm and what it carries up.

use firmware_core::joints::ARM_JOINTS;

use super::chain;

/// Load of J2 per sine of its own angle from upright (%).
const UPPER_ARM_PERCENT: f64 = -25.0;
/// Load of J2 and of J3 per sine of the forearm's angle from upright (%).
const FOREARM_PERCENT: f64 = -10.0;
/// Full load of J2 and J3 (N·m), for masses that the arm carries: 19.5 kg·cm, what the makers of such servos name.
const FULL_LOAD_NM: f64 = 1.91;
/// Standard gravity (m/s²).
const GRAVITY_M_S2: f64 = 9.806_65;

/// Load of J3 with the arm at `j2_deg` and `j3_deg`.
pub(crate) fn j3_percent(j2_deg: f64, j3_deg: f64) -> f64 {
    FOREARM_PERCENT * libm::sin((j2_deg + j3_deg).to_radians())
}

/// Load of J2 with the arm at `j2_deg`, J3 bearing `j3_percent`.
pub(crate) fn j2_percent(j2_deg: f64, j3_percent: f64) -> f64 {
    UPPER_ARM_PERCENT * libm::sin(j2_deg.to_radians()) + j3_percent
}

/// Loads of J2 and J3 by `grams` at the tool point, the arm at `deg`.
pub(crate) fn carried_percent(deg: &[f64; ARM_JOINTS], grams: f64) -> [f64; 2] {
    let newtons = grams * 1e-3 * GRAVITY_M_S2;
    chain::lift_mm_rad(deg).map(|lift_mm| newtons * lift_mm * 1e-3 / FULL_LOAD_NM * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upright_nothing_is_borne_and_stretched_out_everything() {
        assert!(j2_percent(0.0, j3_percent(0.0, 0.0)).abs() < 1e-12);
        assert!((j2_percent(90.0, j3_percent(90.0, 0.0)) + 35.0).abs() < 1e-9);
        assert!((j2_percent(-30.0, j3_percent(-30.0, -60.0)) - 22.5).abs() < 1e-9);
    }

    #[test]
    fn a_mass_at_the_tool_point_asks_for_its_lever() {
        // Stretched out ahead the tool point is 274.2 mm from J2: 0.538 N·m.
        let [j2, j3] = carried_percent(&[0.0, 90.0, 0.0, 0.0, 0.0, 0.0], 200.0);
        assert!((j2 + 28.2).abs() < 0.2, "{j2}");
        assert!((j3 + 16.8).abs() < 0.2, "{j3}");
    }
}
