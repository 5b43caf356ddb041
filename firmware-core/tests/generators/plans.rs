//! Plans: uploads in any order, every refusal, validity, memory, limits, and the interpolation against one
//! computed in double precision.

#![expect(clippy::float_cmp, reason = "picks one of two constants")]

use firmware_core::joints::{ARM_JOINTS, J6, JOINTS, TABLE};
use firmware_core::motion::plan::{Plan, PlanError, crc32c, sample_bytes};
use firmware_core::units::deg_to_steps;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// Enough memory for every plan of these tests.
const BYTES_MAX: usize = 120_024;

/// One sample: cmd and ref (steps).
type Sample = ([u16; JOINTS], [u16; JOINTS]);

fn config() -> Config {
    Config { cases: 64, rng_seed: RngSeed::Fixed(6), failure_persistence: None, ..Config::default() }
}

fn bytes_of(samples: &[Sample], joints: usize) -> Vec<u8> {
    let rows = samples.iter().flat_map(|(cmd, reference)| [&cmd[..joints], &reference[..joints]]);
    rows.flatten().flat_map(|steps| steps.to_le_bytes()).collect()
}

/// Every joint of cmd at `cmd`, of ref at `reference`.
fn sample(cmd: u16, reference: u16) -> Sample {
    ([cmd; JOINTS], [reference; JOINTS])
}

fn begun(samples: u32, joints: u8) -> Plan {
    let mut plan = Plan::default();
    plan.begin(samples, 100, false, joints, BYTES_MAX).expect("a plan that fits");
    plan
}

fn uploaded(samples: &[Sample], rate_hz: u16, cubic: bool, joints: usize) -> Plan {
    let mut plan = Plan::default();
    plan.begin(samples.len() as u32, rate_hz, cubic, joints as u8, BYTES_MAX).expect("a plan that fits");
    let bytes = bytes_of(samples, joints);
    plan.write(0, samples.len() as u16, &bytes).expect("all its samples");
    plan.end(crc32c(&bytes)).expect("the right CRC-32C");
    plan
}

#[test]
fn without_a_plan_there_are_no_samples_and_the_rate_is_250_hz() {
    let mut plan = Plan::default();
    assert_eq!((plan.declared_samples(), plan.rate_hz(), plan.bytes()), (0, 250, 0));
    assert!(!plan.is_valid());
    assert_eq!(plan.duration_us(), 0);
    assert_eq!(plan.at(1_000_000), sample(0, 0), "nothing to play");
    assert_eq!(plan.write(0, 0, &[]), Err(PlanError::NotBegun));
    assert_eq!(plan.end(0), Err(PlanError::NotBegun));
}

#[test]
fn a_plan_has_two_samples_a_rate_and_six_or_seven_joints() {
    for (samples, rate_hz, joints) in
        [(0, 250, 6), (1, 250, 6), (2, 0, 6), (2, 250, 5), (2, 250, 8), (2, 250, 0)]
    {
        let mut plan = begun(3, 6);
        let refused = plan.begin(samples, rate_hz, false, joints, BYTES_MAX);
        assert_eq!(refused, Err(PlanError::Shape), "{samples} samples, {rate_hz} Hz, {joints} joints");
        assert_eq!((plan.declared_samples(), plan.bytes()), (0, 0), "the old plan is gone");
        assert_eq!(plan.rate_hz(), 100, "the rate stays");
    }
    assert_eq!(Plan::default().begin(2, 1, true, 7, BYTES_MAX), Ok(()));
}

#[test]
fn memory_limits_a_plan_to_24_or_28_bytes_per_sample() {
    let begin = |samples, joints, bytes_max| Plan::default().begin(samples, 250, false, joints, bytes_max);
    assert_eq!(begin(5001, 6, 120_024), Ok(()));
    assert_eq!(begin(5002, 6, 120_024), Err(PlanError::OutOfMemory));
    assert_eq!(begin(4286, 7, 120_024), Ok(()));
    assert_eq!(begin(4287, 7, 120_024), Err(PlanError::OutOfMemory));
    // 24 · 178,956,971 is 8 more than 2³²: a size in 32 bits would fit.
    assert_eq!(begin(178_956_971, 6, 120_024), Err(PlanError::OutOfMemory));
    assert_eq!(begin(u32::MAX, 7, 120_024), Err(PlanError::OutOfMemory));
    let mut plan = begun(5001, 6);
    assert_eq!(plan.bytes(), 120_024);
    assert_eq!(plan.begin(5002, 250, false, 6, BYTES_MAX), Err(PlanError::OutOfMemory));
    assert_eq!((plan.bytes(), plan.declared_samples()), (0, 0), "a plan that does not fit leaves none");
}

