//! The phases of the control side and its step.

use super::arm::{Arm, Hold};
use super::boot::Boot;
use super::context::Context;
use super::idle::Idle;
use super::stream_run::StreamRun;
use super::timed_run::TimedRun;
use crate::bus::{Bus, driver::id_of, registers};
use crate::joints::{J6, J7};
use crate::platform::ControlPort;
use crate::protocol::ApiLevel;
use crate::shared::{Mailbox, Request, State, View};

/// Every joint gets its slow read about this often (µs).
const SLOW_READ_ROUND_US: u64 = 1_000_000;

/// The control side. The platform steps it at the time it asked for, and at once when
/// [`crate::shared::Shared::doorbell`] is set.
#[derive(Debug)]
pub struct Control {
    core: Core,
    phase: Phase,
    write_retries: u32,
    level: ApiLevel,
    /// When the phase goes on (µs).
    due_us: u64,
}

/// What all phases share.
#[derive(Debug, Default)]
pub(super) struct Core {
    pub(super) arm: Arm,
    pub(super) state: State,
    /// A request was taken and is being worked on.
    pub(super) working: bool,
    pub(super) gains_ok: bool,
    pub(super) turn_unknown: bool,
    pub(super) progress_permille: u16,
    read_at_us: u64,
    slow_next: usize,
    slow_due_us: u64,
}

#[derive(Debug)]
pub(super) enum Phase {
    Boot(Boot),
    Idle(Idle),
    Timed(TimedRun),
    Stream(StreamRun),
    /// A firmware update: the bus is off.
    Ota,
}

/// What a phase's step leads to.
#[expect(
    clippy::large_enum_variant,
    reason = "a phase is entered a few times a run, and nothing is allocated"
)]
pub(super) enum Step {
    /// The phase goes on at this time (µs).
    Wake(u64),
    /// Another phase begins at once.
    Enter(Phase),
}

impl Control {
    /// The control side at power-up.
    pub fn new(level: ApiLevel) -> Self {
        Self {
            core: Core::default(),
            phase: Phase::Boot(Boot::default()),
            write_retries: 0,
            level,
            due_us: 0,
        }
    }

    /// Does what is due now: at most a few bus transactions. Returns when to step again (µs); earlier when
    /// the doorbell rings.
    pub fn step(&mut self, port: &mut impl ControlPort, mailbox: &impl Mailbox) -> u64 {
        mailbox.with(|shared| shared.doorbell = false);
        if port.now_us() < self.due_us && !self.phase.hears_the_doorbell() {
            return self.due_us;
        }
        let bus = Bus { port, write_retries: &mut self.write_retries };
        let mut context = Context { bus, mailbox, level: self.level };
        let step = match &mut self.phase {
            Phase::Boot(boot) => boot.step(&mut self.core, &mut context),
            Phase::Idle(idle) => idle.step(&mut self.core, &mut context),
            Phase::Timed(run) => run.step(&mut self.core, &mut context),
            Phase::Stream(run) => run.step(&mut self.core, &mut context),
            Phase::Ota => self.core.step_ota(&mut context),
        };
        let now_us = context.now_us();
        self.core.show_from(now_us, &mut context);
        self.due_us = match step {
            Step::Wake(wake_us) => wake_us,
            Step::Enter(phase) => {
                self.phase = phase;
                now_us
            }
        };
        self.due_us
    }
}

impl Phase {
    /// It may go on before its time. Power-up and runs keep their periods: they look at the mailbox then.
    fn hears_the_doorbell(&self) -> bool {
        match self {
            Self::Idle(_) | Self::Ota => true,
            Self::Boot(_) | Self::Timed(_) | Self::Stream(_) => false,
        }
    }
}

impl Core {
    fn view(&self, write_retries: u32) -> View {
        View {
            state: self.state,
            working: self.working,
            n: self.arm.n() as u8,
            joints: self.arm.state,
            read_at_us: self.read_at_us,
            gains_ok: self.gains_ok,
            turn_unknown: self.turn_unknown,
            j7_derated: self.arm.gripper.derated(),
            write_retries,
            progress_permille: self.progress_permille,
        }
    }

    fn show_from<P: ControlPort, M: Mailbox>(&self, at_us: u64, context: &mut Context<'_, P, M>) {
        let view = self.view(*context.bus.write_retries);
        context.mailbox.with(|shared| shared.view.show_from(at_us, view));
    }

