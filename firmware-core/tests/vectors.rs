//! The generators against numbers recorded from the robot's controller; see data/README.md.

use std::collections::HashMap;

use firmware_core::joints::JOINTS;
use firmware_core::motion::joint::{JointMotion, jog_step, track_step};
use firmware_core::motion::min_jerk;
use firmware_core::motion::plan::crc32c;
use firmware_core::motion::signal::{Params, Signal};
use firmware_core::protocol::ApiLevel;
use firmware_core::shared::JointValues;
use firmware_core::units::{deg_to_steps, steps_to_deg};

/// One row of a file, by column name.
struct Row<'a> {
    columns: &'a HashMap<&'a str, usize>,
    fields: Vec<&'a str>,
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        self.fields[self.columns[column]]
    }

    fn f32(&self, column: &str) -> f32 {
        self.text(column).parse().unwrap_or_else(|error| panic!("{column}: {error}"))
    }

    fn number<T: std::str::FromStr>(&self, column: &str) -> T
    where
        T::Err: std::fmt::Debug,
    {
        self.text(column).parse().expect(column)
    }

    /// Columns `prefix1` to `prefix7`.
    fn joints(&self, prefix: &str) -> [f32; JOINTS] {
        core::array::from_fn(|joint| self.f32(&format!("{prefix}{}", joint + 1)))
    }
}

/// Calls `each` for every row of a file and returns how many there were.
fn for_rows(csv: &str, mut each: impl FnMut(&Row<'_>)) -> usize {
    let mut lines = csv.lines();
    let columns = lines.next().expect("a header").split(',').enumerate().map(|(k, name)| (name, k)).collect();
    let mut count = 0;
    for line in lines {
        each(&Row { columns: &columns, fields: line.split(',').collect() });
        count += 1;
    }
    count
}

fn assert_near(found: f32, expected: f32, tolerance: f32, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: found {found}, expected {expected} ± {tolerance}"
    );
}

fn assert_motion(motion: &JointMotion, row: &Row<'_>) {
    let n: usize = row.number("n");
    let at = format!("sequence {} step {}", row.text("seq"), row.text("step"));
    for joint in 0..n {
        assert_near(motion.q_deg[joint], row.joints("q")[joint], 5e-5, &format!("{at} q{}", joint + 1));
        assert_near(motion.v_dps[joint], row.joints("v")[joint], 0.001, &format!("{at} v{}", joint + 1));
    }
}

#[test]
fn minimum_jerk_positions_agree() {
    let rows = for_rows(include_str!("data/minjerk.csv"), |row| {
        assert_near(min_jerk::position(row.f32("x")), row.f32("s"), 2e-6, row.text("x"));
    });
    assert_eq!(rows, 201);
}

#[test]
fn shortest_durations_and_allowed_goals_agree() {
    let rows = for_rows(include_str!("data/move_min_duration.csv"), |row| {
        let n: usize = row.number("n");
        let (start, goal) = (row.joints("start"), row.joints("goal"));
        assert_near(
            min_jerk::shortest_duration_s(&start[..n], &goal[..n]),
            row.f32("T"),
            2e-6,
            row.text("id"),
        );
        let outside = min_jerk::first_joint_outside(&JointValues { values: goal, n }, ApiLevel::V5_1);
        assert_eq!(outside.map_or(0, |joint| joint + 1), row.number("validate"), "row {}", row.text("id"));
    });
    assert_eq!(rows, 205);
}

#[test]
fn jog_sequences_agree() {
    let mut motion = JointMotion { q_deg: [0.0; JOINTS], v_dps: [0.0; JOINTS] };
    let rows = for_rows(include_str!("data/jog.csv"), |row| {
        if row.text("step") == "0" {
            motion = JointMotion { q_deg: row.joints("q"), v_dps: row.joints("v") };
            return;
        }
        jog_step(&mut motion, &row.joints("target"), row.number("n"), row.f32("dt"));
        assert_motion(&motion, row);
    });
    assert_eq!(rows, 4 * 601);
}

#[test]
fn track_sequences_agree() {
    let mut motion = JointMotion { q_deg: [0.0; JOINTS], v_dps: [0.0; JOINTS] };
    let rows = for_rows(include_str!("data/track.csv"), |row| {
        if row.text("step") == "0" {
            motion = JointMotion { q_deg: row.joints("q"), v_dps: row.joints("v") };
            return;
        }
        let stopping = row.text("stop") == "1";
        let (n, vmax_dps, dt_s) = (row.number("n"), row.f32("vmax"), row.f32("dt"));
        track_step(&mut motion, &row.joints("goal"), n, vmax_dps, stopping, dt_s);
        assert_motion(&motion, row);
    });
    assert_eq!(rows, 4 * 601);
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|k| u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).expect("hex")).collect()
}

#[test]
fn crc32c_agrees() {
    let rows = for_rows(include_str!("data/crc32c.csv"), |row| {
        let bytes = bytes_of(row.text("hex"));
        assert_eq!(bytes.len(), row.number::<usize>("length"), "{}", row.text("name"));
        let expected = u32::from_str_radix(row.text("crc32c").trim_start_matches("0x"), 16).expect("hex");
        assert_eq!(crc32c(&bytes), expected, "{}", row.text("name"));
    });
    assert_eq!(rows, 27);
}

#[test]
fn signals_agree() {
    let mut signals = HashMap::new();
    for_rows(include_str!("data/signal_params.csv"), |row| {
        let bytes = bytes_of(row.text("params_hex"));
        let params = Params::from_bytes(bytes.as_slice().try_into().expect("38 bytes"));
        assert_eq!(params.to_bytes().as_slice(), bytes, "the bytes come back");
        let start = core::array::from_fn(|joint| row.f32(&format!("start{}", joint + 1)));
        let signal = Signal::new(&params, &start);
        assert_near(signal.duration_s(), row.f32("total_s"), 1e-5, "total_s");
        signals.insert(row.text("set").to_owned(), signal);
    });
    let mut largest = 0.0_f32;
    let rows = for_rows(include_str!("data/signal.csv"), |row| {
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
    let rows = for_rows(include_str!("data/signal_validate.csv"), |row| {
        let bytes = bytes_of(row.text("params_hex"));
        let params = Params::from_bytes(bytes.as_slice().try_into().expect("38 bytes"));
        let code = params.validate().map_or_else(|refusal| refusal as i32, |()| 0);
        assert_eq!(code, row.number("validate"), "row {}", row.text("id"));
        let start = core::array::from_fn(|joint| row.f32(&format!("start{}", joint + 1)));
        let code = params.validate_start(&start).map_or_else(|(_, refusal)| refusal as i32, |()| 0);
        assert_eq!(code, row.number("validate_start"), "start of row {}", row.text("id"));
    });
    assert_eq!(rows, 116);
}

#[test]
fn units_agree() {
    let mut kinds = HashMap::new();
    for_rows(include_str!("data/units.csv"), |row| {
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
