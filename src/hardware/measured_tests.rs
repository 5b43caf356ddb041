//! Tests of the plant `measured` against what the lab measured on its arm.

use super::chain;
use super::test_bus::{TestBus, steps};
use super::{HardwareOptions, PlantKind};

const PERIOD_S: f64 = 4.0;
const CYCLE_US: u64 = 2_000;
/// Lags of J1–J6 (s) that the lab leads its plans by.
const LAGS_S: [f64; 6] = [0.120, 0.113, 0.120, 0.054, 0.038, 0.028];
const UNDER_GRAVITY_DEG: [f64; 7] = [0.0, -30.0, -60.0, 0.0, 0.0, 0.0, -20.0];

/// An arm that holds `pose_deg`, with gains (P, D, I), starting force and dead zone of all its joints.
fn arm(pose_deg: [f64; 7], gains: [u8; 3], starting_force: u8, dead_zone: u8) -> TestBus {
    let options = HardwareOptions { pose_deg, plant: PlantKind::Measured, ..HardwareOptions::default() };
    let mut bus = TestBus::new(&options);
    for id in 1..=6 {
        bus.write(id, 21, &gains);
        bus.write(id, 24, &[starting_force, 0, dead_zone, dead_zone]);
        bus.go(id, steps(usize::from(id) - 1, pose_deg[usize::from(id) - 1]), 2_000);
    }
    bus.wait(1_000_000);
    bus
}

impl TestBus {
    /// Sends goals (°) of J1–J6 and waits for the next cycle.
    fn cycle(&mut self, goals_deg: &[f64]) {
        let start_us = self.now_us;
        let goals: Vec<_> =
            goals_deg.iter().enumerate().map(|(joint, deg)| (joint as u8 + 1, steps(joint, *deg))).collect();
        self.sync_write_goals(&goals);
        self.now_us = start_us + CYCLE_US;
    }

    fn encoder_deg(&self, joint: usize) -> f64 {
        self.hardware.joints(self.now_us)[joint].encoder_deg
    }
}

/// Lag (s) and RMS error (°) of one joint that follows a sine of 4 s.
fn follow_sine(joint: usize, amplitude_deg: f64) -> (f64, f64) {
    let mut bus = arm([0.0; 7], [32, 8, 0], 0, 3);
    let omega = core::f64::consts::TAU / PERIOD_S;
    let (mut in_phase, mut across, mut squares) = (0.0, 0.0, 0.0);
    let cycles_per_period = 2_000;
    for cycle in 0..3 * cycles_per_period {
        let (sin, cos) = libm::sincos(omega * f64::from(cycle) * 0.002);
        let mut goals = [0.0; 6];
        goals[joint] = amplitude_deg * sin;
        bus.cycle(&goals);
        if cycle >= cycles_per_period {
            let deg = bus.encoder_deg(joint);
            in_phase += deg * sin;
            across += deg * cos;
            squares += (deg - goals[joint]) * (deg - goals[joint]);
        }
    }
    let lag_s = libm::atan2(-across, in_phase) / omega;
    (lag_s, (squares / f64::from(2 * cycles_per_period)).sqrt())
}

#[test]
fn joints_follow_sines_with_the_measured_lags_and_errors() {
    let amplitudes_deg = [30.0, 20.0, 25.0, 20.0, 30.0, 45.0];
    let errors_deg = [3.9, 2.4, 3.2, 1.1, 1.3, 1.4];
    for joint in 0..6 {
        let (lag_s, error_deg) = follow_sine(joint, amplitudes_deg[joint]);
        let name = joint + 1;
        assert!((lag_s / LAGS_S[joint] - 1.0).abs() < 0.08, "J{name} lags by {lag_s:.3} s");
        assert!((error_deg / errors_deg[joint] - 1.0).abs() < 0.15, "J{name} is off by {error_deg:.2}°");
    }
}

/// Mean distance (°) from the goal after steps of ±5°.
fn steady_error(joint: usize, gains: [u8; 3], starting_force: u8, dead_zone: u8) -> f64 {
    let mut bus = arm(UNDER_GRAVITY_DEG, gains, starting_force, dead_zone);
    let mut goal_deg = UNDER_GRAVITY_DEG[joint];
    let steps_deg = [5.0, -5.0, -5.0, 5.0, 5.0, -5.0, -5.0, 5.0];
    let mut sum = 0.0;
    for step_deg in steps_deg {
        goal_deg += step_deg;
        bus.go(joint as u8 + 1, steps(joint, goal_deg), 2_000);
        bus.wait(3_000_000);
        sum += (bus.encoder_deg(joint) - goal_deg).abs();
    }
    sum / steps_deg.len() as f64
}

