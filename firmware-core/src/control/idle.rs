//! Between runs: takes requests, reads the joints for subscribers, looks for J7, slow reads.

use super::arm::Hold;
use super::context::Context;
use super::controller::{Core, Phase, Step};
use super::start;
use crate::platform::{ClientId, ControlPort};
use crate::protocol::codes;
use crate::protocol::reply::RegisterValues;
use crate::shared::{Mailbox, REGISTER_BYTES, Request, State};

/// J7 is looked for this often while it is not there (µs).
const PROBE_PERIOD_US: u64 = 1_000_000;

/// The idle phase, also in state error.
#[derive(Debug)]
pub(super) struct Idle {
    probe_due_us: u64,
    read_due_us: u64,
    read_hz: u16,
    /// After a streamed run: the joints still close in on their last goals; goal speed 0 follows here (µs).
    stop_moving_at_us: Option<u64>,
}

impl Idle {
    pub(super) fn new(now_us: u64) -> Self {
        Self { probe_due_us: now_us, read_due_us: now_us, read_hz: 0, stop_moving_at_us: None }
    }

    /// Idle after a streamed run: goal speed 0 for J1–J6 at `at_us`.
    pub(super) fn settling_until(at_us: u64, now_us: u64) -> Self {
        Self { stop_moving_at_us: Some(at_us), ..Self::new(now_us) }
    }

    pub(super) fn step<P: ControlPort, M: Mailbox>(
        &mut self,
        core: &mut Core,
        context: &mut Context<'_, P, M>,
    ) -> Step {
        // Before a request that came later: it may start a run, and while playing there is no answer.
        if context.mailbox.with(|shared| !shared.state_requests.is_empty()) {
            core.read(context);
            context.answer_state_requests(&core.arm);
        }
        core.move_gripper(context);
        if let Some(request) = core.take_request(context) {
            let step = self.serve(request, core, context);
            core.working = false;
            return step;
        }
        let read_hz = context.mailbox.with(|shared| shared.idle_read_hz);
        let now_us = context.now_us();
        if self.stop_moving_at_us.is_some_and(|at_us| at_us <= now_us) {
            self.stop_moving_at_us = None;
            let was_error = core.state == State::Error;
            core.come_to_rest(context);
            if was_error {
                // Only HOLD and the button leave error.
                core.state = State::Error;
            }
        }
        if read_hz != self.read_hz {
            self.read_hz = read_hz;
            self.read_due_us = now_us;
        }
        if self.read_is_due(now_us) {
            core.read(context);
        }
        if !core.arm.gripper.found() && now_us >= self.probe_due_us {
            self.probe_due_us = now_us + PROBE_PERIOD_US;
            core.arm.probe_gripper(&mut context.bus);
        }
        if self.watches_health(core) {
            core.slow_read(context);
        }
        Step::Wake(self.wake_us(core).max(context.now_us()))
    }

    /// The read for subscribers is due; keeps its grid unless it fell behind by a period.
    fn read_is_due(&mut self, now_us: u64) -> bool {
        if self.read_hz == 0 || now_us < self.read_due_us {
            return false;
        }
        let period_us = 1_000_000 / u64::from(self.read_hz);
        self.read_due_us += period_us;
        if self.read_due_us <= now_us {
            self.read_due_us = now_us + period_us;
        }
        true
    }

    fn watches_health(&self, core: &Core) -> bool {
        self.read_hz > 0 || core.arm.gripper.found()
    }

    fn wake_us(&self, core: &Core) -> u64 {
        let read = if self.read_hz > 0 { self.read_due_us } else { u64::MAX };
        let probe = if core.arm.gripper.found() { u64::MAX } else { self.probe_due_us };
        let slow = if self.watches_health(core) { core.slow_due_us() } else { u64::MAX };
        let stop = self.stop_moving_at_us.unwrap_or(u64::MAX);
        read.min(probe).min(slow).min(stop)
    }

    /// The joints still close in on the last goals of a streamed run, and answer. They go on through a HOLD, as they
    /// do after one that ended the run: stopped here they would stand beside their goals, and begin the next run with
    /// a jump. A HOLD that takes the positions they are at stops them there.
    fn settles<P: ControlPort, M: Mailbox>(&self, core: &mut Core, context: &mut Context<'_, P, M>) -> bool {
        match Hold::at_rest(context.level) {
            Hold::Measured => false,
            Hold::Goals => {
                self.stop_moving_at_us.is_some() && core.state != State::Error && core.read_whole(context)
            }
        }
    }

    fn serve<P: ControlPort, M: Mailbox>(
        &mut self,
        request: Request,
        core: &mut Core,
        context: &mut Context<'_, P, M>,
    ) -> Step {
        match request {
            Request::Hold(client) => {
                let held = self.settles(core, context) || {
                    self.stop_moving_at_us = None;
                    core.hold(Hold::at_rest(context.level), context)
                };
                if let Some(client) = client {
                    context.ack(client, codes::HOLD, if held { 0 } else { codes::NO_REPLY });
                }
            }
            Request::MoveTo { client, goal, duration_ms } => {
                return start::move_to(client, &goal, duration_ms, core, context);
            }
            Request::Play { client, params } => return start::play(client, params, core, context),
            Request::PlaySignal { client, params, signal } => {
                return start::play_signal(client, params, signal, core, context);
            }
            Request::Stream(client) => return start::stream(client, core, context),
            Request::RegisterRead { client, id, address, length } => {
                read_registers(client, id, address, length, context);
            }
            Request::RegisterWrite { client, id, address, data } => {
                write_registers(client, id, address, &data, context);
            }
            Request::OtaBegin => {
                core.state = State::Ota;
                return Step::Enter(Phase::Ota);
            }
            // No update is on: nothing to leave.
            Request::OtaFailed => {}
        }
        Step::Wake(context.now_us())
    }
}

fn read_registers<P: ControlPort, M: Mailbox>(
    client: ClientId,
    id: u8,
    address: u8,
    length: u8,
    context: &mut Context<'_, P, M>,
) {
    let mut buffer = [0; REGISTER_BYTES];
    let values = &mut buffer[..usize::from(length).min(REGISTER_BYTES)];
    let reply = match context.bus.read(id, address, values) {
        Ok(_) => RegisterValues::read(id, address, values),
        Err(_) => RegisterValues::no_reply(id, address, length),
    };
    context.register_values(client, &reply);
}

/// Writes, then reads back.
fn write_registers<P: ControlPort, M: Mailbox>(
    client: ClientId,
    id: u8,
    address: u8,
    data: &[u8],
    context: &mut Context<'_, P, M>,
) {
    let Ok(servo_error) = context.bus.write(id, address, data) else {
        context.register_written(client, id, address, codes::NO_REPLY, 0);
        return;
    };
    let mut buffer = [0; REGISTER_BYTES];
    let read_back = &mut buffer[..data.len()];
    let taken = context.bus.read(id, address, read_back).is_ok() && read_back == data;
    let status = if taken { 0 } else { codes::READ_BACK_DIFFERS };
    context.register_written(client, id, address, status, servo_error);
}
