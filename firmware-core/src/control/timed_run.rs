//! PLAY, PLAY_SIGNAL and MOVE_TO: one cycle per period along a motion that is known from the start.

use super::arm::{Answered, Hold, wire};
use super::context::Context;
use super::controller::{Core, Phase, Step};
use super::idle::Idle;
use super::pacing::{Outcome, Pacing, Silence};
use crate::joints::{ARM_JOINTS, JOINTS};
use crate::motion::min_jerk;
use crate::motion::signal::Signal;
use crate::platform::{ClientId, ControlPort, Work};
use crate::protocol::telemetry::Sample;
use crate::shared::{Mailbox, PlayParams, State};
use crate::telemetry_ring::TelemetrySample;
use crate::units::deg_to_steps;

/// A run goes on this long past its last sample, so that the arm settles (µs).
pub const SETTLE_US: u64 = 500_000;
/// After a run that came to its end: pause before goal speed 0 (µs).
const PAUSE_US: u64 = 300_000;

/// Where the goals of a run come from.
#[derive(Debug)]
pub(super) enum Motion {
    /// MOVE_TO.
    MinJerk { start_deg: [f32; JOINTS], goal_deg: [f32; JOINTS], duration_s: f32 },
    /// PLAY: the plan in the mailbox, which nobody changes while it plays.
    Plan { duration_us: u64 },
    /// PLAY_SIGNAL.
    Signal(Signal),
}

/// Goals to send and wanted positions (steps).
struct Targets {
    cmd: [i32; JOINTS],
    reference: [i32; JOINTS],
}

impl Motion {
    fn duration_us(&self) -> u64 {
        let from_s = |duration_s: f32| libm::round(f64::from(duration_s) * 1e6) as u64;
        match self {
            Self::MinJerk { duration_s, .. } => from_s(*duration_s),
            Self::Plan { duration_us } => *duration_us,
            Self::Signal(signal) => from_s(signal.duration_s()),
        }
    }

    fn targets(&self, t_us: u64, n: usize, mailbox: &impl Mailbox) -> Targets {
        let t_s = t_us as f32 * 1e-6;
        match self {
            Self::MinJerk { start_deg, goal_deg, duration_s } => {
                let s = min_jerk::position(t_s / duration_s);
                let mut steps = [0; JOINTS];
                for joint in 0..n {
                    let deg = start_deg[joint] + s * (goal_deg[joint] - start_deg[joint]);
                    steps[joint] = deg_to_steps(joint, deg);
                }
                Targets { cmd: steps, reference: steps }
            }
            Self::Plan { .. } => {
                let (cmd, reference) = mailbox.with(|shared| shared.plan.at(t_us));
                Targets { cmd: cmd.map(i32::from), reference: reference.map(i32::from) }
            }
            Self::Signal(signal) => {
                let pose_deg = signal.pose_deg(t_s);
                let mut steps = [0; JOINTS];
                for (joint, deg) in pose_deg.iter().enumerate() {
                    steps[joint] = deg_to_steps(joint, *deg);
                }
                Targets { cmd: steps, reference: steps }
            }
        }
    }
}

/// A running PLAY, PLAY_SIGNAL or MOVE_TO.
#[derive(Debug)]
pub(super) struct TimedRun {
    client: ClientId,
    telemetry_dropped: u32,
    sent: bool,
    motion: Motion,
    n: usize,
    max_error_steps: i32,
    pacing: Pacing,
    silence: Silence,
    /// The motion is over: when the pause ends (µs).
    pause_until_us: Option<u64>,
}

impl TimedRun {
    /// A run of the first `n` joints; `sent`: its telemetry goes to the client.
    pub(super) fn new(client: ClientId, sent: bool, motion: Motion, n: usize, params: PlayParams) -> Self {
        Self {
            client,
            telemetry_dropped: 0,
            sent,
            motion,
            n,
            max_error_steps: i32::from(params.max_error_steps),
            pacing: Pacing::new(1_000_000 / u64::from(params.rate_hz), 0),
            silence: Silence::default(),
            pause_until_us: None,
        }
    }

