//! Conditions, replies and windows in words, for reports.

use super::book::Brief;
use super::condition::{Condition, JointNumber, ReplyCount, ReplyName, ReplyPattern, RequestName, TcpNumber};
use super::judge::code_of;
use super::plan::Window;
use crate::recording::trace::words::code_word;

/// A condition in words.
pub fn condition(condition: &Condition) -> String {
    let joint = |what: &str, unit: &str, number: &JointNumber| {
        let which = number.joint.map_or_else(|| "every joint".to_owned(), |joint| format!("J{joint}"));
        format!("{what} of {which} {}{unit}", number.bounds())
    };
    match condition {
        Condition::State(name) => format!("state {}", format!("{name:?}").to_lowercase()),
        Condition::AngleDeg(number) => joint("angle", " °", number),
        Condition::GoalDeg(number) => joint("goal", " °", number),
        Condition::GoalErrorDeg(number) => joint("distance of goal and angle", " °", number),
        Condition::SpeedDps(number) => joint("speed", " °/s", number),
        Condition::GoalSpeedDps(number) => joint("speed of the goal", " °/s", number),
        Condition::GoalAccelDps2(number) => joint("acceleration of the goal", " °/s²", number),
        Condition::LoadPercent(number) => joint("load", " %", number),
        Condition::TemperatureC(number) => joint("temperature", " °C", number),
        Condition::VoltageV(number) => joint("voltage", " V", number),
        Condition::TorqueOn(number) => joint("torque (1 = on)", "", number),
        Condition::TcpMm(number) => tcp("TCP", " mm", number),
        Condition::TcpMovedMm(number) => tcp("motion of the TCP", " mm", number),
        Condition::TcpTurnedDeg(number) => tcp("turn of the tool", " °", number),
        Condition::TcpOffLineMm(line) => format!("distance of the TCP from its line {} mm", line.bounds()),
        Condition::Led(pixels) => format!("LED pixels of colour {:?}: {}", pixels.rgb, pixels.bounds()),
        Condition::Holder(name) => format!("control with {name}"),
        Condition::JointsInUse(n) => format!("{n} joints in use"),
        Condition::PlanValid(valid) => format!("plan valid: {valid}"),
        Condition::Replies(count) => replies(count),
        Condition::Order(order) => {
            let list = order.replies.iter().map(pattern).collect::<Vec<_>>();
            format!("{} gets in this order: {}", order.client, list.join(", "))
        }
        Condition::ReplyDelayMs(delay) => format!("reply to step {} after {} ms", delay.step, delay.bounds()),
        Condition::Done(number) => {
            format!("{:?} of {}'s last DONE {}", number.field, number.client, number.bounds())
        }
        Condition::Stream(number) => {
            let since = since(number.since_s);
            format!("STREAM of {}: {:?}{since} {}", number.client, number.field, number.bounds())
        }
        Condition::Telemetry(number) => {
            format!("telemetry of {}: {:?} {}", number.client, number.field, number.bounds())
        }
        Condition::Status(number) => format!("{} in the status log {}", number.key, number.bounds()),
        Condition::StatusContains(text) => format!("\"{text}\" in the status log"),
        Condition::Register(register) => {
            format!("register {} of J{} {}", register.address, register.joint, register.bounds())
        }
        Condition::Bus(number) => format!("bus: {:?} {}", number.counter, number.bounds()),
        Condition::Connected(name) => format!("{name} connected"),
        Condition::All(list) => list.iter().map(self::condition).collect::<Vec<_>>().join(" and "),
        Condition::Any(list) => list.iter().map(self::condition).collect::<Vec<_>>().join(" or "),
        Condition::Not(one) => format!("not {}", self::condition(one)),
    }
}

fn tcp(what: &str, unit: &str, number: &TcpNumber) -> String {
    let axis = number.axis.map_or_else(String::new, |axis| format!(" along {axis:?}").to_lowercase());
    format!("{what}{axis}{} {}{unit}", since(number.since_s), number.bounds())
}

fn replies(count: &ReplyCount) -> String {
    let &ReplyCount { reply, to, status, value, result, joint, since_s, .. } = count;
    let what = described(
        reply,
        to,
        [
            (" with status", status.map(i64::from)),
            (" with value", value.map(i64::from)),
            (" with result", result.map(i64::from)),
            (" of joint", joint.map(i64::from)),
        ],
    );
    format!("{} of {what} to {}{}", count.bounds(), count.client, since(since_s))
}

/// One reply of an order.
fn pattern(pattern: &ReplyPattern) -> String {
    let &ReplyPattern { reply, to, status, result } = pattern;
    described(reply, to, [(" with status", status.map(i64::from)), (" with result", result.map(i64::from))])
}

/// A reply and what is asked of its fields.
fn described<const N: usize>(
    reply: ReplyName,
    to: Option<RequestName>,
    fields: [(&str, Option<i64>); N],
) -> String {
    let to = to.map_or_else(String::new, |to| format!(" to {}", code_word(code_of(to))));
    let given = fields.into_iter().filter_map(|(word, value)| Some(format!("{word} {}", value?)));
    reply_word(reply).to_owned() + &to + &given.collect::<String>()
}

fn since(since_s: Option<f64>) -> String {
    since_s.map_or_else(String::new, |since_s| format!(" since {since_s} s"))
}

/// A reply's name.
pub fn reply_word(name: ReplyName) -> &'static str {
    match name {
        ReplyName::Pong => "PONG",
        ReplyName::State => "STATE",
        ReplyName::Ack => "ACK",
        ReplyName::Telem => "TELEM",
        ReplyName::Done => "DONE",
        ReplyName::Register => "REG_READ reply",
        ReplyName::Written => "REG_WRITE reply",
        ReplyName::Stream => "STREAM",
    }
}

/// A reply in a few words.
pub fn brief(brief: &Brief) -> String {
    match brief.name {
        ReplyName::Ack => {
            let value = if brief.value == 0 { String::new() } else { format!(" value {}", brief.value) };
            format!("ACK {} {}{value}", code_word(brief.to), brief.status)
        }
        ReplyName::Register | ReplyName::Written => {
            format!("{} status {}", reply_word(brief.name), brief.status)
        }
        ReplyName::Done => {
            let done = brief.done;
            let joint = if done.joint == 0 {
                String::new()
            } else {
                format!(" J{} by {} steps", done.joint, done.error_steps)
            };
            format!("DONE {}{joint}, {} cycles, {} late", done.result, done.cycles, done.late_cycles)
        }
        ReplyName::Pong | ReplyName::State | ReplyName::Telem | ReplyName::Stream => {
            reply_word(brief.name).to_owned()
        }
    }
}

/// A time in seconds.
pub fn seconds(us: u64) -> String {
    format!("{:.3} s", us as f64 * 1e-6)
}

/// A window in words.
pub fn window(window: Window) -> String {
    match window {
        Window::At(at_us) => format!("at {}", seconds(at_us)),
        Window::Within(from_us, to_us) => {
            format!("at some moment from {} to {}", seconds(from_us), seconds(to_us))
        }
        Window::Always(from_us, to_us) => format!("always from {} to {}", seconds(from_us), seconds(to_us)),
        Window::Never(from_us, to_us) => format!("never from {} to {}", seconds(from_us), seconds(to_us)),
    }
}