#[test]
fn the_sag_under_gravity_falls_as_one_over_p_and_i_takes_it_away_slowly() {
    let cases = [
        (1, [32, 8, 0], 1.34),
        (1, [64, 16, 0], 0.69),
        (1, [64, 16, 4], 0.41),
        (2, [32, 8, 0], 0.84),
        (2, [64, 16, 4], 0.36),
    ];
    for (joint, gains, expected_deg) in cases {
        let error_deg = steady_error(joint, gains, 0, 3);
        assert!((error_deg / expected_deg - 1.0).abs() < 0.15, "J{} {gains:?}: {error_deg:.2}°", joint + 1);
    }
}

#[test]
fn with_the_controller_s_gains_j1_to_j3_settle_within_0_3_degrees() {
    for (joint, starting_force, dead_zone) in [(0, 0, 3), (1, 20, 1), (2, 20, 1)] {
        let error_deg = steady_error(joint, [32, 4, 16], starting_force, dead_zone);
        assert!(error_deg <= 0.3, "J{}: {error_deg:.2}°", joint + 1);
    }
}

fn minimum_jerk(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)
}

#[test]
fn j4_and_j5_settle_0_6_to_1_degree_from_the_goal() {
    for joint in [3, 4] {
        let mut bus = arm(UNDER_GRAVITY_DEG, [32, 8, 0], 0, 3);
        let mut goals = [0.0, -30.0, -60.0, 0.0, 0.0, 0.0];
        let targets_deg = [30.0, -10.0, 25.0, 40.0, -20.0, 0.0, 15.0, 5.0];
        let mut errors = Vec::new();
        for target_deg in targets_deg {
            let from_deg: f64 = goals[joint];
            let cycles = ((target_deg - from_deg).abs() * 1.875 / 30.0 / 0.002) as u32;
            for cycle in 0..=cycles {
                let share = minimum_jerk(f64::from(cycle) / f64::from(cycles));
                goals[joint] = from_deg + (target_deg - from_deg) * share;
                bus.cycle(&goals);
            }
            bus.wait(500_000);
            errors.push((bus.encoder_deg(joint) - target_deg).abs());
        }
        let mean_deg = errors.iter().sum::<f64>() / errors.len() as f64;
        let worst_deg = errors.iter().copied().fold(0.0, f64::max);
        assert!((0.55..=1.0).contains(&mean_deg), "J{}: {mean_deg:.2}°", joint + 1);
        assert!(worst_deg <= 2.4, "J{}: {worst_deg:.2}°", joint + 1);
    }
}

#[test]
fn j1_to_j3_stick_after_a_reversal_for_0_2_to_0_5_s() {
    for (joint, amplitude_deg) in [(0, 30.0), (1, 20.0), (2, 25.0)] {
        let mut bus = arm([0.0; 7], [32, 8, 0], 0, 3);
        let omega = core::f64::consts::TAU / PERIOD_S;
        let (mut longest, mut since, mut last_steps) = (0, 0, 0.0_f64);
        for cycle in 0..4_000 {
            let mut goals = [0.0; 6];
            goals[joint] = amplitude_deg * libm::sin(omega * f64::from(cycle) * 0.002);
            bus.cycle(&goals);
            let reading = bus.encoder_deg(joint) * 4_096.0 / 360.0;
            if (reading - last_steps).abs() > 1.5 {
                last_steps = reading;
                since = cycle;
            }
            if cycle > 1_000 {
                longest = longest.max(cycle - since);
            }
        }
        let stuck_s = f64::from(longest) * 0.002;
        assert!((0.2..=0.5).contains(&stuck_s), "J{} sticks for {stuck_s:.2} s", joint + 1);
    }
}

