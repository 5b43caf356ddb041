//! Power-up: wait for the servos, look for J7, hold, set up gains and multi-turn, hold again.

use super::arm::Hold;
use super::context::Context;
use super::controller::{Core, Phase, Step};
use super::idle::Idle;
use crate::bus::{Bus, BusError, driver::id_of, registers};
use crate::joints::{ARM_JOINTS, TABLE};
use crate::platform::ControlPort;
use crate::shared::Mailbox;

/// Time the servos need to start (µs).
const SERVO_START_US: u64 = 300_000;
/// Tries of the first hold and the time between them (µs).
const HOLD_TRIES: u32 = 20;
const HOLD_RETRY_US: u64 = 100_000;
/// Rounds of the set-up.
const ROUNDS: u32 = 5;

/// Where power-up is.
#[derive(Debug, Default)]
pub(super) enum Boot {
    /// Nothing happened yet.
    #[default]
    PowerOn,
    /// Look for J7.
    Probe,
    /// The first hold, after this many failed tries.
    Hold { failed: u32 },
    /// The set-up of joint `joint` in round `round`; J6's multi-turn follows the last joint.
    Setup { round: u32, joint: usize, gains_open: u8 },
}

impl Boot {
    pub(super) fn step<P: ControlPort, M: Mailbox>(
        &mut self,
        core: &mut Core,
        context: &mut Context<'_, P, M>,
    ) -> Step {
        let now_us = context.now_us();
        match *self {
            Self::PowerOn => {
                *self = Self::Probe;
                Step::Wake(now_us + SERVO_START_US)
            }
            Self::Probe => {
                core.arm.probe_gripper(&mut context.bus);
                *self = Self::Hold { failed: 0 };
                Step::Wake(context.now_us())
            }
            Self::Hold { failed } => {
                let held = core.arm.hold(&mut context.bus, Hold::Measured).is_ok();
                let failed = failed + u32::from(!held);
                if held || failed == HOLD_TRIES {
                    *self = Self::Setup { round: 0, joint: 0, gains_open: (1 << ARM_JOINTS) - 1 };
                    return Step::Wake(context.now_us());
                }
                *self = Self::Hold { failed };
                Step::Wake(now_us + HOLD_RETRY_US)
            }
            Self::Setup { round, joint, gains_open } if joint < ARM_JOINTS => {
                let open = gains_open & 1 << joint != 0;
                let taken = open && set_up_joint(joint, &mut context.bus).is_ok();
                let gains_open = gains_open & !(u8::from(taken) << joint);
                *self = Self::Setup { round, joint: joint + 1, gains_open };
                Step::Wake(context.now_us())
            }
            Self::Setup { round, joint: _, gains_open } => {
                let multi_turn = core.arm.set_up_multi_turn(&mut context.bus);
                core.gains_ok = gains_open == 0 && multi_turn;
                if !core.gains_ok && round + 1 < ROUNDS {
                    *self = Self::Setup { round: round + 1, joint: 0, gains_open };
                    return Step::Wake(context.now_us());
                }
                core.hold(Hold::Measured, context);
                Step::Enter(Phase::Idle(Idle::new(context.now_us())))
            }
        }
    }
}

/// Gains P, D, I, starting force and dead zones of one joint: registers 21–27 in one verified write.
fn set_up_joint<P: ControlPort>(joint: usize, bus: &mut Bus<'_, P>) -> Result<(), BusError> {
    let [p, d, i] = TABLE[joint].gains_pdi;
    bus.write_verified(id_of(joint), registers::GAINS, &[p, d, i])?;
    if let Some((force, dead_zone)) = TABLE[joint].starting_force_and_dead_zone {
        bus.write_verified(id_of(joint), registers::STARTING_FORCE, &[force, 0, dead_zone, dead_zone])?;
    }
    Ok(())
}
