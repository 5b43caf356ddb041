//! What each request does, in the order of its checks: control, form, and the requests that start nothing.

use heapless::Vec;

use super::activity::{Activity, Kind};
use super::message::Message;
use super::side::{Network, shown_state};
use crate::bus::registers;
use crate::platform::{ClientId, NetworkPort, Transport};
use crate::protocol::request::{ControlAction, Registers};
use crate::protocol::stream::Joints;
use crate::protocol::{Request, RequestError, codes, reply};
use crate::shared;
use crate::shared::Mailbox;

impl Network {
    /// Handles one message of a client, at a tick of the platform's 1 ms grid. Sends what is answered at once;
    /// what needs the servo bus is left for the control side.
    pub fn receive(
        &mut self,
        now_us: u64,
        from: ClientId,
        bytes: &[u8],
        mailbox: &impl Mailbox,
        port: &mut impl NetworkPort,
    ) {
        let Some(&code) = bytes.first() else { return };
        let level = self.options.level;
        if from.transport == Transport::WebSocket && !level.has_web_socket_and_control() {
            return;
        }
        if code == codes::PLAN_END {
            // Piece by piece: the control side may be in a run meanwhile.
            while mailbox.with(|shared| shared.plan.digest_piece()) {}
        }
        mailbox.with(|shared| {
            let activity = self.observe(shared, now_us);
            self.lease.heard(from, now_us);
            let mut message = Message { now_us, from, bytes, level, activity, shared, port };
            if level.needs_control(code) && !self.takes_control(from, now_us) {
                message.refuse(code, codes::NO_CONTROL);
                return;
            }
            match Request::decode(bytes, level) {
                Ok(request) => self.handle(code, &request, &mut message),
                Err(RequestError::Empty | RequestError::UnknownCode { .. }) => {}
                Err(RequestError::WrongForm { .. }) => Self::refuse_form(code, &mut message),
            }
        });
    }

    /// The sender has control, or takes it because nobody has.
    fn takes_control(&mut self, from: ClientId, now_us: u64) -> bool {
        if self.lease.holder(now_us).is_none() {
            self.lease.give(from, now_us);
        }
        self.lease.holder(now_us) == Some(from)
    }

    fn refuse_form(code: u8, message: &mut Message<'_, impl NetworkPort>) {
        // The end of an upload, even a broken one, leaves no valid plan; a plan that plays stays as it is.
        if code == codes::PLAN_END && message.activity != Activity::Away && !message.activity.plays() {
            message.shared.plan.invalidate();
        }
        if code != codes::SUBSCRIBE {
            message.refuse(code, codes::REFUSED);
        }
    }

    fn handle(&mut self, code: u8, request: &Request<'_>, message: &mut Message<'_, impl NetworkPort>) {
        let refused = match *request {
            Request::Ping => return Self::handle_ping(message),
            Request::State => return Self::handle_state(message),
            Request::Hold => return self.handle_hold(message),
            Request::Stop => return self.handle_stop(message),
            Request::Subscribe { rate_hz } => return self.handle_subscribe(rate_hz, message),
            Request::Control(action) => {
                self.handle_control(action, message).map(|()| message.ack(code, codes::OK))
            }
            Request::PlanBegin(_)
            | Request::PlanData { .. }
            | Request::PlanEnd(_)
            | Request::Play(_)
            | Request::RegisterRead(_)
            | Request::RegisterWrite { .. }
            | Request::PlaySignal(_)
            | Request::MoveTo(_)
            | Request::Jog(_)
            | Request::Track(_)
            | Request::Gripper(_)
                if message.activity == Activity::Away =>
            {
                Err(codes::REFUSED)
            }
            Request::PlanBegin(begin) => {
                self.plan_begin(&begin, message).map(|()| message.ack(code, codes::OK))
            }
            Request::PlanData { head, samples } => Self::plan_data(head, samples, message),
            Request::PlanEnd(end) => Self::plan_end(end, message).map(|()| message.ack(code, codes::OK)),
            Request::RegisterRead(asked) => self.register_read(asked, message),
            Request::RegisterWrite { registers, data } => self.register_write(registers, data, message),
            Request::Play(play) => self.play(play, message),
            Request::PlaySignal(signal) => self.play_signal(signal, message),
            Request::MoveTo(move_to) => self.move_to(&move_to, message),
            Request::Jog(jog) => self.jog(&jog, message),
            Request::Track(track) => self.track(&track, message),
            Request::Gripper(gripper) => Self::gripper(gripper, message),
        };
        if let Err(status) = refused {
            message.refuse(code, status);
        }
    }

