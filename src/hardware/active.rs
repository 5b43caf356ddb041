//! Faults that are there now: set and cleared live. What is wrong is always made anew from the list of those that
//! are there, so the end of one leaves nothing behind.

use std::collections::BTreeMap;

use firmware_core::joints::{J6, J7, JOINTS};
use firmware_core::platform::ImuSample;

use super::fault::{
    ArmFault, BusFault, FaultId, GripperFault, HardwareFault, ImuFault, PowerFault, ServoFault,
};
use super::gripper::Object;
use super::imu::ImuFaults;
use super::line::LineFaults;
use super::options::HardwareError;
use super::rig::{Hardware, JointFaults};
use super::servo::ServoFaults;

/// Below this supply a servo is off (V).
const OFF_V: f64 = 4.0;

/// A fault that is there, with what was found when it began.
#[derive(Debug, Clone, Copy)]
struct Active {
    fault: HardwareFault,
    /// Where the joint was (°), for a joint that is held there.
    found_deg: f64,
    /// The IMU's last sample, for an IMU that repeats it.
    found_sample: Option<ImuSample>,
    /// What was between the fingers, for when the fault's own object is taken out.
    found_object: Option<Object>,
}

/// The faults that are there.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActiveFaults(BTreeMap<FaultId, Active>);

impl ActiveFaults {
    fn all(&self) -> impl Iterator<Item = &HardwareFault> {
        self.0.values().map(|active| &active.fault)
    }

    fn servo(&self, joint: usize) -> ServoFaults {
        let mut sum = ServoFaults::default();
        for fault in self.all() {
            match *fault {
                HardwareFault::Servo { joint: other, fault } if other == joint => match fault {
                    ServoFault::Silent => sum.silent = true,
                    ServoFault::Slow(us) => sum.slow_us += u64::from(us),
                    ServoFault::Limp => sum.limp = true,
                    ServoFault::EncoderOffset(deg) => sum.encoder_offset_deg += deg,
                    ServoFault::Overload => sum.overload = true,
                    ServoFault::OverTemperature(celsius) => sum.heat_to(celsius),
                    ServoFault::WrongModel(model) => sum.model = Some(model),
                    ServoFault::Stuck
                    | ServoFault::Blocked(_)
                    | ServoFault::Friction(_)
                    | ServoFault::Missing
                    | ServoFault::Reset => {}
                },
                HardwareFault::Gripper(GripperFault::Hot(celsius)) if joint == J7 => {
                    sum.heat_to(celsius);
                }
                HardwareFault::Servo { .. }
                | HardwareFault::Bus(_)
                | HardwareFault::Gripper(_)
                | HardwareFault::Arm(_)
                | HardwareFault::Imu(_)
                | HardwareFault::Power(_) => {}
            }
        }
        sum
    }

    fn joint(&self, joint: usize) -> JointFaults {
        let mut sum = JointFaults::default();
        for active in self.0.values() {
            match active.fault {
                HardwareFault::Servo { joint: other, fault: ServoFault::Stuck } if other == joint => {
                    sum.stuck = true;
                }
                HardwareFault::Servo { joint: other, fault: ServoFault::Blocked(deg) } if other == joint => {
                    let (low, high) = sum.held_deg.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                    let (own_low, own_high) = (active.found_deg - deg, active.found_deg + deg);
                    sum.held_deg = Some((low.max(own_low), high.min(own_high)));
                }
                HardwareFault::Servo { joint: other, fault: ServoFault::Friction(percent) }
                    if other == joint =>
                {
                    sum.friction_percent += percent;
                }
                HardwareFault::Arm(ArmFault::Collision { joint: other, load_percent }) if other == joint => {
                    sum.push_percent += load_percent;
                }
                HardwareFault::Servo { .. }
                | HardwareFault::Bus(_)
                | HardwareFault::Gripper(_)
                | HardwareFault::Arm(_)
                | HardwareFault::Imu(_)
                | HardwareFault::Power(_) => {}
            }
        }
        sum
    }

    fn line(&self) -> LineFaults {
        let mut sum = LineFaults::default();
        let either = |a: f64, b: f64| 1.0 - (1.0 - a) * (1.0 - b);
        for fault in self.all() {
            let HardwareFault::Bus(fault) = *fault else { continue };
            match fault {
                BusFault::BitErrors(chance) => sum.bit_errors = either(sum.bit_errors, chance),
                BusFault::DroppedBytes(chance) => sum.dropped_bytes = either(sum.dropped_bytes, chance),
                BusFault::ExtraBytes(chance) => sum.extra_bytes = either(sum.extra_bytes, chance),
                BusFault::LostSyncWrite(chance) => sum.lost_sync_write = either(sum.lost_sync_write, chance),
                BusFault::Disconnected => sum.disconnected = true,
                BusFault::Talker(us) => {
                    let period_us = u64::from(us);
                    sum.talker_us = Some(sum.talker_us.map_or(period_us, |other| other.min(period_us)));
                }
            }
        }
        sum
    }

