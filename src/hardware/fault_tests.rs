//! Tests of every fault: what it does on the wire, in registers and to the arm, and that its end leaves nothing.

use firmware_core::joints::{J6, J7};

use super::test_bus::{TestBus, steps};
use super::{
    ArmFault, BusFault, FaultId, GripperFault, HardwareError, HardwareFault, HardwareOptions, ImuFault,
    Object, ObjectSize, PowerFault, ServoFault,
};

const ALL: [u8; 7] = [1, 2, 3, 4, 5, 6, 7];
const ID: FaultId = FaultId(1);

fn zero() -> TestBus {
    TestBus::new(&HardwareOptions::default())
}

impl TestBus {
    pub(super) fn fault(&mut self, fault: HardwareFault) {
        self.hardware.set_fault(ID, fault, self.now_us).expect("possible");
    }

    fn servo_fault(&mut self, joint: usize, fault: ServoFault) {
        self.fault(HardwareFault::Servo { joint, fault });
    }

    fn clear(&mut self) {
        self.hardware.clear_fault(ID, self.now_us);
    }

    fn answers(&mut self, id: u8) -> bool {
        self.send(id, 0x01, &[]);
        !self.hear().is_empty()
    }

    /// Replies with right checksums to 100 SYNC READs of all servos, of 700.
    fn good_replies(&mut self) -> usize {
        (0..100)
            .map(|_| {
                self.send(0xFE, 0x82, &[56, 6, 1, 2, 3, 4, 5, 6, 7]);
                let bytes = self.hear();
                self.wait(3_000);
                firmware_core::bus::packet::Replies::new(&bytes, 6).count()
            })
            .sum()
    }
}

#[test]
fn a_silent_servo_answers_nothing_but_obeys() {
    let mut bus = zero();
    bus.servo_fault(2, ServoFault::Silent);
    assert!(!bus.answers(3) && bus.answers(2));
    bus.go(3, steps(2, 20.0), 2_000);
    bus.wait(2_000_000);
    assert!((bus.deg(2) - 20.0).abs() < 0.1);
    bus.clear();
    assert!(bus.answers(3));
}

#[test]
fn a_slow_servo_answers_later_and_so_do_those_after_it() {
    let mut bus = zero();
    bus.sync_read(56, 6, &ALL);
    let normal_us = bus.now_us;
    bus.servo_fault(1, ServoFault::Slow(400));
    let start_us = bus.now_us;
    assert_eq!(bus.sync_read(56, 6, &ALL).len(), 7);
    assert_eq!(bus.now_us - start_us, normal_us + 400);
}

#[test]
fn a_stuck_servo_stays_and_follows_again_when_it_is_free() {
    let mut bus = zero();
    bus.go(1, steps(0, 40.0), 2_000);
    bus.wait(100_000);
    let stuck_deg = bus.deg(0);
    bus.servo_fault(0, ServoFault::Stuck);
    bus.wait(1_000_000);
    assert!((bus.deg(0) - stuck_deg).abs() < 0.05 && stuck_deg > 5.0);
    bus.clear();
    bus.wait(2_000_000);
    assert!((bus.deg(0) - 40.0).abs() < 0.1);
}

#[test]
fn a_blocked_servo_pushes() {
    let mut bus = zero();
    bus.servo_fault(3, ServoFault::Blocked(2.0));
    bus.go(4, steps(3, 6.0), 2_000);
    bus.wait(1_000_000);
    assert!((bus.deg(3) - 2.0).abs() < 1e-6);
    let load = bus.word(4, 60) & 0x3FF;
    assert!((390..=410).contains(&load), "4° at 10 %/°: {load}");
    bus.clear();
    bus.wait(1_000_000);
    assert!((bus.deg(3) - 6.0).abs() < 0.1);
}