#[test]
fn samples_arrive_in_any_order_and_the_last_of_two_stays() {
    let samples: Vec<Sample> = (0..20).map(|k| sample(2000 + k, 3000 + k)).collect();
    let bytes = bytes_of(&samples, 6);
    let size = sample_bytes(6);
    let mut plan = begun(20, 6);
    assert_eq!(plan.write(9, 11, &bytes[9 * size..]), Ok(()));
    assert_eq!(plan.write(0, 8, &bytes[..8 * size]), Ok(()));
    assert_eq!(plan.end(crc32c(&bytes)), Err(PlanError::Incomplete), "sample 8 is missing");
    assert_eq!(plan.write(7, 2, &[0xFF; 48]), Ok(()));
    assert_eq!(plan.end(crc32c(&bytes)), Err(PlanError::Crc));
    assert!(!plan.is_valid());
    assert_eq!(plan.write(7, 2, &bytes[7 * size..9 * size]), Ok(()));
    assert_eq!(plan.end(crc32c(&bytes)), Ok(()));
    assert!(plan.is_valid());
    for (k, (cmd, reference)) in samples.iter().enumerate() {
        let (found_cmd, found_reference) = plan.at(k as u64 * 10_000);
        assert_eq!(found_cmd[..6], cmd[..6]);
        assert_eq!(found_reference[..6], reference[..6]);
    }
}

#[test]
fn a_digest_in_pieces_is_that_of_the_samples_as_they_are_at_the_end() {
    let samples: Vec<Sample> = (0..100).map(|k| sample(2000 + k, 3000 + k)).collect();
    let bytes = bytes_of(&samples, 6);
    let size = sample_bytes(6);
    let mut plan = begun(100, 6);
    assert_eq!(plan.write(0, 100, &bytes), Ok(()));
    assert!(plan.digest_piece() && plan.digest_piece());
    assert_eq!(plan.write(3, 1, &[0; 24]), Ok(()), "a sample that was digested");
    assert!(plan.digest_piece());
    assert_eq!(plan.end(crc32c(&bytes)), Err(PlanError::Crc));
    assert_eq!(plan.write(3, 1, &bytes[3 * size..4 * size]), Ok(()));
    let pieces = bytes.len().div_ceil(256);
    assert!((0..pieces).all(|_| plan.digest_piece()) && !plan.digest_piece());
    assert_eq!(plan.end(crc32c(&bytes)), Ok(()));
}

#[test]
fn a_write_that_is_refused_changes_nothing() {
    let samples = [sample(100, 200), sample(300, 400)];
    let bytes = bytes_of(&samples, 6);
    let mut plan = uploaded(&samples, 100, false, 6);
    assert_eq!(plan.write(1, 2, &[0; 48]), Err(PlanError::Range));
    assert_eq!(plan.write(u32::MAX, u16::MAX, &[]), Err(PlanError::Range));
    assert_eq!(plan.write(3, 0, &[]), Err(PlanError::Range), "an offset past the end");
    assert_eq!(plan.write(0, 2, &bytes[1..]), Err(PlanError::Length));
    assert_eq!(plan.write(0, 1, &bytes), Err(PlanError::Length));
    assert!(plan.is_valid());
    assert_eq!(plan.end(crc32c(&bytes)), Ok(()));
}

#[test]
fn a_write_takes_the_validity_and_a_new_end_gives_it_back() {
    let samples = [sample(100, 200), sample(300, 400)];
    let bytes = bytes_of(&samples, 6);
    let mut plan = uploaded(&samples, 100, false, 6);
    assert_eq!(plan.write(0, 1, &bytes[..24]), Ok(()));
    assert!(!plan.is_valid());
    assert_eq!(plan.end(crc32c(&bytes)), Ok(()));
    assert!(plan.is_valid());
    assert_eq!(plan.end(crc32c(&bytes) ^ 1), Err(PlanError::Crc));
    assert!(!plan.is_valid(), "a wrong CRC leaves no valid plan");
    assert_eq!(plan.end(crc32c(&bytes)), Ok(()));
    plan.invalidate();
    assert!(!plan.is_valid());
}

#[test]
fn a_new_plan_needs_all_its_samples_again() {
    let samples = [sample(100, 200), sample(300, 400)];
    let mut plan = uploaded(&samples, 100, false, 6);
    assert_eq!(plan.begin(2, 50, false, 6, BYTES_MAX), Ok(()));
    assert!(!plan.is_valid());
    assert_eq!((plan.rate_hz(), plan.declared_samples()), (50, 2));
    assert_eq!(plan.end(crc32c(&bytes_of(&samples, 6))), Err(PlanError::Incomplete));
}

