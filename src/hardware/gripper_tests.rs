//! Tests of the gripper and what it holds.

use firmware_core::joints::J7;

use super::test_bus::{TestBus, steps};
use super::{GripperFault, HardwareFault, HardwareOptions, Object, ObjectSize};

fn with(object: Object) -> TestBus {
    let mut bus = TestBus::new(&HardwareOptions { object: Some(object), ..HardwareOptions::default() });
    for address in [16, 28, 48] {
        bus.write_word(7, address, 1_000);
    }
    bus
}

fn load_percent(bus: &mut TestBus) -> f64 {
    let raw = bus.word(7, 60);
    f64::from(raw & 0x3FF) / 10.0 * if raw & 0x400 == 0 { 1.0 } else { -1.0 }
}

#[test]
fn an_object_stops_j7_with_load_and_lets_it_open() {
    let mut bus = with(Object::of(ObjectSize::AngleDeg(-30.0)));
    bus.go(7, steps(J7, -36.0), 4_000);
    bus.wait(2_000_000);
    assert!((bus.deg(J7) + 30.0).abs() < 1e-9);
    let load = load_percent(&mut bus);
    assert!((load + 60.0).abs() < 2.0, "10 % per degree, 6°: {load} %");
    let truth = bus.hardware.object(bus.now_us).expect("an object");
    assert!(truth.touched && (truth.squeeze_percent + 60.0).abs() < 0.5);
    bus.go(7, steps(J7, -10.0), 4_000);
    bus.wait(2_000_000);
    assert!((bus.deg(J7) + 10.0).abs() < 0.1);
    assert!(load_percent(&mut bus).abs() < 2.0);
}

#[test]
fn the_squeeze_ends_at_the_torque_limit() {
    let mut bus = with(Object::of(ObjectSize::WidthMm(20.0)));
    bus.go(7, steps(J7, -51.0), 4_000);
    bus.wait(2_000_000);
    assert!((bus.hardware.finger_width_mm(bus.now_us) - 20.0).abs() < 1e-6);
    assert!((load_percent(&mut bus) + 100.0).abs() < 2.0);
    bus.write_word(7, 48, 500);
    assert!((load_percent(&mut bus) + 50.0).abs() < 2.0);
}

#[test]
fn a_softer_object_is_squeezed_with_less_load() {
    let soft = Object { stiffness_percent_deg: 2.0, ..Object::of(ObjectSize::AngleDeg(-30.0)) };
    let mut bus = with(soft);
    bus.go(7, steps(J7, -40.0), 4_000);
    bus.wait(2_000_000);
    assert!((load_percent(&mut bus) + 20.0).abs() < 2.0);
}

#[test]
fn the_object_is_reached_on_the_way_and_not_passed() {
    let mut bus = with(Object::of(ObjectSize::AngleDeg(-30.0)));
    bus.go(7, steps(J7, -50.0), 4_000);
    let start_us = bus.now_us;
    for ms in 0..1_000 {
        let deg = bus.hardware.deg(J7, start_us + ms * 1_000);
        assert!((-30.0..=-20.0).contains(&deg), "{deg}° after {ms} ms");
    }
    // 10° at 90 °/s.
    let before = bus.hardware.deg(J7, start_us + 105_000);
    assert!(before > -30.0 && bus.hardware.deg(J7, start_us + 115_000) <= -30.0, "{before}");
}

#[test]
fn full_torque_heats_the_gripper_to_45_to_53_degrees_in_one_to_two_minutes() {
    let mut bus = with(Object::of(ObjectSize::AngleDeg(-30.0)));
    bus.go(7, steps(J7, -50.0), 4_000);
    bus.wait(60_000_000);
    assert!((44..=47).contains(&bus.byte(7, 63)), "{} °C after one minute", bus.byte(7, 63));
    bus.wait(60_000_000);
    assert!((51..=53).contains(&bus.byte(7, 63)), "{} °C after two minutes", bus.byte(7, 63));
    bus.go(7, steps(J7, -20.0), 4_000);
    bus.wait(600_000_000);
    assert_eq!(bus.byte(7, 63), 25);
}

