//! Faults in words: the name that the table of faults has, what it is about, and its numbers.

use std::fmt::{Display, Formatter, Result};

use super::kind::{
    ArmFault, BusFault, ClientFault, CpuFault, Fault, FaultKind, GripperFault, ImuFault, ObjectSize,
    OtaEvent, PowerFault, Scope, ServoFault, WifiFault,
};
use crate::atom::client_name;
use crate::link::Direction;

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}", self.kind, self.scope)
    }
}

/// Nothing for a fault that starts at once and stays.
impl Display for Scope {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let s = |us: u64| us as f64 / 1e6;
        if self.after_us > 0 {
            write!(f, ", after {} s", s(self.after_us))?;
        }
        if let Some(us) = self.for_us {
            write!(f, ", for {} s", s(us))?;
        }
        if let Some(us) = self.every_us {
            write!(f, ", every {} s", s(us))?;
        }
        if self.probability < 1.0 {
            write!(f, ", with probability {}", self.probability)?;
        }
        Ok(())
    }
}

impl Display for FaultKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Servo { joint, fault } => servo(*fault, joint + 1, f),
            Self::Bus(fault) => bus(*fault, f),
            Self::Gripper(fault) => gripper(*fault, f),
            Self::Arm(fault) => arm(*fault, f),
            Self::Imu(fault) => imu(*fault, f),
            Self::Wifi { client, direction, fault } => {
                wifi(*fault, f)?;
                if let Some(client) = client {
                    write!(f, ", {}", client_name::name(*client))?;
                }
                match direction {
                    Some(Direction::ToAtom) => f.write_str(", to-atom"),
                    Some(Direction::FromAtom) => f.write_str(", from-atom"),
                    None => Ok(()),
                }
            }
            Self::Client { client, fault } => {
                self::client(*fault, f)?;
                write!(f, ", {}", client_name::name(*client))
            }
            Self::Cpu(CpuFault::SlowCycle(us)) => write!(f, "cpu.slow_cycle by {us} µs"),
            Self::Cpu(CpuFault::NetworkStall) => f.write_str("cpu.network_stall"),
            Self::Cpu(CpuFault::ControlStall) => f.write_str("cpu.control_stall"),
            Self::Power(PowerFault::BrownOut(volts)) => write!(f, "power.brown_out to {volts} V"),
            Self::Power(PowerFault::CycleAtom) => f.write_str("power.cycle_atom"),
            Self::Power(PowerFault::CycleServos) => f.write_str("power.cycle_servos"),
            Self::Power(PowerFault::CycleBoth) => f.write_str("power.cycle_both"),
            Self::Power(PowerFault::J6Turned(deg)) => write!(f, "power.j6_turned to {deg}°"),
            Self::Ota(OtaEvent::Begin) => f.write_str("ota.begin"),
            Self::Ota(OtaEvent::End) => f.write_str("ota.end"),
            Self::Ota(OtaEvent::Fail) => f.write_str("ota.fail"),
            Self::HeapLimit(bytes) => write!(f, "memory.heap_limit of {bytes} bytes"),
            Self::Button => f.write_str("button.press"),
        }
    }
}

fn servo(fault: ServoFault, joint: usize, f: &mut Formatter<'_>) -> Result {
    match fault {
        ServoFault::Silent => write!(f, "servo.silent J{joint}"),
        ServoFault::Slow(us) => write!(f, "servo.slow J{joint} by {us} µs"),
        ServoFault::Stuck => write!(f, "servo.stuck J{joint}"),
        ServoFault::Blocked(deg) => write!(f, "servo.blocked J{joint} within {deg}°"),
        ServoFault::Limp => write!(f, "servo.limp J{joint}"),
        ServoFault::EncoderOffset(deg) => write!(f, "servo.encoder_offset J{joint} by {deg}°"),
        ServoFault::Friction(percent) => write!(f, "servo.friction J{joint} of {percent} %"),
        ServoFault::Overload => write!(f, "servo.overload J{joint}"),
        ServoFault::OverTemperature(celsius) => write!(f, "servo.over_temperature J{joint} at {celsius} °C"),
        ServoFault::WrongModel(model) => write!(f, "servo.wrong_model J{joint}: {model}"),
        ServoFault::Missing => write!(f, "servo.missing J{joint}"),
        ServoFault::Reset => write!(f, "servo.reset J{joint}"),
    }
}

