//! Ground truth: what only a simulator can know. Looking changes nothing, and any time can be asked for that is
//! not long past.

use firmware_core::joints::{ARM_JOINTS, J7, JOINTS};

use super::chain::{self, Pose};
use super::drive::Felt;
use super::gripper::{self, Object};
use super::register_table::REGISTERS;
use super::rig::{BusCounters, Hardware};

/// The truth of one joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointTruth {
    /// Angle of the link (°).
    pub deg: f64,
    /// Speed of the link (°/s).
    pub dps: f64,
    /// Angle at the encoder, before any fault of the encoder (°).
    pub encoder_deg: f64,
    /// Load (%), as the servo would read it.
    pub load_percent: f64,
    /// Temperature (°C).
    pub celsius: f64,
    /// Supply (V).
    pub volts: f64,
    /// The servo drives the joint.
    pub driven: bool,
    /// The servo has power and is on the bus.
    pub connected: bool,
}

/// The truth of the object between the fingers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectTruth {
    /// What it is.
    pub object: Object,
    /// The fingers touch it.
    pub touched: bool,
    /// What squeezes it (%).
    pub squeeze_percent: f64,
}

impl Hardware {
    /// The joints at `t_us`.
    pub fn joints(&self, t_us: u64) -> [JointTruth; JOINTS] {
        core::array::from_fn(|joint| {
            let link = self.plant.link(joint, t_us);
            let felt = self.plant.felt(joint, t_us);
            JointTruth {
                deg: link.deg,
                dps: link.dps,
                encoder_deg: felt.encoder.deg,
                load_percent: self.load_percent(joint, &felt, t_us),
                celsius: self.celsius(joint, t_us),
                volts: self.supply_v(joint),
                driven: self.servos[joint].drive().on,
                connected: self.servos[joint].is_connected(),
            }
        })
    }

    /// True angle of the link after `joint` (index) at `t_us` (°).
    pub fn deg(&self, joint: usize, t_us: u64) -> f64 {
        self.plant.link(joint, t_us).deg
    }

    /// True link angles at `t_us` (°).
    pub fn pose_deg(&self, t_us: u64) -> [f64; JOINTS] {
        core::array::from_fn(|joint| self.plant.link(joint, t_us).deg)
    }

    /// The tool point: between the finger pads, or the flange without the gripper.
    pub fn tcp_pose(&self, t_us: u64) -> Pose {
        chain::poses(&self.arm_deg(t_us), self.plugged).1
    }

    fn arm_deg(&self, t_us: u64) -> [f64; ARM_JOINTS] {
        core::array::from_fn(|joint| self.plant.link(joint, t_us).deg)
    }

    /// All registers of the servo of `joint` (index) at `t_us`, by address.
    pub fn registers(&self, joint: usize, t_us: u64) -> [u8; REGISTERS] {
        let servo = &self.servos[joint];
        let felt = self.plant.felt(joint, t_us);
        let status = servo.status(self.celsius(joint, t_us), self.supply_v(joint), felt.overloaded_us);
        servo.registers().all(&self.present(joint, &felt, t_us, status, 0..REGISTERS))
    }

    /// The object between the fingers at `t_us`.
    pub fn object(&self, t_us: u64) -> Option<ObjectTruth> {
        let object = self.object.filter(|_| !self.plant.slipped_by(t_us))?;
        let Felt { push_percent: squeeze_percent, encoder, .. } = self.plant.felt(J7, t_us);
        let touched = encoder.deg <= object.size.contact_deg() + 1e-9;
        Some(ObjectTruth { object, touched, squeeze_percent })
    }

    /// Distance of the finger pads at `t_us` (mm).
    pub fn finger_width_mm(&self, t_us: u64) -> f64 {
        gripper::width_mm(self.plant.link(J7, t_us).deg)
    }

    /// What happened on the bus since the start.
    pub fn bus_counters(&self) -> BusCounters {
        BusCounters { overrun_bytes: self.wire.overruns(), ..self.counters }
    }

    /// Mass of what the fingers hold (g).
    pub(crate) fn held_g(&self, t_us: u64) -> f64 {
        match &self.object {
            Some(object) if object.mass_g > 0.0 => {
                self.object(t_us).filter(|truth| truth.touched).map_or(0.0, |truth| truth.object.mass_g)
            }
            Some(_) | None => 0.0,
        }
    }

    /// Load of a servo (%), as it reads it.
    pub(crate) fn load_percent(&self, joint: usize, felt: &Felt, t_us: u64) -> f64 {
        let drive = self.servos[joint].drive();
        self.load.percent(&self.plant, joint, drive, felt, t_us, self.held_g(t_us))
    }

    /// Temperature of a servo (°C), as it reads it.
    pub(crate) fn celsius(&self, joint: usize, t_us: u64) -> f64 {
        self.servos[joint].faults().celsius.unwrap_or_else(|| self.plant.temperature_c(joint, t_us))
    }
}
