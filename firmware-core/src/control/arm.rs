//! The arm as the control side sees it: last readings, goals held, reads, goal writes and the holds.

use super::gripper::Gripper;
use super::multi_turn;
use crate::bus::driver::{WRITE_TRIES, id_of};
use crate::bus::{Bus, BusError, registers};
use crate::joints::{ARM_JOINTS, J6, J7, JOINTS, Joint};
use crate::platform::ControlPort;
use crate::protocol::ApiLevel;
use crate::shared::JointState;
use crate::units::{STEPS_PER_TURN, from_sign_magnitude, to_sign_magnitude};

/// A goal further than this from the position is given up for the position (steps, 3°).
pub(super) const GOAL_KEPT_STEPS: i32 = 34;
/// J1–J6 as a set of joints (bit 0 = J1).
const ARM: u8 = 0x3F;

/// Which goals a hold gives J1–J6. J7 always keeps its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// The measured positions.
    Measured,
    /// The present goal where it is within 3° of the position, so that a loaded joint does not sag by its
    /// droop; else the position.
    Goals,
}

impl Hold {
    /// How a resting arm is held: since API level 5.0 on its goals, before on its positions.
    pub(super) fn at_rest(level: ApiLevel) -> Self {
        if level.has_j7() { Self::Goals } else { Self::Measured }
    }
}

/// The joints.
#[derive(Debug, Default)]
pub(super) struct Arm {
    /// Last position read (steps; J6 in its own turn).
    pub(super) position_steps: [i32; JOINTS],
    /// Goal held or followed (steps; J6 in its own turn).
    pub(super) goal_steps: [i32; JOINTS],
    /// The last reading in wire encoding.
    pub(super) state: JointState,
    /// J7.
    pub(super) gripper: Gripper,
    /// J6's servo is in multi-turn.
    multi_turn_ready: bool,
    /// Steps added to J6's readings; `None` while its turn is unknown or not looked at yet.
    turn_offset_steps: Option<i32>,
}

impl Arm {
    /// Joints in use: 6, or 7 with J7.
    pub(super) fn n(&self) -> usize {
        if self.gripper.found() { JOINTS } else { ARM_JOINTS }
    }

    fn joints_in_use(&self) -> u8 {
        if self.gripper.found() { ARM | 1 << J7 } else { ARM }
    }

    /// Registers' value of a goal: J6 less its turns and in sign-magnitude, the others within one turn.
    pub(super) fn goal_register(&self, joint: usize, goal_steps: i32) -> [u8; 2] {
        let raw = if joint == J6 {
            to_sign_magnitude(goal_steps - self.turn_offset_steps.unwrap_or(0))
        } else {
            goal_steps.clamp(0, STEPS_PER_TURN - 1) as u16
        };
        raw.to_le_bytes()
    }

    fn position_of(&self, joint: usize, raw: u16) -> i32 {
        if joint == J6 {
            from_sign_magnitude(raw) + self.turn_offset_steps.unwrap_or(0)
        } else {
            from_sign_magnitude(raw).clamp(0, STEPS_PER_TURN - 1)
        }
    }

    /// Sets a goal as held or followed, without writing it.
    pub(super) fn set_goal(&mut self, joint: usize, goal_steps: i32) {
        self.goal_steps[joint] = goal_steps;
        self.state.goal[joint] = wire(goal_steps);
    }

