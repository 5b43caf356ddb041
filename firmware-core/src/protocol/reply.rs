//! Replies of fixed layout: PONG, ACK, DONE, and the replies to REG_READ and REG_WRITE.

use heapless::Vec;

use super::codes;
use super::layout::{Fields, Layout, WrongLength};
use crate::shared::REPLY_BYTES;

/// PONG: version and state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pong {
    /// Version: major.
    pub major: u16,
    /// State byte.
    pub state: u8,
    /// Samples of the plan as PLAN_BEGIN declared them; 0 without a plan.
    pub plan_samples: u32,
    /// Rate of the plan (Hz); 250 before any plan.
    pub plan_rate_hz: u16,
    /// The IMU answers.
    pub imu_ok: bool,
    /// The gains took at power-up.
    pub gains_ok: bool,
    /// Version: minor.
    pub minor: u8,
    /// Version: patch.
    pub patch: u8,
}

impl Layout for Pong {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::PONG);
        fields.u16(&mut self.major);
        fields.u8(&mut self.state);
        fields.u32(&mut self.plan_samples);
        fields.u16(&mut self.plan_rate_hz);
        fields.bool(&mut self.imu_ok);
        fields.bool(&mut self.gains_ok);
        fields.u8(&mut self.minor);
        fields.u8(&mut self.patch);
    }
}

/// ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ack {
    /// Code of the request.
    pub code: u8,
    /// 0 or the refusal, see [`codes`].
    pub status: i8,
    /// 0 unless the request's description names it.
    pub value: u32,
}

impl Layout for Ack {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::ACK);
        fields.u8(&mut self.code);
        fields.i8(&mut self.status);
        fields.u32(&mut self.value);
    }
}

/// DONE: how a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// 0 done, 1 tracking error, 2 stopped, 3 not at the start pose, 4 bus error.
    pub result: u8,
    /// Control cycles.
    pub cycles: u32,
    /// Longest time from one cycle to the next (µs).
    pub longest_period_us: u32,
    /// Late cycles.
    pub late_cycles: u32,
    /// Telemetry samples dropped in this run.
    pub telemetry_dropped: u32,
    /// Joint of the result, 1–7; 0 = none.
    pub joint: u8,
    /// Its error: pos − ref; for result 3 start pose − first ref (steps).
    pub error_steps: i16,
}

impl Layout for Done {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::DONE);
        fields.u8(&mut self.result);
        fields.u32(&mut self.cycles);
        fields.u32(&mut self.longest_period_us);
        fields.u32(&mut self.late_cycles);
        fields.u32(&mut self.telemetry_dropped);
        fields.u8(&mut self.joint);
        fields.i16(&mut self.error_steps);
    }
}

/// Reply to REG_WRITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegisterWritten {
    /// Servo id.
    pub id: u8,
    /// First register.
    pub address: u8,
    /// 0 or the refusal.
    pub status: i8,
    /// The servo's error byte; 0 on refusal and without a reply.
    pub servo_error: u8,
}

impl Layout for RegisterWritten {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::REG_WRITE_REPLY);
        fields.u8(&mut self.id);
        fields.u8(&mut self.address);
        fields.i8(&mut self.status);
        fields.u8(&mut self.servo_error);
    }
}

/// Reply to REG_READ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegisterValues {
    /// Servo id.
    pub id: u8,
    /// First register.
    pub address: u8,
    /// Length as asked; 0 when refused with −1.
    pub length: u8,
    /// 0 or the refusal.
    pub status: i8,
    /// The values, only with status 0.
    pub data: Vec<u8, { crate::shared::REGISTER_BYTES }>,
}

impl Layout for RegisterValues {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::REG_READ_REPLY);
        fields.u8(&mut self.id);
        fields.u8(&mut self.address);
        fields.u8(&mut self.length);
        fields.i8(&mut self.status);
        if self.status == codes::OK {
            // Decoding: the data is as long as the length field says. Encoding: it is already.
            let length = usize::from(self.length).min(self.data.capacity());
            let _ = self.data.resize(length, 0);
            fields.u8s(&mut self.data);
        }
    }
}

/// Any reply of this file, decoded: for clients and tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// PONG.
    Pong(Pong),
    /// ACK.
    Ack(Ack),
    /// DONE.
    Done(Done),
    /// REG_READ reply.
    RegisterValues(RegisterValues),
    /// REG_WRITE reply.
    RegisterWritten(RegisterWritten),
    /// STATE.
    State(super::stream::Joints),
    /// STREAM.
    Stream(super::stream::Stream),
    /// TELEM.
    Telemetry(super::telemetry::Packet),
}

/// Why bytes are no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// No bytes.
    Empty,
    /// A code that no reply has.
    UnknownCode(u8),
    /// A length that this code does not have.
    WrongLength(u8),
}

impl core::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Empty => f.write_str("expected a reply, found no bytes"),
            Self::UnknownCode(code) => write!(f, "expected a reply code 81–88 (hex), found {code:02X}"),
            Self::WrongLength(code) => write!(f, "a reply {code:02X} (hex) has another length"),
        }
    }
}

impl Reply {
    /// Decodes a reply of API levels 5.0 and later.
    ///
    /// # Errors
    /// Bytes that are no reply.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let code = *bytes.first().ok_or(DecodeError::Empty)?;
        let wrong = |_: WrongLength| DecodeError::WrongLength(code);
        match code {
            codes::PONG => Pong::default().decode(bytes).map(Self::Pong).map_err(wrong),
            codes::ACK => Ack::default().decode(bytes).map(Self::Ack).map_err(wrong),
            codes::DONE => Done::default().decode(bytes).map(Self::Done).map_err(wrong),
            codes::REG_READ_REPLY => {
                RegisterValues::default().decode(bytes).map(Self::RegisterValues).map_err(wrong)
            }
            codes::REG_WRITE_REPLY => {
                RegisterWritten::default().decode(bytes).map(Self::RegisterWritten).map_err(wrong)
            }
            codes::STATE_REPLY => super::stream::Joints::decode(bytes).map(Self::State).map_err(wrong),
            codes::STREAM => super::stream::Stream::decode(bytes).map(Self::Stream).map_err(wrong),
            codes::TELEM => super::telemetry::Packet::decode(bytes).map(Self::Telemetry).map_err(wrong),
            unknown => Err(DecodeError::UnknownCode(unknown)),
        }
    }
}

/// Longest message of this file fits into a posted reply.
const _: () = assert!(REPLY_BYTES >= 5 + crate::shared::REGISTER_BYTES);