    fn handle_ping(message: &mut Message<'_, impl NetworkPort>) {
        let [major, minor, patch] = message.level.version();
        let pong = reply::Pong {
            major: u16::from(major),
            state: shown_state(message.shared, message.now_us) as u8,
            plan_samples: message.shared.plan.declared_samples(),
            plan_rate_hz: message.shared.plan.rate_hz(),
            imu_ok: message.port.imu().is_some(),
            gains_ok: message.shared.view.at(message.now_us).gains_ok,
            minor,
            patch,
        };
        message.reply(&pong);
    }

    /// STATE waits for a read of the control side; where none will come it is answered from the last one.
    fn handle_state(message: &mut Message<'_, impl NetworkPort>) {
        if message.shared.view.at(message.now_us).state == shared::State::Playing {
            return;
        }
        let read_will_come = match message.activity {
            Activity::Away | Activity::Busy(Kind::Play) => false,
            Activity::Idle
            | Activity::Error
            | Activity::Busy(Kind::Move | Kind::Stream | Kind::Register | Kind::Hold | Kind::Update) => true,
        };
        if read_will_come && message.shared.state_requests.push_back(message.from).is_ok() {
            message.shared.doorbell = true;
            return;
        }
        let imu = message.port.imu();
        let seen = Joints::of(message.shared.view.at(message.now_us), imu, message.level);
        message.port.send(message.from, &seen.encode(message.level));
    }

    fn handle_subscribe(&mut self, rate_hz: u16, message: &mut Message<'_, impl NetworkPort>) {
        self.subscriptions.subscribe(message.from, rate_hz, message.now_us);
        self.share_read_rate(message.shared);
    }

    fn handle_control(
        &mut self,
        action: ControlAction,
        message: &Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        let (from, now_us) = (message.from, message.now_us);
        let holder = self.lease.holder(now_us);
        match action {
            ControlAction::Release if holder == Some(from) => self.lease.end(),
            ControlAction::Release => {}
            ControlAction::Take | ControlAction::TakeOver if holder.is_none_or(|holder| holder == from) => {
                self.lease.give(from, now_us);
            }
            ControlAction::Take => return Err(codes::NO_CONTROL),
            ControlAction::TakeOver if message.activity.is_busy() => return Err(codes::REFUSED),
            ControlAction::TakeOver => self.lease.give(from, now_us),
        }
        Ok(())
    }

    fn register_read(
        &mut self,
        asked: Registers,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        if !message.activity.accepts_registers() || !asked.exist() {
            return Err(codes::REFUSED);
        }
        let Registers { id, address, length } = asked;
        self.post(
            message.shared,
            shared::Request::RegisterRead { client: message.from, id, address, length },
        );
        Ok(())
    }

    fn register_write(
        &mut self,
        asked: Registers,
        data: &[u8],
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        let agrees = usize::from(asked.length) == data.len();
        if !message.activity.accepts_registers() || !asked.exist() || !agrees {
            return Err(codes::REFUSED);
        }
        if !may_be_written(asked) {
            return Err(codes::REGISTER_PROTECTED);
        }
        let Registers { id, address, .. } = asked;
        let data = Vec::from_slice(data).map_err(|_| codes::REFUSED)?;
        self.post(message.shared, shared::Request::RegisterWrite { client: message.from, id, address, data });
        Ok(())
    }
}

/// Clients may not write the registers of the bus connection, the lock of the EEPROM area, and the factory's.
fn may_be_written(asked: Registers) -> bool {
    let first = u16::from(asked.address);
    let end = first + u16::from(asked.length);
    let lock = u16::from(registers::EEPROM_LOCK);
    first >= u16::from(registers::ANGLE_LIMITS)
        && !(first..end).contains(&lock)
        && end <= u16::from(registers::FACTORY)
}
