//! Whether a condition holds now, and what is seen instead.

use firmware_core::joints::{ARM_JOINTS, JOINTS};
use firmware_core::kinematics::{Pose, Tcp, forward};
use firmware_core::platform::ACC_PER_G;
use firmware_core::protocol::codes;
use firmware_core::shared::State;

use super::book::{Book, Brief, ClientLog, PoseAt};
use super::condition::{
    Axis, Bounds, BusCounter, Condition, DoneField, DoneNumber, JointNumber, Order, Pose as Of, ReplyCount,
    ReplyDelay, ReplyName, ReplyPattern, RequestName, StreamField, StreamNumber, TcpNumber, TelemetryField,
};
use crate::atom::StateName;

/// What a condition sees.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// A number.
    Number(f64),
    /// A number of one joint (index).
    Joint(usize, f64),
    /// A state.
    State(State),
    /// A text.
    Text(String),
    /// Something that is or is not.
    Flag(bool),
    /// There is nothing to look at yet.
    Nothing(&'static str),
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{}", rounded(*number)),
            Self::Joint(joint, number) => write!(f, "J{}: {}", joint + 1, rounded(*number)),
            Self::State(state) => write!(f, "{}", state.name()),
            Self::Text(text) => f.write_str(text),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Nothing(what) => f.write_str(what),
        }
    }
}

/// At most four decimals.
pub fn rounded(number: f64) -> f64 {
    libm::round(number * 1e4) / 1e4
}

/// Code of a request.
pub fn code_of(name: RequestName) -> u8 {
    match name {
        RequestName::Hold => codes::HOLD,
        RequestName::PlanBegin => codes::PLAN_BEGIN,
        RequestName::PlanData => codes::PLAN_DATA,
        RequestName::PlanEnd => codes::PLAN_END,
        RequestName::Play => codes::PLAY,
        RequestName::Stop => codes::STOP,
        RequestName::PlaySignal => codes::PLAY_SIGNAL,
        RequestName::Control => codes::CONTROL,
        RequestName::MoveTo => codes::MOVE_TO,
        RequestName::Jog => codes::JOG,
        RequestName::Track => codes::TRACK,
    }
}

/// Whether `condition` holds now.
pub fn holds(condition: &Condition, book: &Book) -> bool {
    look(condition, book).0
}

