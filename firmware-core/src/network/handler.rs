//! What each request does, in the order of its checks.

use heapless::Vec;

use super::activity::{Activity, Kind};
use super::plans;
use super::side::{Network, seen_joints};
use crate::bus::registers;
use crate::joints::{JOINTS, TABLE};
use crate::motion::min_jerk;
use crate::platform::{ClientId, Mailbox, NetworkPort};
use crate::protocol::layout::Layout;
use crate::protocol::request::{ControlAction, Malformed, Request, needs_control};
use crate::protocol::{codes, reply};
use crate::shared::{self, JointValues, REPLY_BYTES, Shared, Stream, StreamCommand};

/// After a bystander's STOP or HOLD, JOG and TRACK are refused for this long (µs).
const STREAM_BLOCK_US: u64 = 500_000;
/// Ids of the servos.
const SERVO_IDS: core::ops::RangeInclusive<u8> = 1..=JOINTS as u8;

/// One message being handled.
struct Message<'a, P> {
    now_us: u64,
    from: ClientId,
    bytes: &'a [u8],
    shared: &'a mut Shared,
    port: &'a mut P,
    activity: Activity,
}

impl<P: NetworkPort> Message<'_, P> {
    fn reply(&mut self, message: &impl Layout) {
        self.port.send(self.from, &message.encode::<REPLY_BYTES>());
    }

    fn ack(&mut self, code: u8, status: i8) {
        self.reply(&reply::Ack { code, status, value: 0 });
    }

    /// A byte of the request; 0 where it is missing.
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Joints in use.
    fn n(&mut self) -> usize {
        usize::from(self.shared.view.at(self.now_us).n)
    }

    /// Refuses a request in the form of its reply.
    fn refuse(&mut self, code: u8, status: i8) {
        match code {
            codes::REG_READ => {
                let (id, address) = (self.byte(1), self.byte(2));
                self.reply(&reply::RegisterValues { id, address, length: 0, status, data: Vec::new() });
            }
            codes::REG_WRITE => {
                let (id, address) = (self.byte(1), self.byte(2));
                self.reply(&reply::RegisterWritten { id, address, status, servo_error: 0 });
            }
            codes::PLAN_DATA => {
                let offset = self.bytes.get(1..5).and_then(|bytes| bytes.try_into().ok());
                let value = offset.map_or(0, u32::from_le_bytes);
                self.reply(&reply::Ack { code, status, value });
            }
            // Without control and a new plan to come, the old one stays; PLAN_END leaves none.
            _acknowledged => self.ack(code, status),
        }
    }
}

impl Network {
    /// Handles one message of a client.
    pub fn receive(
        &mut self,
        now_us: u64,
        from: ClientId,
        bytes: &[u8],
        mailbox: &impl Mailbox,
        port: &mut impl NetworkPort,
    ) {
        let Some(&code) = bytes.first() else { return };
        self.lease.heard(from, now_us);
        mailbox.with(|shared| {
            let activity = Activity::of(shared, self.posted, now_us);
            let mut message = Message { now_us, from, bytes, shared, port, activity };
            if needs_control(code) && !self.takes_control(from, now_us) {
                message.refuse(code, codes::NO_CONTROL);
                return;
            }
            match Request::decode(bytes) {
                Ok(request) => self.handle(request, &mut message),
                Err(Malformed::Unknown) => {}
                Err(Malformed::Form(code)) => Self::refuse_form(code, &mut message),
            }
        });
    }

    /// The button: while playing nothing; in another run STOP; otherwise HOLD, without ACK.
    pub fn button(&mut self, now_us: u64, mailbox: &impl Mailbox) {
        mailbox.with(|shared| match Activity::of(shared, self.posted, now_us) {
            Activity::Away | Activity::Busy(Kind::Play) => {}
            Activity::Busy(Kind::Move | Kind::Stream) => stop(shared),
            Activity::Idle | Activity::Error | Activity::Busy(Kind::Register | Kind::Other) => {
                if shared.request.is_none() {
                    self.post(shared, shared::Request::Hold(None));
                }
            }
        });
    }

    /// A firmware update wants to begin: only from holding, ready or error. False: refused.
    pub fn ota_begin(&mut self, now_us: u64, mailbox: &impl Mailbox) -> bool {
        mailbox.with(|shared| {
            let allowed = match Activity::of(shared, self.posted, now_us) {
                Activity::Idle | Activity::Error => true,
                Activity::Away | Activity::Busy(_) => false,
            };
            if allowed {
                self.post(shared, shared::Request::OtaBegin);
            }
            allowed
        })
    }

