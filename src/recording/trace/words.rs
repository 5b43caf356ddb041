//! Lines of a trace in words, for people.

use firmware_core::protocol::codes;
use firmware_core::protocol::motion::{Frame, Jog};
use firmware_core::protocol::reply::{Ack, Done};
use firmware_core::protocol::request::ControlAction;
use firmware_core::protocol::stream::{Joints, Stream};
use firmware_core::protocol::{ApiLevel, Reply, Request};
use firmware_core::shared::{PlayParams, State};
use firmware_core::units::DEG_PER_STEP;

use super::format::{Header, Line, hex};
use crate::atom::client_name;
use crate::recording::row::angle_deg;

/// The header in words.
pub fn header(header: &Header) -> String {
    let options = &header.options;
    let hardware = &options.hardware;
    format!(
        "trace of atom-sim {}, format {}: API {}, seed {}, {:?} plant, {}, from {:.3} s on at {}",
        header.version,
        header.atom_sim_trace,
        options.level.name(),
        hardware.seed,
        hardware.plant,
        if hardware.gripper { "with gripper" } else { "without gripper" },
        seconds(header.start_us),
        list(&hardware.pose_deg, 1, "°"),
    )
}

/// One line in words, with its time.
pub fn line(line: &Line, level: ApiLevel) -> String {
    format!("{:>12.6} s  {}", seconds(line.t_us()), event(line, level))
}

/// What a line says, without its time.
pub fn event(line: &Line, level: ApiLevel) -> String {
    match line {
        Line::Connect { client, .. } => format!("{} connects", client_name::name(*client)),
        Line::Close { client, .. } => format!("{} is gone", client_name::name(*client)),
        Line::Received { client, bytes, .. } => {
            format!("{} → ATOM  {}", client_name::name(*client), request(bytes, level))
        }
        Line::Wifi { client, profile, .. } => {
            format!("{} gets the WiFi `{}`", client_name::name(*client), profile.name())
        }
        Line::Inject { id, fault, .. } => format!("fault {} given: {fault}", id.0),
        Line::Clear { id, .. } => format!("fault {} cleared", id.0),
        Line::Fault { id, started, kind, .. } => {
            format!("fault {} {}: {kind}", id.0, if *started { "starts" } else { "ends" })
        }
        Line::Sent { client, bytes, .. } => {
            format!("{} ← ATOM  {}", client_name::name(*client), reply(bytes))
        }
        Line::Closed { client, .. } => format!("ATOM closes the WebSocket of {}", client_name::name(*client)),
        Line::StatusLine { line, .. } => format!("everyone ← ATOM  {line}"),
        Line::Reset { options, .. } => {
            format!("a new ATOM: API {}, seed {}", options.level.name(), options.hardware.seed)
        }
        Line::End { .. } => "end of the trace".to_owned(),
    }
}

/// A request in words; of bytes that are none, what is wrong with them.
pub fn request(bytes: &[u8], level: ApiLevel) -> String {
    let request = match Request::decode(bytes, level) {
        Ok(request) => request,
        Err(error) => return format!("{error}: {}", hex::text(&bytes[..bytes.len().min(32)])),
    };
    match request {
        Request::Ping => "PING".to_owned(),
        Request::State => "STATE".to_owned(),
        Request::Hold => "HOLD".to_owned(),
        Request::Stop => "STOP".to_owned(),
        Request::PlanBegin(begin) => format!(
            "PLAN_BEGIN {} samples at {} Hz, {} joints, {}",
            begin.samples,
            begin.rate_hz,
            begin.joints(),
            if begin.is_cubic() { "cubic" } else { "linear" }
        ),
        Request::PlanData { head, .. } => {
            format!("PLAN_DATA {} samples from sample {}", head.count, head.offset)
        }
        Request::PlanEnd(end) => format!("PLAN_END CRC {:08X}", end.crc32c),
        Request::Play(play) => format!("PLAY {}", play_words(play.params)),
        Request::PlaySignal(signal) => {
            let of = signal.signal;
            let kind = match of.kind {
                1 => "chirp".to_owned(),
                2 => "steps".to_owned(),
                other => format!("kind {other}"),
            };
            format!(
                "PLAY_SIGNAL J{} {kind} ±{}°, {}–{} Hz, {} s, at most {} °/s and {} °/s², {}",
                of.joint,
                of.amp_deg,
                of.f0_hz,
                of.f1_hz,
                of.duration_s,
                of.vmax_dps,
                of.amax_dps2,
                play_words(signal.params)
            )
        }
        Request::RegisterRead(at) => {
            format!("REG_READ servo {}, {} registers from {}", at.id, at.length, at.address)
        }
        Request::RegisterWrite { registers: at, data } => {
            format!("REG_WRITE servo {}, from {}: {}", at.id, at.address, hex::text(data))
        }
        Request::Subscribe { rate_hz } => format!("SUBSCRIBE {rate_hz} Hz"),
        Request::Control(ControlAction::Release) => "CONTROL release".to_owned(),
        Request::Control(ControlAction::Take) => "CONTROL take".to_owned(),
        Request::Control(ControlAction::TakeOver) => "CONTROL take over".to_owned(),
        Request::MoveTo(to) => {
            let goal = list(&scaled(to.goal_cdeg.as_slice(), 100.0), 2, "°");
            match to.duration_ms {
                0 => format!("MOVE_TO {goal} as fast as allowed"),
                ms => format!("MOVE_TO {goal} in {:.3} s", f64::from(ms) / 1e3),
            }
        }
        Request::Jog(jog) => jog_words(&jog),
        Request::Track(track) => format!(
            "TRACK {}, at most {:.1} °/s",
            list(&scaled(track.goal_cdeg.as_slice(), 100.0), 2, "°"),
            f64::from(track.vmax_ddps) / 10.0
        ),
        Request::Gripper(gripper) => format!("GRIPPER {} ‰ open", gripper.opening_permille),
    }
}

