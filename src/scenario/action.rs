//! Actions in angles, mm and seconds → bytes.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use firmware_core::protocol::codes;
use firmware_core::protocol::request::{SIGNAL_BYTES, build};
use firmware_core::shared::PlayParams;

use super::format::{Action, ControlName, FrameName, JogTcp, Play, PlaySignal, SignalName};
use super::plan::Deed;
use super::upload::Upload;

/// Joint speed cap of an end-effector JOG that names none (°/s): the Control page's default.
const CAP_DPS: f32 = 36.0;

/// Makes ready what a step does. `folder` is the scenario's, for files beside it; a text has none.
///
/// # Errors
/// What is wrong with the action, in words.
pub fn deed(action: &Action, folder: Option<&Path>) -> Result<Deed, String> {
    let send = |bytes: &[u8]| Ok(Deed::Send(bytes.to_vec()));
    match action {
        Action::Wait => Ok(Deed::Wait),
        Action::Connect => Ok(Deed::Connect),
        Action::Close => Ok(Deed::Close),
        Action::Ping => send(&build::plain(codes::PING)),
        Action::State => send(&build::plain(codes::STATE)),
        Action::Hold => send(&build::plain(codes::HOLD)),
        Action::Stop => send(&build::plain(codes::STOP)),
        Action::Control(name) => send(&build::control(match name {
            ControlName::Release => 0,
            ControlName::Take => 1,
            ControlName::TakeOver => 2,
        })),
        Action::Subscribe { hz } => send(&build::subscribe(*hz)),
        Action::MoveTo(move_to) => {
            joint_values("goal_deg", &move_to.goal_deg, 327.0)?;
            let duration_ms = libm::round(move_to.duration_s.unwrap_or(0.0) * 1_000.0);
            in_range("duration_s", duration_ms / 1_000.0, 0.0..65.535)?;
            send(&build::move_to(&move_to.goal_deg, duration_ms as u16))
        }
        Action::Jog { dps } => {
            joint_values("dps", dps, 3_276.0)?;
            send(&build::jog(dps))
        }
        Action::JogTcp(jog) => jog_tcp(jog),
        Action::Track { goal_deg, vmax_dps } => {
            joint_values("goal_deg", goal_deg, 327.0)?;
            in_range("vmax_dps", f64::from(*vmax_dps), 0.0..6_553.5)?;
            send(&build::track(goal_deg, *vmax_dps))
        }
        Action::Plan(plan) => Ok(Deed::Upload(Arc::new(Upload::new(plan, folder)?))),
        Action::Play(play) => send(&build::play(play_params(play))),
        Action::PlaySignal(signal) => send(&build::play_signal(
            play_params(signal.play.as_ref().unwrap_or(&Play::NONE)),
            &signal_bytes(signal),
        )),
        Action::ReadRegister { id, address, length } => send(&build::reg_read(*id, *address, *length)),
        Action::WriteRegister { id, address, data } => {
            if data.len() > 32 {
                return Err(format!("expected at most 32 values in data, found {}", data.len()));
            }
            send(&build::reg_write(*id, *address, data))
        }
        Action::Raw { hex } => Ok(Deed::Send(from_hex(hex)?)),
    }
}

impl Play {
    /// Every parameter at its default.
    const NONE: Self =
        Self { rate_hz: None, speed_cap_sps: None, max_error_steps: None, start_tolerance_steps: None };
}

fn play_params(play: &Play) -> PlayParams {
    PlayParams {
        rate_hz: play.rate_hz.unwrap_or(500),
        speed_cap_sps: play.speed_cap_sps.unwrap_or(2_000),
        max_error_steps: play.max_error_steps.unwrap_or(227),
        start_tolerance_steps: play.start_tolerance_steps.unwrap_or(50),
    }
}