    /// The firmware update failed: bus on, hold.
    pub fn ota_failed(&mut self, mailbox: &impl Mailbox) {
        mailbox.with(|shared| self.post(shared, shared::Request::OtaFailed));
    }

    /// The sender has control, or takes it because nobody has.
    fn takes_control(&mut self, from: ClientId, now_us: u64) -> bool {
        match self.lease.holder(now_us) {
            Some(holder) => holder == from,
            None => {
                self.lease.give(from, now_us);
                true
            }
        }
    }

    fn post(&mut self, shared: &mut Shared, request: shared::Request) {
        self.posted = Some(Kind::of(&request));
        shared.request = Some(request);
        shared.doorbell = true;
    }

    /// Posts a request that starts a run: an earlier STOP is over.
    fn post_run(&mut self, shared: &mut Shared, request: shared::Request) {
        shared.stop = false;
        self.post(shared, request);
    }

    fn refuse_form(code: u8, message: &mut Message<'_, impl NetworkPort>) {
        match code {
            codes::SUBSCRIBE => {}
            // The end of an upload, even a broken one, leaves no valid plan; a play is not disturbed.
            codes::PLAN_END if !message.activity.plays() => {
                message.shared.plan.invalidate();
                message.refuse(code, codes::REFUSED);
            }
            _refused => message.refuse(code, codes::REFUSED),
        }
    }

    fn handle(&mut self, request: Request<'_>, message: &mut Message<'_, impl NetworkPort>) {
        let code = request.code();
        match request {
            Request::Ping => {
                let pong = self.pong(message.shared, message.now_us, message.port);
                message.reply(&pong);
            }
            Request::State => self.handle_state(message),
            Request::Hold => self.handle_hold(message),
            Request::Stop => self.handle_stop(message),
            Request::Subscribe { rate_hz } => {
                self.subscriptions.subscribe(message.from, rate_hz, message.now_us);
                self.share_read_rate(message.shared);
            }
            Request::Control(action) => {
                let status = self.handle_control(action, message);
                message.ack(code, status);
            }
            Request::PlanBegin { .. } | Request::PlanData { .. } | Request::PlanEnd { .. }
                if message.activity == Activity::Away =>
            {
                message.refuse(code, codes::REFUSED);
            }
            Request::PlanBegin { samples, rate_hz, interpolation, joints } => {
                let shape = plans::Shape { samples, rate_hz, interpolation, joints };
                let status = self.plan_begin(message.activity, message.shared, shape);
                message.ack(code, status);
            }
            Request::PlanData { offset, count, samples } => {
                let status = Self::plan_data(message.activity, message.shared, offset, count, samples);
                message.reply(&reply::Ack { code, status, value: offset });
            }
            Request::PlanEnd { crc32c } => {
                let status = Self::plan_end(message.activity, message.shared, crc32c);
                message.ack(code, status);
            }
            Request::RegRead { id, address, length } => self.handle_reg_read(message, id, address, length),
            Request::RegWrite { id, address, data } => self.handle_reg_write(message, id, address, data),
            Request::Play(_) | Request::PlaySignal(..) | Request::MoveTo { .. } | Request::Stream(_) => {
                if let Err(status) = self.start(request, message) {
                    message.refuse(code, status);
                }
            }
        }
    }

    fn handle_state(&self, message: &mut Message<'_, impl NetworkPort>) {
        let from = message.from;
        let answer_now = match message.activity {
            Activity::Busy(Kind::Play) => return,
            Activity::Away => true,
            Activity::Idle
            | Activity::Error
            | Activity::Busy(Kind::Move | Kind::Stream | Kind::Register | Kind::Other) => {
                message.shared.doorbell = true;
                message.shared.state_requests.push_back(from).is_err()
            }
        };
        if answer_now {
            let seen = seen_joints(message.shared.view.at(message.now_us), message.port);
            message.port.send(from, &seen.encode(self.options.level));
        }
    }

