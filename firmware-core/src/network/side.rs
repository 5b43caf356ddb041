//! [`Network`]: tick, streams, replies, wake-up time.

use super::activity::{Activity, Kind};
use super::lease::Lease;
use super::packets;
use super::status_line::{Banner, StatusLine};
use super::subscriptions::Subscriptions;
use crate::platform::{ClientId, Mailbox, NetworkPort};
use crate::protocol::stream::{Joints, Stream};
use crate::protocol::{ApiLevel, reply};
use crate::shared::{Posted, Shared, State, View};

/// Period of the status log (µs).
const STATUS_PERIOD_US: u64 = 1_000_000;
/// Longest status log line (bytes).
const STATUS_LINE_BYTES: usize = 384;

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
    /// Kind of the last request posted to the control side.
    pub(super) posted: Option<Kind>,
    /// A bystander's STOP or HOLD blocks streamed motion until then (µs).
    pub(super) stream_blocked_until_us: u64,
    status_due_us: u64,
}

impl Network {
    /// The network side at power-up.
    pub fn new(options: NetworkOptions) -> Self {
        Self {
            options,
            lease: Lease::default(),
            subscriptions: Subscriptions::new(options.max_subscribers),
            posted: None,
            stream_blocked_until_us: 0,
            status_due_us: STATUS_PERIOD_US,
        }
    }

    /// Sends what is due: replies, telemetry, streams, the status log.
    pub fn tick(&mut self, now_us: u64, mailbox: &impl Mailbox, port: &mut impl NetworkPort) {
        mailbox.with(|shared| {
            if Activity::of(shared, self.posted, now_us).is_motion() {
                self.lease.keep(now_us);
            }
            send_replies(shared, now_us, port);
            packets::send_due(shared, false, now_us, port);
            self.subscriptions.expire(now_us);
            self.send_streams(shared, now_us, port);
            self.share_read_rate(shared);
            if now_us >= self.status_due_us {
                self.status_due_us = (now_us / STATUS_PERIOD_US + 1) * STATUS_PERIOD_US;
                self.send_status_line(shared, now_us, port);
            }
        });
    }

    /// When [`Network::tick`] has something to do next (µs). Messages that come in are besides.
    pub fn next_wake_us(&self, mailbox: &impl Mailbox) -> u64 {
        mailbox.with(|shared| {
            let view = shared.view.next_us().unwrap_or(u64::MAX);
            let reply = shared.outbox.front().map_or(u64::MAX, |posted| posted.at_us);
            let stream = self.subscriptions.next_us(shared.view.latest().read_at_us);
            view.min(reply).min(packets::next_us(shared)).min(stream).min(self.status_due_us)
        })
    }

    /// A client is gone: its subscription and its control end, and its JOG or TRACK stops at once.
    pub fn closed(&mut self, now_us: u64, client: ClientId, mailbox: &impl Mailbox) {
        self.subscriptions.end(client);
        if self.lease.holder(now_us) == Some(client) {
            self.lease.end();
        }
        mailbox.with(|shared| {
            if let Some(stream) = shared.stream.as_mut().filter(|stream| stream.client == client) {
                stream.abandoned = true;
            }
            self.share_read_rate(shared);
        });
    }

    /// Who has control.
    pub fn holder(&self, now_us: u64) -> Option<ClientId> {
        self.lease.holder(now_us)
    }

    /// Number of subscribers.
    pub fn subscribers(&self) -> usize {
        self.subscriptions.len()
    }

    /// The state as clients see it.
    pub fn state(&self, now_us: u64, mailbox: &impl Mailbox) -> State {
        mailbox.with(|shared| shown_state(shared, now_us))
    }

    /// Tells the control side how often subscribers want a read while idle.
    pub(super) fn share_read_rate(&self, shared: &mut Shared) {
        let rate_hz = self.subscriptions.rate_hz();
        if shared.idle_read_hz != rate_hz {
            shared.idle_read_hz = rate_hz;
            shared.doorbell = true;
        }
    }

    fn send_streams(&mut self, shared: &mut Shared, now_us: u64, port: &mut impl NetworkPort) {
        let read_at_us = shared.view.at(now_us).read_at_us;
        if self.subscriptions.next_us(read_at_us) > now_us {
            return;
        }
        let state = shown_state(shared, now_us);
        let seen = seen_joints(shared.view.at(now_us), port);
        let holder = self.lease.holder(now_us);
        let level = self.options.level;
        self.subscriptions.send_due(now_us, read_at_us, |client| {
            let control = holder.map_or(0, |holder| if holder == client { 1 } else { 2 });
            let packet = Stream { t_ms: (now_us / 1000) as u32, state: state as u8, control, seen };
            port.send(client, &packet.encode(level));
        });
    }

    fn send_status_line(&self, shared: &mut Shared, now_us: u64, port: &mut impl NetworkPort) {
        let twist_us = core::mem::take(&mut shared.twist_us_max);
        let state = shown_state(shared, now_us);
        let view = *shared.view.at(now_us);
        let line = StatusLine {
            banner: self.options.banner,
            version: self.options.level.version(),
            build: short(self.options.build),
            health: port.health(),
            state,
            plan_samples: shared.plan.declared_samples(),
            plan_rate_hz: shared.plan.rate_hz(),
            plan_valid: shared.plan.is_valid(),
            imu_ok: port.imu().is_some(),
            view: &view,
            now_us,
            twist_us: (self.options.level >= ApiLevel::V5_1).then_some(twist_us),
        };
        let mut text = heapless::String::<STATUS_LINE_BYTES>::new();
        let written = core::fmt::write(&mut text, format_args!("{line}"));
        debug_assert!(written.is_ok(), "the longest line has less than {STATUS_LINE_BYTES} bytes");
        port.broadcast(&text);
    }

    /// PONG as of now.
    pub(super) fn pong(&self, shared: &mut Shared, now_us: u64, port: &mut impl NetworkPort) -> reply::Pong {
        let [major, minor, patch] = self.options.level.version();
        reply::Pong {
            major: u16::from(major),
            state: shown_state(shared, now_us) as u8,
            plan_samples: shared.plan.declared_samples(),
            plan_rate_hz: shared.plan.rate_hz(),
            imu_ok: port.imu().is_some(),
            gains_ok: shared.view.at(now_us).gains_ok,
            minor,
            patch,
        }
    }
}

/// Sends the finished replies; a run's telemetry goes out before its DONE.
fn send_replies(shared: &mut Shared, now_us: u64, port: &mut impl NetworkPort) {
    while let Some(Posted { to, message, ends_run, .. }) =
        shared.outbox.pop_front_if(|posted| posted.at_us <= now_us)
    {
        if ends_run {
            packets::send_due(shared, true, now_us, port);
        }
        port.send(to, &message);
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

/// The joints as STATE and STREAM show them. Before the first read: not ok, six joints, zeros.
pub(super) fn seen_joints(view: &View, port: &mut impl NetworkPort) -> Joints {
    let mut joints = view.joints;
    // While booting and in a firmware update nothing is read: what is shown is not a live reading.
    joints.ok &= match view.state {
        State::Booting | State::Ota => false,
        State::Holding
        | State::Ready
        | State::Playing
        | State::Error
        | State::Moving
        | State::Jogging
        | State::Tracking => true,
    };
    Joints { n: view.n.max(6), joints, imu: port.imu().unwrap_or_default() }
}

/// At most 40 bytes of the build's name, so that the line has a longest length.
fn short(build: &str) -> &str {
    let mut end = build.len().min(40);
    while !build.is_char_boundary(end) {
        end -= 1;
    }
    &build[..end]
}