/// Whether `condition` holds now, and what it sees.
pub fn look(condition: &Condition, book: &Book) -> (bool, Seen) {
    let truth = &book.truth;
    match condition {
        Condition::State(name) => (StateName::from(truth.state) == *name, Seen::State(truth.state)),
        Condition::AngleDeg(number) => joint(number, |j| truth.angle_deg[j]),
        Condition::GoalDeg(number) => joint(number, |j| truth.goal_deg[j]),
        Condition::GoalErrorDeg(number) => joint(number, |j| (truth.goal_deg[j] - truth.angle_deg[j]).abs()),
        Condition::SpeedDps(number) => joint(number, |j| truth.speed_dps[j].abs()),
        Condition::GoalSpeedDps(number) => joint(number, |j| book.goal_speed_dps(j)),
        Condition::GoalAccelDps2(number) => joint(number, |j| book.goal_accel_dps2(j)),
        Condition::LoadPercent(number) => joint(number, |j| truth.load_percent[j]),
        Condition::TemperatureC(number) => joint(number, |j| truth.temperature_c[j]),
        Condition::VoltageV(number) => joint(number, |j| truth.voltage_v[j]),
        Condition::TorqueOn(number) => joint(number, |j| f64::from(u8::from(truth.torque_on[j]))),
        Condition::TcpMm(tcp) => bounded(tcp.bounds(), along(now_pose(book, tcp.of).position_mm, tcp.axis)),
        Condition::TcpMovedMm(tcp) => {
            since(book, tcp, |then, now| along(difference(now.position_mm, then.position_mm), tcp.axis))
        }
        Condition::TcpTurnedDeg(tcp) => since(book, tcp, turn_deg),
        Condition::TcpOffLineMm(line) => match then_pose(book, line.since_s, line.of) {
            None => nothing("the time of the point on the line has not come"),
            Some(then) => {
                let now = now_pose(book, line.of);
                let moved = difference(now.position_mm, then.position_mm);
                bounded(line.bounds(), off_line_mm(moved, line.direction))
            }
        },
        Condition::Led(pixels) => {
            let count = truth.led.iter().filter(|pixel| **pixel == pixels.rgb).count();
            bounded(pixels.bounds(), count as f64)
        }
        Condition::Holder(name) => holder(name, book),
        Condition::JointsInUse(n) => (truth.n == *n, Seen::Number(f64::from(truth.n))),
        Condition::PlanValid(valid) => (truth.plan_valid == *valid, Seen::Flag(truth.plan_valid)),
        Condition::Replies(count) => replies(count, book),
        Condition::Order(order) => in_order(order, book),
        Condition::ReplyDelayMs(delay) => reply_delay(delay, book),
        Condition::Done(number) => done(number, book),
        Condition::Stream(number) => stream(number, book),
        Condition::Telemetry(number) => {
            let log = book.client(&number.client).map(|client| client.telemetry).unwrap_or_default();
            let value = match number.field {
                TelemetryField::Samples => log.samples as f64,
                TelemetryField::Missing => log.missing as f64,
                TelemetryField::N => log.n as f64,
            };
            bounded(number.bounds(), value)
        }
        Condition::Status(number) => match status_number(&book.status_line, &number.key) {
            None => nothing("no status log line with this key yet"),
            Some(value) => bounded(number.bounds(), value),
        },
        Condition::StatusContains(text) => {
            (book.status_line.contains(text.as_str()), Seen::Text(book.status_line.clone()))
        }
        Condition::Register(register) => {
            let joint = usize::from(register.joint) - 1;
            let byte = |address: u8| f64::from(book.registers.get(&(joint, address)).copied().unwrap_or(0));
            let high = if register.bytes == Some(2) { 256.0 * byte(register.address + 1) } else { 0.0 };
            bounded(register.bounds(), byte(register.address) + high)
        }
        Condition::Bus(number) => {
            let value = match number.counter {
                BusCounter::BytesSent => truth.bus.bytes_sent,
                BusCounter::BytesAnswered => truth.bus.bytes_answered,
                BusCounter::Requests => truth.bus.requests,
                BusCounter::Replies => truth.bus.replies,
                BusCounter::BadChecksums => truth.bus.bad_checksums,
                BusCounter::StrayBytes => truth.bus.stray_bytes,
                BusCounter::LostSyncWrites => truth.bus.lost_sync_writes,
            };
            bounded(number.bounds(), value as f64)
        }
        Condition::Connected(name) => {
            let open = book.client(name).is_some_and(|client| client.id.is_some());
            (open, Seen::Flag(open))
        }
        Condition::All(list) => {
            let first_wrong = list.iter().map(|one| look(one, book)).find(|(holds, _)| !holds);
            first_wrong.unwrap_or((true, Seen::Flag(true)))
        }
        Condition::Any(list) => {
            let looks: Vec<(bool, Seen)> = list.iter().map(|one| look(one, book)).collect();
            let seen = looks.iter().map(|(_, seen)| seen.to_string()).collect::<Vec<_>>().join("; ");
            (looks.iter().any(|(holds, _)| *holds), Seen::Text(seen))
        }
        Condition::Not(one) => {
            let (holds, seen) = look(one, book);
            (!holds, seen)
        }
    }
}

fn nothing(what: &'static str) -> (bool, Seen) {
    (false, Seen::Nothing(what))
}

fn bounded(bounds: Bounds, value: f64) -> (bool, Seen) {
    (bounds.hold(value), Seen::Number(value))
}

/// One joint, or every joint of the arm: then the first that is out of bounds.
fn joint(number: &JointNumber, value: impl Fn(usize) -> f64) -> (bool, Seen) {
    let bounds = number.bounds();
    let range = match number.joint {
        Some(joint) => usize::from(joint) - 1..usize::from(joint),
        None => 0..ARM_JOINTS,
    };
    let mut seen = Seen::Nothing("no joint");
    for joint in range {
        let value = value(joint);
        seen = Seen::Joint(joint, value);
        if !bounds.hold(value) {
            return (false, seen);
        }
    }
    (true, seen)
}

fn pose(angles_deg: &[f64; JOINTS], n: u8) -> Pose {
    let q: [f32; ARM_JOINTS] = core::array::from_fn(|joint| angles_deg[joint] as f32);
    forward(&q, if n == 7 { Tcp::Gripper } else { Tcp::Flange })
}

fn now_pose(book: &Book, of: Option<Of>) -> Pose {
    match of.unwrap_or_default() {
        Of::Goals => pose(&book.truth.goal_deg, book.truth.n),
        Of::Truth => pose(&book.truth.angle_deg, book.truth.n),
    }
}