/// A reply in words.
pub fn reply(bytes: &[u8]) -> String {
    match Reply::decode(bytes) {
        Ok(Reply::Pong(pong)) => format!(
            "PONG {}.{}.{}, {}, plan {} samples at {} Hz{}{}",
            pong.major,
            pong.minor,
            pong.patch,
            state_word(pong.state),
            pong.plan_samples,
            pong.plan_rate_hz,
            if pong.imu_ok { "" } else { ", no IMU" },
            if pong.gains_ok { "" } else { ", gains did not take" },
        ),
        Ok(Reply::State(joints)) => format!("STATE {}", joints_words(&joints)),
        Ok(Reply::Ack(ack)) => ack_words(ack),
        Ok(Reply::Telemetry(packet)) => format!(
            "TELEM {} samples from number {}, up to {:.3} s",
            packet.samples.len(),
            packet.first_sequence,
            packet.samples.last().map_or(0.0, |sample| f64::from(sample.t_us) / 1e6)
        ),
        Ok(Reply::Done(done)) => done_words(&done),
        Ok(Reply::RegisterValues(values)) => format!(
            "REG_READ servo {}, from {}: {}",
            values.id,
            values.address,
            if values.status == codes::OK {
                hex::text(&values.data)
            } else {
                status_word(codes::REG_READ, values.status)
            }
        ),
        Ok(Reply::RegisterWritten(written)) => format!(
            "REG_WRITE servo {}, from {}: {}, servo error {:02X}",
            written.id,
            written.address,
            status_word(codes::REG_WRITE, written.status),
            written.servo_error
        ),
        Ok(Reply::Stream(stream)) => stream_words(&stream),
        Err(error) => format!("{error}: {}", hex::text(&bytes[..bytes.len().min(32)])),
    }
}

/// The name of a request's code.
pub fn code_word(code: u8) -> String {
    let name = match code {
        codes::PING => "PING",
        codes::STATE => "STATE",
        codes::HOLD => "HOLD",
        codes::PLAN_BEGIN => "PLAN_BEGIN",
        codes::PLAN_DATA => "PLAN_DATA",
        codes::PLAN_END => "PLAN_END",
        codes::PLAY => "PLAY",
        codes::STOP => "STOP",
        codes::REG_READ => "REG_READ",
        codes::REG_WRITE => "REG_WRITE",
        codes::PLAY_SIGNAL => "PLAY_SIGNAL",
        codes::SUBSCRIBE => "SUBSCRIBE",
        codes::CONTROL => "CONTROL",
        codes::MOVE_TO => "MOVE_TO",
        codes::JOG => "JOG",
        codes::TRACK => "TRACK",
        codes::GRIPPER => "GRIPPER",
        _unknown => return format!("code {code:02X}"),
    };
    name.to_owned()
}

/// The name of a state byte.
pub fn state_word(state: u8) -> &'static str {
    State::from_byte(state).map_or("in an unknown state", State::name)
}

