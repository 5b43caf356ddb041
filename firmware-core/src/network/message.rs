//! One message being handled: who sent it, when, and how it is answered.

use heapless::Vec;

use super::activity::Activity;
use crate::joints::JOINTS;
use crate::platform::{ClientId, NetworkPort};
use crate::protocol::layout::Layout;
use crate::protocol::plan::PlanDataHead;
use crate::protocol::request::Registers;
use crate::protocol::{ApiLevel, codes, reply};
use crate::shared::{REPLY_BYTES, Request, Shared, StreamCommand};

/// One message being handled.
pub(super) struct Message<'a, P> {
    pub(super) now_us: u64,
    pub(super) from: ClientId,
    pub(super) bytes: &'a [u8],
    pub(super) level: ApiLevel,
    pub(super) activity: Activity,
    pub(super) shared: &'a mut Shared,
    pub(super) port: &'a mut P,
}

impl<P: NetworkPort> Message<'_, P> {
    /// Sends a reply to the sender.
    pub(super) fn reply(&mut self, message: &impl Layout) {
        self.port.send(self.from, &message.encode::<REPLY_BYTES>());
    }

    pub(super) fn ack(&mut self, code: u8, status: i8) {
        self.reply(&reply::Ack { code, status, value: 0 });
    }

    /// Refuses the request in the form of its reply.
    pub(super) fn refuse(&mut self, code: u8, status: i8) {
        let echo = Registers::echo_of(self.bytes);
        match code {
            // Without control, REG_WRITE is answered in its own form too; REG_READ needs no control.
            codes::REG_READ => self.reply(&reply::RegisterValues::refused(echo.id, echo.address)),
            codes::REG_WRITE => {
                self.reply(&reply::RegisterWritten {
                    id: echo.id,
                    address: echo.address,
                    status,
                    servo_error: 0,
                });
            }
            codes::PLAN_DATA => {
                self.reply(&reply::Ack { code, status, value: PlanDataHead::offset_of(self.bytes) });
            }
            _acknowledged => self.ack(code, status),
        }
    }

    /// J7 is there, and messages can carry it.
    pub(super) fn has_gripper(&mut self) -> bool {
        usize::from(self.shared.view.at(self.now_us).n) == JOINTS
    }
}

/// The refusal of a request that a HOLD replaces before it was begun, and who gets it; `None` when nobody
/// waits for an answer.
pub(super) fn refusal_of(replaced: &Request, shared: &Shared) -> Option<(ClientId, Vec<u8, REPLY_BYTES>)> {
    let ack = |code| reply::Ack { code, status: codes::REFUSED, value: 0 }.encode();
    match *replaced {
        Request::MoveTo { client, .. } => Some((client, ack(codes::MOVE_TO))),
        Request::Play { client, .. } => Some((client, ack(codes::PLAY))),
        Request::PlaySignal { client, .. } => Some((client, ack(codes::PLAY_SIGNAL))),
        Request::Stream(client) => {
            Some((client, ack(shared.stream.map_or(codes::JOG, |stream| code_of(&stream.command)))))
        }
        Request::RegisterRead { client, id, address, .. } => {
            Some((client, reply::RegisterValues::refused(id, address).encode()))
        }
        Request::RegisterWrite { client, id, address, .. } => {
            let refused = reply::RegisterWritten { id, address, status: codes::REFUSED, servo_error: 0 };
            Some((client, refused.encode()))
        }
        Request::Hold(_) | Request::OtaBegin | Request::OtaFailed => None,
    }
}

/// The request code of a streamed command.
pub(super) fn code_of(command: &StreamCommand) -> u8 {
    match command {
        StreamCommand::Joints(_) | StreamCommand::Twist { .. } => codes::JOG,
        StreamCommand::Track { .. } => codes::TRACK,
    }
}