/// Largest step (°) from rest to rest, and largest distance (°) from the mean lag, of a J2 that moves at 1.5 °/s.
fn creep(gains: [u8; 3], starting_force: u8, dead_zone: u8) -> (f64, f64) {
    let mut bus = arm(UNDER_GRAVITY_DEG, gains, starting_force, dead_zone);
    let (mut rest_deg, mut moving, mut step_deg) = (bus.encoder_deg(1), false, 0.0_f64);
    let mut errors = Vec::new();
    for cycle in 0..5_000 {
        let goal_deg = -30.0 + 1.5 * f64::from(cycle) * 0.002;
        bus.cycle(&[0.0, goal_deg, -60.0, 0.0, 0.0, 0.0]);
        let joint = bus.hardware.joints(bus.now_us)[1];
        if joint.dps == 0.0 {
            if moving {
                step_deg = step_deg.max((joint.encoder_deg - rest_deg).abs());
            }
            rest_deg = joint.encoder_deg;
        }
        moving = joint.dps != 0.0;
        if cycle > 1_500 {
            errors.push(goal_deg - joint.encoder_deg);
        }
    }
    let mean_deg = errors.iter().sum::<f64>() / errors.len() as f64;
    (step_deg, errors.iter().map(|error| (error - mean_deg).abs()).fold(0.0, f64::max))
}

#[test]
fn a_slow_j2_moves_in_steps_until_starting_force_and_dead_zone_are_set() {
    let (step_deg, _) = creep([32, 8, 0], 0, 3);
    assert!((0.6..=1.4).contains(&step_deg), "steps of {step_deg:.2}°");
    let (_, error_deg) = creep([32, 4, 16], 20, 1);
    assert!(error_deg <= 0.4, "off by {error_deg:.2}°");
}

#[test]
fn the_load_of_j1_is_2_8_percent_and_0_53_percent_per_degree_per_second() {
    for speed_dps in [-30.0, 10.0, 30.0] {
        let mut bus = arm([0.0; 7], [32, 8, 0], 0, 3);
        let mut loads = Vec::new();
        for cycle in 0..2_000 {
            bus.cycle(&[speed_dps * f64::from(cycle) * 0.002, 0.0, 0.0, 0.0, 0.0, 0.0]);
            if cycle > 1_000 {
                loads.push(bus.hardware.joints(bus.now_us)[0].load_percent);
            }
        }
        let mean = loads.iter().sum::<f64>() / loads.len() as f64;
        let expected = 2.8_f64.copysign(speed_dps) + 0.53 * speed_dps;
        assert!((mean - expected).abs() < 0.4, "{mean:.1} % instead of {expected:.1} % at {speed_dps} °/s");
    }
}

#[test]
fn links_of_j2_to_j4_have_play_that_the_encoder_does_not_see() {
    let offset = |pose_deg: [f64; 7], joint: usize| {
        let bus = arm(pose_deg, [32, 4, 16], 20, 1);
        bus.deg(joint) - bus.encoder_deg(joint)
    };
    let ahead = [0.0, -60.0, -30.0, 0.0, 0.0, 0.0, 0.0];
    let behind = ahead.map(|deg: f64| -deg);
    for (joint, play_deg) in [(1, 1.5), (2, 1.9)] {
        let (one, other) = (offset(ahead, joint), offset(behind, joint));
        assert!((one.abs() + other.abs() - play_deg).abs() < 0.05, "{one} and {other}");
        assert!(one < 0.0 && other > 0.0, "each hangs down: {one} and {other}");
    }
    assert!(offset(ahead, 0).abs() < 1e-9, "J1 has none");
}

#[test]
fn j5_s_encoder_reads_off_by_its_curve() {
    // At 60°: 1.493·0.866 + 0.598·0.866 + 0.018·(−0.5) − 0.377·(−1.5) = 2.367°.
    let options = HardwareOptions {
        pose_deg: [0.0, 0.0, 0.0, 0.0, 60.0, 0.0, 0.0],
        plant: PlantKind::Measured,
        ..HardwareOptions::default()
    };
    let mut bus = TestBus::new(&options);
    assert!((bus.deg(4) - 60.0).abs() < 1e-4);
    assert_eq!(bus.word(5, 56), steps(4, 62.367));
}

