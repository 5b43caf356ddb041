//! [`Network`]: tick, streams, replies, wake-up time, and what it knows.

use super::activity::{Activity, Kind};
use super::lease::Lease;
use super::leds::Leds;
use super::packets::{self, Taken};
use super::status_line::{self, Banner, StatusLine};
use super::stops::HoldWaiters;
use super::subscriptions::Subscriptions;
use crate::led::Frame;
use crate::platform::{ClientId, NetworkPort};
use crate::protocol::ApiLevel;
use crate::protocol::stream::Stream;
use crate::shared::{Mailbox, Request, Shared, State};

/// How the network side starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkOptions {
    /// API level it serves.
    pub level: ApiLevel,
    /// Subscribers served at once: 4 on the ATOM.
    pub max_subscribers: usize,
    /// Memory for plans (bytes).
    pub plan_bytes_max: usize,
    /// Who the status log says it is.
    pub banner: Banner,
    /// The build that the status log names, for instance a commit; at most 40 bytes are shown.
    pub build: &'static str,
}

/// The network side. The platform calls [`Network::receive`] and [`Network::tick`] on a grid of 1 ms.
#[derive(Debug)]
pub struct Network {
    pub(super) options: NetworkOptions,
    pub(super) lease: Lease,
    pub(super) subscriptions: Subscriptions,
    pub(super) hold_waiters: HoldWaiters,
    /// A bystander's STOP or HOLD blocks streamed motion until then (µs).
    pub(super) stream_blocked_until_us: u64,
    /// Kind of the last request posted to the control side.
    posted: Option<Kind>,
    leds: Leds,
    status_due_us: u64,
}

impl Network {
    /// The network side at power-up.
    pub fn new(options: NetworkOptions) -> Self {
        Self {
            options,
            lease: Lease::default(),
            subscriptions: Subscriptions::new(options.max_subscribers),
            hold_waiters: HoldWaiters::default(),
            stream_blocked_until_us: 0,
            posted: None,
            leds: Leds::default(),
            status_due_us: status_line::PERIOD_US,
        }
    }

    /// Sends what is due: replies, telemetry, streams, the status log. Each is taken from the mailbox for itself and
    /// sent outside of it: the control side waits for one at most.
    pub fn tick(&mut self, now_us: u64, mailbox: &impl Mailbox, port: &mut impl NetworkPort) {
        mailbox.with(|shared| {
            self.observe(shared, now_us);
            self.leds.show(shown_state(shared, now_us), shared.view.at(now_us), now_us);
        });
        self.send_replies(now_us, mailbox, port);
        send_telemetry(now_us, false, mailbox, port);
        self.subscriptions.expire(now_us);
        self.send_streams(now_us, mailbox, port);
        mailbox.with(|shared| {
            // The outbox has room again for those who could not be answered.
            shared.doorbell |= !shared.state_requests.is_empty();
            self.share_read_rate(shared);
        });
        if now_us >= self.status_due_us {
            self.status_due_us = (now_us / status_line::PERIOD_US + 1) * status_line::PERIOD_US;
            self.send_status_line(now_us, mailbox, port);
        }
    }

    /// When [`Network::tick`] has something to do next (µs). Messages that come in are besides.
    pub fn next_wake_us(&self, mailbox: &impl Mailbox) -> u64 {
        mailbox.with(|shared| {
            let reply = shared.outbox.front().map_or(u64::MAX, |posted| posted.at_us);
            let stream = self.subscriptions.next_us(shared.view.shown().read_at_us);
            let due = reply.min(packets::next_us(shared)).min(stream).min(self.status_due_us);
            due.min(self.leds.next_us()).min(self.view_us(shared))
        })
    }

    /// When the view that waits changes anything here (µs): the state, or a read that a first STREAM packet
    /// waits for. Most of them only carry newer readings, which are looked at when a packet is due.
    fn view_us(&self, shared: &Shared) -> u64 {
        let Some((at_us, next)) = shared.view.waiting() else { return u64::MAX };
        let shown = shared.view.shown();
        let changes = next.state != shown.state || next.working != shown.working;
        let read = next.read_at_us != shown.read_at_us && self.subscriptions.wait_for_a_read();
        if changes || read { at_us } else { u64::MAX }
    }

    /// Who has control.
    pub fn holder(&self, now_us: u64) -> Option<ClientId> {
        self.lease.holder(now_us)
    }

    /// Number of subscribers.
    pub fn subscribers(&self) -> usize {
        self.subscriptions.len()
    }

    /// The STREAM rate (Hz) that a client subscribed; `None` without a subscription.
    pub fn subscribed_hz(&self, client: ClientId) -> Option<u16> {
        self.subscriptions.rate_of(client)
    }

