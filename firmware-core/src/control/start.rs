//! The checks that let a run begin, in the order of the protocol, and what they answer.

use super::arm::Hold;
use super::context::Context;
use super::controller::{Core, Phase, Step};
use super::pacing::{Outcome, Pacing};
use super::stream_run::StreamRun;
use super::timed_run::{Motion, TimedRun};
use crate::joints::{ARM_JOINTS, JOINTS, JointValues};
use crate::motion::min_jerk;
use crate::motion::signal::{self, Signal};
use crate::platform::{ClientId, ControlPort};
use crate::protocol::{ApiLevel, codes};
use crate::shared::{Mailbox, PLAY_RATES_HZ, PlayParams, State, StreamCommand};
use crate::units::{deg_to_steps, steps_to_deg};

/// Rate, speed cap and largest error of MOVE_TO; JOG and TRACK share rate and cap.
pub(super) const MOVE_PARAMS: PlayParams =
    PlayParams { rate_hz: 500, speed_cap_sps: 2000, max_error_steps: 227, start_tolerance_steps: 0 };
/// A wanted duration may be shorter than the shortest one by this factor: rounding to 1 ms.
const DURATION_TOLERANCE: f32 = 0.999;

/// Why a run does not begin: the ACK's status, and the DONE that follows it.
struct Refusal {
    status: i8,
    done: Option<Outcome>,
}

impl Refusal {
    fn status(status: i8) -> Self {
        Self { status, done: None }
    }

    /// A servo does not answer: DONE 4, state error.
    fn silent() -> Self {
        Self { status: codes::NO_REPLY, done: Some(Outcome::BusError) }
    }

    fn not_at_start(status: i8, joint: usize, error_steps: i32) -> Self {
        Self { status, done: Some(Outcome::NotAtStart { joint, error_steps }) }
    }
}

/// A motion that passed its checks.
struct Accepted {
    motion: Motion,
    n: usize,
    params: PlayParams,
}

