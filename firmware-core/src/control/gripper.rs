//! J7, the gripper: found by its model number, lost after missed reads, held on its goal, derated by heat.

use super::arm::{Arm, wire};
use crate::bus::{Bus, BusError, driver::id_of, registers};
use crate::joints::{J7, TABLE};
use crate::platform::ControlPort;
use crate::protocol::stream::opening_to_steps;
use crate::shared::GripperGoal;

/// Missed reads in a row after which J7 is gone.
const MISSES_MAX: u8 = 5;
/// J7's own speed cap while it holds (steps/s).
const HOLD_SPEED_CAP_SPS: u16 = 2000;
/// From this temperature on the torque is derated (°C).
const DERATE_FROM_C: u8 = 70;
/// At this temperature and below the full torque is back (°C).
const DERATE_UNTIL_C: u8 = 60;
/// Full torque and derated torque (0.1 %).
const TORQUE: u16 = 1000;
const TORQUE_DERATED: u16 = 500;

/// Whether J7 is there, and its torque.
#[derive(Debug, Default)]
pub(super) struct Gripper {
    found: bool,
    misses: u8,
    derated: bool,
}

impl Gripper {
    pub(super) fn found(&self) -> bool {
        self.found
    }

    pub(super) fn derated(&self) -> bool {
        self.derated
    }

    /// Counts a read of J7. True: J7 is gone with this one.
    pub(super) fn count_read(&mut self, answered: bool) -> bool {
        self.misses = if answered { 0 } else { self.misses + 1 };
        let lost = self.misses >= MISSES_MAX;
        if lost {
            *self = Self::default();
        }
        lost
    }
}

impl Arm {
    /// Looks for J7 at its id; when it is there, sets it up, makes its position its goal and holds it.
    pub(super) fn probe_gripper<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>) {
        let mut model = [0; 2];
        if bus.read(id_of(J7), registers::MODEL, &mut model).is_err()
            || u16::from_le_bytes(model) != registers::GRIPPER_MODEL
        {
            return;
        }
        let Ok(position_steps) = set_up(bus) else { return };
        self.gripper = Gripper { found: true, misses: 0, derated: false };
        self.position_steps[J7] = position_steps;
        self.state.position[J7] = wire(position_steps);
        self.set_goal(J7, position_steps);
        self.hold_gripper(bus);
    }

    /// One write of goal and speed cap, verified by reading the goal back. A failure counts as a missed read.
    pub(super) fn hold_gripper<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>) {
        let [g0, g1] = self.goal_register(J7, self.goal_steps[J7]);
        let [s0, s1] = HOLD_SPEED_CAP_SPS.to_le_bytes();
        let taken =
            bus.write_checked(id_of(J7), registers::MOVE_BLOCK, &[0, g0, g1, 0, 0, s0, s1], 1..3).is_ok();
        if self.gripper.count_read(taken) {
            self.forget_gripper();
        }
    }

    /// GRIPPER of API level 4.6: an opening, or torque off until the next opening. A failure counts as a missed
    /// read.
    pub(super) fn drive_gripper<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>, goal: GripperGoal) {
        if !self.gripper.found() {
            return;
        }
        let torque = match goal {
            GripperGoal::Opening { permille } => {
                self.set_goal(J7, i32::from(opening_to_steps(permille)));
                1
            }
            GripperGoal::TorqueOff => 0,
        };
        let taken = bus.write_verified(id_of(J7), registers::TORQUE_ENABLE, &[torque]).is_ok();
        if self.gripper.count_read(taken) {
            self.forget_gripper();
        } else if torque == 1 {
            self.hold_gripper(bus);
        }
    }

    /// Derates J7's torque when it is hot, and gives it back when it has cooled.
    pub(super) fn watch_gripper_heat<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>) {
        let temperature_c = self.state.temperature_c[J7];
        let derate = match self.gripper.derated {
            false if temperature_c >= DERATE_FROM_C => true,
            true if temperature_c <= DERATE_UNTIL_C => false,
            _unchanged @ (true | false) => return,
        };
        let torque = if derate { TORQUE_DERATED } else { TORQUE };
        // If it does not take, the next slow read tries again.
        if bus.write_verified(id_of(J7), registers::TORQUE_LIMIT, &torque.to_le_bytes()).is_ok() {
            self.gripper.derated = derate;
        }
    }
}

/// Gains and full torque; returns the present position (steps).
fn set_up<P: ControlPort>(bus: &mut Bus<'_, P>) -> Result<i32, BusError> {
    let id = id_of(J7);
    bus.write_verified(id, registers::GAINS, &TABLE[J7].gains_pdi)?;
    for address in [registers::MAX_TORQUE, registers::PROTECTION_CURRENT, registers::TORQUE_LIMIT] {
        bus.write_verified(id, address, &TORQUE.to_le_bytes())?;
    }
    let mut raw = [0; 2];
    bus.read(id, registers::PRESENT, &mut raw)?;
    Ok(i32::from(u16::from_le_bytes(raw)).clamp(0, 4095))
}
