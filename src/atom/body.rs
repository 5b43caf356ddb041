//! Faults of the arm, its bus, gripper, IMU and supply → the simulated hardware.

use super::effects::InjectError;
use super::fault::{FaultId, FaultKind, GripperFault, ObjectSize, PowerFault};
use super::simulated::Atom;
use crate::hardware::{self, Object};

fn object(size: ObjectSize, stiffness_percent_deg: f64) -> Object {
    let size = match size {
        ObjectSize::AngleDeg(deg) => hardware::ObjectSize::AngleDeg(deg),
        ObjectSize::WidthMm(mm) => hardware::ObjectSize::WidthMm(mm),
    };
    Object { stiffness_percent_deg, ..Object::of(size) }
}

impl Atom {
    /// Whether this version can do a fault.
    pub(super) fn check(&self, kind: &FaultKind) -> Result<(), InjectError> {
        match kind {
            FaultKind::Gripper(
                GripperFault::Unplug
                | GripperFault::PlugIn
                | GripperFault::ObjectIn { .. }
                | GripperFault::ObjectOut,
            )
            | FaultKind::Power(PowerFault::CycleAtom | PowerFault::CycleServos | PowerFault::CycleBoth)
            | FaultKind::Wifi { .. }
            | FaultKind::Client { .. }
            | FaultKind::Cpu(_)
            | FaultKind::Ota(_)
            | FaultKind::HeapLimit(_)
            | FaultKind::Button => Ok(()),
            FaultKind::Servo { .. }
            | FaultKind::Bus(_)
            | FaultKind::Gripper(_)
            | FaultKind::Arm(_)
            | FaultKind::Imu(_)
            | FaultKind::Power(_) => Err(InjectError::Unsupported(kind.clone())),
        }
    }

    pub(super) fn start_hardware(&mut self, _id: FaultId, kind: &FaultKind) {
        match kind {
            FaultKind::Gripper(GripperFault::Unplug) => self.hardware.set_gripper(false, self.now_us),
            FaultKind::Gripper(GripperFault::PlugIn) => self.hardware.set_gripper(true, self.now_us),
            FaultKind::Gripper(GripperFault::ObjectIn { size, stiffness_percent_deg }) => {
                let object = object(*size, *stiffness_percent_deg);
                let _ = self.hardware.set_object(Some(object), self.now_us);
            }
            FaultKind::Gripper(GripperFault::ObjectOut) => {
                let _ = self.hardware.set_object(None, self.now_us);
            }
            FaultKind::Power(PowerFault::CycleServos | PowerFault::CycleBoth) => {
                self.hardware.power_cycle_servos(self.now_us);
            }
            _ => {}
        }
    }

    pub(super) fn end_hardware(&mut self, _id: FaultId, kind: &FaultKind) {
        match kind {
            FaultKind::Gripper(GripperFault::Unplug) => self.hardware.set_gripper(true, self.now_us),
            FaultKind::Gripper(GripperFault::ObjectIn { .. }) => {
                let _ = self.hardware.set_object(None, self.now_us);
            }
            FaultKind::Power(PowerFault::CycleServos | PowerFault::CycleBoth) => {
                self.hardware.power_cycle_servos(self.now_us);
            }
            _ => {}
        }
    }
}