/// Begins a MOVE_TO.
pub(super) fn move_to<P: ControlPort, M: Mailbox>(
    client: ClientId,
    goal: &JointValues,
    duration_ms: u16,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Step {
    let accepted = check_move_to(goal, duration_ms, core, context);
    let sent = context.level.sends_move_telemetry(client.transport);
    begin(client, codes::MOVE_TO, State::Moving, accepted, sent, core, context)
}

fn check_move_to<P: ControlPort, M: Mailbox>(
    goal: &JointValues,
    duration_ms: u16,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Result<Accepted, Refusal> {
    let n = goal.n;
    check_gripper(n, core)?;
    check_answers(core, context)?;
    let start_deg = start_deg(core, context.level);
    let shortest_s = min_jerk::shortest_duration_s(&start_deg[..n], &goal.values[..n]);
    let duration_s = match duration_ms {
        0 => shortest_s,
        ms => f32::from(ms) / 1000.0,
    };
    if duration_s < shortest_s * DURATION_TOLERANCE {
        return Err(Refusal::status(codes::REFUSED));
    }
    let motion = Motion::MinJerk { start_deg, goal_deg: goal.values, duration_s };
    Ok(Accepted { motion, n, params: MOVE_PARAMS })
}

/// Begins a PLAY of the valid plan.
pub(super) fn play<P: ControlPort, M: Mailbox>(
    client: ClientId,
    params: PlayParams,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Step {
    let accepted = check_play(params, core, context);
    begin(client, codes::PLAY, State::Playing, accepted, true, core, context)
}

fn check_play<P: ControlPort, M: Mailbox>(
    params: PlayParams,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Result<Accepted, Refusal> {
    check_rate(params)?;
    let table = context.level.table();
    let (valid, n, first, outside, duration_us) = context.mailbox.with(|shared| {
        let plan = &shared.plan;
        let first = plan.first_reference();
        (plan.is_valid(), plan.joints(), first, plan.first_sample_outside_limits(table), plan.duration_us())
    });
    if !valid {
        return Err(Refusal::status(codes::REFUSED));
    }
    check_gripper(n, core)?;
    check_answers(core, context)?;
    let start_steps = core.arm.start_steps(context.level);
    for joint in 0..n {
        let error_steps = start_steps[joint] - i32::from(first[joint]);
        if error_steps.unsigned_abs() > u32::from(params.start_tolerance_steps) {
            return Err(Refusal::not_at_start(codes::NOT_AT_START, joint, error_steps));
        }
    }
    if let Some(joint) = outside {
        return Err(Refusal::status(codes::outside_limits(joint)));
    }
    Ok(Accepted { motion: Motion::Plan { duration_us }, n, params })
}

/// Begins a PLAY_SIGNAL whose parameters the network side has checked.
pub(super) fn play_signal<P: ControlPort, M: Mailbox>(
    client: ClientId,
    params: PlayParams,
    signal: signal::Params,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Step {
    let accepted = check_play_signal(params, signal, core, context);
    begin(client, codes::PLAY_SIGNAL, State::Playing, accepted, true, core, context)
}

fn check_play_signal<P: ControlPort, M: Mailbox>(
    params: PlayParams,
    signal: signal::Params,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Result<Accepted, Refusal> {
    check_rate(params)?;
    check_answers(core, context)?;
    let mut start = [0.0; ARM_JOINTS];
    start.copy_from_slice(&start_deg(core, context.level)[..ARM_JOINTS]);
    if let Err((joint, refusal)) = signal.validate_start(&start, context.level.table()) {
        return Err(Refusal::not_at_start(refusal.ack_status(), joint, 0));
    }
    Ok(Accepted { motion: Motion::Signal(Signal::new(&signal, &start)), n: ARM_JOINTS, params })
}

fn check_rate(params: PlayParams) -> Result<(), Refusal> {
    if PLAY_RATES_HZ.contains(&params.rate_hz) { Ok(()) } else { Err(Refusal::status(codes::RATE_OUTSIDE)) }
}

fn check_gripper(n: usize, core: &Core) -> Result<(), Refusal> {
    if n <= core.arm.n() { Ok(()) } else { Err(Refusal::status(codes::NO_GRIPPER)) }
}

fn check_answers<P: ControlPort, M: Mailbox>(
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Result<(), Refusal> {
    if answers(core, context) { Ok(()) } else { Err(Refusal::silent()) }
}

/// J1–J6 answer, and J6 is in the turn it was left in: without it every start pose is a guess.
fn answers<P: ControlPort, M: Mailbox>(core: &mut Core, context: &mut Context<'_, P, M>) -> bool {
    let whole = core.read_whole(context);
    let keeps_turn = core.arm.keeps_turn(&mut context.bus);
    core.turn_unknown |= !keeps_turn;
    whole && keeps_turn
}

fn start_deg(core: &Core, level: ApiLevel) -> [f32; JOINTS] {
    let start_steps = core.arm.start_steps(level);
    core::array::from_fn(|joint| steps_to_deg(joint, start_steps[joint]))
}

/// Answers the request, and begins the run if it is accepted and the servos take its start.
fn begin<P: ControlPort, M: Mailbox>(
    client: ClientId,
    code: u8,
    state: State,
    accepted: Result<Accepted, Refusal>,
    sent: bool,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Step {
    let accepted = match accepted {
        Ok(accepted) => accepted,
        Err(refusal) => {
            context.ack(client, code, refusal.status);
            if let Some(outcome) = refusal.done {
                context.done(client, outcome, &Pacing::new(1, 0), 0);
                if outcome == Outcome::BusError {
                    core.state = State::Error;
                }
            }
            return Step::Wake(context.now_us());
        }
    };
    context.ack(client, code, 0);
    core.state = state;
    core.progress_permille = 0;
    let start_steps = core.arm.start_steps(context.level);
    let Accepted { motion, n, params } = accepted;
    if core.arm.prepare_run(&mut context.bus, &start_steps, n, params.speed_cap_sps).is_err() {
        return fail_to_begin(client, core, context);
    }
    Step::Enter(Phase::Timed(TimedRun::new(client, sent, motion, n, params)))
}

/// The servos do not take the start of a run: DONE 4, state error.
fn fail_to_begin<P: ControlPort, M: Mailbox>(
    client: ClientId,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Step {
    core.hold(Hold::Measured, context);
    core.state = State::Error;
    context.done(client, Outcome::BusError, &Pacing::new(1, 0), 0);
    Step::Wake(context.now_us())
}

/// Begins the streamed run of JOG and TRACK.
pub(super) fn stream<P: ControlPort, M: Mailbox>(
    client: ClientId,
    core: &mut Core,
    context: &mut Context<'_, P, M>,
) -> Step {
    let Some(stream) = context.mailbox.with(|shared| shared.stream) else {
        return Step::Wake(context.now_us());
    };
    let (code, state) = match stream.command {
        StreamCommand::Joints(_) | StreamCommand::Twist { .. } => (codes::JOG, State::Jogging),
        StreamCommand::Track { .. } => (codes::TRACK, State::Tracking),
    };
    if !answers(core, context) {
        context.ack(client, code, codes::NO_REPLY);
        if core.turn_unknown {
            core.state = State::Error;
        }
        return Step::Wake(context.now_us());
    }
    core.state = state;
    let start_steps = core.arm.start_steps(context.level);
    let n = context.level.joints(core.arm.n());
    if core.arm.prepare_run(&mut context.bus, &start_steps, n, MOVE_PARAMS.speed_cap_sps).is_err() {
        return fail_to_begin(client, core, context);
    }
    let q_deg = core::array::from_fn(|joint| steps_to_deg(joint, start_steps[joint]));
    debug_assert!((0..ARM_JOINTS).all(|joint| deg_to_steps(joint, q_deg[joint]) == start_steps[joint]));
    Step::Enter(Phase::Stream(StreamRun::new(client, q_deg)))
}