    fn imu(&self) -> ImuFaults {
        let mut sum = ImuFaults::default();
        let add =
            |to: &mut [f64; 3], more: [f64; 3]| *to = core::array::from_fn(|axis| to[axis] + more[axis]);
        for active in self.0.values() {
            let HardwareFault::Imu(fault) = active.fault else { continue };
            match fault {
                ImuFault::Silent => sum.silent = true,
                ImuFault::Stuck => sum.stuck = sum.stuck.or(active.found_sample),
                ImuFault::Bias { acc_g, gyro_dps } => {
                    add(&mut sum.acc_bias_g, acc_g);
                    add(&mut sum.gyro_bias_dps, gyro_dps);
                }
                ImuFault::Noise(factor) => sum.noise_factor *= factor,
                ImuFault::Saturate => sum.saturated = true,
                ImuFault::Absent => {}
            }
        }
        sum
    }

    fn payload_g(&self) -> f64 {
        let mass = |fault: &HardwareFault| {
            if let HardwareFault::Arm(ArmFault::Payload(grams)) = *fault { Some(grams) } else { None }
        };
        self.all().filter_map(mass).sum()
    }

    fn brown_out_v(&self) -> Option<f64> {
        let volts = |fault: &HardwareFault| {
            if let HardwareFault::Power(PowerFault::BrownOut(volts)) = *fault { Some(volts) } else { None }
        };
        self.all().filter_map(volts).reduce(f64::min)
    }

    fn slips_above_percent(&self) -> Option<f64> {
        let load = |fault: &HardwareFault| {
            if let HardwareFault::Gripper(GripperFault::Slip(percent)) = *fault {
                Some(percent)
            } else {
                None
            }
        };
        self.all().filter_map(load).reduce(f64::min)
    }

    fn has(&self, wanted: impl Fn(&HardwareFault) -> bool) -> bool {
        self.all().any(wanted)
    }

    fn misses(&self, joint: usize) -> bool {
        self.has(|fault| *fault == HardwareFault::Servo { joint, fault: ServoFault::Missing })
    }

    /// Something has switched the servos off.
    fn keeps_servos_off(&self) -> bool {
        self.brown_out_v().is_some_and(|volts| volts < OFF_V)
            || self.has(|fault| matches!(fault, HardwareFault::Power(fault) if fault.cycles_servos()))
    }
}

impl ServoFaults {
    /// Of several temperatures the highest counts.
    fn heat_to(&mut self, celsius: f64) {
        self.celsius = self.celsius.into_iter().chain([celsius]).reduce(f64::max);
    }
}

impl PowerFault {
    fn cycles_servos(self) -> bool {
        match self {
            Self::CycleServos | Self::CycleBoth | Self::J6Turned(_) => true,
            Self::BrownOut(_) | Self::CycleAtom => false,
        }
    }
}

impl Hardware {
    /// A fault begins at `now_us`: until it is cleared, or at once if it is an event.
    ///
    /// # Errors
    /// Parameters that cannot be; nothing changes.
    pub fn set_fault(&mut self, id: FaultId, fault: HardwareFault, now_us: u64) -> Result<(), HardwareError> {
        fault.check()?;
        let t_us = self.time(now_us);
        self.note_slip(t_us);
        self.clear_fault(id, now_us);
        let found_deg = match fault {
            HardwareFault::Servo { joint, .. } => self.plant.encoder(joint, t_us).deg,
            HardwareFault::Bus(_)
            | HardwareFault::Gripper(_)
            | HardwareFault::Arm(_)
            | HardwareFault::Imu(_)
            | HardwareFault::Power(_) => 0.0,
        };
        let found_sample = self.imu(now_us);
        let found_object = self.object;
        self.faults.0.insert(id, Active { fault, found_deg, found_sample, found_object });
        self.begin(&fault, t_us);
        self.note_faults(t_us);
        Ok(())
    }

