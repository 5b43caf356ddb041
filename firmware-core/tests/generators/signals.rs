//! Test signals: levels, limits and the way there and back, for parameters that pass their checks; no
//! panic for any.

use firmware_core::joints::{ARM_JOINTS, TABLE};
use firmware_core::motion::signal::{Params, Refusal, Signal};
use firmware_core::protocol::plan::SIGNAL_BYTES;
use proptest::num::f32::ANY;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

const READY_DEG: [f32; ARM_JOINTS] = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0];

fn config() -> Config {
    Config { cases: 64, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() }
}

/// Steps of ±8° on J2 in holds of 2 s, a change of 8° in 0.4 s.
fn steps() -> Params {
    Params {
        joint: 2,
        kind: 2,
        amp_deg: 8.0,
        f0_hz: 0.0,
        f1_hz: 0.0,
        duration_s: 16.0,
        vmax_dps: 40.0,
        amax_dps2: 400.0,
        base_cdeg: [0, 1000, -9000, 0, 0, 0],
    }
}

/// A chirp of 10° on J4 from 0.1 Hz to 10 Hz in 22 s, slow enough for its limits to show.
fn chirp() -> Params {
    Params {
        joint: 4,
        kind: 1,
        amp_deg: 10.0,
        f0_hz: 0.1,
        f1_hz: 10.0,
        duration_s: 22.0,
        vmax_dps: 60.0,
        amax_dps2: 1000.0,
        base_cdeg: [0, 0, -9000, 0, 0, 0],
    }
}

fn assert_near(found: f32, expected: f32, tolerance: f32, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: found {found}, expected {expected}");
}

#[test]
fn steps_hold_0_a_0_minus_a_0_a_minus_a_0_and_change_linearly() {
    let params = steps();
    assert_eq!(params.validate(&TABLE), Ok(()));
    let signal = Signal::new(&params, &READY_DEG);
    let joint_deg = |t_s: f32| signal.pose_deg(3.0 + t_s)[1] - 10.0;
    for (hold, level) in [0.0, 8.0, 0.0, -8.0, 0.0, 8.0, -8.0, 0.0].into_iter().enumerate() {
        let start_s = 2.0 * hold as f32;
        assert_near(joint_deg(start_s + 0.41), level, 1e-5, "after the change");
        assert_near(joint_deg(start_s + 1.99), level, 1e-5, "at the end of the hold");
    }
    assert_near(joint_deg(2.1), 2.0, 1e-4, "a quarter of the change of A");
    assert_near(joint_deg(12.1), 4.0, 1e-4, "a quarter of the change of 2 A, twice as fast");
    assert_near(joint_deg(12.3), -4.0, 1e-4, "three quarters of it");
}

#[test]
fn the_signal_stands_between_two_moves_and_two_rests() {
    let start = [10.0, 20.0, -70.0, 5.0, -5.0, 30.0];
    for params in [steps(), chirp()] {
        let signal = Signal::new(&params, &start);
        let base: [f32; ARM_JOINTS] =
            core::array::from_fn(|joint| f32::from(params.base_cdeg[joint]) / 100.0);
        let total_s = params.duration_s + 6.0;
        assert_near(signal.duration_s(), total_s, 1e-5, "the whole way");
        for joint in 0..ARM_JOINTS {
            let at = |t_s: f32| signal.pose_deg(t_s)[joint];
            let halfway = f32::midpoint(start[joint], base[joint]);
            for t_s in [-1.0, 0.0, total_s, total_s + 0.5] {
                assert_near(at(t_s), start[joint], 1e-5, "at rest in the start pose");
            }
            assert_near(at(1.0), halfway, 1e-5, "halfway to the base pose");
            assert_near(at(total_s - 1.0), halfway, 1e-4, "halfway back");
            for t_s in [2.0, 2.5, 3.0, total_s - 3.0, total_s - 2.5, total_s - 2.0] {
                assert_near(at(t_s), base[joint], 1e-4, "at rest in the base pose");
            }
        }
    }
}