#[test]
fn a_limp_servo_does_not_move_and_shows_no_load() {
    let mut bus = TestBus::at_pose([0.0, 40.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    bus.servo_fault(1, ServoFault::Limp);
    bus.go(2, steps(1, 0.0), 2_000);
    bus.wait(1_000_000);
    assert!((bus.deg(1) - 40.0).abs() < 1e-9);
    assert_eq!(bus.word(2, 60), 0);
    bus.clear();
    bus.wait(1_000_000);
    assert!(bus.deg(1).abs() < 0.1);
}

#[test]
fn an_encoder_offset_shows_at_once_and_the_servo_follows_its_encoder() {
    let mut bus = zero();
    bus.go(5, steps(4, 10.0), 2_000);
    bus.wait(2_000_000);
    bus.servo_fault(4, ServoFault::EncoderOffset(5.0));
    assert_eq!(bus.word(5, 56), steps(4, 15.0));
    bus.wait(2_000_000);
    assert_eq!(bus.word(5, 56), steps(4, 10.0));
    assert!((bus.deg(4) - 5.0).abs() < 0.1, "the link is off by it: {}", bus.deg(4));
}

#[test]
fn friction_lets_the_joint_stop_short_and_raises_its_load() {
    let mut bus = zero();
    bus.servo_fault(0, ServoFault::Friction(20.0));
    bus.go(1, steps(0, 30.0), 2_000);
    bus.wait(100_000);
    let load = bus.word(1, 60) & 0x3FF;
    assert!((185..=215).contains(&load), "{load}");
    bus.wait(2_000_000);
    assert!((bus.deg(0) - 28.0).abs() < 0.1, "{}", bus.deg(0));
}

#[test]
fn overload_switches_the_torque_off_and_sets_bit_5() {
    let mut bus = zero();
    bus.servo_fault(0, ServoFault::Overload);
    bus.go(1, steps(0, 30.0), 2_000);
    bus.wait(1_000_000);
    assert!(bus.deg(0).abs() < 1e-9);
    bus.send(1, 0x02, &[65, 1]);
    assert_eq!(bus.replies(), [(1, 1 << 5, vec![1 << 5])]);
}

#[test]
fn a_hot_servo_says_so_and_above_its_limit_sets_bit_2() {
    let mut bus = zero();
    bus.servo_fault(0, ServoFault::OverTemperature(65.0));
    assert_eq!((bus.byte(1, 63), bus.byte(1, 65)), (65, 0));
    bus.servo_fault(0, ServoFault::OverTemperature(85.0));
    assert_eq!((bus.byte(1, 63), bus.byte(1, 65)), (85, 1 << 2));
    bus.go(1, steps(0, 30.0), 2_000);
    bus.wait(1_000_000);
    assert!(bus.deg(0) > 29.0, "register 19 is 0: heat does not switch the torque off");
    bus.write(1, 19, &[1 << 2]);
    bus.go(1, steps(0, 0.0), 2_000);
    bus.wait(1_000_000);
    assert!(bus.deg(0) > 29.0, "register 19 asks for it");
    bus.clear();
    assert_eq!(bus.byte(1, 65), 0);
    bus.wait(1_000_000);
    assert!(bus.deg(0).abs() < 0.1);
}

#[test]
fn a_wrong_model_number_is_read_until_the_end_also_after_a_power_cycle() {
    let mut bus = zero();
    bus.servo_fault(J7, ServoFault::WrongModel(0x1234));
    assert_eq!(bus.word(7, 3), 0x1234);
    bus.hardware
        .set_fault(FaultId(2), HardwareFault::Servo { joint: J7, fault: ServoFault::Reset }, bus.now_us)
        .expect("possible");
    assert_eq!(bus.word(7, 3), 0x1234);
    bus.clear();
    assert_eq!(bus.word(7, 3), 0x070A);
}

#[test]
fn a_servo_is_missing_from_the_next_power_up_on() {
    let mut bus = zero();
    bus.servo_fault(2, ServoFault::Missing);
    assert!(bus.answers(3));
    let cycle = FaultId(2);
    bus.hardware
        .set_fault(cycle, HardwareFault::Power(PowerFault::CycleServos), bus.now_us)
        .expect("possible");
    assert!(ALL.iter().all(|id| !bus.answers(*id)), "no power");
    bus.hardware.clear_fault(cycle, bus.now_us);
    assert!(!bus.answers(3) && bus.answers(2));
    bus.clear();
    assert!(bus.answers(3));
}

#[test]
fn a_reset_servo_has_its_power_up_registers_and_no_torque() {
    let mut bus = zero();
    bus.go(2, steps(1, 30.0), 2_000);
    bus.wait(200_000);
    bus.servo_fault(1, ServoFault::Reset);
    assert_eq!((bus.word(2, 42), bus.word(2, 46), bus.byte(2, 40)), (0, 0, 0));
    let stopped_deg = bus.deg(1);
    bus.wait(1_000_000);
    assert!((bus.deg(1) - stopped_deg).abs() < 1e-9);
}

#[test]
fn bit_errors_spoil_replies_at_their_rate() {
    let mut bus = zero();
    assert_eq!(bus.good_replies(), 700);
    bus.fault(HardwareFault::Bus(BusFault::BitErrors(0.001)));
    // 96 bits of each reply and 120 of the request that all hang on.
    let good = bus.good_replies();
    assert!((480..=640).contains(&good), "{good} of 700");
    bus.clear();
    assert_eq!(bus.good_replies(), 700);
}

#[test]
fn dropped_and_extra_bytes_spoil_replies() {
    for fault in [BusFault::DroppedBytes(0.01), BusFault::ExtraBytes(0.01)] {
        let mut bus = zero();
        bus.fault(HardwareFault::Bus(fault));
        let good = bus.good_replies();
        assert!((400..=690).contains(&good), "{good} of 700 with {fault:?}");
    }
}

#[test]
fn another_talker_spoils_some_replies() {
    let mut bus = zero();
    bus.fault(HardwareFault::Bus(BusFault::Talker(1_300)));
    let good = bus.good_replies();
    assert!((300..=690).contains(&good), "{good} of 700");
    bus.clear();
    bus.hear();
    assert_eq!(bus.good_replies(), 700);
}

#[test]
fn sync_writes_are_lost_at_their_chance() {
    let mut bus = zero();
    bus.fault(HardwareFault::Bus(BusFault::LostSyncWrite(0.25)));
    for _ in 0..400 {
        bus.sync_write_goals(&[(1, 2_048)]);
        bus.wait(2_000);
    }
    let lost = bus.hardware.bus_counters().lost_sync_writes;
    assert!((70..=130).contains(&lost), "{lost} of 400");
}

#[test]
fn nothing_passes_a_disconnected_bus() {
    let mut bus = zero();
    bus.fault(HardwareFault::Bus(BusFault::Disconnected));
    bus.sync_write_goals(&[(1, 2_500)]);
    assert!(!bus.answers(1));
    bus.clear();
    assert_eq!((bus.answers(1), bus.word(1, 42)), (true, 0));
}

#[test]
fn the_gripper_is_unplugged_for_the_time_of_the_fault() {
    let mut bus = zero();
    bus.write_word(7, 48, 1_000);
    bus.fault(HardwareFault::Gripper(GripperFault::Unplug));
    assert!(!bus.answers(7));
    bus.clear();
    assert_eq!((bus.answers(7), bus.word(7, 48)), (true, 300));
    let mut bare = TestBus::new(&HardwareOptions { gripper: false, ..HardwareOptions::default() });
    assert!(!bare.answers(7));
    bare.fault(HardwareFault::Gripper(GripperFault::PlugIn));
    assert!(bare.answers(7));
}

#[test]
fn an_object_is_there_for_the_time_of_the_fault_and_the_one_before_comes_back() {
    let own = Object::of(ObjectSize::AngleDeg(-40.0));
    let mut bus = TestBus::new(&HardwareOptions { object: Some(own), ..HardwareOptions::default() });
    let size = ObjectSize::WidthMm(25.0);
    bus.fault(HardwareFault::Gripper(GripperFault::ObjectIn { size, stiffness_percent_deg: 5.0 }));
    bus.go(7, steps(J7, -50.0), 4_000);
    bus.wait(2_000_000);
    assert!((bus.hardware.finger_width_mm(bus.now_us) - 25.0).abs() < 1e-6);
    bus.clear();
    bus.wait(2_000_000);
    assert!((bus.deg(J7) + 40.0).abs() < 1e-6);
    bus.fault(HardwareFault::Gripper(GripperFault::ObjectOut));
    bus.wait(2_000_000);
    assert!((bus.deg(J7) + 50.0).abs() < 0.1);
}

#[test]
fn a_squeezed_object_slips_when_the_fault_comes() {
    let own = Object::of(ObjectSize::AngleDeg(-30.0));
    let mut bus = TestBus::new(&HardwareOptions { object: Some(own), ..HardwareOptions::default() });
    for address in [16, 28, 48] {
        bus.write_word(7, address, 1_000);
    }
    bus.go(7, steps(J7, -37.0), 4_000);
    bus.wait(2_000_000);
    bus.fault(HardwareFault::Gripper(GripperFault::Slip(80.0)));
    bus.wait(1_000_000);
    assert!((bus.deg(J7) + 30.0).abs() < 1e-6, "70 % hold it");
    bus.fault(HardwareFault::Gripper(GripperFault::Slip(50.0)));
    bus.wait(1_000_000);
    assert!((bus.deg(J7) + 37.0).abs() < 0.1, "{}", bus.deg(J7));
    assert!(bus.hardware.object(bus.now_us).is_none());
}

#[test]
fn a_hot_gripper_shows_its_temperature() {
    let mut bus = zero();
    bus.fault(HardwareFault::Gripper(GripperFault::Hot(75.0)));
    assert_eq!((bus.byte(7, 63), bus.byte(7, 65)), (75, 0));
    bus.clear();
    assert_eq!(bus.byte(7, 63), 25);
}

#[test]
fn a_hand_moves_limp_joints_alone() {
    let mut bus = zero();
    bus.go(1, steps(0, 0.0), 0);
    bus.fault(HardwareFault::Arm(ArmFault::Moved([50.0, 20.0, -90.0, 10.0, -10.0, 100.0])));
    let pose_deg = bus.hardware.pose_deg(bus.now_us);
    assert!(pose_deg[0].abs() < 1e-9, "J1 has torque");
    assert_eq!(pose_deg[1..6], [20.0, -90.0, 10.0, -10.0, 100.0]);
    assert_eq!(bus.word(3, 56), steps(2, -90.0));
}

#[test]
fn a_collision_loads_a_joint_and_beyond_its_torque_stops_it() {
    let mut bus = zero();
    bus.fault(HardwareFault::Arm(ArmFault::Collision { joint: 0, load_percent: -40.0 }));
    bus.go(1, steps(0, 30.0), 2_000);
    bus.wait(2_000_000);
    assert!((bus.deg(0) - 30.0).abs() < 0.1);
    let load = bus.word(1, 60);
    assert!((390..=410).contains(&(load & 0x3FF)) && load & 0x400 != 0, "pushes up, J1's sign is −1: {load}");
    bus.fault(HardwareFault::Arm(ArmFault::Collision { joint: 0, load_percent: -100.0 }));
    bus.go(1, steps(0, 60.0), 2_000);
    bus.wait(1_000_000);
    assert!((bus.deg(0) - 30.0).abs() < 0.1);
    bus.clear();
    bus.wait(1_000_000);
    assert!((bus.deg(0) - 60.0).abs() < 0.1);
}

#[test]
fn a_payload_loads_j2_and_j3() {
    let mut bus = TestBus::at_pose([0.0, 90.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    bus.go(2, steps(1, 90.0), 0);
    let load = |bus: &TestBus| bus.hardware.joints(bus.now_us)[1].load_percent;
    let before = load(&bus);
    bus.fault(HardwareFault::Arm(ArmFault::Payload(250.0)));
    let more = before - load(&bus);
    assert!((30.0..40.0).contains(&more), "250 g at 274 mm: {more} %");
}

#[test]
fn an_absent_imu_is_missed_at_the_next_power_up_of_the_atom() {
    let mut bus = zero();
    bus.fault(HardwareFault::Imu(ImuFault::Absent));
    assert!(bus.hardware.imu(bus.now_us).is_some());
    bus.hardware.power_up_atom(bus.now_us);
    assert!(bus.hardware.imu(bus.now_us).is_none());
    bus.clear();
    assert!(bus.hardware.imu(bus.now_us).is_some());
}

#[test]
fn the_imu_can_be_silent_stuck_biased_noisy_and_saturated() {
    let mut bus = zero();
    bus.wait(10_000);
    let sample = bus.hardware.imu(bus.now_us).expect("it answers");
    bus.fault(HardwareFault::Imu(ImuFault::Silent));
    assert_eq!(bus.hardware.imu(bus.now_us), None);
    bus.fault(HardwareFault::Imu(ImuFault::Stuck));
    assert_eq!(bus.hardware.imu(bus.now_us + 50_000), Some(sample));
    bus.fault(HardwareFault::Imu(ImuFault::Bias { acc_g: [1.0, 0.0, 0.0], gyro_dps: [0.0, -10.0, 0.0] }));
    let biased = bus.hardware.imu(bus.now_us).expect("it answers");
    assert!((i32::from(biased.acc[0]) - i32::from(sample.acc[0]) - 4_096).abs() <= 1);
    assert!((i32::from(biased.gyro[1]) - i32::from(sample.gyro[1]) + 164).abs() <= 1);
    bus.fault(HardwareFault::Imu(ImuFault::Noise(10.0)));
    let x: Vec<f64> = (0..1_000)
        .map(|n| f64::from(bus.hardware.imu(bus.now_us + n * 2_000).expect("it answers").acc[0]) / 4_096.0)
        .collect();
    let mean = x.iter().sum::<f64>() / 1_000.0;
    let deviation = (x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1_000.0).sqrt();
    assert!((deviation - 0.04).abs() < 0.004, "{deviation}");
    bus.fault(HardwareFault::Imu(ImuFault::Saturate));
    assert_eq!(bus.hardware.imu(bus.now_us).expect("it answers").acc, [i16::MAX; 3]);
    bus.clear();
    assert_eq!(bus.hardware.imu(10_000), Some(sample));
}

#[test]
fn a_brown_out_shows_as_voltage_and_below_4_volts_switches_the_servos_off() {
    let mut bus = zero();
    bus.fault(HardwareFault::Power(PowerFault::BrownOut(5.0)));
    assert_eq!(bus.read(1, 62, 4), Some(vec![50, 25, 0, 1]), "J1 wants 6 V");
    assert_eq!(bus.read(4, 62, 4), Some(vec![50, 25, 0, 0]), "J4 wants 4 V");
    bus.fault(HardwareFault::Power(PowerFault::BrownOut(3.0)));
    assert!(!bus.answers(1));
    bus.clear();
    assert_eq!(bus.read(1, 62, 4), Some(vec![76, 25, 0, 0]));
}

#[test]
fn power_cycled_servos_have_power_up_registers_and_the_arm_stays() {
    let mut bus = TestBus::at_pose([10.0, 20.0, -30.0, 0.0, 0.0, -200.0, -20.0]);
    bus.write(6, 18, &[116]);
    bus.write(6, 9, &[0; 4]);
    bus.go(2, steps(1, 20.0), 0);
    bus.fault(HardwareFault::Power(PowerFault::CycleBoth));
    assert!(ALL.iter().all(|id| !bus.answers(*id)));
    bus.wait(200_000);
    bus.clear();
    assert_eq!((bus.byte(6, 18), bus.word(6, 11), bus.byte(2, 40)), (100, 4_095, 0));
    assert_eq!(bus.word(2, 56), steps(1, 20.0));
    assert_eq!(bus.word(6, 56), 228, "the turn is lost");
}

#[test]
fn j6_is_turned_by_hand_while_the_power_is_off() {
    let mut bus = zero();
    bus.fault(HardwareFault::Power(PowerFault::J6Turned(-224.0)));
    assert!(!bus.answers(6));
    bus.clear();
    assert!((bus.deg(J6) + 224.0).abs() < 1e-9);
    assert_eq!(bus.word(6, 56), steps(J6, -224.0) - 4_096);
}

#[test]
fn two_faults_of_a_kind_add_up_and_end_one_by_one() {
    let mut bus = zero();
    for id in [1, 2] {
        let fault = HardwareFault::Servo { joint: 0, fault: ServoFault::EncoderOffset(2.0) };
        bus.hardware.set_fault(FaultId(id), fault, bus.now_us).expect("possible");
    }
    assert_eq!(bus.word(1, 56), steps(0, 4.0));
    bus.hardware.clear_fault(FaultId(1), bus.now_us);
    assert_eq!(bus.word(1, 56), steps(0, 2.0));
    bus.hardware.clear_fault(FaultId(2), bus.now_us);
    assert_eq!(bus.word(1, 56), steps(0, 0.0));
}

#[test]
fn impossible_parameters_are_refused_and_change_nothing() {
    let servo = |joint, fault| HardwareFault::Servo { joint, fault };
    let size = ObjectSize::WidthMm(50.0);
    let impossible = [
        servo(7, ServoFault::Silent),
        servo(0, ServoFault::Slow(20_001)),
        servo(0, ServoFault::Blocked(-1.0)),
        servo(0, ServoFault::EncoderOffset(f64::NAN)),
        servo(0, ServoFault::Friction(101.0)),
        servo(0, ServoFault::OverTemperature(10.0)),
        HardwareFault::Bus(BusFault::BitErrors(1.5)),
        HardwareFault::Bus(BusFault::Talker(100)),
        HardwareFault::Gripper(GripperFault::ObjectIn { size, stiffness_percent_deg: 10.0 }),
        HardwareFault::Gripper(GripperFault::Slip(-1.0)),
        HardwareFault::Arm(ArmFault::Moved([0.0, 0.0, 0.0, 0.0, 0.0, 150.0])),
        HardwareFault::Arm(ArmFault::Collision { joint: 6, load_percent: 1.0 }),
        HardwareFault::Arm(ArmFault::Payload(f64::INFINITY)),
        HardwareFault::Imu(ImuFault::Noise(-1.0)),
        HardwareFault::Imu(ImuFault::Bias { acc_g: [9.0, 0.0, 0.0], gyro_dps: [0.0; 3] }),
        HardwareFault::Power(PowerFault::BrownOut(13.0)),
        HardwareFault::Power(PowerFault::J6Turned(141.0)),
    ];
    let mut bus = zero();
    let before = bus.sync_read(0, 87, &ALL);
    for fault in impossible {
        let refused = bus.hardware.set_fault(ID, fault, bus.now_us);
        assert!(refused.is_err(), "{fault:?}");
        let message = refused.map_err(|error: HardwareError| error.to_string()).expect_err("refused");
        assert!(message.contains("expected"), "{message}");
    }
    assert_eq!(bus.sync_read(0, 87, &ALL), before);
}
