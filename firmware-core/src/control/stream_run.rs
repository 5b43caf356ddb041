//! JOG and TRACK: one streamed run at 500 Hz whose goal comes with every message, with deadman.

use super::arm::{Answered, Hold};
use super::context::Context;
use super::controller::{Core, Phase, Step};
use super::idle::Idle;
use super::pacing::{Outcome, Pacing, Silence};
use super::start::MOVE_PARAMS;
use crate::joints::{ARM_JOINTS, J7, JOINTS, JointValues, TABLE};
use crate::kinematics::Tcp;
use crate::motion::joint::{JointMotion, at_rest, jog_step, track_step};
use crate::motion::twist::{TwistCommand, TwistController};
use crate::platform::{ClientId, ControlPort, Work};
use crate::shared::{Mailbox, State, Stream, StreamCommand};
use crate::units::{DEG_PER_STEP, deg_to_steps};

/// Period (µs).
const PERIOD_US: u64 = 2_000;
/// A cycle late by up to this catches up (µs).
const CATCH_UP_US: u64 = 2_000;
/// The deadman: a message older than this stops the run (µs).
const DEADMAN_US: u64 = 200_000;
/// Bounds of the time step that is integrated (µs).
const DT_US: core::ops::RangeInclusive<u64> = 500..=6_000;
/// Following error allowed for speed: 0.15 s of the recent peak speed, in steps per °/s (a product per joint and
/// cycle, where a quotient would be a library call on the ESP32).
const LAG_STEPS_PER_DPS: f32 = 0.15 / DEG_PER_STEP;
/// The recent peak speed decays by this factor each cycle: e^(−0.002/0.3).
const PEAK_DECAY: f32 = 0.993_355_5;
/// After the run the joints close in on their last goals for this long, then goal speed 0 (µs): from 11° behind, at
/// 90 °/s with a lag of 0.12 s, to less than a step.
const SETTLE_US: u64 = 800_000;

/// What moves the joints in this cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Joints,
    Track,
    Tcp(Tcp),
}

/// A running JOG or TRACK.
#[derive(Debug)]
pub(super) struct StreamRun {
    client: ClientId,
    pacing: Pacing,
    motion: JointMotion,
    mode: Mode,
    twist: TwistController,
    /// J7's last goal of a TRACK (°), kept by a TRACK of 6 values.
    j7_goal_deg: f32,
    goals_at_us: Option<u64>,
    peak_dps: [f32; ARM_JOINTS],
    silence: Silence,
}

impl StreamRun {
    /// A run that starts at rest at `q_deg`.
    pub(super) fn new(client: ClientId, q_deg: [f32; JOINTS]) -> Self {
        let motion = JointMotion { q_deg, v_dps: [0.0; JOINTS] };
        Self {
            client,
            pacing: Pacing::new(PERIOD_US, CATCH_UP_US),
            motion,
            mode: Mode::Joints,
            twist: TwistController::enter(&motion, Tcp::Flange),
            j7_goal_deg: q_deg[J7],
            goals_at_us: None,
            peak_dps: [0.0; ARM_JOINTS],
            silence: Silence::default(),
        }
    }

    pub(super) fn step<P: ControlPort, M: Mailbox>(
        &mut self,
        core: &mut Core,
        context: &mut Context<'_, P, M>,
    ) -> Step {
        let now_us = context.now_us();
        self.pacing.begin_cycle(now_us);
        let (stream, stop) = context.mailbox.with(|shared| (shared.stream, shared.stop));
        let stopping = stop || stream.is_none_or(|stream| deadman_trips(&stream, now_us));
        if let Some(stream) = stream {
            self.move_on(&stream.command, stopping, now_us, core, context);
        }
        let n = context.level.joints(core.arm.n());
        context.bus.port.computed(Work::Cycle);
        let goals_steps = core::array::from_fn(|joint| deg_to_steps(joint, self.motion.q_deg[joint]));
        core.arm.write_goals(&mut context.bus, &goals_steps, n);
        let answered = core.read(context);
        context.answer_state_requests(&core.arm);
        core.move_gripper(context);
        core.slow_read(context);
        if let Err(outcome) = self.check(answered, core) {
            core.hold(Hold::Measured, context);
            core.state = State::Error;
            context.done(self.client, outcome, &self.pacing, 0);
            return Step::Enter(Phase::Idle(Idle::new(context.now_us())));
        }
        let ended = stopping || stream.is_some_and(|stream| wants_rest(&stream.command));
        if ended && at_rest(&self.motion, n) {
            core.state = State::Holding;
            let now_us = context.now_us();
            return Step::Enter(Phase::Idle(Idle::settling_until(now_us + SETTLE_US, now_us)));
        }
        Step::Wake(self.pacing.end_cycle(context.now_us()))
    }