#[test]
fn a_chirp_is_zero_for_a_second_at_each_end_and_its_amplitude_follows_its_limits() {
    let params = chirp();
    assert_eq!(params.validate(&TABLE), Ok(()));
    let signal = Signal::new(&params, &READY_DEG);
    let joint_deg = |t_s: f32| signal.pose_deg(3.0 + t_s)[3];
    for k in 0..100 {
        let t_s = k as f32 * 0.01;
        assert_near(joint_deg(t_s), 0.0, 0.0, "the first second");
        assert_near(joint_deg(22.0 - t_s), 0.0, 0.0, "the last second");
    }
    // The highest swing in a second around the time where the frequency is f = 0.1 · 100^((t − 1)/20).
    let swing_deg =
        |from_s: f32| (0..1000).map(|k| joint_deg(from_s + k as f32 * 0.001).abs()).fold(0.0, f32::max);
    let speed_limited_deg = 60.0 / (core::f32::consts::TAU * 3.16);
    assert_near(swing_deg(15.5), speed_limited_deg, 0.4, "at 3.2 Hz: vmax/(2πf)");
    let accel_limited_deg = 1000.0 / (core::f32::consts::TAU * 8.0 * core::f32::consts::TAU * 8.0);
    assert_near(swing_deg(19.6), accel_limited_deg, 0.1, "at 8 Hz: amax/(2πf)²");
    // One whole cycle from 0.1 to 0.123 Hz takes 9 s: the first extreme is the full amplitude.
    let first_deg = (100..600).map(|k| joint_deg(k as f32 * 0.01)).fold(0.0, f32::max);
    assert_near(first_deg, 10.0, 0.05, "at 0.1 Hz: the amplitude");
}

#[test]
fn refusals_become_ack_statuses() {
    let statuses = [
        (Refusal::Joint, -11),
        (Refusal::Kind, -12),
        (Refusal::Amplitude, -13),
        (Refusal::Duration, -14),
        (Refusal::Speed, -15),
        (Refusal::Acceleration, -16),
        (Refusal::Frequencies, -17),
        (Refusal::Base, -18),
        (Refusal::Start, -29),
        (Refusal::StartDistance, -30),
    ];
    for (refusal, status) in statuses {
        assert_eq!(refusal.ack_status(), status, "{refusal}");
    }
}

#[test]
fn a_start_pose_is_checked_joint_by_joint() {
    let mut start = READY_DEG;
    start[1] = 101.0;
    start[4] = 151.0;
    assert_eq!(steps().validate_start(&start, &TABLE), Err((1, Refusal::StartDistance)), "J2 before J5");
    start[1] = 100.0;
    assert_eq!(steps().validate_start(&start, &TABLE), Err((4, Refusal::Start)), "outside before too far");
    start[4] = f32::NAN;
    assert_eq!(steps().validate_start(&start, &TABLE), Err((4, Refusal::Start)));
}

