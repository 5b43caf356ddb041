//! Properties of MOVE_TO, JOG frame 0 and TRACK on arbitrary inputs: limits, speeds and accelerations hold,
//! and no number, finite or not, panics or moves a joint that should rest.

#![expect(clippy::float_cmp, reason = "landing on a goal or an end of the range is exact")]

use firmware_core::joints::{JOINTS, JointValues, SPEED_LIMIT_DPS, TABLE};
use firmware_core::motion::joint::{
    JOG_ACCEL_DPS2, JOG_SPEED_DPS, JointMotion, at_rest, jog_step, stoppable_speed_dps, track_step,
};
use firmware_core::motion::min_jerk;
use proptest::array::uniform7;
use proptest::num::f32::ANY;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// Single-precision angles have a grain of 1.5e-5°, which a step of 0.5 ms makes 0.03 °/s.
const GRAIN_DPS: f32 = 0.05;
/// A step past the end of the range lands on it: from 1.5 changes of speed it makes 0.375, so it loses 1.125.
const LANDING_CHANGES: f32 = 1.125;

fn config(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(5), failure_persistence: None, ..Config::default() }
}

fn motion(q_deg: [f32; JOINTS], v_dps: [f32; JOINTS]) -> JointMotion {
    JointMotion { q_deg, v_dps }
}

/// Poses inside the limits less the margin and up to 30° outside.
fn poses() -> impl Strategy<Value = [f32; JOINTS]> {
    uniform7(-0.1_f32..1.1).prop_map(|shares| {
        core::array::from_fn(|joint| {
            let limits = &TABLE[joint];
            let q_deg = limits.min_deg + shares[joint] * (limits.max_deg - limits.min_deg);
            q_deg.max(limits.min_deg - 30.0).min(limits.max_deg + 30.0)
        })
    })
}

/// The range of joint `joint`, widened to where it is.
fn range(joint: usize, q_deg: f32) -> (f32, f32) {
    (TABLE[joint].min_goal_deg().min(q_deg), TABLE[joint].max_goal_deg().max(q_deg))
}

