//! Power-up: what the servos are given, J6 in its turn, J7 found.

use atom_sim::atom::Options;
use atom_sim::hardware::HardwareOptions;
use firmware_core::protocol::codes;
use firmware_core::protocol::request::build;
use firmware_core::shared::State;
use firmware_core::units::deg_to_steps;

use crate::support::{Bench, ack, status_lines};

fn posed(pose_deg: [f64; 7]) -> Options {
    Options { hardware: HardwareOptions { pose_deg, ..HardwareOptions::default() }, ..Options::default() }
}

#[test]
fn the_servos_get_their_gains_and_j6_goes_multi_turn() {
    let bench = Bench::new(&Options::default());
    let expected: [[u8; 7]; 6] = [
        [32, 4, 16, 0, 0, 3, 3],
        [32, 4, 16, 20, 0, 1, 1],
        [32, 4, 16, 20, 0, 1, 1],
        [32, 8, 0, 20, 0, 1, 1],
        [32, 8, 0, 0, 0, 3, 3],
        [32, 8, 0, 0, 0, 3, 3],
    ];
    for (joint, values) in expected.iter().enumerate() {
        for (offset, value) in values.iter().enumerate() {
            let address = 21 + offset as u8;
            assert_eq!(bench.atom.register(joint, address), *value, "J{} register {address}", joint + 1);
        }
    }
    assert_eq!(bench.atom.register(5, 18) & 0x10, 0x10, "phase of J6");
    for address in 9..=12 {
        assert_eq!(bench.atom.register(5, address), 0, "angle limits of J6");
    }
    assert_eq!(bench.atom.register(6, 21), 150, "gain P of J7");
    for address in [16, 28, 48] {
        let word = u16::from_le_bytes([bench.atom.register(6, address), bench.atom.register(6, address + 1)]);
        assert_eq!(word, 1000, "torque of J7, register {address}");
    }
}

#[test]
fn holding_means_torque_on_goals_at_the_positions_and_speed_0() {
    let bench = Bench::new(&posed([10.0, -20.0, 30.0, -40.0, 50.0, -60.0, -20.0]));
    let truth = bench.atom.truth();
    assert_eq!(truth.state, State::Holding);
    for joint in 0..6 {
        assert!(truth.torque_on[joint], "torque of J{}", joint + 1);
        assert_eq!(truth.goal_speed_sps[joint], 0);
        assert!((truth.goal_deg[joint] - truth.angle_deg[joint]).abs() < 0.06, "goal of J{}", joint + 1);
    }
    assert_eq!(truth.goal_speed_sps[6], 2000, "J7 keeps its speed cap");
}

#[test]
fn j6_beyond_half_a_turn_is_found_in_its_own_turn() {
    for deg in [-220.0, -200.0, -180.5, -90.0, 130.0] {
        let mut bench = Bench::new(&posed([0.0, 0.0, 0.0, 0.0, 0.0, deg, -20.0]));
        assert_eq!(bench.atom.state(), State::Holding, "{deg}°");
        let client = bench.web();
        bench.subscribe(client, 50);
        bench.run_ms(50);
        let position = bench.stream(client).seen.joints.position[5];
        assert!((i32::from(position) - deg_to_steps(5, deg as f32)).abs() <= 1, "{deg}°: {position}");
        // And it moves from there without a turn too many.
        bench.ask_ms(client, &build::move_to(&[0.0, 0.0, 0.0, 0.0, 0.0, -100.0], 0), 6_000);
        assert!((bench.atom.deg(5) + 100.0).abs() < 0.1, "from {deg}°: {}", bench.atom.deg(5));
    }
}

#[test]
fn an_unknown_turn_is_an_error_that_the_status_log_explains_and_hold_retries() {
    let mut bench = Bench::new(&posed([0.0, 0.0, 0.0, 0.0, 0.0, 134.5, -20.0]));
    assert_eq!(bench.atom.state(), State::Error);
    assert!(!bench.atom.truth().torque_on[5], "J6 is free to be moved by hand");
    let client = bench.udp();
    assert_eq!(bench.ask_ms(client, &[codes::HOLD], 100), [ack(codes::HOLD, -4)]);
    assert_eq!(bench.ask_ms(client, &build::move_to(&[0.0; 6], 0), 100), [ack(codes::MOVE_TO, -1)]);
    bench.run_ms(1_100);
    let lines = status_lines(&bench.outputs);
    let line = lines.last().expect("a line a second");
    assert!(line.ends_with(" TURN UNKNOWN: move J6 away from ±135° by hand, then HOLD"), "{line}");
}

#[test]
fn the_status_line_has_its_fields_in_order() {
    let mut bench = Bench::new(&Options::default());
    bench.run_ms(1_100);
    let lines = status_lines(&bench.outputs);
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.starts_with("atom-sim v5.1.0 ("), "{line}");
    let keys: Vec<&str> =
        line.split(' ').filter_map(|word| word.split_once('=').map(|(key, _)| key)).collect();
    let expected = [
        "ip",
        "rssi",
        "state",
        "plan",
        "valid",
        "imu",
        "write_retries",
        "heap",
        "up",
        "wifi_drops",
        "joints",
        "twist_us",
    ];
    assert_eq!(keys, expected);
    assert!(line.contains(" state=1 plan=0@250Hz valid=0 imu=1 write_retries=0 heap=158000 "), "{line}");
    assert!(line.ends_with(" wifi_drops=0 joints=7 twist_us=0"), "{line}");
}