/// Parameters near and inside the limits of their checks.
fn params() -> impl Strategy<Value = Params> {
    let numbers =
        (0.1_f32..60.0, 0.05_f32..10.0, 0.1_f32..20.0, 4.0_f32..120.0, 1.0_f32..150.0, 1.0_f32..2000.0);
    (1_u8..=6, 1_u8..=2, numbers, prop::array::uniform6(-9000_i16..9000)).prop_map(
        |(joint, kind, (amp_deg, f0_hz, f1_hz, duration_s, vmax_dps, amax_dps2), base_cdeg)| Params {
            joint,
            kind,
            amp_deg,
            f0_hz,
            f1_hz,
            duration_s,
            vmax_dps,
            amax_dps2,
            base_cdeg,
        },
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_signal_that_passes_its_checks_stays_10_degrees_inside_the_limits(
        params in params().prop_filter("valid", |params| params.validate(&TABLE).is_ok()),
        shares in prop::array::uniform6(0.0_f32..=1.0),
    ) {
        let inside = |joint: usize| (TABLE[joint].min_deg + 10.0, TABLE[joint].max_deg - 10.0);
        let base_deg = |joint: usize| f32::from(params.base_cdeg[joint]) / 100.0;
        let start = core::array::from_fn(|joint| {
            let (low_deg, high_deg) = inside(joint);
            let low_deg = low_deg.max(base_deg(joint) - 90.0);
            let high_deg = high_deg.min(base_deg(joint) + 90.0);
            low_deg + shares[joint] * (high_deg - low_deg)
        });
        prop_assume!(params.validate_start(&start, &TABLE).is_ok());
        let signal = Signal::new(&params, &start);
        let mut before_deg = start;
        for k in 0..=(signal.duration_s() * 200.0) as u32 {
            let t_s = k as f32 / 200.0;
            let pose_deg = signal.pose_deg(t_s);
            for (joint, deg) in pose_deg.iter().enumerate() {
                let (low_deg, high_deg) = inside(joint);
                prop_assert!((low_deg - 1e-4..=high_deg + 1e-4).contains(deg), "J{} at {} s", joint + 1, t_s);
            }
            let moving = usize::from(params.joint) - 1;
            let off_deg = (pose_deg[moving] - base_deg(moving)).abs();
            let in_signal = (3.0..=3.0 + params.duration_s).contains(&t_s);
            prop_assert!(!in_signal || off_deg <= params.amp_deg + 1e-4, "{}° at {} s", off_deg, t_s);
            let step_deg = (pose_deg[moving] - before_deg[moving]).abs();
            // A fade of at least 3.75 · amp / vmax adds at most 1.875 · amp over it, half of vmax, to the
            // speed of a sine of at most vmax.
            let faster = if params.kind == 1 { 1.5 } else { 1.0 };
            prop_assert!(!in_signal || k == 0 || step_deg <= faster * params.vmax_dps / 200.0 + 1e-3);
            before_deg = pose_deg;
        }
    }

    #[test]
    fn no_parameters_panic(
        joint in any::<u8>(), kind in any::<u8>(), numbers in prop::array::uniform6(ANY),
        base_cdeg in prop::array::uniform6(any::<i16>()), start in prop::array::uniform6(ANY), t_s in ANY,
    ) {
        let [amp_deg, f0_hz, f1_hz, duration_s, vmax_dps, amax_dps2] = numbers;
        let params =
            Params { joint, kind, amp_deg, f0_hz, f1_hz, duration_s, vmax_dps, amax_dps2, base_cdeg };
        let bytes: [u8; SIGNAL_BYTES] = params.to_bytes().as_slice().try_into().expect("38 bytes");
        prop_assert_eq!(Params::from_bytes(&bytes).to_bytes(), params.to_bytes());
        let _any_start = params.validate_start(&start, &TABLE);
        let valid = Params { joint: 1 + joint % 6, kind: 1 + kind % 2, amax_dps2: 400.0, ..chirp() };
        prop_assert_eq!(valid.validate(&TABLE), Ok(()));
        let pose_deg = Signal::new(&valid, &READY_DEG).pose_deg(t_s);
        prop_assert!(pose_deg.iter().all(|deg| deg.is_finite()));
        prop_assert!(params.validate(&TABLE) != Ok(()) || (1..=ARM_JOINTS as u8).contains(&joint));
    }
}

#[test]
fn nan_and_infinity_are_refused_by_the_check_of_their_field() {
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let refused = |set: fn(&mut Params, f32)| {
            let mut params = chirp();
            set(&mut params, wrong);
            params.validate(&TABLE)
        };
        assert_eq!(refused(|params, wrong| params.amp_deg = wrong), Err(Refusal::Amplitude));
        assert_eq!(refused(|params, wrong| params.duration_s = wrong), Err(Refusal::Duration));
        assert_eq!(refused(|params, wrong| params.vmax_dps = wrong), Err(Refusal::Speed));
        assert_eq!(refused(|params, wrong| params.amax_dps2 = wrong), Err(Refusal::Acceleration));
        assert_eq!(refused(|params, wrong| params.f0_hz = wrong), Err(Refusal::Frequencies));
        assert_eq!(refused(|params, wrong| params.f1_hz = wrong), Err(Refusal::Frequencies));
    }
}
