//! Replies: ATOM → client. Any reply, decoded, and those of fixed layout: PONG, ACK, DONE, and the replies to
//! REG_READ and REG_WRITE.

use core::fmt;

use heapless::Vec;

use super::codes;
use super::layout::{Fields, Layout, WrongLength};
use super::stream::{Joints, Stream};
use super::telemetry::Packet;
use crate::shared::{REGISTER_BYTES, REPLY_BYTES};

/// PONG: version and state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pong {
    /// Version: major.
    pub major: u16,
    /// State byte.
    pub state: u8,
    /// Samples of the plan as PLAN_BEGIN declared them, valid or not; 0 without a plan.
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
    /// 0, or the refusal; see [`codes`].
    pub status: i8,
    /// The offset for PLAN_DATA, else 0.
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
    /// Its error (steps): pos − ref; for result 3 start pose − first ref.
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
    /// 0, or the refusal.
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
    /// Number of registers as asked; 0 when refused with −1.
    pub length: u8,
    /// 0, or the refusal.
    pub status: i8,
    /// The values, with status 0 only; `length` of them.
    pub data: Vec<u8, REGISTER_BYTES>,
}

impl RegisterValues {
    /// The values that a servo gave, at most [`REGISTER_BYTES`].
    pub fn read(id: u8, address: u8, values: &[u8]) -> Self {
        let data: Vec<u8, REGISTER_BYTES> = values.iter().copied().take(REGISTER_BYTES).collect();
        Self { id, address, length: data.len() as u8, status: codes::OK, data }
    }

    /// The servo did not answer.
    pub fn no_reply(id: u8, address: u8, length: u8) -> Self {
        Self { id, address, length, status: codes::NO_REPLY, data: Vec::new() }
    }

    /// Busy, or a request that cannot be.
    pub fn refused(id: u8, address: u8) -> Self {
        Self { id, address, length: 0, status: codes::REFUSED, data: Vec::new() }
    }
}

impl Layout for RegisterValues {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::REG_READ_REPLY);
        fields.u8(&mut self.id);
        fields.u8(&mut self.address);
        fields.u8(&mut self.length);
        fields.i8(&mut self.status);
        if self.status == codes::OK {
            // Decoding makes room for as many values as the length says; encoding finds them there.
            let length = usize::from(self.length).min(REGISTER_BYTES);
            while self.data.len() < length && self.data.push(0).is_ok() {}
            fields.u8s(&mut self.data);
        }
    }
}

/// Any reply, decoded: for clients and tests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "no heap in the core; a reply lives on the stack of its reader"
)]
pub enum Reply {
    /// PONG.
    Pong(Pong),
    /// STATE.
    State(Joints),
    /// ACK.
    Ack(Ack),
    /// TELEM.
    Telemetry(Packet),
    /// DONE.
    Done(Done),
    /// Reply to REG_READ.
    RegisterValues(RegisterValues),
    /// Reply to REG_WRITE.
    RegisterWritten(RegisterWritten),
    /// STREAM.
    Stream(Stream),
}

/// Why bytes are no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyError {
    /// No bytes.
    Empty,
    /// A code that no reply has.
    UnknownCode(u8),
    /// A length that this code does not have at any API level.
    WrongLength {
        /// The code.
        code: u8,
        /// Bytes found.
        length: usize,
    },
}

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("expected a reply, found no bytes"),
            Self::UnknownCode(code) => {
                write!(f, "expected a reply code from 81 to 88 (hex), found {code:02X}; is the peer an ATOM?")
            }
            Self::WrongLength { code, length } => {
                write!(
                    f,
                    "reply {code:02X} (hex) has no form of {length} bytes; is the peer's API level known?"
                )
            }
        }
    }
}

impl core::error::Error for ReplyError {}

impl Reply {
    /// Decodes a reply of any API level; where the levels differ, the length tells them apart.
    ///
    /// # Errors
    /// [`ReplyError`]: bytes that are no reply.
    pub fn decode(bytes: &[u8]) -> Result<Self, ReplyError> {
        let &code = bytes.first().ok_or(ReplyError::Empty)?;
        let decoded = match code {
            codes::PONG => Pong::default().decode(bytes).map(Self::Pong),
            codes::STATE_REPLY => Joints::from_bytes(bytes).map(Self::State),
            codes::ACK => Ack::default().decode(bytes).map(Self::Ack),
            codes::TELEM => Packet::from_bytes(bytes).map(Self::Telemetry),
            codes::DONE => Done::default().decode(bytes).map(Self::Done),
            codes::REG_READ_REPLY => register_values(bytes).map(Self::RegisterValues),
            codes::REG_WRITE_REPLY => RegisterWritten::default().decode(bytes).map(Self::RegisterWritten),
            codes::STREAM => Stream::from_bytes(bytes).map(Self::Stream),
            unknown => return Err(ReplyError::UnknownCode(unknown)),
        };
        decoded.map_err(|WrongLength| ReplyError::WrongLength { code, length: bytes.len() })
    }
}

fn register_values(bytes: &[u8]) -> Result<RegisterValues, WrongLength> {
    let values = RegisterValues::default().decode(bytes)?;
    let whole = values.status != codes::OK || values.data.len() == usize::from(values.length);
    if whole { Ok(values) } else { Err(WrongLength) }
}

// Whatever the control side posts fits into a posted reply: the longest is STATE of seven joints.
const _: () = assert!(REPLY_BYTES >= super::stream::STATE_BYTES_MAX && REPLY_BYTES >= 5 + REGISTER_BYTES);
