//! Goals that make up for what the servos do to them: led by each joint's lag, or by a model of its motion.

use firmware_core::joints::{ARM_JOINTS, JOINTS};

use super::plan::Plan;
use crate::servo_model::SecondOrder;

/// Leads each joint's goals by its lag (s): cmd at t is ref at t + lag. J7 follows its plan.
pub fn lead(plan: &mut Plan, lags_s: &[f64; ARM_JOINTS]) {
    for joint in 0..ARM_JOINTS {
        let track: Vec<f64> = plan.samples.iter().map(|sample| sample.reference_deg[joint]).collect();
        for (k, sample) in plan.samples.iter_mut().enumerate() {
            sample.cmd_deg[joint] = at(&track, k as f64 + lags_s[joint] * f64::from(plan.rate_hz));
        }
    }
}

/// Feeds the model of each joint forward: cmd = ref + 2ζ/ω·speed + acceleration/ω², what a second-order servo needs
/// to be at ref.
pub fn feed_forward(plan: &mut Plan, model: &[SecondOrder; ARM_JOINTS]) {
    let rate = f64::from(plan.rate_hz);
    for (joint, servo) in model.iter().enumerate() {
        let (omega, zeta) = (servo.frequency_rad_s, servo.damping_ratio);
        let track: Vec<f64> = plan.samples.iter().map(|sample| sample.reference_deg[joint]).collect();
        for (k, sample) in plan.samples.iter_mut().enumerate() {
            let (before, here, after) = (at(&track, k as f64 - 1.0), track[k], at(&track, k as f64 + 1.0));
            let speed = (after - before) * rate / 2.0;
            let acceleration = (after - 2.0 * here + before) * rate * rate;
            sample.cmd_deg[joint] = here + 2.0 * zeta / omega * speed + acceleration / (omega * omega);
        }
    }
}

/// RMS and largest distance (°) of cmd from ref per joint: what compensation asks of the servos.
pub fn distances_deg(plan: &Plan) -> [(f64, f64); JOINTS] {
    core::array::from_fn(|joint| {
        let squares: f64 = plan
            .samples
            .iter()
            .map(|sample| sample.cmd_deg[joint] - sample.reference_deg[joint])
            .map(|off| off * off)
            .sum();
        let largest = plan
            .samples
            .iter()
            .map(|sample| (sample.cmd_deg[joint] - sample.reference_deg[joint]).abs())
            .fold(0.0, f64::max);
        ((squares / plan.samples.len().max(1) as f64).sqrt(), largest)
    })
}

/// A track at a fractional sample: linear between samples, its end values beyond them.
fn at(track: &[f64], index: f64) -> f64 {
    let last = track.len().saturating_sub(1);
    let index = index.clamp(0.0, last as f64);
    let from = index as usize;
    let share = index - from as f64;
    track[from] + share * (track[(from + 1).min(last)] - track[from])
}

#[cfg(test)]
mod tests {
    use super::super::plan::Sample;
    use super::*;
    use crate::servo_model;

    fn ramp() -> Plan {
        let sample = |k: u32| {
            let mut sample = Sample::default();
            sample.reference_deg = [f64::from(k) * 0.1; JOINTS];
            sample.cmd_deg = sample.reference_deg;
            sample
        };
        Plan { rate_hz: 250, joints: 6, cubic: false, samples: (0..251).map(sample).collect() }
    }

    #[test]
    fn a_lead_is_speed_times_lag_and_stops_at_the_end() {
        let mut plan = ramp();
        lead(&mut plan, &servo_model::LAGS_S);
        // 25 °/s: J1 leads by 3°, J6 by 0.7°.
        assert!((plan.samples[100].cmd_deg[0] - 13.0).abs() < 1e-9);
        assert!((plan.samples[100].cmd_deg[5] - 10.7).abs() < 1e-9);
        assert_eq!(plan.samples[250].cmd_deg[0], 25.0);
        assert_eq!(plan.samples[100].cmd_deg[6], 10.0);
    }

    #[test]
    fn feed_forward_of_a_steady_speed_is_two_zeta_over_omega() {
        let mut plan = ramp();
        feed_forward(&mut plan, &servo_model::MEASURED);
        let lead_deg = plan.samples[100].cmd_deg[0] - plan.samples[100].reference_deg[0];
        assert!((lead_deg - 25.0 * 2.0 * 0.82 / 14.8).abs() < 1e-9, "{lead_deg}");
    }
}