/// What a status of a request's answer says.
pub fn status_word(code: u8, status: i8) -> String {
    let word = match (code, status) {
        (_, 0) => "done",
        (codes::MOVE_TO, -1) => {
            "refused: busy, in the wrong state, a message of the wrong form, or a duration too short for the joints' limits of speed"
        }
        (_, -1) => "refused: busy, in the wrong state, or a message of the wrong form",
        (codes::PLAY | codes::PLAY_SIGNAL, -2) => {
            "refused: another client has control, or the rate is not 50–800 Hz"
        }
        (codes::PLAN_BEGIN, -2) => "refused: another client has control, or no plan can have this shape",
        (_, -2) => "refused: another client has control",
        (codes::PLAN_BEGIN, -3) => "refused: not enough memory",
        (codes::PLAY, -3) => "refused: the arm is not at the plan's start pose",
        (_, -4) => "a servo does not answer",
        (_, -5) => "refused: the register may not be written",
        (_, -6) => "the register reads back something else",
        (_, -7) => "refused: there is no gripper",
        (codes::PLAY_SIGNAL, -18..=-11) => {
            return format!("refused: check {} of the signal's parameters", -10 - status);
        }
        (codes::PLAY_SIGNAL, -30..=-29) => {
            return format!("refused: check {} of the start pose", -20 - status);
        }
        (_, -17..=-11) => return format!("refused: J{} outside its limits", -10 - status),
        _other => return format!("status {status}"),
    };
    word.to_owned()
}

/// How a run ended.
pub fn done_words(done: &Done) -> String {
    let deg = f32::from(done.error_steps) * DEG_PER_STEP;
    let result = match done.result {
        0 => "done".to_owned(),
        1 => format!("tracking error: J{} was {deg:.1}° off", done.joint),
        2 => "stopped".to_owned(),
        3 => format!("not at the start pose: J{} was {deg:.1}° off", done.joint),
        4 => "bus error".to_owned(),
        other => format!("result {other}"),
    };
    format!(
        "DONE {result}; {} cycles, {} late, longest period {} µs, {} samples dropped",
        done.cycles, done.late_cycles, done.longest_period_us, done.telemetry_dropped
    )
}

fn ack_words(ack: Ack) -> String {
    let value = if ack.code == codes::PLAN_DATA { format!(" at {}", ack.value) } else { String::new() };
    format!("ACK {}{value}: {}", code_word(ack.code), status_word(ack.code, ack.status))
}

fn stream_words(stream: &Stream) -> String {
    let control = match stream.control {
        0 => "nobody has control",
        1 => "it has control",
        _others => "another has control",
    };
    format!("STREAM {}, {control}, {}", state_word(stream.state), joints_words(&stream.seen))
}

fn joints_words(seen: &Joints) -> String {
    let n = usize::from(seen.n).min(7);
    let angles: Vec<f64> = (0..n).map(|joint| angle_deg(joint, seen.joints.position[joint])).collect();
    let silent = if seen.joints.ok { "" } else { ", not all answered" };
    format!("at {}{silent}", list(&angles, 2, "°"))
}

fn play_words(params: PlayParams) -> String {
    format!(
        "at {} Hz, servos at most {} steps/s, error at most {} steps, start within {} steps",
        params.rate_hz, params.speed_cap_sps, params.max_error_steps, params.start_tolerance_steps
    )
}

fn jog_words(jog: &Jog) -> String {
    match jog {
        Jog::Joints(joints) => {
            format!("JOG {}", list(&scaled(joints.velocity_ddps.as_slice(), 10.0), 1, " °/s"))
        }
        Jog::Twist(twist) => format!(
            "JOG {} axes {}, {}, J7 {:.1} °/s, joints at most {:.1} °/s",
            match twist.frame {
                Frame::Base => "base",
                Frame::Tool => "tool",
            },
            list(&scaled(&twist.linear_dmm_s, 10.0), 1, " mm/s"),
            list(&scaled(&twist.angular_ddps, 10.0), 1, " °/s"),
            f64::from(twist.j7_ddps) / 10.0,
            f64::from(twist.speed_cap_ddps) / 10.0,
        ),
    }
}

fn scaled(raw: &[i16], per_unit: f64) -> Vec<f64> {
    raw.iter().map(|raw| f64::from(*raw) / per_unit).collect()
}

fn list(values: &[f64], digits: usize, unit: &str) -> String {
    // Adding zero turns −0 into 0.
    let values: Vec<String> = values.iter().map(|value| format!("{:.digits$}", value + 0.0)).collect();
    format!("({}){unit}", values.join(" "))
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use firmware_core::protocol::build;

    #[test]
    fn requests_and_replies_read_as_what_they_mean() {
        let say = |bytes: &[u8]| request(bytes, ApiLevel::V5_1);
        assert_eq!(say(&build::plain(codes::PING)), "PING");
        assert_eq!(
            say(&build::move_to(&[0.0, 1.5, -90.0, 0.0, 0.0, 0.0], 1500)),
            "MOVE_TO (0.00 1.50 -90.00 0.00 0.00 0.00)° in 1.500 s"
        );
        assert_eq!(say(&[0x55]), "expected a request code of API level 5.1, found 55 (hex): 55");
        assert_eq!(reply(&[0x83, 0x0E, 0xF3, 0, 0, 0, 0]), "ACK MOVE_TO: refused: J3 outside its limits");
        assert_eq!(reply(&[0x83, 0x05, 0, 50, 0, 0, 0]), "ACK PLAN_DATA at 50: done");
    }
}