/// Checks one step of each joint from `before` to `after`. `landing_goal`: where TRACK may land
/// from 1.5 changes of speed.
fn check_step(
    before: &JointMotion,
    after: &JointMotion,
    speed_max_dps: f32,
    accel_dps2: impl Fn(usize) -> f32,
    landing_goal: Option<&[f32; JOINTS]>,
    dt_s: f32,
) {
    for joint in 0..JOINTS {
        let (low_deg, high_deg) = range(joint, before.q_deg[joint]);
        let (q_deg, v_dps) = (after.q_deg[joint], after.v_dps[joint]);
        let at = format!("J{}: {before:?} -> {after:?}", joint + 1);
        assert!((low_deg..=high_deg).contains(&q_deg), "{at}: leaves {low_deg}..{high_deg}");
        assert!(v_dps.abs() <= speed_max_dps + GRAIN_DPS, "{at}: faster than {speed_max_dps}");
        let at_goal = landing_goal.is_some_and(|goal| goal[joint] == q_deg) && v_dps == 0.0;
        let changes = if at_goal {
            1.5
        } else if q_deg == low_deg || q_deg == high_deg {
            LANDING_CHANGES
        } else {
            1.0
        };
        let change_dps = (v_dps - before.v_dps[joint]).abs();
        let change_max_dps = changes * accel_dps2(joint) * dt_s + GRAIN_DPS;
        assert!(change_dps <= change_max_dps, "{at}: changes by {change_dps}, at most {change_max_dps}");
    }
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn jog_keeps_range_speed_and_acceleration(
        q_deg in poses(),
        targets in prop::collection::vec(uniform7(-60.0_f32..60.0), 8),
        dt_s in 0.0005_f32..0.006,
    ) {
        let mut now = motion(q_deg, [0.0; JOINTS]);
        for target_dps in targets {
            for _ in 0..200 {
                let before = now;
                jog_step(&mut now, &target_dps, JOINTS, &TABLE, dt_s);
                check_step(&before, &now, JOG_SPEED_DPS, |_| JOG_ACCEL_DPS2, None, dt_s);
            }
        }
    }

    #[test]
    fn track_keeps_range_speed_and_acceleration(
        q_deg in poses(),
        goals in prop::collection::vec((poses(), 0.0_f32..200.0, prop::bool::weighted(0.2)), 8),
        dt_s in 0.0005_f32..0.006,
    ) {
        let mut now = motion(q_deg, [0.0; JOINTS]);
        for (goal_deg, vmax_dps, stopping) in goals {
            let landing = core::array::from_fn(|joint| {
                goal_deg[joint].clamp(TABLE[joint].min_goal_deg(), TABLE[joint].max_goal_deg())
            });
            for _ in 0..200 {
                let before = now;
                track_step(&mut now, &goal_deg, JOINTS, &TABLE, vmax_dps, stopping, dt_s);
                let accel = |joint: usize| TABLE[joint].accel_limit_dps2;
                check_step(&before, &now, SPEED_LIMIT_DPS, accel, Some(&landing), dt_s);
            }
        }
    }

    #[test]
    fn steps_of_changing_length_never_leave_the_range(
        q_deg in poses(),
        v_dps in uniform7(-90.0_f32..90.0),
        steps in prop::collection::vec((uniform7(-300.0_f32..300.0), any::<bool>(), 0.0005_f32..0.006), 400),
    ) {
        let mut now = motion(q_deg, v_dps);
        for (wanted, jogs, dt_s) in steps {
            let before = now;
            if jogs {
                jog_step(&mut now, &wanted, JOINTS, &TABLE, dt_s);
            } else {
                track_step(&mut now, &wanted, JOINTS, &TABLE, 200.0, false, dt_s);
            }
            for joint in 0..JOINTS {
                let (low_deg, high_deg) = range(joint, before.q_deg[joint]);
                prop_assert!((low_deg..=high_deg).contains(&now.q_deg[joint]));
                prop_assert!(now.v_dps[joint].abs() <= SPEED_LIMIT_DPS + GRAIN_DPS);
            }
        }
    }

    #[test]
    fn track_lands_on_the_goal_and_stays(q_deg in poses(), goal_deg in poses(), dt_s in 0.0005_f32..0.006) {
        let mut now = motion(q_deg, [0.0; JOINTS]);
        // 400° at 90 °/s and two ramps of 90/400 s.
        for _ in 0..(5.5 / dt_s) as u32 {
            track_step(&mut now, &goal_deg, JOINTS, &TABLE, 90.0, false, dt_s);
        }
        for joint in 0..JOINTS {
            let allowed = goal_deg[joint].clamp(TABLE[joint].min_goal_deg(), TABLE[joint].max_goal_deg());
            prop_assert_eq!(now.q_deg[joint], allowed);
            prop_assert_eq!(now.v_dps[joint], 0.0);
        }
    }

    #[test]
    fn stopping_brings_every_joint_to_rest_at_its_own_limit(
        v_dps in uniform7(-90.0_f32..90.0),
        dt_s in 0.0005_f32..0.006,
    ) {
        let mut now = motion([0.0, 0.0, 0.0, 0.0, 0.0, -45.0, -25.0], v_dps);
        let braking_s = v_dps.iter().zip(&TABLE).map(|(v_dps, joint)| v_dps.abs() / joint.accel_limit_dps2);
        let slowest_s = braking_s.fold(0.0, f32::max);
        let mut step = || {
            track_step(&mut now, &[100.0; JOINTS], JOINTS, &TABLE, 90.0, true, dt_s);
            at_rest(&now, JOINTS)
        };
        let steps = (slowest_s / dt_s) as u32;
        for _ in 1..steps {
            prop_assert!(!step(), "no earlier than at the limit");
        }
        prop_assert!([step(), step(), step()].contains(&true), "no later");
        prop_assert_eq!(now.v_dps, [0.0; JOINTS]);
    }

    #[test]
    fn joints_past_n_do_not_change(q_deg in poses(), v_dps in uniform7(-90.0_f32..90.0), n in 0..JOINTS) {
        let before = motion(q_deg, v_dps);
        let (mut jogged, mut tracked) = (before, before);
        jog_step(&mut jogged, &[30.0; JOINTS], n, &TABLE, 0.002);
        track_step(&mut tracked, &[0.0; JOINTS], n, &TABLE, 90.0, false, 0.002);
        for now in [jogged, tracked] {
            prop_assert_eq!(&now.q_deg[n..], &before.q_deg[n..]);
            prop_assert_eq!(&now.v_dps[n..], &before.v_dps[n..]);
        }
    }

    #[test]
    fn braking_from_the_stoppable_speed_ends_at_the_distance(
        distance_deg in 0.01_f32..300.0,
        accel_dps2 in 100.0_f32..2000.0,
        dt_s in 0.0005_f32..0.006,
    ) {
        let mut v_dps = f64::from(stoppable_speed_dps(distance_deg, accel_dps2, dt_s));
        let mut way_deg = 0.0;
        while v_dps > 0.0 {
            way_deg += v_dps * f64::from(dt_s);
            v_dps -= f64::from(accel_dps2) * f64::from(dt_s);
        }
        // Whole steps of braking end within an eighth of a step's change of the distance.
        let grain_deg = 0.126 * f64::from(accel_dps2) * f64::from(dt_s) * f64::from(dt_s);
        let off_deg = way_deg - f64::from(distance_deg);
        prop_assert!((-1e-4 * way_deg..=grain_deg + 1e-4 * way_deg).contains(&off_deg), "off by {}", off_deg);
    }

    #[test]
    fn no_input_panics_or_makes_a_goal_endless(
        q_deg in uniform7(ANY), v_dps in uniform7(ANY), wanted in uniform7(ANY), vmax_dps in ANY, dt_s in ANY,
        stopping in any::<bool>(), short in any::<bool>(),
    ) {
        let dt_s = if short { 0.002 } else { dt_s };
        let before = motion(q_deg, v_dps);
        let (mut jogged, mut tracked) = (before, before);
        jog_step(&mut jogged, &wanted, JOINTS, &TABLE, dt_s);
        track_step(&mut tracked, &wanted, JOINTS, &TABLE, vmax_dps, stopping, dt_s);
        for now in [jogged, tracked] {
            for joint in 0..JOINTS {
                let (q, before_q) = (now.q_deg[joint], before.q_deg[joint]);
                if before_q.is_finite() {
                    let (low_deg, high_deg) = range(joint, before_q);
                    prop_assert!((low_deg..=high_deg).contains(&q));
                } else {
                    prop_assert_eq!(q.to_bits(), before_q.to_bits());
                }
            }
        }
        let _finite_or_not = min_jerk::shortest_duration_s(&q_deg, &wanted);
        prop_assert!((0.0..=1.0).contains(&min_jerk::position(dt_s)));
        let goal = JointValues { values: wanted, n: JOINTS };
        let outside = |joint: &usize| {
            let limits = &TABLE[*joint];
            !(limits.min_goal_deg()..=limits.max_goal_deg()).contains(&wanted[*joint])
        };
        let found = min_jerk::first_joint_outside(&goal, &TABLE);
        prop_assert_eq!(found, (0..JOINTS).find(outside));
    }

    #[test]
    fn the_shortest_move_uses_a_limit_up_and_breaks_none(start in poses(), goal in poses(), n in 1..=JOINTS) {
        let duration_s = f64::from(min_jerk::shortest_duration_s(&start[..n], &goal[..n]));
        let mut used = 0.0_f64;
        for joint in 0..n {
            let distance_deg = f64::from((goal[joint] - start[joint]).abs());
            // Peaks of x³(10 − 15x + 6x²): 15/8 at x = 1/2, 10/√3 at x = (3 − √3)/6.
            let speed = 1.875 * distance_deg / duration_s / f64::from(SPEED_LIMIT_DPS);
            let accel = 10.0 / 3.0_f64.sqrt() * distance_deg / (duration_s * duration_s)
                / f64::from(TABLE[joint].accel_limit_dps2);
            used = used.max(speed).max(accel);
        }
        prop_assert!(used <= 1.001, "{} of a limit", used);
        let is_shortest_of_all = duration_s == f64::from(0.2_f32);
        prop_assert!(used >= 0.999 || is_shortest_of_all, "{} of a limit in {} s", used, duration_s);
    }
}