    pub(super) fn step<P: ControlPort, M: Mailbox>(
        &mut self,
        core: &mut Core,
        context: &mut Context<'_, P, M>,
    ) -> Step {
        if let Some(until_us) = self.pause_until_us {
            if context.now_us() < until_us {
                return Step::Wake(until_us);
            }
            return self.end(Outcome::Done, core, context);
        }
        if context.mailbox.with(|shared| shared.stop) {
            return self.end(Outcome::Stopped, core, context);
        }
        match self.cycle(core, context) {
            Ok(next_us) => Step::Wake(next_us),
            Err(Outcome::Done) => {
                let until_us = context.now_us() + PAUSE_US;
                self.pause_until_us = Some(until_us);
                Step::Wake(until_us)
            }
            Err(outcome) => self.end(outcome, core, context),
        }
    }

    /// One control cycle; returns when the next one starts, or how the run ends.
    fn cycle<P: ControlPort, M: Mailbox>(
        &mut self,
        core: &mut Core,
        context: &mut Context<'_, P, M>,
    ) -> Result<u64, Outcome> {
        let duration_us = self.motion.duration_us();
        let now_us = context.now_us();
        let t_us = self.pacing.elapsed_us(now_us);
        if t_us >= duration_us + SETTLE_US {
            return Err(Outcome::Done);
        }
        self.pacing.begin_cycle(now_us);
        core.progress_permille = (t_us.min(duration_us) * 1000 / duration_us.max(1)) as u16;
        let targets = self.motion.targets(t_us, self.n, context.mailbox);
        context.bus.port.computed(Work::Cycle);
        core.arm.write_goals(&mut context.bus, &targets.cmd, self.n);
        let answered = core.read(context);
        context.answer_state_requests_in_run(core.state, &core.arm);
        core.move_gripper(context);
        core.slow_read(context);
        self.record(t_us, &targets, answered, core, context);
        self.check(&targets, answered, core)?;
        Ok(self.pacing.end_cycle(context.now_us()))
    }

    fn record<P: ControlPort, M: Mailbox>(
        &mut self,
        t_us: u64,
        targets: &Targets,
        answered: Answered,
        core: &Core,
        context: &mut Context<'_, P, M>,
    ) {
        let at_us = context.now_us();
        let sample = Sample {
            n: self.n,
            t_us: t_us as u32,
            cmd: targets.cmd.map(wire),
            reference: targets.reference.map(wire),
            position: core.arm.state.position,
            speed: core.arm.state.speed,
            load: core.arm.state.load,
            imu: context.bus.port.imu().unwrap_or_default(),
            ok: answered.whole_arm(),
        };
        let made = TelemetrySample { at_us, client: self.client, sent: self.sent, sample };
        if !context.mailbox.with(|shared| shared.telemetry.push(&made)) {
            self.telemetry_dropped += 1;
        }
    }

    /// The tracking check of the joints that answered, and of the bus.
    fn check(&mut self, targets: &Targets, answered: Answered, core: &Core) -> Result<(), Outcome> {
        for joint in (0..ARM_JOINTS).filter(|joint| answered.joint(*joint)) {
            let error_steps = core.arm.position_steps[joint] - targets.reference[joint];
            if error_steps.abs() > self.max_error_steps {
                return Err(Outcome::TrackingError { joint, error_steps });
            }
        }
        self.silence.count(answered)
    }

    fn end<P: ControlPort, M: Mailbox>(
        &self,
        outcome: Outcome,
        core: &mut Core,
        context: &mut Context<'_, P, M>,
    ) -> Step {
        match outcome {
            Outcome::Done => {
                core.come_to_rest(context);
            }
            // Holding, or error if the hold finds a silent servo.
            Outcome::Stopped => {
                core.hold(Hold::Measured, context);
            }
            Outcome::TrackingError { .. } | Outcome::NotAtStart { .. } | Outcome::BusError => {
                core.hold(Hold::Measured, context);
                core.state = State::Error;
            }
        }
        core.progress_permille = 0;
        context.done(self.client, outcome, &self.pacing, self.telemetry_dropped);
        Step::Enter(Phase::Idle(Idle::new(context.now_us())))
    }
}