    /// A fault ends at `now_us`; one that is not there has ended already.
    pub fn clear_fault(&mut self, id: FaultId, now_us: u64) {
        let Some(active) = self.faults.0.remove(&id) else { return };
        let t_us = self.time(now_us);
        self.note_slip(t_us);
        match active.fault {
            HardwareFault::Gripper(GripperFault::Unplug) => {
                let other = HardwareFault::Gripper(GripperFault::Unplug);
                self.plugged |= !self.faults.has(|fault| *fault == other);
            }
            HardwareFault::Gripper(GripperFault::ObjectIn { size, .. }) => {
                if self.object.is_some_and(|object| object.size == size) {
                    self.object = active.found_object;
                    self.renew(J7, t_us);
                }
            }
            HardwareFault::Servo { joint, fault: ServoFault::Missing } => {
                self.missing[joint] &= self.faults.misses(joint);
            }
            HardwareFault::Imu(ImuFault::Absent) => {
                self.imu.found |= !self.faults.has(|fault| *fault == HardwareFault::Imu(ImuFault::Absent));
            }
            HardwareFault::Servo { .. }
            | HardwareFault::Bus(_)
            | HardwareFault::Gripper(_)
            | HardwareFault::Arm(_)
            | HardwareFault::Imu(_)
            | HardwareFault::Power(_) => {}
        }
        self.note_faults(t_us);
    }

    /// The ATOM has power again: it looks for its IMU.
    pub fn power_up_atom(&mut self, now_us: u64) {
        self.imu.found = !self.faults.has(|fault| *fault == HardwareFault::Imu(ImuFault::Absent));
        self.note_missing();
        self.connect(self.time(now_us));
    }

    /// What a fault does once, when it begins.
    fn begin(&mut self, fault: &HardwareFault, t_us: u64) {
        match *fault {
            HardwareFault::Servo { joint, fault: ServoFault::Reset } => {
                let deg = self.plant.encoder(joint, t_us).deg;
                if self.servos[joint].is_connected() {
                    self.servos[joint].set_connected(false, deg);
                    self.servos[joint].set_connected(true, deg);
                    self.renew(joint, t_us);
                    self.note_ids();
                }
            }
            HardwareFault::Gripper(GripperFault::Unplug) => self.plugged = false,
            HardwareFault::Gripper(GripperFault::PlugIn) => self.plugged = true,
            HardwareFault::Gripper(GripperFault::ObjectIn { size, stiffness_percent_deg }) => {
                self.object = Some(Object { stiffness_percent_deg, ..Object::of(size) });
                self.renew(J7, t_us);
            }
            HardwareFault::Gripper(GripperFault::ObjectOut) => {
                self.object = None;
                self.renew(J7, t_us);
            }
            HardwareFault::Arm(ArmFault::Moved(pose_deg)) => {
                for (joint, deg) in pose_deg.into_iter().enumerate() {
                    if !self.servos[joint].drive().on {
                        self.put(joint, deg, t_us);
                    }
                }
            }
            HardwareFault::Power(PowerFault::J6Turned(deg)) => {
                self.powered = false;
                self.connect(t_us);
                self.put(J6, deg, t_us);
            }
            HardwareFault::Servo { .. }
            | HardwareFault::Bus(_)
            | HardwareFault::Gripper(GripperFault::Slip(_) | GripperFault::Hot(_))
            | HardwareFault::Arm(_)
            | HardwareFault::Imu(_)
            | HardwareFault::Power(_) => {}
        }
    }

    /// A hand puts a joint at `deg`.
    fn put(&mut self, joint: usize, deg: f64, t_us: u64) {
        self.plant.put(joint, t_us, deg);
        self.renew(joint, t_us);
    }

    /// Makes what is wrong from the faults that are there.
    fn note_faults(&mut self, t_us: u64) {
        self.line.set_faults(t_us, self.faults.line());
        self.imu.faults = self.faults.imu();
        self.load.payload_g = self.faults.payload_g();
        self.plant.set_payload(t_us, self.load.payload_g);
        self.brown_out_v = self.faults.brown_out_v();
        let slips = self.faults.slips_above_percent();
        let slip_changed = slips != self.slips_above_percent;
        self.slips_above_percent = slips;
        for joint in 0..JOINTS {
            let servo_faults = self.faults.servo(joint);
            let joint_faults = self.faults.joint(joint);
            let unchanged = servo_faults == *self.servos[joint].faults()
                && joint_faults == self.joint_faults[joint]
                && !(slip_changed && joint == J7);
            if !unchanged {
                self.joint_faults[joint] = joint_faults;
                self.servos[joint].set_faults(servo_faults, self.plant.encoder(joint, t_us).deg);
                self.renew(joint, t_us);
            }
        }
        let powered = !self.faults.keeps_servos_off();
        if powered && !self.powered {
            self.note_missing();
        }
        self.powered = powered;
        self.connect(t_us);
    }

    fn note_missing(&mut self) {
        self.missing = core::array::from_fn(|joint| self.faults.misses(joint));
    }
}