#[test]
fn squeezing_for_more_than_two_seconds_sets_the_overload_bit() {
    let mut bus = with(Object::of(ObjectSize::AngleDeg(-30.0)));
    bus.go(7, steps(J7, -50.0), 4_000);
    bus.wait(1_900_000);
    assert_eq!(bus.byte(7, 65), 0);
    bus.go(7, steps(J7, -49.0), 4_000);
    bus.wait(400_000);
    assert_eq!(bus.byte(7, 65), 1 << 5, "another goal does not interrupt the push");
    bus.send(7, 0x01, &[]);
    assert_eq!(bus.replies(), [(7, 1 << 5, vec![])], "and in the error byte");
    bus.go(7, steps(J7, -20.0), 4_000);
    bus.wait(100_000);
    assert_eq!(bus.byte(7, 65), 0);
}

#[test]
fn an_object_slips_away_above_its_load_at_the_moment_it_is_reached() {
    let slippery = Object { slips_above_percent: Some(50.0), ..Object::of(ObjectSize::AngleDeg(-30.0)) };
    let mut bus = with(slippery);
    bus.go(7, steps(J7, -34.0), 4_000);
    bus.wait(2_000_000);
    assert!(bus.hardware.object(bus.now_us).is_some(), "40 % hold it");
    bus.go(7, steps(J7, -45.0), 4_000);
    let truth_deg = bus.hardware.deg(J7, bus.now_us + 2_000_000);
    assert!(bus.hardware.object(bus.now_us + 2_000_000).is_none());
    bus.wait(2_000_000);
    let reading = bus.word(7, 56);
    assert_eq!(reading, steps(J7, -45.0));
    assert!((bus.deg(J7) - truth_deg).abs() < 1e-5, "what was seen ahead is what happened");
    assert!(load_percent(&mut bus).abs() < 2.0);
}

#[test]
fn a_held_mass_loads_j2_and_j3() {
    let load = |mass_g| {
        let object = Object { mass_g, ..Object::of(ObjectSize::AngleDeg(-20.0)) };
        let pose_deg = [0.0, 90.0, 0.0, 0.0, 0.0, 0.0, -20.0];
        let options = HardwareOptions { object: Some(object), pose_deg, ..HardwareOptions::default() };
        let mut bus = TestBus::new(&options);
        bus.go(2, steps(1, 90.0), 0);
        bus.go(3, steps(2, 0.0), 0);
        bus.hardware.joints(bus.now_us).map(|joint| joint.load_percent)
    };
    let (empty, heavy) = (load(0.0), load(200.0));
    // 200 g at 274 mm from J2: 0.54 N·m of 1.91.
    assert!((empty[1] - heavy[1] - 28.2).abs() < 3.0, "J2 {} to {}", empty[1], heavy[1]);
    assert!(empty[2] - heavy[2] > 10.0, "J3 {} to {}", empty[2], heavy[2]);
}

#[test]
fn an_object_put_between_near_fingers_spreads_them() {
    let mut bus = TestBus::new(&HardwareOptions::default());
    let size = ObjectSize::AngleDeg(-10.0);
    bus.fault(HardwareFault::Gripper(GripperFault::ObjectIn { size, stiffness_percent_deg: 10.0 }));
    assert!((bus.deg(J7) + 10.0).abs() < 1e-9);
}

#[test]
fn unplugged_it_is_silent_and_plugged_in_again_it_has_power_up_values() {
    let mut bus = with(Object::of(ObjectSize::AngleDeg(-30.0)));
    bus.go(7, steps(J7, -25.0), 4_000);
    bus.wait(1_000_000);
    bus.fault(HardwareFault::Gripper(GripperFault::Unplug));
    assert!(bus.read(7, 56, 2).is_none());
    bus.fault(HardwareFault::Gripper(GripperFault::PlugIn));
    assert_eq!((bus.word(7, 3), bus.word(7, 42), bus.byte(7, 40), bus.word(7, 16)), (0x070A, 0, 0, 140));
    assert_eq!(bus.word(7, 56), steps(J7, -25.0));
}
