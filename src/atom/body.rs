//! Faults of the arm, its bus, gripper, IMU and supply → the simulated hardware.

use super::fault::{FaultId, FaultKind};
use super::simulated::Atom;
use crate::hardware::{HardwareError, HardwareFault};

/// The part of a fault that the hardware does.
fn hardware_fault(kind: &FaultKind) -> Option<HardwareFault> {
    match *kind {
        FaultKind::Servo { joint, fault } => Some(HardwareFault::Servo { joint, fault }),
        FaultKind::Bus(fault) => Some(HardwareFault::Bus(fault)),
        FaultKind::Gripper(fault) => Some(HardwareFault::Gripper(fault)),
        FaultKind::Arm(fault) => Some(HardwareFault::Arm(fault)),
        FaultKind::Imu(fault) => Some(HardwareFault::Imu(fault)),
        FaultKind::Power(fault) => Some(HardwareFault::Power(fault)),
        FaultKind::Wifi { .. }
        | FaultKind::Client { .. }
        | FaultKind::Cpu(_)
        | FaultKind::Ota(_)
        | FaultKind::HeapLimit(_)
        | FaultKind::Button => None,
    }
}

/// Whether the hardware can do a fault.
pub(super) fn check(kind: &FaultKind) -> Result<(), HardwareError> {
    hardware_fault(kind).map_or(Ok(()), |fault| fault.check())
}

impl Atom {
    pub(super) fn start_hardware(&mut self, id: FaultId, kind: &FaultKind) {
        if let Some(fault) = hardware_fault(kind) {
            let outcome = self.hardware.set_fault(id, fault, self.now_us);
            debug_assert!(outcome.is_ok(), "checked when it was given: {outcome:?}");
        }
    }

    pub(super) fn end_hardware(&mut self, id: FaultId) {
        self.hardware.clear_fault(id, self.now_us);
    }
}