fn then_pose(book: &Book, since_s: Option<f64>, of: Option<Of>) -> Option<Pose> {
    let at_us = super::check::us(since_s.unwrap_or(0.0));
    let PoseAt { goal_deg, angle_deg, n } = (*book.poses.get(&at_us)?)?;
    Some(match of.unwrap_or_default() {
        Of::Goals => pose(&goal_deg, n),
        Of::Truth => pose(&angle_deg, n),
    })
}

fn since(book: &Book, tcp: &TcpNumber, measure: impl Fn(&Pose, &Pose) -> f64) -> (bool, Seen) {
    match then_pose(book, tcp.since_s, tcp.of) {
        None => nothing("the time to compare with has not come"),
        Some(then) => bounded(tcp.bounds(), measure(&then, &now_pose(book, tcp.of))),
    }
}

fn difference(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    core::array::from_fn(|i| a[i] - b[i])
}

fn along(vector: [f32; 3], axis: Option<Axis>) -> f64 {
    match axis {
        Some(Axis::X) => f64::from(vector[0]),
        Some(Axis::Y) => f64::from(vector[1]),
        Some(Axis::Z) => f64::from(vector[2]),
        None => length(vector.map(f64::from)),
    }
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|part| part * part).sum::<f64>().sqrt()
}

fn off_line_mm(moved: [f32; 3], direction: [f64; 3]) -> f64 {
    let scale = length(direction);
    let moved = moved.map(f64::from);
    let along: f64 = moved.iter().zip(direction).map(|(m, d)| m * d / scale).sum();
    length(core::array::from_fn(|i| moved[i] - along * direction[i] / scale))
}

fn turn_deg(then: &Pose, now: &Pose) -> f64 {
    // |R − R'| (Frobenius) = 2·√2·sin(angle/2): exact for small angles, unlike the trace.
    let mut sum = 0.0;
    for i in 0..3 {
        for k in 0..3 {
            let d = f64::from(then.rotation[i][k]) - f64::from(now.rotation[i][k]);
            sum += d * d;
        }
    }
    2.0 * libm::asin((sum.sqrt() / (2.0 * core::f64::consts::SQRT_2)).min(1.0)).to_degrees()
}

fn holder(name: &str, book: &Book) -> (bool, Seen) {
    let Some(id) = book.truth.holder else { return (name == "nobody", Seen::Nothing("nobody")) };
    let index = book.clients.iter().position(|client| client.id == Some(id));
    let who = index.map_or("a client of no name", |index| book.names[index].as_str());
    (who == name, Seen::Text(who.to_owned()))
}

fn matches(brief: &Brief, count: &ReplyCount) -> bool {
    let is = |wanted: Option<i64>, found: i64| wanted.is_none_or(|wanted| wanted == found);
    brief.name == count.reply
        && is(count.to.map(|name| i64::from(code_of(name))), i64::from(brief.to))
        && is(count.status.map(i64::from), i64::from(brief.status))
        && is(count.value.map(i64::from), i64::from(brief.value))
        && is(count.result.map(i64::from), i64::from(brief.done.result))
        && is(count.joint.map(i64::from), i64::from(brief.done.joint))
}

fn replies(count: &ReplyCount, book: &Book) -> (bool, Seen) {
    let since_us = super::check::us(count.since_s.unwrap_or(0.0));
    let Some(client) = book.client(&count.client) else { return nothing("no such client") };
    let found = match count.reply {
        ReplyName::Stream => client.stream_us.iter().filter(|t_us| **t_us >= since_us).count(),
        ReplyName::Telem => client.telemetry.samples as usize,
        ReplyName::Pong
        | ReplyName::State
        | ReplyName::Ack
        | ReplyName::Done
        | ReplyName::Register
        | ReplyName::Written => {
            client.briefs.iter().filter(|brief| brief.t_us >= since_us && matches(brief, count)).count()
        }
    };
    bounded(count.bounds(), found as f64)
}

fn in_order(order: &Order, book: &Book) -> (bool, Seen) {
    let Some(client) = book.client(&order.client) else { return nothing("no such client") };
    let fits = |brief: &Brief, pattern: &ReplyPattern| {
        brief.name == pattern.reply
            && pattern.to.is_none_or(|to| code_of(to) == brief.to)
            && pattern.status.is_none_or(|status| status == brief.status)
            && pattern.result.is_none_or(|result| result == brief.done.result)
    };
    let mut briefs = client.briefs.iter();
    let found = order.replies.iter().take_while(|pattern| briefs.any(|brief| fits(brief, pattern))).count();
    (found == order.replies.len(), Seen::Text(format!("the first {found} of {}", order.replies.len())))
}