#[test]
fn gains_p_raise_the_vibration_of_a_moving_hand() {
    let rms = |p: u8| {
        let mut bus = arm([0.0, -20.0, -40.0, 60.0, 0.0, 0.0, 0.0], [p, 8, 0], 0, 3);
        let omega = core::f64::consts::TAU / PERIOD_S;
        let (mut last, mut squares) = (None, 0.0);
        for cycle in 0..2_000 {
            bus.cycle(&[20.0 * libm::sin(omega * f64::from(cycle) * 0.002), -20.0, -40.0, 60.0, 0.0, 0.0]);
            let acc = bus.hardware.imu(bus.now_us).expect("it answers").acc;
            // The difference of neighbours leaves what is fast: √2 of its RMS.
            if let Some(last) = last.replace(acc) {
                let difference = |axis: usize| f64::from(acc[axis] - last[axis]) / 4_096.0;
                squares += (0..3).map(|axis| difference(axis) * difference(axis)).sum::<f64>();
            }
        }
        (squares / 1_999.0 / 2.0).sqrt()
    };
    let [p32, p64, p96] = [rms(32), rms(64), rms(96)];
    assert!((0.1..0.2).contains(&p32), "{p32:.3} g");
    assert!((2.0..3.0).contains(&(p64 / p32)) && (1.3..1.7).contains(&(p96 / p64)), "{p32} {p64} {p96}");
}

/// Joint angles of the circle: vertical, radius 50 mm, 170 mm ahead around a height of 310 mm, flange as in the zero
/// pose. J4 keeps J5's axis upright, so J5 turns the flange back by what J1 turns the arm.
fn circle_pose(phase: f64) -> [f64; 6] {
    let (sin, cos) = libm::sincos(phase);
    let (side_mm, upper_mm, fore_mm) = (-64.62, 110.4, 96.0);
    let (x_mm, y_mm) = (170.0 - 43.2, side_mm + 50.0 * sin);
    let ahead_mm = (x_mm * x_mm + y_mm * y_mm - side_mm * side_mm).sqrt();
    let height_mm = 310.0 + 50.0 * cos - 73.18 - 131.56;
    let turn = libm::atan2(y_mm, x_mm) - libm::atan2(side_mm, ahead_mm);
    let reach2 = ahead_mm * ahead_mm + height_mm * height_mm;
    let elbow = libm::acos((reach2 - upper_mm * upper_mm - fore_mm * fore_mm) / (2.0 * upper_mm * fore_mm));
    let shoulder = libm::atan2(ahead_mm, height_mm)
        - libm::atan2(fore_mm * libm::sin(elbow), upper_mm + fore_mm * libm::cos(elbow));
    [turn, -shoulder, -elbow, shoulder + elbow, -turn, 0.0].map(f64::to_degrees)
}

/// The lab's circle at `t_s`: 3 s in, two laps of 4 s eased over 1 s, 3 s out.
fn circle_plan(t_s: f64) -> [f64; 6] {
    let omega = core::f64::consts::TAU / 4.0;
    let lap = (t_s - 3.0).clamp(0.0, 9.0);
    let phase = if lap < 1.0 {
        0.5 * omega * lap * lap
    } else if lap < 8.0 {
        omega * (lap - 0.5)
    } else {
        2.0 * core::f64::consts::TAU - 0.5 * omega * (9.0 - lap) * (9.0 - lap)
    };
    let share = minimum_jerk(t_s / 3.0) * minimum_jerk((15.0 - t_s) / 3.0);
    circle_pose(phase).map(|deg| deg * share)
}

/// Distance (mm) of the flange by the encoders from the plan: RMS and largest.
fn circle_error_mm(gains_j1_to_j3: [u8; 3], lead_s: [f64; 6]) -> (f64, f64) {
    let mut bus = arm([0.0; 7], [32, 8, 0], 0, 3);
    for id in 1..=3 {
        bus.write(id, 21, &gains_j1_to_j3);
    }
    let flange = |deg: &[f64; 6]| chain::poses(deg, false).1.position_mm;
    let (mut squares, mut largest) = (0.0, 0.0_f64);
    let cycles = 7_500;
    for cycle in 0..cycles {
        let t_s = f64::from(cycle) * 0.002;
        let led: [f64; 6] = core::array::from_fn(|joint| circle_plan(t_s + lead_s[joint])[joint]);
        bus.cycle(&led);
        let measured = bus.hardware.joints(bus.now_us).map(|joint| joint.encoder_deg);
        let found = flange(&core::array::from_fn(|joint| measured[joint]));
        let planned = flange(&circle_plan(t_s));
        let square: f64 = found.iter().zip(planned).map(|(a, b)| (a - b) * (a - b)).sum();
        squares += square;
        largest = largest.max(square.sqrt());
    }
    ((squares / f64::from(cycles)).sqrt(), largest)
}

