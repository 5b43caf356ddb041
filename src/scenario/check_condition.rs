//! Whether a condition makes sense: joints, clients, labels, registers that exist, and limits that limit.

use super::check::{Names, unknown_client, unknown_label};
use super::condition::{
    Bounds, Condition, JointNumber, ReplyCount, ReplyName, ReplyPattern, StreamField, TcpNumber,
};
use super::words::reply_word;

/// Checks a condition.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn check(condition: &Condition, names: &Names<'_>) -> Result<(), String> {
    match condition {
        Condition::State(_)
        | Condition::PlanValid(_)
        | Condition::StatusContains(_)
        | Condition::JointsInUse(6 | 7) => Ok(()),
        Condition::AngleDeg(number)
        | Condition::GoalDeg(number)
        | Condition::GoalErrorDeg(number)
        | Condition::SpeedDps(number)
        | Condition::GoalSpeedDps(number)
        | Condition::GoalAccelDps2(number)
        | Condition::LoadPercent(number)
        | Condition::TemperatureC(number)
        | Condition::VoltageV(number)
        | Condition::TorqueOn(number) => joint_number(number),
        Condition::TcpMm(number) => {
            tcp_number(number)?;
            if number.since_s.is_some() {
                return Err("since_s belongs to tcp_moved_mm and tcp_turned_deg, not to tcp_mm".to_owned());
            }
            number.axis.map(|_| ()).ok_or_else(|| "expected axis = \"x\", \"y\" or \"z\"".to_owned())
        }
        Condition::TcpMovedMm(number) | Condition::TcpTurnedDeg(number) => tcp_number(number),
        Condition::TcpOffLineMm(line) => {
            if line.direction.iter().all(|part| part.abs() < 1e-9) {
                return Err("expected a direction that is not 0, 0, 0".to_owned());
            }
            limited(&line.bounds())
        }
        Condition::Led(pixels) => limited(&pixels.bounds()),
        Condition::Holder(name) if name == "nobody" => Ok(()),
        Condition::Holder(name) | Condition::Connected(name) => client(name, names),
        Condition::JointsInUse(n) => Err(format!("expected 6 or 7 joints in use, found {n}")),
        Condition::Replies(count) => {
            client(&count.client, names)?;
            reply_count(count)?;
            limited(&count.bounds())
        }
        Condition::Order(order) => {
            client(&order.client, names)?;
            if order.replies.is_empty() {
                return Err("expected at least one reply".to_owned());
            }
            order.replies.iter().try_for_each(pattern)
        }
        Condition::ReplyDelayMs(delay) => {
            if !names.labels.contains_key(delay.step.as_str()) {
                return Err(unknown_label(&delay.step, names));
            }
            limited(&delay.bounds())
        }
        Condition::Done(number) => client(&number.client, names).and_then(|()| limited(&number.bounds())),
        Condition::Stream(number) => {
            client(&number.client, names)?;
            since(number.since_s)?;
            let counts = matches!(number.field, StreamField::Packets | StreamField::LongestGapMs);
            if number.since_s.is_some() && !counts {
                return Err("since_s belongs to packets and longest_gap_ms, not to other fields".to_owned());
            }
            limited(&number.bounds())
        }
        Condition::Telemetry(number) => {
            client(&number.client, names).and_then(|()| limited(&number.bounds()))
        }
        Condition::Status(number) => limited(&number.bounds()),
        Condition::Bus(number) => limited(&number.bounds()),
        Condition::Register(register) => {
            if !(1..=7).contains(&register.joint) || register.address > 86 {
                return Err("expected joint 1 to 7 and address 0 to 86".to_owned());
            }
            if !matches!(register.bytes, None | Some(1 | 2)) {
                return Err("expected bytes = 1 or 2".to_owned());
            }
            limited(&register.bounds())
        }
        Condition::All(list) | Condition::Any(list) => {
            if list.is_empty() {
                return Err("expected at least one condition".to_owned());
            }
            list.iter().try_for_each(|one| check(one, names))
        }
        Condition::Not(one) => check(one, names),
    }
}