    /// Takes the pending request; the network side sees at once that it is being worked on.
    pub(super) fn take_request<P: ControlPort, M: Mailbox>(
        &mut self,
        context: &mut Context<'_, P, M>,
    ) -> Option<Request> {
        let view = View { working: true, ..self.view(*context.bus.write_retries) };
        let request = context.mailbox.with(|shared| {
            let request = shared.request.take()?;
            shared.view.show(view);
            Some(request)
        })?;
        self.working = true;
        Some(request)
    }

    /// Reads the joints, and notes when.
    pub(super) fn read<P: ControlPort, M: Mailbox>(
        &mut self,
        context: &mut Context<'_, P, M>,
    ) -> super::arm::Answered {
        let answered = self.arm.read(&mut context.bus);
        self.read_at_us = context.now_us();
        answered
    }

    /// Reads the joints before a run: J1–J6 all answer, if need be at a later try.
    pub(super) fn read_whole<P: ControlPort, M: Mailbox>(&mut self, context: &mut Context<'_, P, M>) -> bool {
        let whole = self.arm.read_whole(&mut context.bus);
        self.read_at_us = context.now_us();
        whole
    }

    /// When the next slow read is due (µs).
    pub(super) fn slow_due_us(&self) -> u64 {
        self.slow_due_us
    }

    /// Reads voltage, temperature and status of one joint when its turn has come.
    pub(super) fn slow_read<P: ControlPort, M: Mailbox>(&mut self, context: &mut Context<'_, P, M>) {
        let now_us = context.now_us();
        if now_us < self.slow_due_us {
            return;
        }
        let n = self.arm.n();
        self.slow_due_us = now_us + SLOW_READ_ROUND_US / n as u64;
        let joint = self.slow_next % n;
        self.slow_next = (joint + 1) % n;
        let mut values = [0; 4];
        let answered = context.bus.read(id_of(joint), registers::HEALTH, &mut values).is_ok();
        if answered {
            let [voltage_dv, temperature_c, _async_write, status] = values;
            self.arm.state.voltage_dv[joint] = voltage_dv;
            self.arm.state.temperature_c[joint] = temperature_c;
            self.arm.state.status[joint] = status;
        }
        if joint == J7 {
            if self.arm.gripper.count_read(answered) {
                self.arm.forget_gripper();
            } else if answered {
                self.arm.watch_gripper_heat(&mut context.bus);
            }
        }
    }

    /// Holds and sets the state: holding, or error if a servo is silent or the turn of J6 is unknown.
    /// True: holding.
    pub(super) fn hold<P: ControlPort, M: Mailbox>(
        &mut self,
        hold: Hold,
        context: &mut Context<'_, P, M>,
    ) -> bool {
        self.turn_unknown = self.arm.find_turn(&mut context.bus, &context.level.table()[J6]).is_err();
        let held = !self.turn_unknown && self.arm.hold(&mut context.bus, hold).is_ok();
        self.read_at_us = context.now_us();
        self.progress_permille = 0;
        self.state = if held { State::Holding } else { State::Error };
        held
    }

    /// A run has come to its end: the joints keep their goals, before API level 5.0 they take their positions.
    pub(super) fn come_to_rest<P: ControlPort, M: Mailbox>(&mut self, context: &mut Context<'_, P, M>) {
        match Hold::at_rest(context.level) {
            Hold::Goals => {
                let stopped = Arm::stop_moving(&mut context.bus).is_ok();
                self.state = if stopped { State::Holding } else { State::Error };
            }
            Hold::Measured => {
                self.hold(Hold::Measured, context);
            }
        }
    }

    /// Moves the gripper as the latest GRIPPER message of API level 4.6 asks.
    pub(super) fn move_gripper<P: ControlPort, M: Mailbox>(&mut self, context: &mut Context<'_, P, M>) {
        if let Some(goal) = context.mailbox.with(|shared| shared.gripper_goal.take()) {
            self.arm.drive_gripper(&mut context.bus, goal);
        }
    }

    fn step_ota<P: ControlPort, M: Mailbox>(&mut self, context: &mut Context<'_, P, M>) -> Step {
        let failed =
            context.mailbox.with(|shared| shared.request.take_if(|request| *request == Request::OtaFailed));
        if failed.is_some() {
            self.hold(Hold::Measured, context);
            return Step::Enter(Phase::Idle(Idle::new(context.now_us())));
        }
        // Only the end of the update matters, and that rings the doorbell.
        Step::Wake(u64::MAX)
    }
}
