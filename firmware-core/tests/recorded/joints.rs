//! The generators against numbers recorded from the robot's controller; see data/README.md.

use std::collections::BTreeMap;

use crate::table::{Row, assert_near, for_rows};
use firmware_core::joints::{JOINTS, JointValues, TABLE};
use firmware_core::motion::joint::{JointMotion, jog_step, track_step};
use firmware_core::motion::min_jerk;
use firmware_core::motion::plan::crc32c;
use firmware_core::motion::signal::{Params, Signal};
use firmware_core::units::{deg_to_steps, steps_to_deg};

fn assert_motion(motion: &JointMotion, row: &Row<'_>) {
    let n: usize = row.number("n");
    let at = format!("sequence {} step {}", row.text("seq"), row.text("step"));
    for joint in 0..n {
        assert_near(
            motion.q_deg[joint],
            row.numbered::<JOINTS>("q")[joint],
            5e-5,
            &format!("{at} q{}", joint + 1),
        );
        assert_near(
            motion.v_dps[joint],
            row.numbered::<JOINTS>("v")[joint],
            0.001,
            &format!("{at} v{}", joint + 1),
        );
    }
}

#[test]
fn minimum_jerk_positions_agree() {
    let rows = for_rows(include_str!("../data/minjerk.csv"), |row| {
        assert_near(min_jerk::position(row.f32("x")), row.f32("s"), 2e-6, row.text("x"));
    });
    assert_eq!(rows, 201);
}

#[test]
fn shortest_durations_and_allowed_goals_agree() {
    let rows = for_rows(include_str!("../data/move_min_duration.csv"), |row| {
        let n: usize = row.number("n");
        let (start, goal) = (row.numbered::<JOINTS>("start"), row.numbered::<JOINTS>("goal"));
        assert_near(
            min_jerk::shortest_duration_s(&start[..n], &goal[..n]),
            row.f32("T"),
            2e-6,
            row.text("id"),
        );
        let outside = min_jerk::first_joint_outside(&JointValues { values: goal, n }, &TABLE);
        assert_eq!(outside.map_or(0, |joint| joint + 1), row.number("validate"), "row {}", row.text("id"));
    });
    assert_eq!(rows, 205);
}

#[test]
fn jog_sequences_agree() {
    let mut motion = JointMotion { q_deg: [0.0; JOINTS], v_dps: [0.0; JOINTS] };
    let rows = for_rows(include_str!("../data/jog.csv"), |row| {
        if row.text("step") == "0" {
            motion = JointMotion { q_deg: row.numbered::<JOINTS>("q"), v_dps: row.numbered::<JOINTS>("v") };
            return;
        }
        jog_step(&mut motion, &row.numbered::<JOINTS>("target"), row.number("n"), &TABLE, row.f32("dt"));
        assert_motion(&motion, row);
    });
    assert_eq!(rows, 4 * 601);
}

#[test]
fn track_sequences_agree() {
    let mut motion = JointMotion { q_deg: [0.0; JOINTS], v_dps: [0.0; JOINTS] };
    let rows = for_rows(include_str!("../data/track.csv"), |row| {
        if row.text("step") == "0" {
            motion = JointMotion { q_deg: row.numbered::<JOINTS>("q"), v_dps: row.numbered::<JOINTS>("v") };
            return;
        }
        let stopping = row.text("stop") == "1";
        let (n, vmax_dps, dt_s) = (row.number("n"), row.f32("vmax"), row.f32("dt"));
        track_step(&mut motion, &row.numbered::<JOINTS>("goal"), n, &TABLE, vmax_dps, stopping, dt_s);
        assert_motion(&motion, row);
    });
    assert_eq!(rows, 4 * 601);
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|k| u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).expect("hex")).collect()
}

#[test]
fn crc32c_agrees() {
    let rows = for_rows(include_str!("../data/crc32c.csv"), |row| {
        let bytes = bytes_of(row.text("hex"));
        assert_eq!(bytes.len(), row.number::<usize>("length"), "{}", row.text("name"));
        let expected = u32::from_str_radix(row.text("crc32c").trim_start_matches("0x"), 16).expect("hex");
        assert_eq!(crc32c(&bytes), expected, "{}", row.text("name"));
    });
    assert_eq!(rows, 27);
}

#[test]
fn signals_agree() {
    let mut signals = BTreeMap::new();
    for_rows(include_str!("../data/signal_params.csv"), |row| {
        let bytes = bytes_of(row.text("params_hex"));
        let params = Params::from_bytes(bytes.as_slice().try_into().expect("38 bytes"));
        assert_eq!(params.to_bytes().as_slice(), bytes, "the bytes come back");
        let start = core::array::from_fn(|joint| row.f32(&format!("start{}", joint + 1)));
        let signal = Signal::new(&params, &start);
        assert_near(signal.duration_s(), row.f32("total_s"), 1e-5, "total_s");
        signals.insert(row.text("set").to_owned(), signal);
    });
    let mut largest = 0.0_f32;
    let rows = for_rows(include_str!("../data/signal.csv"), |row| {
        let pose = signals[row.text("set")].pose_deg(row.f32("t"));
        for (joint, deg) in pose.iter().enumerate() {
            let expected = row.f32(&format!("q{}", joint + 1));
            largest = largest.max((deg - expected).abs());
            let at = format!("set {} t {} q{}", row.text("set"), row.text("t"), joint + 1);
            assert_near(*deg, expected, 3e-4, &at);
        }
    });
    assert_eq!(rows, 12_406);
    assert!(largest > 0.0, "two ways to compute a chirp differ by rounding");
}

#[test]
fn signal_parameters_and_start_poses_are_refused_alike() {
    let rows = for_rows(include_str!("../data/signal_validate.csv"), |row| {
        let bytes = bytes_of(row.text("params_hex"));
        let params = Params::from_bytes(bytes.as_slice().try_into().expect("38 bytes"));
        let code = params.validate(&TABLE).map_or_else(|refusal| refusal as i32, |()| 0);
        assert_eq!(code, row.number("validate"), "row {}", row.text("id"));
        let start = core::array::from_fn(|joint| row.f32(&format!("start{}", joint + 1)));
        let code = params.validate_start(&start, &TABLE).map_or_else(|(_, refusal)| refusal as i32, |()| 0);
        assert_eq!(code, row.number("validate_start"), "start of row {}", row.text("id"));
    });
    assert_eq!(rows, 116);
}

#[test]
fn units_agree() {
    let mut kinds = BTreeMap::new();
    for_rows(include_str!("../data/units.csv"), |row| {
        let joint = row.number::<usize>("joint").wrapping_sub(1);
        let quantity = row.text("quantity");
        *kinds.entry(quantity.to_owned()).or_insert(0) += 1;
        match quantity {
            "angle_deg" => {
                assert_near(steps_to_deg(joint, row.number("raw")), row.f32("value"), 1e-4, "angle");
            }
            "goal_step" => {
                assert_eq!(
                    deg_to_steps(joint, row.f32("value")),
                    row.number::<i32>("raw"),
                    "goal of J{}",
                    joint + 1
                );
            }
            // Speeds, loads and the IMU are converted by the recordings.
            _converted_elsewhere => {}
        }
    });
    assert!(kinds["angle_deg"] > 50 && kinds["goal_step"] > 50, "{kinds:?}");
}