#[test]
fn the_motion_ends_at_the_last_sample_and_holds_it() {
    let plan = uploaded(&[sample(100, 200), sample(300, 400), sample(501, 601)], 100, true, 7);
    assert_eq!(plan.duration_us(), 20_000);
    assert_eq!(plan.first_reference(), [200; JOINTS]);
    assert_eq!(plan.at(0), sample(100, 200));
    assert_eq!(plan.at(20_000), sample(501, 601));
    assert_eq!(plan.at(u64::from(u32::MAX)), sample(501, 601));
    let slow = uploaded(&[sample(0, 0), sample(1000, 1000)], 3, false, 6);
    assert_eq!(slow.duration_us(), 333_333, "the plan's own rate, not that of the run");
}

#[test]
fn linear_interpolation_rounds_halves_away_from_zero() {
    let plan = uploaded(&[sample(100, 4095), sample(101, 0)], 100, false, 7);
    assert_eq!(plan.at(4_999).0, [100; JOINTS]);
    assert_eq!(plan.at(5_000), sample(101, 2048), "100.5 and 2047.5");
    assert_eq!(plan.at(2_500).1, [3071; JOINTS], "3071.25");
}

#[test]
fn cubic_interpolation_repeats_the_end_samples_and_clamps_to_the_range_of_positions() {
    let levels: Vec<Sample> = [0, 0, 4095, 4095].map(|steps| sample(steps, steps)).to_vec();
    let plan = uploaded(&levels, 1, true, 7);
    // Catmull-Rom at half: (−p0 + 9 p1 + 9 p2 − p3) / 16.
    assert_eq!(plan.at(1_500_000).0, [2048; JOINTS], "2047.5");
    let mut first = [0; JOINTS];
    assert_eq!(plan.at(500_000).0, first, "−255.9 is below the range");
    first = [4095; JOINTS];
    first[J6] = 4351;
    assert_eq!(plan.at(2_500_000).0, first, "4350.9 is above the range, but not that of J6");
    let high = uploaded(&[32_000, 32_000, 65_535, 65_535].map(|steps| sample(steps, steps)), 1, true, 6);
    assert_eq!(high.at(2_500_000).0[J6], 32_767, "J6 ends where the sign bit begins");
}

#[test]
fn seven_joint_samples_carry_the_gripper_and_six_joint_samples_do_not() {
    let samples = [([1, 2, 3, 4, 5, 6, 7], [11, 12, 13, 14, 15, 16, 17]); 2];
    let seven = uploaded(&samples, 100, false, 7);
    assert_eq!((seven.joints(), seven.bytes()), (7, 56));
    assert_eq!(seven.at(0), samples[0]);
    let six = uploaded(&samples, 100, false, 6);
    assert_eq!((six.joints(), six.bytes()), (6, 48));
    assert_eq!(six.at(0), ([1, 2, 3, 4, 5, 6, 0], [11, 12, 13, 14, 15, 16, 0]));
}

#[test]
fn the_lowest_joint_outside_its_limits_is_named_in_cmd_as_in_ref() {
    let pose = [2048, 2048, 2048, 2048, 2048, 2048, 1800];
    let home = (pose, pose);
    assert_eq!(uploaded(&[home; 3], 100, false, 7).first_sample_outside_limits(&TABLE), None);
    for joint in 0..JOINTS {
        let limits = &TABLE[joint];
        for limit_deg in [limits.min_deg, limits.max_deg] {
            // The last step inside, and the first outside.
            let toward = if limit_deg == limits.max_deg { limits.sign } else { -limits.sign };
            let nearest = deg_to_steps(joint, limit_deg);
            let inside = nearest - i32::from(is_outside(joint, nearest)) * toward;
            for in_cmd in [true, false] {
                let plan_with = |steps: i32| {
                    let mut samples = [home; 3];
                    let (cmd, reference) = &mut samples[2];
                    let row = if in_cmd { cmd } else { reference };
                    row[joint] = steps as u16;
                    uploaded(&samples, 100, false, 7)
                };
                assert_eq!(
                    plan_with(inside).first_sample_outside_limits(&TABLE),
                    None,
                    "J{} at {inside}",
                    joint + 1
                );
                let outside = inside + toward;
                let found = plan_with(outside).first_sample_outside_limits(&TABLE);
                assert_eq!(found, Some(joint), "J{} at {outside}", joint + 1);
            }
        }
    }
    let mut samples = [home; 3];
    samples[0].0[4] = 0;
    samples[2].1[1] = 0;
    assert_eq!(
        uploaded(&samples, 100, false, 7).first_sample_outside_limits(&TABLE),
        Some(1),
        "the lowest joint"
    );
    samples[2].1[1] = home.1[1];
    samples[0].0[4] = home.0[4];
    samples[1].0[6] = 4095;
    assert_eq!(
        uploaded(&samples, 100, false, 6).first_sample_outside_limits(&TABLE),
        None,
        "no seventh joint"
    );
}