    /// Reads position, speed and load of the joints in use. Returns which answered.
    pub(super) fn read<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>) -> Answered {
        let readings = bus.sync_read::<6>(self.joints_in_use(), registers::PRESENT);
        let mut answered = Answered(0);
        for (joint, reading) in readings.iter().enumerate() {
            let Some([p0, p1, s0, s1, l0, l1]) = *reading else { continue };
            answered.0 |= 1 << joint;
            self.position_steps[joint] = self.position_of(joint, u16::from_le_bytes([p0, p1]));
            self.state.position[joint] = wire(self.position_steps[joint]);
            self.state.speed[joint] = u16::from_le_bytes([s0, s1]);
            self.state.load[joint] = u16::from_le_bytes([l0, l1]);
        }
        if self.gripper.found() && self.gripper.count_read(answered.joint(J7)) {
            self.forget_gripper();
        }
        self.state.ok = answered.whole_arm();
        answered
    }

    /// Reads until J1–J6 have all answered in one read, as often as a write is tried: one broken reply is no
    /// silent servo. False: they never did.
    pub(super) fn read_whole<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>) -> bool {
        (0..WRITE_TRIES).any(|_| self.read(bus).whole_arm())
    }

    /// J7 is gone: nothing of it is shown any more.
    pub(super) fn forget_gripper(&mut self) {
        self.position_steps[J7] = 0;
        self.set_goal(J7, 0);
        let state = &mut self.state;
        state.position[J7] = 0;
        state.speed[J7] = 0;
        state.load[J7] = 0;
        state.temperature_c[J7] = 0;
        state.voltage_dv[J7] = 0;
        state.status[J7] = 0;
    }

    /// Writes the goals of the first `n` joints in use in one SYNC WRITE.
    pub(super) fn write_goals<P: ControlPort>(
        &mut self,
        bus: &mut Bus<'_, P>,
        goals_steps: &[i32; JOINTS],
        n: usize,
    ) {
        let mut values = [None; JOINTS];
        for joint in 0..n.min(self.n()) {
            self.set_goal(joint, goals_steps[joint]);
            values[joint] = Some(self.goal_register(joint, goals_steps[joint]));
        }
        bus.sync_write(registers::GOAL_POSITION, &values);
    }

    /// Where a run starts: the goals the joints hold; a goal more than 3° from the position gives way to the
    /// position. Before API level 5.0 the positions. J7 always starts from its goal.
    pub(super) fn start_steps(&self, level: ApiLevel) -> [i32; JOINTS] {
        core::array::from_fn(|joint| match Hold::at_rest(level) {
            _ if joint == J7 => self.goal_steps[J7],
            Hold::Goals => self.kept_goal(joint),
            Hold::Measured => self.position_steps[joint],
        })
    }

    fn kept_goal(&self, joint: usize) -> i32 {
        let (goal, position) = (self.goal_steps[joint], self.position_steps[joint]);
        if (goal - position).abs() <= GOAL_KEPT_STEPS { goal } else { position }
    }

    /// Before the first cycle of a run, verified: goal = start, acceleration 0, goal speed = the cap; J7 only
    /// in a run of 7 joints, and J7 never fails it.
    ///
    /// # Errors
    /// A joint of J1–J6 did not take it.
    pub(super) fn prepare_run<P: ControlPort>(
        &mut self,
        bus: &mut Bus<'_, P>,
        start_steps: &[i32; JOINTS],
        n: usize,
        speed_cap_sps: u16,
    ) -> Result<(), BusError> {
        let block = |arm: &Self, joint: usize| {
            let [g0, g1] = arm.goal_register(joint, start_steps[joint]);
            let [s0, s1] = speed_cap_sps.to_le_bytes();
            [0, g0, g1, 0, 0, s0, s1]
        };
        let mut values = [None; JOINTS];
        for (joint, value) in values.iter_mut().enumerate().take(ARM_JOINTS) {
            *value = Some(block(self, joint));
        }
        bus.sync_write_verified(registers::MOVE_BLOCK, &values)?;
        for joint in 0..ARM_JOINTS {
            self.set_goal(joint, start_steps[joint]);
        }
        if n == JOINTS && self.gripper.found() {
            // Goal and speed cap; reading the goal back proves the write.
            let taken = bus.write_checked(id_of(J7), registers::MOVE_BLOCK, &block(self, J7), 1..3).is_ok();
            if self.gripper.count_read(taken) {
                self.forget_gripper();
            }
        }
        Ok(())
    }

    /// Goal speed 0 for J1–J6, verified: they do not move.
    ///
    /// # Errors
    /// A joint did not take it.
    pub(super) fn stop_moving<P: ControlPort>(bus: &mut Bus<'_, P>) -> Result<(), BusError> {
        let mut values = [None; JOINTS];
        values[..ARM_JOINTS].fill(Some([0, 0]));
        bus.sync_write_verified(registers::GOAL_SPEED, &values)
    }

    /// Holds the pose: goal speed 0, read, goals of J1–J6, all verified; J7 keeps its goal.
    ///
    /// # Errors
    /// A joint of J1–J6 did not answer or did not take its value.
    pub(super) fn hold<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>, hold: Hold) -> Result<(), BusError> {
        Self::stop_moving(bus)?;
        if !self.read_whole(bus) {
            return Err(BusError::NoReply);
        }
        let mut values = [None; JOINTS];
        for (joint, value) in values.iter_mut().enumerate().take(ARM_JOINTS) {
            let goal_steps = match hold {
                Hold::Measured => self.position_steps[joint],
                Hold::Goals => self.kept_goal(joint),
            };
            self.set_goal(joint, goal_steps);
            *value = Some(self.goal_register(joint, goal_steps));
        }
        bus.sync_write_verified(registers::GOAL_POSITION, &values)?;
        if self.gripper.found() {
            self.hold_gripper(bus);
        }
        Ok(())
    }

    /// Puts J6's servo into multi-turn. False: it did not take, and the turn of J6 is unknown.
    pub(super) fn set_up_multi_turn<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>) -> bool {
        self.multi_turn_ready = multi_turn::set_up(bus).is_ok();
        self.multi_turn_ready
    }

    /// J6's servo still counts turns. One that lost its power alone does not: its reading starts again within
    /// one turn, and a goal in turns would send the joint the wrong way round. Then the turn is forgotten.
    pub(super) fn keeps_turn<P: ControlPort>(&mut self, bus: &mut Bus<'_, P>) -> bool {
        let mut phase = [0];
        // A silent servo is found by the reads around this one.
        let lost = bus.read(id_of(J6), registers::PHASE, &mut phase).is_ok()
            && phase[0] & registers::PHASE_MULTI_TURN == 0;
        if lost {
            self.multi_turn_ready = false;
            self.turn_offset_steps = None;
        }
        !lost
    }

    /// Finds the turn of `j6` from its reading. While it is unknown J6's torque goes off.
    pub(super) fn find_turn<P: ControlPort>(
        &mut self,
        bus: &mut Bus<'_, P>,
        j6: &Joint,
    ) -> Result<(), TurnUnknown> {
        if self.turn_offset_steps.is_some() && self.keeps_turn(bus) {
            return Ok(());
        }
        let ready = self.multi_turn_ready || self.set_up_multi_turn(bus);
        let mut raw = [0; 2];
        self.turn_offset_steps = if ready && bus.read(id_of(J6), registers::PRESENT, &mut raw).is_ok() {
            multi_turn::offset_of(from_sign_magnitude(u16::from_le_bytes(raw)), j6)
        } else {
            None
        };
        let Some(_) = self.turn_offset_steps else {
            // A servo that does not even take this is silent; the state is error either way.
            let _ = bus.write_verified(id_of(J6), registers::TORQUE_ENABLE, &[0]);
            return Err(TurnUnknown);
        };
        Ok(())
    }
}

/// The turn of J6 cannot be told: it must be moved away from the gap by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TurnUnknown;

/// The joints that answered a read (bit 0 = J1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answered(u8);

impl Answered {
    /// Joint `joint` (index) answered.
    pub(super) fn joint(self, joint: usize) -> bool {
        self.0 & 1 << joint != 0
    }

    /// J1–J6 all answered.
    pub(super) fn whole_arm(self) -> bool {
        self.0 & ARM == ARM
    }
}

/// Wire encoding of a position or goal: an unsigned number of steps.
pub(super) fn wire(steps: i32) -> u16 {
    steps.clamp(0, i32::from(u16::MAX)) as u16
}