fn bus(fault: BusFault, f: &mut Formatter<'_>) -> Result {
    match fault {
        BusFault::BitErrors(chance) => write!(f, "bus.bit_errors at {chance}"),
        BusFault::DroppedBytes(chance) => write!(f, "bus.dropped_bytes at {chance}"),
        BusFault::ExtraBytes(chance) => write!(f, "bus.extra_bytes at {chance}"),
        BusFault::LostSyncWrite(chance) => write!(f, "bus.lost_sync_write at {chance}"),
        BusFault::Disconnected => f.write_str("bus.disconnected"),
        BusFault::Talker(us) => write!(f, "bus.talker every {us} µs"),
    }
}

fn gripper(fault: GripperFault, f: &mut Formatter<'_>) -> Result {
    match fault {
        GripperFault::Unplug => f.write_str("gripper.unplug"),
        GripperFault::PlugIn => f.write_str("gripper.plug_in"),
        GripperFault::ObjectIn { size, stiffness_percent_deg } => {
            match size {
                ObjectSize::AngleDeg(deg) => write!(f, "gripper.object_in at {deg}°")?,
                ObjectSize::WidthMm(mm) => write!(f, "gripper.object_in of {mm} mm")?,
            }
            write!(f, ", {stiffness_percent_deg} %/°")
        }
        GripperFault::ObjectOut => f.write_str("gripper.object_out"),
        GripperFault::Slip(percent) => write!(f, "gripper.slip above {percent} %"),
        GripperFault::Hot(celsius) => write!(f, "gripper.hot at {celsius} °C"),
    }
}

fn arm(fault: ArmFault, f: &mut Formatter<'_>) -> Result {
    match fault {
        ArmFault::Moved(pose_deg) => write!(f, "arm.moved to {pose_deg:?}°"),
        ArmFault::Collision { joint, load_percent } => {
            write!(f, "arm.collision J{} with {load_percent} %", joint + 1)
        }
        ArmFault::Payload(grams) => write!(f, "arm.payload of {grams} g"),
    }
}

fn imu(fault: ImuFault, f: &mut Formatter<'_>) -> Result {
    match fault {
        ImuFault::Absent => f.write_str("imu.absent"),
        ImuFault::Silent => f.write_str("imu.silent"),
        ImuFault::Stuck => f.write_str("imu.stuck"),
        ImuFault::Bias { acc_g, gyro_dps } => write!(f, "imu.bias of {acc_g:?} g, {gyro_dps:?} °/s"),
        ImuFault::Noise(factor) => write!(f, "imu.noise times {factor}"),
        ImuFault::Saturate => f.write_str("imu.saturate"),
    }
}

fn wifi(fault: WifiFault, f: &mut Formatter<'_>) -> Result {
    let ms = |us: u64| us as f64 / 1e3;
    match fault {
        WifiFault::Stall => f.write_str("wifi.stall"),
        WifiFault::Latency(us) => write!(f, "wifi.latency of {} ms", ms(us)),
        WifiFault::Jitter(us) => write!(f, "wifi.jitter up to {} ms", ms(us)),
        WifiFault::Loss(chance) => write!(f, "wifi.loss at {chance}"),
        WifiFault::Duplicate(chance) => write!(f, "wifi.duplicate at {chance}"),
        WifiFault::Reorder { probability, by_us } => {
            write!(f, "wifi.reorder at {probability} by {} ms", ms(by_us))
        }
        WifiFault::Bandwidth(bytes) => write!(f, "wifi.bandwidth of {bytes} bytes/s"),
        WifiFault::Drop => f.write_str("wifi.drop"),
        WifiFault::Address([a, b, c, d]) => write!(f, "wifi.address {a}.{b}.{c}.{d}"),
        WifiFault::Rssi(dbm) => write!(f, "wifi.rssi {dbm} dBm"),
    }
}

fn client(fault: ClientFault, f: &mut Formatter<'_>) -> Result {
    match fault {
        ClientFault::HalfOpen => f.write_str("client.half_open"),
        ClientFault::SlowReader(bytes) => write!(f, "client.slow_reader of {bytes} bytes/s"),
        ClientFault::Disconnect => f.write_str("client.disconnect"),
        ClientFault::Garbage(rate) => write!(f, "client.garbage, {rate} per second"),
        ClientFault::Flood(rate) => write!(f, "client.flood, {rate} per second"),
    }
}