/// The reply that answers a request of this code.
fn answers(brief: &Brief, code: u8) -> bool {
    match brief.name {
        ReplyName::Pong => code == codes::PING,
        ReplyName::State => code == codes::STATE,
        ReplyName::Ack | ReplyName::Register | ReplyName::Written => brief.to == code,
        ReplyName::Done | ReplyName::Telem | ReplyName::Stream => false,
    }
}

fn reply_delay(delay: &ReplyDelay, book: &Book) -> (bool, Seen) {
    let Some((step, began_us)) = book.steps.get(&delay.step).and_then(|step| Some((step, step.began_us?)))
    else {
        return nothing("the step has not begun");
    };
    let reply = book.clients[step.client]
        .briefs
        .iter()
        .find(|brief| brief.t_us >= began_us && answers(brief, step.code));
    match reply {
        None => nothing("no reply"),
        Some(brief) => bounded(delay.bounds(), (brief.t_us - began_us) as f64 / 1_000.0),
    }
}

fn done(number: &DoneNumber, book: &Book) -> (bool, Seen) {
    let last = book
        .client(&number.client)
        .and_then(|client| client.briefs.iter().rev().find(|brief| brief.name == ReplyName::Done));
    let Some(brief) = last else { return nothing("no DONE") };
    let done = brief.done;
    bounded(
        number.bounds(),
        match number.field {
            DoneField::Result => f64::from(done.result),
            DoneField::Cycles => f64::from(done.cycles),
            DoneField::LongestPeriodUs => f64::from(done.longest_period_us),
            DoneField::LateCycles => f64::from(done.late_cycles),
            DoneField::Dropped => f64::from(done.telemetry_dropped),
            DoneField::Joint => f64::from(done.joint),
            DoneField::ErrorSteps => f64::from(done.error_steps),
        },
    )
}

fn stream(number: &StreamNumber, book: &Book) -> (bool, Seen) {
    let Some(client) = book.client(&number.client) else { return nothing("no such client") };
    let since_us = super::check::us(number.since_s.unwrap_or(0.0));
    let times = &client.stream_us[client.stream_us.partition_point(|t_us| *t_us < since_us)..];
    let value = match number.field {
        StreamField::Packets => times.len() as f64,
        StreamField::LongestGapMs => {
            let last_us = times.last().copied().unwrap_or(since_us);
            let open_us = book.now_us().saturating_sub(last_us);
            let longest_us = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
            longest_us.max(open_us) as f64 / 1_000.0
        }
        StreamField::AgeMs => {
            let Some(last_us) = client.stream_us.last() else { return nothing("no STREAM") };
            (book.now_us() - last_us) as f64 / 1_000.0
        }
        StreamField::Ok
        | StreamField::Control
        | StreamField::N
        | StreamField::Status
        | StreamField::Celsius
        | StreamField::Volts
        | StreamField::AccG => match last_stream(number.field, client) {
            None => return nothing("no STREAM"),
            Some(value) => value,
        },
    };
    bounded(number.bounds(), value)
}

/// A field of the last STREAM packet.
fn last_stream(field: StreamField, client: &ClientLog) -> Option<f64> {
    let stream = client.stream.as_ref()?;
    let joints = &stream.seen.joints;
    let n = usize::from(stream.seen.n);
    Some(match field {
        StreamField::Ok => f64::from(u8::from(joints.ok)),
        StreamField::Control => f64::from(stream.control),
        StreamField::N => f64::from(stream.seen.n),
        StreamField::Status => f64::from(joints.status[..n].iter().fold(0, |all, one| all | one)),
        StreamField::Celsius => f64::from(joints.temperature_c[..n].iter().copied().max().unwrap_or(0)),
        StreamField::Volts => f64::from(joints.voltage_dv[..n].iter().copied().min().unwrap_or(0)) / 10.0,
        StreamField::AccG => length(stream.seen.imu.acc.map(|raw| f64::from(raw) / ACC_PER_G)),
        StreamField::Packets | StreamField::LongestGapMs | StreamField::AgeMs => return None,
    })
}

/// The number of a `key=value` pair of a status log line, units behind it ignored.
fn status_number(line: &str, key: &str) -> Option<f64> {
    let pair = line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))?;
    let end = pair.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(pair.len());
    pair[..end].parse().ok()
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