    /// The state as clients see it.
    pub fn state(&self, now_us: u64, mailbox: &impl Mailbox) -> State {
        mailbox.with(|shared| shown_state(shared, now_us))
    }

    /// The picture on the LED matrix.
    pub fn led_frame(&self) -> &Frame {
        self.leds.frame()
    }

    /// Looks at what the controller is doing, and keeps the lease while a motion is on or pending. Register requests
    /// do not keep it: anybody may send them, and a holder that is gone must not hold on by another's.
    pub(super) fn observe(&mut self, shared: &mut Shared, now_us: u64) -> Activity {
        let activity = Activity::of(shared, self.posted, now_us);
        self.lease.observe(activity.is_motion(), now_us);
        activity
    }

    /// Leaves a request for the control side.
    pub(super) fn post(&mut self, shared: &mut Shared, request: Request) {
        self.posted = Some(Kind::of(&request));
        shared.request = Some(request);
        shared.doorbell = true;
    }

    /// Limits the memory for plans from now on (bytes).
    pub fn set_plan_bytes_max(&mut self, bytes: usize) {
        self.options.plan_bytes_max = bytes;
    }

    /// Tells the control side how often subscribers want a read while idle.
    pub(super) fn share_read_rate(&self, shared: &mut Shared) {
        let rate_hz = self.subscriptions.rate_hz();
        if shared.idle_read_hz != rate_hz {
            shared.idle_read_hz = rate_hz;
            shared.doorbell = true;
        }
    }

    /// Sends the finished replies; a run's telemetry goes out before its DONE.
    fn send_replies(&mut self, now_us: u64, mailbox: &impl Mailbox, port: &mut impl NetworkPort) {
        let due = |shared: &mut Shared| shared.outbox.pop_front_if(|posted| posted.at_us <= now_us);
        while let Some(posted) = mailbox.with(due) {
            if posted.ends_run {
                send_telemetry(posted.at_us, true, mailbox, port);
            }
            port.send(posted.to, &posted.message);
            self.hold_waiters.share(&posted, port);
        }
    }

    fn send_streams(&mut self, now_us: u64, mailbox: &impl Mailbox, port: &mut impl NetworkPort) {
        let read_at_us = mailbox.with(|shared| shared.view.at(now_us).read_at_us);
        if self.subscriptions.next_us(read_at_us) > now_us {
            return;
        }
        let level = self.options.level;
        let (state, view) = mailbox.with(|shared| (shown_state(shared, now_us), *shared.view.at(now_us)));
        let common = Stream {
            t_ms: (now_us / 1_000) as u32,
            state: state as u8,
            ..Stream::of(&view, port.imu(), level)
        };
        let holder = self.lease.holder(now_us);
        self.subscriptions.send_due(now_us, read_at_us, |client| {
            let control = holder.map_or(0, |holder| if holder == client { 1 } else { 2 });
            port.send(client, &Stream { control, ..common }.encode(level));
        });
    }

    fn send_status_line(&self, now_us: u64, mailbox: &impl Mailbox, port: &mut impl NetworkPort) {
        let (health, imu_ok) = (port.health(), port.imu().is_some());
        let line = mailbox.with(|shared| StatusLine {
            banner: self.options.banner,
            level: self.options.level,
            build: self.options.build,
            health,
            state: shown_state(shared, now_us),
            plan_samples: shared.plan.declared_samples(),
            plan_rate_hz: shared.plan.rate_hz(),
            plan_valid: shared.plan.is_valid(),
            imu_ok,
            view: *shared.view.at(now_us),
            now_us,
            twist_us: core::mem::take(&mut shared.twist_us_max),
        });
        port.broadcast(&line.text());
    }
}

/// Sends the telemetry that is due, one packet after another.
fn send_telemetry(now_us: u64, flush: bool, mailbox: &impl Mailbox, port: &mut impl NetworkPort) {
    while let Some(taken) = mailbox.with(|shared| packets::take(shared, now_us, flush)) {
        match taken {
            Taken::Packet(client, packet) => port.send(client, &packet),
            Taken::Unsent => {}
        }
    }
}

/// The state as clients see it: holding with a valid plan is ready.
pub(super) fn shown_state(shared: &mut Shared, now_us: u64) -> State {
    match shared.view.at(now_us).state {
        State::Holding if shared.plan.is_valid() => State::Ready,
        state @ (State::Booting
        | State::Holding
        | State::Ready
        | State::Playing
        | State::Error
        | State::Ota
        | State::Moving
        | State::Jogging
        | State::Tracking) => state,
    }
}
