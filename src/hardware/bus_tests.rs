//! Tests of the servos as the driver sees them: bytes in, bytes out, at their times.

use super::test_bus::{TestBus, steps};
use super::{Hardware, HardwareOptions};

const ARM: [u8; 6] = [1, 2, 3, 4, 5, 6];
const ALL: [u8; 7] = [1, 2, 3, 4, 5, 6, 7];
/// The sign bit of positions and speeds.
const NEGATIVE: u16 = 0x8000;

fn zero() -> TestBus {
    TestBus::new(&HardwareOptions::default())
}

#[test]
fn a_sync_read_of_six_takes_1_26_ms() {
    let mut bus = zero();
    assert_eq!(bus.sync_read(56, 6, &ARM).len(), 6);
    assert!((1_255..=1_265).contains(&bus.now_us), "{} µs", bus.now_us);
}

#[test]
fn a_cycle_takes_1_54_ms_with_six_and_1_77_ms_with_seven_joints() {
    for (ids, range) in [(&ARM[..], 1_520..=1_560), (&ALL[..], 1_765..=1_775)] {
        let mut bus = zero();
        let goals: Vec<_> = ids.iter().map(|id| (*id, 2_048)).collect();
        bus.sync_write_goals(&goals);
        assert_eq!(bus.sync_read(56, 6, ids).len(), ids.len());
        assert!(range.contains(&bus.now_us), "{} µs", bus.now_us);
    }
}

#[test]
fn a_slow_read_takes_a_quarter_of_a_millisecond() {
    let mut bus = zero();
    bus.read(1, 62, 4).expect("an answer");
    assert!((240..=260).contains(&bus.now_us), "{} µs", bus.now_us);
}