fn is_outside(joint: usize, steps: i32) -> bool {
    let limits = &TABLE[joint];
    let deg = f64::from(limits.sign * (steps - 2048)) * 360.0 / 4096.0;
    deg < f64::from(limits.min_deg) || deg > f64::from(limits.max_deg)
}

/// The interpolation in double precision, Catmull-Rom in its basis form.
fn expected_steps(values: &[f64], s: f64, cubic: bool, joint: usize) -> f64 {
    let last = values.len() - 1;
    let index = (s as usize).min(last - 1);
    let t = (s - index as f64).min(1.0);
    let value = if cubic {
        let p = |k: usize| values[(index + k).saturating_sub(1).min(last)];
        let (t2, t3) = (t * t, t * t * t);
        0.5 * ((-t3 + 2.0 * t2 - t) * p(0)
            + (3.0 * t3 - 5.0 * t2 + 2.0) * p(1)
            + (-3.0 * t3 + 4.0 * t2 + t) * p(2)
            + (t3 - t2) * p(3))
    } else {
        values[index] + t * (values[index + 1] - values[index])
    };
    value.clamp(0.0, if joint == J6 { 32_767.0 } else { 4095.0 })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn interpolation_agrees_with_double_precision_to_half_a_step(
        rows in vec(prop::array::uniform14(0_u16..4096), 2..12),
        rate_hz in 1_u16..1000,
        cubic in any::<bool>(),
        seven in any::<bool>(),
        times in vec(0.0_f64..1.1, 50),
    ) {
        let joints = if seven { JOINTS } else { ARM_JOINTS };
        let samples: Vec<Sample> = rows
            .iter()
            .map(|row| (core::array::from_fn(|k| row[k]), core::array::from_fn(|k| row[k + JOINTS])))
            .collect();
        let plan = uploaded(&samples, rate_hz, cubic, joints);
        for share in times {
            let t_us = (share * (samples.len() - 1) as f64 * 1e6 / f64::from(rate_hz)) as u64;
            let (cmd, reference) = plan.at(t_us);
            let s = t_us as f64 * 1e-6 * f64::from(rate_hz);
            for joint in 0..joints {
                let cmds: Vec<f64> = samples.iter().map(|sample| f64::from(sample.0[joint])).collect();
                let references: Vec<f64> = samples.iter().map(|sample| f64::from(sample.1[joint])).collect();
                for (values, found) in [(cmds, cmd[joint]), (references, reference[joint])] {
                    let expected = expected_steps(&values, s.min((values.len() - 1) as f64), cubic, joint);
                    let off = (f64::from(found) - expected).abs();
                    let at = format!("J{} at {t_us} µs: {found}, expected {expected}", joint + 1);
                    prop_assert!(off <= 0.502, "{}", at);
                }
            }
        }
    }

    #[test]
    fn any_upload_is_taken_or_refused_without_a_panic(
        begins in vec((any::<u32>(), any::<u16>(), any::<bool>(), 4_u8..9, any::<bool>()), 1..4),
        writes in vec((any::<u32>(), any::<u16>(), vec(any::<u8>(), 0..200), any::<bool>()), 0..20),
        crc in any::<u32>(),
        t_us in any::<u32>(),
    ) {
        let mut plan = Plan::default();
        for (samples, rate_hz, cubic, joints, small) in begins {
            let samples = if small { samples % 12 } else { samples };
            let begun = plan.begin(samples, rate_hz, cubic, joints, BYTES_MAX);
            prop_assert_eq!(plan.declared_samples(), if begun.is_ok() { samples } else { 0 });
            prop_assert!(plan.bytes() <= BYTES_MAX);
        }
        for (offset, count, bytes, fits) in writes {
            let whole = (bytes.len() / 24) as u16;
            let (offset, count) = if fits { (offset % 12, whole) } else { (offset, count) };
            let taken = plan.write(offset, count, &bytes).is_ok();
            let end = u64::from(offset) + u64::from(count);
            prop_assert!(!taken || end <= u64::from(plan.declared_samples()));
        }
        prop_assert_eq!(plan.end(crc).is_ok(), plan.is_valid());
        let after_end = plan.at(u64::from(t_us) + plan.duration_us() + 1_000_000);
        prop_assert_eq!(after_end, plan.at(u64::MAX >> 16), "the last sample stays");
        let outside = plan.first_sample_outside_limits(&TABLE);
        prop_assert!(outside.is_none_or(|joint| joint < plan.joints()));
    }
}