    fn handle_control(&mut self, action: ControlAction, message: &Message<'_, impl NetworkPort>) -> i8 {
        let (from, now_us) = (message.from, message.now_us);
        let holder = self.lease.holder(now_us);
        match action {
            ControlAction::Release => {
                if holder == Some(from) {
                    self.lease.end();
                }
                codes::OK
            }
            ControlAction::Take | ControlAction::TakeOver if holder.is_none_or(|holder| holder == from) => {
                self.lease.give(from, now_us);
                codes::OK
            }
            ControlAction::Take => codes::NO_CONTROL,
            ControlAction::TakeOver => match message.activity {
                Activity::Busy(Kind::Play | Kind::Move | Kind::Stream | Kind::Register) => codes::REFUSED,
                Activity::Away | Activity::Error | Activity::Idle | Activity::Busy(Kind::Other) => {
                    self.lease.give(from, now_us);
                    codes::OK
                }
            },
        }
    }

    /// A STOP or HOLD of a client other than the holder keeps a page that still streams from starting again.
    fn block_streams(&mut self, message: &Message<'_, impl NetworkPort>) {
        if self.lease.holder(message.now_us).is_some_and(|holder| holder != message.from) {
            self.stream_blocked_until_us = message.now_us + STREAM_BLOCK_US;
        }
    }

    fn handle_stop(&mut self, message: &mut Message<'_, impl NetworkPort>) {
        self.block_streams(message);
        if message.activity.is_motion() {
            stop(message.shared);
        }
        message.ack(codes::STOP, codes::OK);
    }

    fn handle_hold(&mut self, message: &mut Message<'_, impl NetworkPort>) {
        if message.activity == Activity::Away {
            message.ack(codes::HOLD, codes::REFUSED);
            return;
        }
        self.block_streams(message);
        match message.shared.request.take() {
            // A hold is on its way already.
            Some(hold @ shared::Request::Hold(_)) => {
                message.shared.request = Some(hold);
                message.ack(codes::HOLD, codes::OK);
                return;
            }
            Some(replaced) => refuse_pending(replaced, message),
            None if message.activity.is_motion() => {
                stop(message.shared);
                message.ack(codes::HOLD, codes::OK);
                return;
            }
            None => {}
        }
        let hold = shared::Request::Hold(Some(message.from));
        self.post(message.shared, hold);
    }

    fn handle_reg_read(
        &mut self,
        message: &mut Message<'_, impl NetworkPort>,
        id: u8,
        address: u8,
        length: u8,
    ) {
        let lengths = 1..=shared::REGISTER_BYTES as u8;
        if !accepts_registers(message.activity) || !SERVO_IDS.contains(&id) || !lengths.contains(&length) {
            message.refuse(codes::REG_READ, codes::REFUSED);
            return;
        }
        let request = shared::Request::RegisterRead { client: message.from, id, address, length };
        self.post(message.shared, request);
    }

    fn handle_reg_write(
        &mut self,
        message: &mut Message<'_, impl NetworkPort>,
        id: u8,
        address: u8,
        data: &[u8],
    ) {
        let data = match Vec::from_slice(data) {
            Ok(data) if accepts_registers(message.activity) && SERVO_IDS.contains(&id) => data,
            Ok(_) | Err(_) => {
                message.refuse(codes::REG_WRITE, codes::REFUSED);
                return;
            }
        };
        let end = usize::from(address) + data.len();
        let lock = usize::from(registers::EEPROM_LOCK);
        let covers_lock = (usize::from(address)..end).contains(&lock);
        if address < registers::ANGLE_LIMITS || covers_lock || end > usize::from(registers::FACTORY) {
            message.refuse(codes::REG_WRITE, codes::REGISTER_PROTECTED);
            return;
        }
        let request = shared::Request::RegisterWrite { client: message.from, id, address, data };
        self.post(message.shared, request);
    }

    /// Starts a run, or passes a JOG or TRACK to the run that is on.
    fn start(&mut self, request: Request<'_>, message: &mut Message<'_, impl NetworkPort>) -> Result<(), i8> {
        if message.activity == Activity::Away {
            return Err(codes::REFUSED);
        }
        let client = message.from;
        let post = match request {
            Request::Play(params) => {
                idle(message.activity)?;
                if !message.shared.plan.is_valid() {
                    return Err(codes::REFUSED);
                }
                shared::Request::Play { client, params }
            }
            Request::PlaySignal(params, signal) => {
                idle(message.activity)?;
                signal.validate().map_err(|refusal| refusal.ack_status())?;
                shared::Request::PlaySignal { client, params, signal }
            }
            Request::MoveTo { goal, duration_ms } => {
                gripper_for(goal.n, message)?;
                idle(message.activity)?;
                inside_limits(&goal)?;
                shared::Request::MoveTo { client, goal, duration_ms }
            }
            Request::Stream(command) => return self.stream(command, message),
            Request::Ping
            | Request::State
            | Request::Hold
            | Request::PlanBegin { .. }
            | Request::PlanData { .. }
            | Request::PlanEnd { .. }
            | Request::Stop
            | Request::RegRead { .. }
            | Request::RegWrite { .. }
            | Request::Subscribe { .. }
            | Request::Control(_) => return Err(codes::REFUSED),
        };
        self.post_run(message.shared, post);
        Ok(())
    }