    /// Moves goals and speeds on by the time since the last goals.
    fn move_on<P: ControlPort, M: Mailbox>(
        &mut self,
        command: &StreamCommand,
        stopping: bool,
        now_us: u64,
        core: &mut Core,
        context: &mut Context<'_, P, M>,
    ) {
        let since_us = self.goals_at_us.map_or(PERIOD_US, |at_us| now_us - at_us);
        self.goals_at_us = Some(now_us);
        let dt_s = since_us.clamp(*DT_US.start(), *DT_US.end()) as f32 * 1e-6;
        let n = context.level.joints(core.arm.n());
        match command {
            StreamCommand::Joints(velocity) => {
                core.state = State::Jogging;
                self.enter(Mode::Joints);
                let target_dps = if stopping { [0.0; JOINTS] } else { velocity.values };
                jog_step(&mut self.motion, &target_dps, n, context.level.table(), dt_s);
            }
            StreamCommand::Track { goal, vmax_dps } => {
                core.state = State::Tracking;
                self.enter(Mode::Track);
                let goal_deg = self.track_goal(goal);
                let table = context.level.table();
                track_step(&mut self.motion, &goal_deg, n, table, *vmax_dps, stopping, dt_s);
            }
            StreamCommand::Twist { tool, linear_mm_s, angular_rad_s, j7_dps, speed_cap_dps } => {
                core.state = State::Jogging;
                self.enter(Mode::Tcp(if core.arm.gripper.found() { Tcp::Gripper } else { Tcp::Flange }));
                let moving = if stopping { 0.0 } else { 1.0 };
                let command = TwistCommand {
                    tool: *tool,
                    linear_mm_s: linear_mm_s.map(|v| v * moving),
                    angular_rad_s: angular_rad_s.map(|v| v * moving),
                    speed_cap_dps: *speed_cap_dps,
                };
                self.jog_gripper(*j7_dps * moving, n, dt_s);
                let began_us = context.now_us();
                self.twist.step(&mut self.motion, &command, dt_s);
                context.bus.port.computed(Work::TwistStep);
                let took_us = (context.now_us() - began_us) as u32;
                context.mailbox.with(|shared| shared.twist_us_max = shared.twist_us_max.max(took_us));
            }
        }
    }

    /// A change of mode carries goals and speeds over; entering the TCP anew resets its controller.
    fn enter(&mut self, mode: Mode) {
        if mode == self.mode {
            return;
        }
        self.mode = mode;
        match mode {
            Mode::Joints | Mode::Track => self.j7_goal_deg = self.motion.q_deg[J7],
            Mode::Tcp(tcp) => self.twist = TwistController::enter(&self.motion, tcp),
        }
    }

    fn track_goal(&mut self, goal: &JointValues) -> [f32; JOINTS] {
        if goal.n == JOINTS {
            self.j7_goal_deg = goal.values[J7];
        }
        let mut goal_deg = goal.values;
        goal_deg[J7] = self.j7_goal_deg;
        goal_deg
    }

    /// In TCP modes J7 jogs at its own velocity.
    fn jog_gripper(&mut self, j7_dps: f32, n: usize, dt_s: f32) {
        if n < JOINTS {
            return;
        }
        let mut target_dps = [0.0; JOINTS];
        target_dps[J7] = j7_dps;
        let mut motion = JointMotion { v_dps: [0.0; JOINTS], ..self.motion };
        motion.v_dps[J7] = self.motion.v_dps[J7];
        jog_step(&mut motion, &target_dps, n, &TABLE, dt_s);
        self.motion.q_deg[J7] = motion.q_deg[J7];
        self.motion.v_dps[J7] = motion.v_dps[J7];
    }

    /// The following-error check of the joints that answered, and of the bus.
    fn check(&mut self, answered: Answered, core: &Core) -> Result<(), Outcome> {
        for joint in 0..ARM_JOINTS {
            let speed_dps = libm::fabsf(self.motion.v_dps[joint]);
            self.peak_dps[joint] = (self.peak_dps[joint] * PEAK_DECAY).max(speed_dps);
            let lag_steps = match self.mode {
                Mode::Joints => 0,
                Mode::Track | Mode::Tcp(_) => (LAG_STEPS_PER_DPS * self.peak_dps[joint]) as i32,
            };
            let error_steps = core.arm.position_steps[joint] - core.arm.goal_steps[joint];
            let allowed_steps = i32::from(MOVE_PARAMS.max_error_steps) + lag_steps;
            if answered.joint(joint) && error_steps.abs() > allowed_steps {
                return Err(Outcome::TrackingError { joint, error_steps });
            }
        }
        self.silence.count(answered)
    }
}

fn deadman_trips(stream: &Stream, now_us: u64) -> bool {
    stream.abandoned || now_us.saturating_sub(stream.t_us) > DEADMAN_US
}

/// A joint JOG with all velocities zero ends the run; TRACK and the TCP go on while messages come.
fn wants_rest(command: &StreamCommand) -> bool {
    match command {
        StreamCommand::Joints(velocity) => velocity.values.iter().all(|v| *v == 0.0),
        StreamCommand::Track { .. } | StreamCommand::Twist { .. } => false,
    }
}
