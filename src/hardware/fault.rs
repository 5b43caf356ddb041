//! What can go wrong in the hardware, one enum per group, and which parameters are possible. Joints count from 0.

use serde::{Deserialize, Serialize};

use firmware_core::joints::{ARM_JOINTS, J6, JOINTS};

use super::gripper::{Object, ObjectSize};
use super::options::{HardwareError, check_angle, check_object, check_range};

/// The name of an injected fault, for clearing it. Never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FaultId(pub u32);

/// A fault of the hardware.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HardwareFault {
    /// One servo misbehaves.
    Servo {
        /// Joint index, 0–6.
        joint: usize,
        /// How.
        fault: ServoFault,
    },
    /// Bytes on the servo bus.
    Bus(BusFault),
    /// The gripper and what it grasps.
    Gripper(GripperFault),
    /// Forces and hands on the arm.
    Arm(ArmFault),
    /// The motion sensor.
    Imu(ImuFault),
    /// Supply and power cycles.
    Power(PowerFault),
}

/// How one servo misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum ServoFault {
    /// It answers nothing.
    Silent,
    /// It answers this much later (µs).
    Slow(u32),
    /// Its position stays where it is, without force from outside.
    Stuck,
    /// It is held within ± this angle (°) of where it is; it pushes, with load.
    Blocked(f64),
    /// It gives no torque.
    Limp,
    /// Its encoder reads off by this (°).
    EncoderOffset(f64),
    /// Extra friction (% of full load).
    Friction(f64),
    /// Its overload protection trips: torque off, status bit set.
    Overload,
    /// It is this hot (°C), whatever it does.
    OverTemperature(f64),
    /// It reports this model number.
    WrongModel(u16),
    /// It is not on the bus from the next power-up on.
    Missing,
    /// It power-cycles: registers at their power-up values.
    Reset,
}

/// What happens to bytes on the servo bus.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum BusFault {
    /// Each bit is inverted with this probability.
    BitErrors(f64),
    /// Each byte is dropped with this probability.
    DroppedBytes(f64),
    /// A random byte follows each byte with this probability.
    ExtraBytes(f64),
    /// Each SYNC WRITE is lost to each servo with this probability.
    LostSyncWrite(f64),
    /// No byte passes.
    Disconnected,
    /// Another talker sends bursts of random bytes, this often (µs).
    Talker(u32),
}

/// The gripper and what it grasps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum GripperFault {
    /// Its plug is pulled; at the end of the fault it is put in.
    Unplug,
    /// Its plug is put in.
    PlugIn,
    /// An object is put between the fingers; at the end of the fault it is taken out.
    ObjectIn {
        /// Its size.
        size: ObjectSize,
        /// Load per degree of squeeze (%/°).
        stiffness_percent_deg: f64,
    },
    /// The object is taken out.
    ObjectOut,
    /// The object slips when the load exceeds this (%).
    Slip(f64),
    /// It is this hot (°C).
    Hot(f64),
}

/// Forces and hands on the arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum ArmFault {
    /// Joints that are limp or without power are moved to these angles (°), J1–J6.
    Moved([f64; ARM_JOINTS]),
    /// Something pushes a joint with this load (%, signed), against its drive.
    Collision {
        /// Joint index, 0–5.
        joint: usize,
        /// Load (% of the joint's full torque), positive toward positive angles.
        load_percent: f64,
    },
    /// The gripper carries this mass (g).
    Payload(f64),
}

/// The motion sensor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum ImuFault {
    /// Not found at boot.
    Absent,
    /// Stops answering.
    Silent,
    /// Repeats its last sample.
    Stuck,
    /// A further bias.
    Bias {
        /// Acceleration (g).
        acc_g: [f64; 3],
        /// Angular rate (°/s).
        gyro_dps: [f64; 3],
    },
    /// Its noise is multiplied by this.
    Noise(f64),
    /// Every axis reads its positive full scale.
    Saturate,
}

/// Supply and power cycles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum PowerFault {
    /// The servos see this voltage (V); below 4 V they are off.
    BrownOut(f64),
    /// The ATOM restarts; the servos keep their power.
    CycleAtom,
    /// The servos restart; the ATOM keeps its power.
    CycleServos,
    /// Both restart.
    CycleBoth,
    /// Both restart, and meanwhile J6 is turned by hand to this angle (°).
    J6Turned(f64),
}