#[test]
fn what_is_not_a_number_moves_no_joint_at_rest() {
    let rest = motion([10.0, 20.0, -30.0, 40.0, 50.0, -60.0, -20.0], [0.0; JOINTS]);
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut now = rest;
        jog_step(&mut now, &[wrong; JOINTS], JOINTS, &TABLE, 0.002);
        track_step(&mut now, &[wrong; JOINTS], JOINTS, &TABLE, 90.0, false, 0.002);
        jog_step(&mut now, &[30.0; JOINTS], JOINTS, &TABLE, wrong);
        track_step(&mut now, &[0.0; JOINTS], JOINTS, &TABLE, 90.0, false, wrong);
        assert_eq!(now, rest, "{wrong}");
    }
    for vmax_dps in [f32::NAN, f32::NEG_INFINITY, -20.0, 0.0] {
        let mut now = rest;
        track_step(&mut now, &[0.0; JOINTS], JOINTS, &TABLE, vmax_dps, false, 0.002);
        assert_eq!(now, rest, "top speed {vmax_dps}");
    }
    for dt_s in [0.0, -0.002, 1.01] {
        let mut now = rest;
        jog_step(&mut now, &[30.0; JOINTS], JOINTS, &TABLE, dt_s);
        assert_eq!(now, rest, "a step of {dt_s} s");
    }
}