fn client(name: &str, names: &Names<'_>) -> Result<(), String> {
    if names.clients.contains(&name) { Ok(()) } else { Err(unknown_client(name, names)) }
}

/// What of a reply can be looked at.
fn reply_count(count: &ReplyCount) -> Result<(), String> {
    let &ReplyCount { reply, to, status, value, result, joint, since_s, .. } = count;
    fields(
        reply,
        &[
            (Field::To, to.is_some()),
            (Field::Status, status.is_some()),
            (Field::Value, value.is_some()),
            (Field::Result, result.is_some()),
            (Field::Joint, joint.is_some()),
        ],
    )?;
    since(since_s)?;
    if since_s.is_some() && reply == ReplyName::Telem {
        return Err("since_s does not belong to telem, whose samples are counted from the start".to_owned());
    }
    Ok(())
}

/// What of one reply of an order can be looked at.
fn pattern(pattern: &ReplyPattern) -> Result<(), String> {
    let &ReplyPattern { reply, to, status, result } = pattern;
    if matches!(reply, ReplyName::Stream | ReplyName::Telem) {
        return Err(format!("expected a reply that comes once in an order, found {}", reply_word(reply)));
    }
    fields(
        reply,
        &[(Field::To, to.is_some()), (Field::Status, status.is_some()), (Field::Result, result.is_some())],
    )
}

/// A field of a reply.
#[derive(Debug, Clone, Copy)]
enum Field {
    To,
    Status,
    Value,
    Result,
    Joint,
}

impl Field {
    /// Its name in files, and the replies that have it.
    const fn of(self) -> (&'static str, &'static [ReplyName]) {
        match self {
            Self::To => ("to", &[ReplyName::Ack]),
            Self::Status => ("status", &[ReplyName::Ack, ReplyName::Register, ReplyName::Written]),
            Self::Value => ("value", &[ReplyName::Ack]),
            Self::Result => ("result", &[ReplyName::Done]),
            Self::Joint => ("joint", &[ReplyName::Done]),
        }
    }
}

/// Refuses a field that is given for a reply that has no such field.
fn fields(reply: ReplyName, given: &[(Field, bool)]) -> Result<(), String> {
    for (name, of) in given.iter().filter(|(_, given)| *given).map(|(field, _)| field.of()) {
        if !of.contains(&reply) {
            let of: Vec<&str> = of.iter().copied().map(reply_word).collect();
            return Err(format!("{name} belongs to {}, {} has none", of.join(", "), reply_word(reply)));
        }
    }
    Ok(())
}

fn since(since_s: Option<f64>) -> Result<(), String> {
    match since_s {
        Some(since_s) if since_s.is_nan() || since_s < 0.0 => {
            Err(format!("expected since_s of 0 or more, found {since_s}"))
        }
        Some(_) | None => Ok(()),
    }
}

fn joint_number(number: &JointNumber) -> Result<(), String> {
    if let Some(joint) = number.joint.filter(|joint| !(1..=7).contains(joint)) {
        return Err(format!("expected joint 1 to 7, found {joint}"));
    }
    limited(&number.bounds())
}

fn tcp_number(number: &TcpNumber) -> Result<(), String> {
    since(number.since_s)?;
    limited(&number.bounds())
}

fn limited(bounds: &Bounds) -> Result<(), String> {
    if bounds.is_empty() {
        return Err(
            "expected at least one of min, max and near: without a limit this is always true".to_owned()
        );
    }
    if let (Some(min), Some(max)) = (bounds.min, bounds.max)
        && min > max
    {
        return Err(format!("expected min of at most max, found min {min} and max {max}"));
    }
    if bounds.by.is_some() && bounds.near.is_none() {
        return Err("expected near beside by".to_owned());
    }
    Ok(())
}