impl HardwareFault {
    /// Checks the parameters.
    ///
    /// # Errors
    /// The first one that cannot be, with its range.
    pub fn check(&self) -> Result<(), HardwareError> {
        match *self {
            Self::Servo { joint, fault } => {
                check_joint(joint, JOINTS)?;
                fault.check()
            }
            Self::Bus(fault) => fault.check(),
            Self::Gripper(fault) => fault.check(),
            Self::Arm(fault) => fault.check(),
            Self::Imu(fault) => fault.check(),
            Self::Power(PowerFault::BrownOut(volts)) => check_range("a supply (V)", volts, 0.0, 12.0),
            Self::Power(PowerFault::J6Turned(deg)) => check_angle(J6, deg),
            Self::Power(PowerFault::CycleAtom | PowerFault::CycleServos | PowerFault::CycleBoth) => Ok(()),
        }
    }
}

fn check_joint(joint: usize, count: usize) -> Result<(), HardwareError> {
    check_range("a joint number", joint as f64 + 1.0, 1.0, count as f64)
}

fn check_celsius(celsius: f64) -> Result<(), HardwareError> {
    check_range("a temperature (°C)", celsius, 25.0, 120.0)
}

impl ServoFault {
    fn check(self) -> Result<(), HardwareError> {
        match self {
            Self::Slow(us) => check_range("a delay (µs)", f64::from(us), 0.0, 20_000.0),
            Self::Blocked(deg) => check_range("a range (°)", deg, 0.0, 90.0),
            Self::EncoderOffset(deg) => check_range("an offset (°)", deg, -180.0, 180.0),
            Self::Friction(percent) => check_range("a friction (%)", percent, 0.0, 100.0),
            Self::OverTemperature(celsius) => check_celsius(celsius),
            Self::Silent
            | Self::Stuck
            | Self::Limp
            | Self::Overload
            | Self::WrongModel(_)
            | Self::Missing
            | Self::Reset => Ok(()),
        }
    }
}

impl BusFault {
    fn check(self) -> Result<(), HardwareError> {
        match self {
            Self::BitErrors(chance)
            | Self::DroppedBytes(chance)
            | Self::ExtraBytes(chance)
            | Self::LostSyncWrite(chance) => check_range("a probability", chance, 0.0, 1.0),
            Self::Talker(us) => check_range("a period (µs)", f64::from(us), 500.0, 1_000_000.0),
            Self::Disconnected => Ok(()),
        }
    }
}

impl GripperFault {
    fn check(self) -> Result<(), HardwareError> {
        match self {
            Self::ObjectIn { size, stiffness_percent_deg } => {
                check_object(&Object { stiffness_percent_deg, ..Object::of(size) })
            }
            Self::Slip(percent) => check_range("a load (%)", percent, 0.0, 100.0),
            Self::Hot(celsius) => check_celsius(celsius),
            Self::Unplug | Self::PlugIn | Self::ObjectOut => Ok(()),
        }
    }
}

impl ArmFault {
    fn check(self) -> Result<(), HardwareError> {
        match self {
            Self::Moved(pose_deg) => {
                pose_deg.iter().enumerate().try_for_each(|(joint, deg)| check_angle(joint, *deg))
            }
            Self::Collision { joint, load_percent } => {
                check_joint(joint, ARM_JOINTS)?;
                check_range("a load (%)", load_percent, -100.0, 100.0)
            }
            Self::Payload(grams) => check_range("a mass (g)", grams, 0.0, 1_000.0),
        }
    }
}

impl ImuFault {
    fn check(self) -> Result<(), HardwareError> {
        match self {
            Self::Bias { acc_g, gyro_dps } => {
                acc_g.iter().try_for_each(|g| check_range("an acceleration (g)", *g, -8.0, 8.0))?;
                gyro_dps.iter().try_for_each(|dps| check_range("a rate (°/s)", *dps, -2_000.0, 2_000.0))
            }
            Self::Noise(factor) => check_range("a factor", factor, 0.0, 1_000.0),
            Self::Absent | Self::Silent | Self::Stuck | Self::Saturate => Ok(()),
        }
    }
}