fn jog_tcp(jog: &JogTcp) -> Result<Deed, String> {
    let frame = match jog.frame.unwrap_or(FrameName::Base) {
        FrameName::Base => 1,
        FrameName::Tool => 2,
    };
    for value in jog.mm_s.iter().chain(&jog.dps).chain([&jog.j7_dps]) {
        in_range("a velocity", f64::from(*value), -3_276.0..3_276.0)?;
    }
    let cap_dps = jog.cap_dps.unwrap_or(CAP_DPS);
    in_range("cap_dps", f64::from(cap_dps), 0.0..6_553.5)?;
    Ok(Deed::Send(build::jog_tcp(frame, jog.mm_s, jog.dps, jog.j7_dps, cap_dps).to_vec()))
}

/// The 38 bytes of a test signal: u8 joint, u8 kind, f32 amp, f0, f1, duration, vmax, amax, i16 base[6] (0.01°).
pub(super) fn signal_bytes(signal: &PlaySignal) -> [u8; SIGNAL_BYTES] {
    let kind = match signal.kind {
        SignalName::Chirp => 1,
        SignalName::Steps => 2,
    };
    let mut bytes = vec![signal.joint, kind];
    for number in
        [signal.amp_deg, signal.f0_hz, signal.f1_hz, signal.duration_s, signal.vmax_dps, signal.amax_dps2]
    {
        bytes.extend(number.to_le_bytes());
    }
    for angle in signal.base_deg {
        bytes.extend((libm::roundf(angle * 100.0) as i16).to_le_bytes());
    }
    let mut out = [0; SIGNAL_BYTES];
    out.copy_from_slice(&bytes);
    out
}

fn joint_values(name: &str, values: &[f32], limit: f64) -> Result<(), String> {
    if !(6..=7).contains(&values.len()) {
        return Err(format!("expected 6 or 7 values in {name}, found {}", values.len()));
    }
    values.iter().try_for_each(|value| in_range(name, f64::from(*value), -limit..limit))
}

fn in_range(name: &str, value: f64, range: Range<f64>) -> Result<(), String> {
    if value >= range.start && value <= range.end {
        return Ok(());
    }
    Err(format!(
        "expected {name} from {} to {}, as the message can carry, found {value}",
        range.start, range.end
    ))
}

fn from_hex(hex: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = hex.chars().filter(|c| !c.is_whitespace()).collect();
    if let Some(bad) = digits.iter().find(|c| !c.is_ascii_hexdigit()) {
        return Err(format!("expected hex digits, found '{bad}'"));
    }
    if !digits.len().is_multiple_of(2) {
        return Err(format!("expected two hex digits per byte, found {} digits", digits.len()));
    }
    let value = |c: char| c.to_digit(16).unwrap_or_default() as u8;
    Ok(digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect())
}

/// What an action does, in a few words.
pub fn words(action: &Action) -> String {
    match action {
        Action::Wait => "wait".to_owned(),
        Action::Connect => "connect".to_owned(),
        Action::Close => "close".to_owned(),
        Action::Ping => "PING".to_owned(),
        Action::State => "STATE".to_owned(),
        Action::Hold => "HOLD".to_owned(),
        Action::Stop => "STOP".to_owned(),
        Action::Control(name) => format!("CONTROL {name:?}"),
        Action::Subscribe { hz } => format!("SUBSCRIBE {hz} Hz"),
        Action::MoveTo(move_to) => format!("MOVE_TO {:?}", move_to.goal_deg),
        Action::Jog { dps } => format!("JOG {dps:?} °/s"),
        Action::JogTcp(jog) => format!("JOG TCP {:?} mm/s {:?} °/s", jog.mm_s, jog.dps),
        Action::Track { goal_deg, vmax_dps } => format!("TRACK {goal_deg:?} at {vmax_dps} °/s"),
        Action::Plan(_) => "plan upload".to_owned(),
        Action::Play(_) => "PLAY".to_owned(),
        Action::PlaySignal(signal) => format!("PLAY_SIGNAL J{} {:?}", signal.joint, signal.kind),
        Action::ReadRegister { id, address, length } => format!("REG_READ {id} {address} {length}"),
        Action::WriteRegister { id, address, data } => format!("REG_WRITE {id} {address} {data:?}"),
        Action::Raw { hex } => format!("raw {hex}"),
    }
}