#[test]
fn the_known_request_gets_the_known_answer() {
    // Step 2176 of servo 1, whose sign is −1, is −11.25°.
    let mut bus = TestBus::at_pose([-11.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    bus.now_us = bus.hardware.transmit(0, &[0xFF, 0xFF, 0x01, 0x04, 0x02, 0x38, 0x02, 0xBE]);
    assert_eq!(bus.hear(), [0xFF, 0xFF, 0x01, 0x04, 0x00, 0x80, 0x08, 0x72]);
}

#[test]
fn a_wrong_checksum_gets_no_answer() {
    let mut bus = zero();
    bus.now_us = bus.hardware.transmit(0, &[0xFF, 0xFF, 0x01, 0x04, 0x02, 0x38, 0x02, 0xBF]);
    assert!(bus.hear().is_empty());
    assert_eq!(bus.hardware.bus_counters().bad_checksums, 1);
}

#[test]
fn a_request_may_come_in_pieces_but_not_with_a_long_pause() {
    let request = [0xFF, 0xFF, 0x01, 0x04, 0x02, 0x38, 0x02, 0xBE];
    for cut in 1..8 {
        let mut bus = zero();
        let between_us = bus.hardware.transmit(0, &request[..cut]);
        bus.now_us = bus.hardware.transmit(between_us, &request[cut..]);
        assert_eq!(bus.hear().len(), 8, "cut after {cut}");
        let between_us = bus.hardware.transmit(bus.now_us + 5_000, &request[..cut]);
        bus.now_us = bus.hardware.transmit(between_us + 5_000, &request[cut..]);
        assert!(bus.hear().is_empty(), "cut after {cut}");
    }
}

#[test]
fn broadcasts_are_obeyed_without_an_answer_but_for_ping() {
    let mut bus = zero();
    bus.send(0xFE, 0x03, &[48, 44, 1]);
    assert!(bus.hear().is_empty());
    for id in ALL {
        assert_eq!(bus.word(id, 48), 300);
    }
    bus.send(0xFE, 0x02, &[56, 2]);
    assert!(bus.hear().is_empty());
    bus.send(0xFE, 0x01, &[]);
    let ids: Vec<u8> = bus.replies().into_iter().map(|(id, _, _)| id).collect();
    assert_eq!(ids, ALL);
}

#[test]
fn reg_write_waits_for_action() {
    let mut bus = zero();
    bus.send(2, 0x04, &[48, 100, 0]);
    assert_eq!(bus.replies(), [(2, 0, vec![])]);
    assert_eq!((bus.word(2, 48), bus.byte(2, 64)), (1_000, 1));
    bus.send(0xFE, 0x05, &[]);
    assert_eq!((bus.word(2, 48), bus.byte(2, 64)), (100, 0));
    bus.send(2, 0x05, &[]);
    assert_eq!(bus.replies(), [(2, 0, vec![])]);
    assert_eq!(bus.word(2, 48), 100, "an action without a write does nothing");
}

#[test]
fn reset_gives_power_up_values_and_drops_the_torque() {
    let mut bus = zero();
    bus.go(3, 2_100, 500);
    bus.send(3, 0x06, &[]);
    assert_eq!(bus.replies().len(), 1);
    assert_eq!((bus.word(3, 42), bus.word(3, 46), bus.byte(3, 40), bus.byte(3, 5)), (0, 0, 0, 3));
}

#[test]
fn a_missing_servo_leaves_its_place_in_a_sync_read_empty() {
    let mut bus = TestBus::new(&HardwareOptions { gripper: false, ..HardwareOptions::default() });
    let ids: Vec<u8> = bus.sync_read(56, 6, &[1, 7, 2]).into_iter().map(|(id, _, _)| id).collect();
    assert_eq!(ids, [1, 2]);
    bus.send(7, 0x01, &[]);
    assert!(bus.replies().is_empty());
}

#[test]
fn a_servo_with_another_id_answers_to_that_one() {
    let mut bus = zero();
    bus.write(4, 5, &[40]);
    assert!(bus.read(4, 56, 2).is_none());
    assert_eq!(bus.byte(40, 5), 40);
}

#[test]
fn goal_speed_0_does_not_move_and_a_cap_is_kept() {
    let mut bus = zero();
    bus.go(1, steps(0, 60.0), 0);
    bus.wait(1_000_000);
    assert!(bus.deg(0).abs() < 1e-9);
    bus.write_word(1, 46, 300);
    bus.wait(1_000_000);
    let expected_deg = 300.0 * 360.0 / 4_096.0;
    assert!((bus.deg(0) - expected_deg).abs() < 0.1, "{}° after 1 s", bus.deg(0));
    assert_eq!(bus.word(1, 58), NEGATIVE + 300, "J1's sign is −1");
}

#[test]
fn present_speed_has_a_grain_of_50_steps_per_second() {
    let mut bus = zero();
    bus.go(3, steps(2, 60.0), 333);
    for _ in 0..40 {
        bus.wait(70_000);
        assert_eq!(bus.word(3, 58) % 50, 0);
    }
    assert_eq!(bus.word(3, 56), steps(2, 60.0));
}

#[test]
fn a_goal_switches_the_torque_on_and_the_mode_switches_it_off() {
    let mut bus = zero();
    assert_eq!(bus.byte(2, 40), 0);
    bus.go(2, steps(1, 30.0), 1_000);
    assert_eq!(bus.byte(2, 40), 1);
    bus.wait(200_000);
    bus.write(2, 33, &[0]);
    assert_eq!(bus.byte(2, 40), 0);
    let stopped_deg = bus.deg(1);
    bus.wait(1_000_000);
    assert!(stopped_deg > 5.0 && (bus.deg(1) - stopped_deg).abs() < 1e-9);
    assert_eq!(bus.word(2, 60), 0, "no torque, no load");
}

#[test]
fn torque_without_a_goal_holds_where_the_joint_is() {
    let mut bus = TestBus::at_pose([30.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    bus.write(1, 40, &[1]);
    bus.write_word(1, 46, 1_000);
    bus.wait(1_000_000);
    assert!((bus.deg(0) - 30.0).abs() < 1e-9);
}

#[test]
fn in_speed_mode_the_joint_turns_at_its_goal_speed() {
    let mut bus = zero();
    bus.write(4, 33, &[1]);
    bus.write(4, 40, &[1]);
    bus.write_word(4, 46, NEGATIVE + 200);
    let before_deg = bus.deg(3);
    bus.wait(1_000_000);
    let turned_deg = bus.deg(3) - before_deg;
    assert!((turned_deg - 200.0 * 360.0 / 4_096.0).abs() < 0.01, "J4's sign is −1: {turned_deg}°");
}

#[test]
fn j6_counts_turns_from_its_one_turn_reading() {
    // 2048 + 200·4096/360 = 4323.6 steps: one turn and 227.6.
    let mut bus = TestBus::at_pose([0.0, 0.0, 0.0, 0.0, 0.0, -200.0, 0.0]);
    assert_eq!(bus.word(6, 56), 228);
    bus.write(6, 18, &[116]);
    bus.write(6, 9, &[0; 4]);
    assert_eq!(bus.word(6, 56), 228);
    // −400 steps from there: sign and magnitude.
    bus.go(6, NEGATIVE + 172, 1_000);
    bus.wait(3_000_000);
    assert_eq!(bus.word(6, 56), NEGATIVE + 172);
    assert!((bus.deg(5) - (-200.0 + 399.6 * 360.0 / 4_096.0)).abs() < 0.1, "{}", bus.deg(5));
}

#[test]
fn end_stops_stop_a_joint_and_show_load() {
    let mut bus = zero();
    bus.go(1, 0, 4_000);
    bus.wait(5_000_000);
    assert!((bus.deg(0) - 170.9).abs() < 1e-9);
    assert!(bus.word(1, 60) & 0x3FF > 900 && bus.word(1, 60) & 0x400 != 0, "J1 pushes up: sign −1");
}

#[test]
fn gravity_shows_in_j2_and_j3() {
    let mut bus = TestBus::at_pose([0.0, 30.0, 60.0, 0.0, 0.0, 0.0, 0.0]);
    for (id, joint) in [(2, 1), (3, 2)] {
        bus.go(id, steps(joint, [0.0, 30.0, 60.0][joint]), 0);
    }
    let mean = |bus: &mut TestBus, id: u8| {
        let sum: i32 = (0..200)
            .map(|_| {
                bus.wait(2_000);
                let raw = bus.word(id, 60);
                i32::from(raw & 0x3FF) * if raw & 0x400 == 0 { 1 } else { -1 }
            })
            .sum();
        f64::from(sum) / 2_000.0
    };
    // J2: −25 sin 30° − 10 sin 90° = −22.5 %, and its sign is −1. J3: −10 %.
    let j2 = mean(&mut bus, 2);
    let j3 = mean(&mut bus, 3);
    assert!((j2 - 22.5).abs() < 0.15, "J2 {j2} %");
    assert!((j3 + 10.0).abs() < 0.15, "J3 {j3} %");
}

#[test]
fn voltage_and_temperature_are_those_of_the_arm() {
    let mut bus = zero();
    let health: Vec<_> = ALL.iter().map(|id| bus.read(*id, 62, 4).expect("an answer")).collect();
    let expected = [76, 76, 76, 66, 64, 64, 74].map(|decivolts| vec![decivolts, 25, 0, 0]);
    assert_eq!(health, expected);
}

#[test]
fn a_joint_that_keeps_moving_gets_warmer_by_up_to_10_degrees() {
    let mut bus = zero();
    for _ in 0..60 {
        for goal_deg in [80.0, -80.0] {
            bus.go(1, steps(0, goal_deg), 4_000);
            bus.wait(1_700_000);
        }
    }
    let celsius = bus.byte(1, 63);
    assert!((32..=35).contains(&celsius), "{celsius} °C after three minutes");
    bus.wait(600_000_000);
    assert_eq!(bus.byte(1, 63), 25);
}

#[test]
fn a_sync_write_right_after_another_can_be_lost() {
    let options = HardwareOptions { lost_sync_write: Some(0.25), ..HardwareOptions::default() };
    let mut bus = TestBus::new(&options);
    for _ in 0..100 {
        bus.sync_write_goals(&[(1, 2_048), (2, 2_048)]);
        bus.wait(2_000);
    }
    assert_eq!(bus.hardware.bus_counters().lost_sync_writes, 0);
    for _ in 0..100 {
        bus.sync_write_goals(&[(1, 2_048), (2, 2_048)]);
        bus.sync_write_goals(&[(1, 2_048), (2, 2_048)]);
        bus.wait(2_000);
    }
    let lost = bus.hardware.bus_counters().lost_sync_writes;
    assert!((30..=70).contains(&lost), "{lost} of 200");
}

#[test]
fn who_looks_and_how_often_changes_nothing() {
    let run = |looks: bool| {
        let mut bus = zero();
        let mut heard = Vec::new();
        for cycle in 0..300_u16 {
            let goals: Vec<_> = ALL.iter().map(|id| (*id, 2_048 + cycle * u16::from(*id) % 500)).collect();
            bus.sync_write_goals(&goals);
            heard.extend(bus.sync_read(56, 10, &ALL));
            if looks {
                for back_us in [0, 500, 3_000] {
                    let t_us = bus.now_us - back_us.min(bus.now_us);
                    bus.hardware.joints(t_us + 100_000);
                    bus.hardware.registers(3, t_us);
                    bus.hardware.imu(t_us);
                    bus.hardware.tcp_pose(t_us);
                }
            }
            bus.wait(200);
        }
        (heard, bus.hardware.imu(bus.now_us))
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn two_seeds_differ_and_one_seed_repeats_itself() {
    let loads = |seed| {
        let mut bus = TestBus::new(&HardwareOptions { seed, ..HardwareOptions::default() });
        bus.sync_write_goals(&[(1, 2_048)]);
        (0..20).map(|_| bus.word(1, 60)).collect::<Vec<_>>()
    };
    assert_eq!(loads(1), loads(1));
    assert_ne!(loads(1), loads(2));
}

#[test]
fn the_past_can_be_looked_at_after_a_new_goal() {
    let mut bus = zero();
    bus.go(1, steps(0, 45.0), 4_000);
    bus.wait(500_000);
    let before_us = bus.now_us;
    let before_deg = bus.hardware.deg(0, before_us);
    bus.wait(1_000);
    bus.go(1, steps(0, -45.0), 4_000);
    bus.wait(1_000);
    assert!((bus.hardware.deg(0, before_us) - before_deg).abs() < 1e-12);
}

#[test]
fn arbitrary_bytes_never_panic() {
    let mut hardware = Hardware::new(&HardwareOptions::default()).expect("possible options");
    let noise = super::noise::Noise::new(5, super::noise::Stream::Talker, 0);
    let mut now_us = 0;
    for packet in 0..3_000_u64 {
        let length = 1 + noise.bits(packet) as usize % 60;
        let mut bytes: Vec<u8> =
            (0..length as u64).map(|at| noise.bits(packet * 64 + at + 10_000) as u8).collect();
        if packet % 2 == 0 {
            // A right frame around the noise reaches the servos.
            let instruction = [1, 2, 3, 4, 5, 6, 0x82, 0x83][packet as usize / 2 % 8];
            let mut framed = vec![0xFF, 0xFF, bytes[0] % 9, length as u8 + 2, instruction];
            if packet % 16 >= 12 {
                framed[2] = 0xFE;
            }
            framed.append(&mut bytes);
            framed.push(super::packet::checksum(&framed[2..]));
            bytes = framed;
        }
        now_us = hardware.transmit(now_us, &bytes);
        let (_, end_us) = hardware.receive(now_us, &mut [0; 300], 500);
        now_us = end_us;
        hardware.imu(now_us);
    }
    assert!(hardware.bus_counters().requests > 1_000);
}
