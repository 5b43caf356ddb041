//! The table of faults, first half: the arm itself, its bus, its gripper and its motion sensor.

use super::entry::Lasting::{Event, UntilCleared};
use super::entry::{Entry, Parameter, entry, maybe, number, numbers, or, whole};
use super::kind::{ArmFault, BusFault, FaultKind, GripperFault, ImuFault, ObjectSize, ServoFault};
use super::parse::Arguments;

const JOINT: Parameter = whole("joint", 1.0, 7.0, "");
const ARM_JOINT: Parameter = whole("joint", 1.0, 6.0, "");
const RATE: Parameter = number("rate", 0.0, 1.0, "");
const PROBABILITY: Parameter = number("chance", 0.0, 1.0, "");

fn servo(a: &Arguments, fault: ServoFault) -> FaultKind {
    FaultKind::Servo { joint: a.joint(), fault }
}

fn object_size(a: &Arguments) -> Option<ObjectSize> {
    match (a.optional("angle_deg"), a.optional("width_mm")) {
        (Some(deg), None) => Some(ObjectSize::AngleDeg(deg)),
        (None, Some(mm)) => Some(ObjectSize::WidthMm(mm)),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

/// Faults of servos, bus, gripper, arm and IMU.
pub(super) const TABLE: &[Entry] = &[
    entry!(
        "servo.silent",
        UntilCleared,
        [JOINT],
        |a| Some(servo(a, ServoFault::Silent)),
        "The servo answers nothing. It still follows what it is told.",
        "STREAM and STATE: ok = 0. A HOLD answers −4 and the state becomes error; a run ends with DONE 4 after 50 cycles. J7: gone after 5 missed reads."
    ),
    entry!(
        "servo.slow",
        UntilCleared,
        [JOINT, or(whole("delay_us", 0.0, 20_000.0, "µs"), 500.0)],
        |a| Some(servo(a, ServoFault::Slow(a.number("delay_us") as u32))),
        "The servo answers this much later.",
        "Late cycles in DONE; beyond the 3 ms time-out as `servo.silent`."
    ),
    entry!(
        "servo.stuck",
        UntilCleared,
        [JOINT],
        |a| Some(servo(a, ServoFault::Stuck)),
        "The position stays where it is.",
        "Position does not follow the goal; a run ends with DONE 1 (not for J7)."
    ),
    entry!(
        "servo.blocked",
        UntilCleared,
        [JOINT, or(number("within_deg", 0.0, 90.0, "°"), 0.0)],
        |a| Some(servo(a, ServoFault::Blocked(a.number("within_deg")))),
        "The joint is held mechanically within ± this angle of where it is; it pushes.",
        "As `servo.stuck`, with load."
    ),
    entry!(
        "servo.limp",
        UntilCleared,
        [JOINT],
        |a| Some(servo(a, ServoFault::Limp)),
        "The servo gives no torque.",
        "Position does not follow the goal, load 0."
    ),
    entry!(
        "servo.encoder_offset",
        UntilCleared,
        [JOINT, number("offset_deg", -180.0, 180.0, "°")],
        |a| Some(servo(a, ServoFault::EncoderOffset(a.number("offset_deg")))),
        "The encoder reads off by this from one moment to the next.",
        "The position jumps; a run ends with DONE 1 when the jump is above its limit."
    ),
    entry!(
        "servo.friction",
        UntilCleared,
        [JOINT, or(number("percent", 0.0, 100.0, "% of full load"), 20.0)],
        |a| Some(servo(a, ServoFault::Friction(a.number("percent")))),
        "Extra friction: the joint follows late and stops short.",
        "A larger distance between position and goal, more load."
    ),
    entry!(
        "servo.overload",
        UntilCleared,
        [JOINT],
        |a| Some(servo(a, ServoFault::Overload)),
        "The overload protection trips: torque off.",
        "Status bit 5 in STREAM (slow read) and in the error byte of `87`; the position does not follow."
    ),
    entry!(
        "servo.over_temperature",
        UntilCleared,
        [JOINT, or(number("celsius", 25.0, 120.0, "°C"), 85.0)],
        |a| Some(servo(a, ServoFault::OverTemperature(a.number("celsius")))),
        "The servo is this hot, whatever it does.",
        "Temperature and, above its limit, status bit 2 in STREAM within about a second."
    ),
    entry!(
        "servo.wrong_model",
        UntilCleared,
        [JOINT, or(whole("model", 0.0, 65_535.0, ""), 0.0)],
        |a| Some(servo(a, ServoFault::WrongModel(a.number("model") as u16))),
        "The servo reports this model number.",
        "J7 is not found: n = 6."
    ),
    entry!(
        "servo.missing",
        UntilCleared,
        [JOINT],
        |a| Some(servo(a, ServoFault::Missing)),
        "From the next power-up on the servo is not on the bus.",
        "After the power cycle: state error (J1–J6) or n = 6 (J7)."
    ),
    entry!(
        "servo.reset",
        Event,
        [JOINT],
        |a| Some(servo(a, ServoFault::Reset)),
        "The servo power-cycles: its registers have their power-up values, torque is off.",
        "Goal and goal speed read 0; the joint does not move until something writes a goal."
    ),
    entry!(
        "bus.bit_errors",
        UntilCleared,
        [or(RATE, 0.000_1)],
        |a| Some(FaultKind::Bus(BusFault::BitErrors(a.number("rate")))),
        "Each bit on the wire is inverted with this probability, both ways.",
        "ok = 0 now and then, `write_retries` grows; at high rates as `bus.disconnected`."
    ),
    entry!(
        "bus.dropped_bytes",
        UntilCleared,
        [or(RATE, 0.001)],
        |a| Some(FaultKind::Bus(BusFault::DroppedBytes(a.number("rate")))),
        "Each byte is dropped with this probability.",
        "As `bus.bit_errors`; a lost byte of a reply costs a time-out of 3 ms, so cycles are late."
    ),
    entry!(
        "bus.extra_bytes",
        UntilCleared,
        [or(RATE, 0.001)],
        |a| Some(FaultKind::Bus(BusFault::ExtraBytes(a.number("rate")))),
        "A random byte follows each byte with this probability.",
        "As `bus.bit_errors`."
    ),
    entry!(
        "bus.lost_sync_write",
        UntilCleared,
        [or(PROBABILITY, 0.1)],
        |a| Some(FaultKind::Bus(BusFault::LostSyncWrite(a.number("chance")))),
        "Each SYNC WRITE is lost to each servo with this probability.",
        "`write_retries` grows; motion is not disturbed, the next goal comes 2 ms later."
    ),
    entry!(
        "bus.disconnected",
        UntilCleared,
        [],
        |_| Some(FaultKind::Bus(BusFault::Disconnected)),
        "No byte passes.",
        "ok = 0, HOLD −4, state error, DONE 4; n becomes 6."
    ),
    entry!(
        "bus.talker",
        UntilCleared,
        [or(whole("every_us", 500.0, 1_000_000.0, "µs"), 5_000.0)],
        |a| Some(FaultKind::Bus(BusFault::Talker(a.number("every_us") as u32))),
        "Another talker sends a burst of random bytes this often.",
        "As `bus.bit_errors`."
    ),
    entry!(
        "gripper.unplug",
        UntilCleared,
        [],
        |_| Some(FaultKind::Gripper(GripperFault::Unplug)),
        "The gripper's plug is pulled. The end of the fault puts it in again.",
        "n becomes 6 after 5 missed reads; 7-value JOG and TRACK are refused with −7."
    ),
    entry!(
        "gripper.plug_in",
        Event,
        [],
        |_| Some(FaultKind::Gripper(GripperFault::PlugIn)),
        "The gripper's plug is put in.",
        "n becomes 7 within a second while no run is on."
    ),
    entry!(
        "gripper.object_in",
        UntilCleared,
        [
            maybe(number("angle_deg", -51.5, 0.0, "°")),
            maybe(number("width_mm", 6.0, 43.4, "mm")),
            or(number("stiffness_percent_deg", 0.1, 1_000.0, "%/°"), 10.0)
        ],
        |a| Some(FaultKind::Gripper(GripperFault::ObjectIn {
            size: object_size(a)?,
            stiffness_percent_deg: a.number("stiffness_percent_deg")
        })),
        "An object is between the fingers: they touch it at this angle of J7, or at this width. One of the two is needed.",
        "J7 stops short of its goal with load; no following error."
    ),
    entry!(
        "gripper.object_out",
        Event,
        [],
        |_| Some(FaultKind::Gripper(GripperFault::ObjectOut)),
        "The object is taken out.",
        "J7 goes to its goal."
    ),
    entry!(
        "gripper.slip",
        UntilCleared,
        [or(number("above_percent", 0.0, 100.0, "%"), 50.0)],
        |a| Some(FaultKind::Gripper(GripperFault::Slip(a.number("above_percent")))),
        "The object slips away when the load exceeds this.",
        "J7 goes to its goal, load 0."
    ),
    entry!(
        "gripper.hot",
        UntilCleared,
        [or(number("celsius", 25.0, 120.0, "°C"), 75.0)],
        |a| Some(FaultKind::Gripper(GripperFault::Hot(a.number("celsius")))),
        "The gripper's servo is this hot.",
        "`j7_derated` in the status log at 70 °C or more, until 60 °C or less; register 48 = 500."
    ),
    entry!(
        "arm.moved",
        Event,
        [numbers("pose_deg", 6, 240.0, "°")],
        |a| Some(FaultKind::Arm(ArmFault::Moved(a.list("pose_deg")))),
        "A hand moves J1–J6 to this pose, as far as they are limp or without power.",
        "Positions; after a power cycle the pose that is held."
    ),
    entry!(
        "arm.collision",
        UntilCleared,
        [ARM_JOINT, or(number("load_percent", -100.0, 100.0, "%"), 100.0)],
        |a| Some(FaultKind::Arm(ArmFault::Collision {
            joint: a.joint(),
            load_percent: a.number("load_percent")
        })),
        "Something pushes the joint with this load, against its drive.",
        "Load; above what the joint can push, position stops and a run ends with DONE 1."
    ),
    entry!(
        "arm.payload",
        UntilCleared,
        [number("grams", 0.0, 1_000.0, "g")],
        |a| Some(FaultKind::Arm(ArmFault::Payload(a.number("grams")))),
        "The gripper carries this mass.",
        "More load on J2 and J3."
    ),
    entry!(
        "imu.absent",
        UntilCleared,
        [],
        |_| Some(FaultKind::Imu(ImuFault::Absent)),
        "The IMU is not found at boot.",
        "`imu=0` and PONG IMU ok = 0 from the next power-up of the ATOM."
    ),
    entry!(
        "imu.silent",
        UntilCleared,
        [],
        |_| Some(FaultKind::Imu(ImuFault::Silent)),
        "The IMU stops answering.",
        "The last sample is repeated; IMU ok = 0."
    ),
    entry!(
        "imu.stuck",
        UntilCleared,
        [],
        |_| Some(FaultKind::Imu(ImuFault::Stuck)),
        "The IMU repeats its last sample.",
        "Acceleration and rate do not change."
    ),
    entry!(
        "imu.bias",
        UntilCleared,
        [numbers("acc_g", 3, 8.0, "g"), numbers("gyro_dps", 3, 2_000.0, "°/s")],
        |a| Some(FaultKind::Imu(ImuFault::Bias { acc_g: a.list("acc_g"), gyro_dps: a.list("gyro_dps") })),
        "A further bias.",
        "Acceleration and rate are off by it."
    ),
    entry!(
        "imu.noise",
        UntilCleared,
        [or(number("factor", 0.0, 1_000.0, ""), 10.0)],
        |a| Some(FaultKind::Imu(ImuFault::Noise(a.number("factor")))),
        "The noise is multiplied by this.",
        "Noisier acceleration and rate."
    ),
    entry!(
        "imu.saturate",
        UntilCleared,
        [],
        |_| Some(FaultKind::Imu(ImuFault::Saturate)),
        "Every axis reads its positive full scale.",
        "32767 on each axis."
    ),
];
