//! Bytes of requests from values in degrees and mm, for clients and tests. Values are rounded to the message's
//! unit.

use heapless::Vec;

use super::layout::Layout;
use super::motion::{Frame, Jog, JogJoints, JogTwist, MoveTo, Track, WireJoints};
use super::plan::{PlanBegin, PlanDataHead, PlanEnd, Play, PlaySignal, SIGNAL_BYTES};
use super::request::{ControlAction, Plain, REQUEST_BYTES, Registers, Request};
use crate::joints::JOINTS;
use crate::motion::signal::Params;
use crate::shared::{PlayParams, REGISTER_BYTES};

/// A request's bytes; PLAN_DATA is its head alone.
pub type Bytes = Vec<u8, REQUEST_BYTES>;

fn bytes(request: &Request<'_>) -> Bytes {
    // All but PLAN_DATA fit, and REG_WRITE is cut to its longest form before it comes here.
    request.encode().unwrap_or_default()
}

fn wire(value: f32, per_unit: f32) -> i16 {
    libm::roundf(value * per_unit) as i16
}

fn wire_joints(values: &[f32], per_unit: f32) -> WireJoints {
    let mut raw = [0; JOINTS];
    for (to, from) in raw.iter_mut().zip(values) {
        *to = wire(*from, per_unit);
    }
    WireJoints::new(&raw[..values.len().min(JOINTS)])
}

/// A request that is only its code: PING, STATE, HOLD, STOP.
pub fn plain(code: u8) -> Bytes {
    Plain { code, byte: None }.encode()
}

/// SUBSCRIBE.
pub fn subscribe(rate_hz: u16) -> Bytes {
    bytes(&Request::Subscribe { rate_hz })
}

/// CONTROL: 0 release, 1 take, 2 or more take over.
pub fn control(action: u8) -> Bytes {
    bytes(&Request::Control(ControlAction::from_byte(action)))
}

/// MOVE_TO with 6 or 7 goals (°).
pub fn move_to(goal_deg: &[f32], duration_ms: u16) -> Bytes {
    bytes(&Request::MoveTo(MoveTo { goal_cdeg: wire_joints(goal_deg, 100.0), duration_ms }))
}

/// JOG frame 0 with 6 or 7 velocities (°/s).
pub fn jog(velocity_dps: &[f32]) -> Bytes {
    bytes(&Request::Jog(Jog::Joints(JogJoints { velocity_ddps: wire_joints(velocity_dps, 10.0) })))
}

/// JOG frame 1 (base) or 2 (tool): mm/s, °/s, J7 °/s, joint speed cap °/s.
pub fn jog_tcp(
    frame: u8,
    linear_mm_s: [f32; 3],
    angular_dps: [f32; 3],
    j7_dps: f32,
    speed_cap_dps: f32,
) -> Bytes {
    bytes(&Request::Jog(Jog::Twist(JogTwist {
        frame: if frame == 2 { Frame::Tool } else { Frame::Base },
        linear_dmm_s: linear_mm_s.map(|v| wire(v, 10.0)),
        angular_ddps: angular_dps.map(|v| wire(v, 10.0)),
        j7_ddps: wire(j7_dps, 10.0),
        speed_cap_ddps: libm::roundf(speed_cap_dps * 10.0) as u16,
    })))
}

/// TRACK with 6 or 7 goals (°) and a top speed (°/s).
pub fn track(goal_deg: &[f32], vmax_dps: f32) -> Bytes {
    let vmax_ddps = libm::roundf(vmax_dps * 10.0) as u16;
    bytes(&Request::Track(Track { goal_cdeg: wire_joints(goal_deg, 100.0), vmax_ddps }))
}

/// PLAY.
pub fn play(params: PlayParams) -> Bytes {
    bytes(&Request::Play(Play { params }))
}

/// PLAY_SIGNAL with the 38 bytes of its parameters.
pub fn play_signal(params: PlayParams, signal: &[u8; SIGNAL_BYTES]) -> Bytes {
    bytes(&Request::PlaySignal(PlaySignal { params, signal: Params::from_bytes(signal) }))
}

/// PLAN_BEGIN.
pub fn plan_begin(samples: u32, rate_hz: u16, cubic: bool, joints: u8) -> Bytes {
    let interpolation = Some(u8::from(cubic));
    bytes(&Request::PlanBegin(PlanBegin { samples, rate_hz, interpolation, joints: Some(joints) }))
}

/// The head of PLAN_DATA; the samples' bytes follow it.
pub fn plan_data_head(offset: u32, count: u16) -> Bytes {
    PlanDataHead { offset, count }.encode()
}

/// PLAN_END.
pub fn plan_end(crc32c: u32) -> Bytes {
    bytes(&Request::PlanEnd(PlanEnd { crc32c }))
}

/// REG_READ.
pub fn reg_read(id: u8, address: u8, length: u8) -> Bytes {
    bytes(&Request::RegisterRead(Registers { id, address, length }))
}

/// REG_WRITE of at most 32 values; more are left out.
pub fn reg_write(id: u8, address: u8, data: &[u8]) -> Bytes {
    let data = &data[..data.len().min(REGISTER_BYTES)];
    bytes(&Request::RegisterWrite { registers: Registers { id, address, length: data.len() as u8 }, data })
}