    fn stream(
        &mut self,
        command: StreamCommand,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        match &command {
            StreamCommand::Joints(velocity) => gripper_for(velocity.n, message)?,
            StreamCommand::Twist { j7_dps, .. } => {
                gripper_for(if *j7_dps == 0.0 { 0 } else { JOINTS }, message)?;
            }
            StreamCommand::Track { goal, .. } => {
                gripper_for(goal.n, message)?;
                inside_limits(goal)?;
            }
        }
        let starts = match message.activity {
            Activity::Idle => true,
            Activity::Busy(Kind::Stream) => false,
            Activity::Away
            | Activity::Error
            | Activity::Busy(Kind::Play | Kind::Move | Kind::Register | Kind::Other) => {
                return Err(codes::REFUSED);
            }
        };
        if message.now_us < self.stream_blocked_until_us {
            return Err(codes::REFUSED);
        }
        let client = message.from;
        message.shared.stream = Some(Stream { client, command, t_us: message.now_us, abandoned: false });
        if starts {
            self.post_run(message.shared, shared::Request::Stream(client));
        }
        Ok(())
    }
}

fn stop(shared: &mut Shared) {
    shared.stop = true;
    shared.doorbell = true;
}

fn idle(activity: Activity) -> Result<(), i8> {
    match activity {
        Activity::Idle => Ok(()),
        Activity::Away | Activity::Error | Activity::Busy(_) => Err(codes::REFUSED),
    }
}

/// Registers are read and written in every state but booting and OTA, and not while busy.
fn accepts_registers(activity: Activity) -> bool {
    match activity {
        Activity::Idle | Activity::Error => true,
        Activity::Away | Activity::Busy(_) => false,
    }
}

/// Values for J7 need the gripper.
fn gripper_for(n: usize, message: &mut Message<'_, impl NetworkPort>) -> Result<(), i8> {
    if n == JOINTS && message.n() < JOINTS { Err(codes::NO_GRIPPER) } else { Ok(()) }
}

fn inside_limits(goal: &JointValues) -> Result<(), i8> {
    debug_assert!(goal.n <= TABLE.len());
    min_jerk::first_joint_outside(goal).map_or(Ok(()), |joint| Err(codes::outside_limits(joint)))
}

/// Answers a request that a HOLD replaces.
fn refuse_pending(replaced: shared::Request, message: &mut Message<'_, impl NetworkPort>) {
    let ack = |code| reply::Ack { code, status: codes::REFUSED, value: 0 }.encode::<REPLY_BYTES>();
    let (client, answer) = match replaced {
        shared::Request::MoveTo { client, .. } => (client, ack(codes::MOVE_TO)),
        shared::Request::Play { client, .. } => (client, ack(codes::PLAY)),
        shared::Request::PlaySignal { client, .. } => (client, ack(codes::PLAY_SIGNAL)),
        shared::Request::Stream(client) => {
            let code = match message.shared.stream.map(|stream| stream.command) {
                Some(StreamCommand::Track { .. }) => codes::TRACK,
                Some(StreamCommand::Joints(_) | StreamCommand::Twist { .. }) | None => codes::JOG,
            };
            (client, ack(code))
        }
        shared::Request::RegisterRead { client, id, address, .. } => {
            let status = codes::REFUSED;
            (client, reply::RegisterValues { id, address, length: 0, status, data: Vec::new() }.encode())
        }
        shared::Request::RegisterWrite { client, id, address, .. } => {
            let status = codes::REFUSED;
            (client, reply::RegisterWritten { id, address, status, servo_error: 0 }.encode())
        }
        // Nobody waits for these.
        shared::Request::Hold(_) | shared::Request::OtaBegin | shared::Request::OtaFailed => return,
    };
    message.port.send(client, &answer);
}