#[test]
fn a_joint_moving_when_its_target_is_lost_brakes_like_at_rest() {
    let mut now = motion([0.0; JOINTS], [20.0; JOINTS]);
    jog_step(&mut now, &[f32::NAN; JOINTS], 1, &TABLE, 0.002);
    assert!((now.v_dps[0] - 19.6).abs() < 1e-5, "200 °/s² for 2 ms: {}", now.v_dps[0]);
    let mut now = motion([0.0; JOINTS], [20.0; JOINTS]);
    track_step(&mut now, &[f32::NAN; JOINTS], 1, &TABLE, 90.0, false, 0.002);
    assert!((now.v_dps[0] - 19.2).abs() < 1e-5, "400 °/s² for 2 ms: {}", now.v_dps[0]);
}

#[test]
fn a_joint_faster_than_a_jog_brakes_at_its_own_limit_until_it_is_not() {
    let mut now = motion([0.0; JOINTS], [0.0; JOINTS]);
    now.v_dps[0] = 60.0;
    now.v_dps[3] = -60.0;
    jog_step(&mut now, &[0.0; JOINTS], JOINTS, &TABLE, 0.002);
    assert!((now.v_dps[0] - 59.2).abs() < 1e-4, "J1 brakes at 400 °/s²: {}", now.v_dps[0]);
    assert!((now.v_dps[3] + 56.0).abs() < 1e-4, "J4 brakes at 2000 °/s²: {}", now.v_dps[3]);
    now.v_dps[0] = 30.0;
    jog_step(&mut now, &[0.0; JOINTS], JOINTS, &TABLE, 0.002);
    assert!((now.v_dps[0] - 29.6).abs() < 1e-4, "at 30 °/s JOG's 200 °/s² hold: {}", now.v_dps[0]);
}

#[test]
fn rest_is_at_most_a_thousandth_of_a_degree_per_second() {
    let mut now = motion([0.0; JOINTS], [0.001, -0.001, 0.0, 0.0, 0.0, 0.0, 5.0]);
    assert!(at_rest(&now, 6), "J7 is not asked");
    assert!(!at_rest(&now, JOINTS));
    now.v_dps[2] = -0.0011;
    assert!(!at_rest(&now, 6));
}