#[test]
fn the_plan_of_the_circle_is_the_circle() {
    for phase in [0.0, 1.0, 2.5, 4.0] {
        let [x, y, z] = chain::poses(&circle_pose(phase), false).1.position_mm;
        let (sin, cos) = libm::sincos(phase);
        assert!((y + 64.62 - 50.0 * sin).abs() < 0.01 && (z - 310.0 - 50.0 * cos).abs() < 0.01, "{y} {z}");
        assert!((x - 170.0).abs() < 0.01, "{x}");
    }
}

#[test]
fn the_circle_has_the_measured_errors() {
    // RMS and largest, as measured, and how far off ours may be (mm).
    let cases = [
        ([32, 8, 0], [0.0; 6], (12.5, 1.5), (21.0, 3.0)),
        ([32, 8, 0], LAGS_S, (5.0, 2.0), (12.4, 1.5)),
        ([32, 8, 16], LAGS_S, (2.5, 0.5), (7.4, 1.2)),
    ];
    for (gains, lead_s, (rms_mm, rms_off), (largest_mm, largest_off)) in cases {
        let (rms, largest) = circle_error_mm(gains, lead_s);
        assert!((rms - rms_mm).abs() <= rms_off, "{gains:?}: {rms:.1} mm RMS instead of {rms_mm}");
        assert!((largest - largest_mm).abs() <= largest_off, "{gains:?}: {largest:.1} mm at most");
    }
}

#[test]
fn a_limp_arm_falls_and_a_held_one_does_not() {
    let mut bus = arm(UNDER_GRAVITY_DEG, [32, 4, 16], 20, 1);
    let held_deg = bus.deg(1);
    bus.wait(1_000_000);
    assert!((bus.deg(1) - held_deg).abs() < 1.0);
    bus.write(2, 40, &[0]);
    bus.wait(1_000_000);
    assert!(bus.deg(1) < held_deg - 10.0, "J2 falls ahead: {}", bus.deg(1));
    bus.wait(5_000_000);
    assert!(bus.deg(1) >= -143.2 - 1.0, "to its end stop at most: {}", bus.deg(1));
}

#[test]
fn the_object_is_squeezed_and_slips_at_its_load() {
    let object = super::Object {
        slips_above_percent: Some(40.0),
        ..super::Object::of(super::ObjectSize::AngleDeg(-30.0))
    };
    let options =
        HardwareOptions { object: Some(object), plant: PlantKind::Measured, ..HardwareOptions::default() };
    let mut bus = TestBus::new(&options);
    for address in [16, 28, 48] {
        bus.write_word(7, address, 1_000);
    }
    bus.go(7, steps(6, -35.0), 300);
    bus.wait(2_000_000);
    // Servo and object share the 5°: each gives half.
    assert!((bus.deg(6) + 32.5).abs() < 0.4, "{}", bus.deg(6));
    let load = bus.word(7, 60) & 0x3FF;
    assert!((200..=300).contains(&load), "{load}");
    bus.go(7, steps(6, -45.0), 300);
    bus.wait(2_000_000);
    assert_eq!(bus.byte(7, 65), 0);
    assert!((bus.deg(6) + 45.0).abs() < 0.6, "{}", bus.deg(6));
    assert!(bus.hardware.object(bus.now_us).is_none());
}

#[test]
fn who_looks_and_how_often_changes_nothing_here_either() {
    let run = |looks: bool| {
        let mut bus = arm(UNDER_GRAVITY_DEG, [32, 4, 16], 20, 1);
        let mut heard = Vec::new();
        for cycle in 0..200 {
            let goal_deg = -30.0 + f64::from(cycle) * 0.05;
            bus.cycle(&[0.0, goal_deg, -60.0, 0.0, 0.0, 0.0]);
            if looks {
                bus.hardware.joints(bus.now_us + 5_000);
                bus.hardware.imu(bus.now_us.saturating_sub(3_000));
            }
            heard.extend(bus.sync_read(56, 10, &[1, 2, 3, 4, 5, 6]));
            bus.wait(333);
        }
        (heard, bus.hardware.imu(bus.now_us))
    };
    assert_eq!(run(false), run(true));
}
