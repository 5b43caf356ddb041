//! What a control step works with: the servo bus, the mailbox, and the replies it posts.

use super::arm::Arm;
use super::pacing::{Outcome, Pacing};
use crate::bus::Bus;
use crate::platform::{ClientId, ControlPort};
use crate::protocol::layout::Layout;
use crate::protocol::stream::Joints;
use crate::protocol::{ApiLevel, reply};
use crate::shared::{Mailbox, OUTBOX_CAPACITY, Posted, REPLY_BYTES, State};
use heapless::Vec;

/// Room in the outbox that STATE replies leave to the others: a request's reply, a run's ACK and DONE.
const OUTBOX_KEPT_FREE: usize = 4;

/// The surroundings of one control step.
pub(super) struct Context<'a, P, M> {
    pub(super) bus: Bus<'a, P>,
    pub(super) mailbox: &'a M,
    pub(super) level: ApiLevel,
}

impl<P: ControlPort, M: Mailbox> Context<'_, P, M> {
    pub(super) fn now_us(&mut self) -> u64 {
        self.bus.now_us()
    }

    fn post(&mut self, to: ClientId, message: Vec<u8, REPLY_BYTES>, ends_run: bool) {
        let at_us = self.now_us();
        self.mailbox.with(|shared| shared.post(Posted { at_us, to, message, ends_run }));
    }

    /// ACK of request `code`.
    pub(super) fn ack(&mut self, to: ClientId, code: u8, status: i8) {
        self.post(to, reply::Ack { code, status, value: 0 }.encode(), false);
    }

    /// DONE of a run.
    pub(super) fn done(&mut self, to: ClientId, outcome: Outcome, pacing: &Pacing, telemetry_dropped: u32) {
        let (result, joint, error_steps) = match outcome {
            Outcome::Done => (0, 0, 0),
            Outcome::TrackingError { joint, error_steps } => (1, joint + 1, error_steps),
            Outcome::Stopped => (2, 0, 0),
            Outcome::NotAtStart { joint, error_steps } => (3, joint + 1, error_steps),
            Outcome::BusError => (4, 0, 0),
        };
        let done = reply::Done {
            result,
            cycles: pacing.cycles,
            longest_period_us: pacing.longest_period_us,
            late_cycles: pacing.late_cycles,
            telemetry_dropped,
            joint: joint as u8,
            error_steps: error_steps.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16,
        };
        self.post(to, done.encode(), true);
    }

    /// REG_READ reply: the values, or no reply from the servo.
    pub(super) fn register_values(&mut self, to: ClientId, values: &reply::RegisterValues) {
        self.post(to, values.encode(), false);
    }

    /// REG_WRITE reply.
    pub(super) fn register_written(
        &mut self,
        to: ClientId,
        id: u8,
        address: u8,
        status: i8,
        servo_error: u8,
    ) {
        self.post(to, reply::RegisterWritten { id, address, status, servo_error }.encode(), false);
    }

    /// Answers the waiting STATE requests, in a run whose state allows it: while playing there is no reply.
    pub(super) fn answer_state_requests_in_run(&mut self, state: State, arm: &Arm) {
        if state == State::Playing {
            self.mailbox.with(|shared| shared.state_requests.clear());
        } else {
            self.answer_state_requests(arm);
        }
    }

    /// Answers the waiting STATE requests from the last reading, as far as the outbox keeps room for the
    /// replies of runs; the others wait until the network side has emptied it.
    pub(super) fn answer_state_requests(&mut self, arm: &Arm) {
        while let Some(client) = self.mailbox.with(|shared| {
            let room = shared.outbox.len() + OUTBOX_KEPT_FREE < OUTBOX_CAPACITY;
            if room { shared.state_requests.pop_front() } else { None }
        }) {
            let imu = self.bus.port.imu().unwrap_or_default();
            let message = Joints { n: arm.n() as u8, joints: arm.state, imu }.encode(self.level);
            self.post(client, message, false);
        }
    }
}
