//! Requests about plans and test signals: PLAN_BEGIN, PLAN_DATA, PLAN_END, PLAY, PLAY_SIGNAL.

use super::codes;
use super::layout::{Fields, Layout, Reader, Writer, WrongLength};
use crate::joints::ARM_JOINTS;
use crate::motion::signal;
use crate::shared::PlayParams;

/// Bytes of the parameters of a test signal.
pub const SIGNAL_BYTES: usize = 38;
/// Bytes of PLAY_SIGNAL.
pub const PLAY_SIGNAL_BYTES: usize = 9 + SIGNAL_BYTES;

/// PLAN_BEGIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanBegin {
    /// Samples to come.
    pub samples: u32,
    /// Their rate (Hz).
    pub rate_hz: u16,
    /// 1 = cubic, anything else linear; left out = linear.
    pub interpolation: Option<u8>,
    /// Joints; left out = 6.
    pub joints: Option<u8>,
}

impl PlanBegin {
    /// Cubic interpolation is asked for.
    pub fn is_cubic(&self) -> bool {
        self.interpolation == Some(1)
    }

    /// Joints asked for.
    pub fn joints(&self) -> usize {
        self.joints.map_or(ARM_JOINTS, usize::from)
    }

    /// Decodes a PLAN_BEGIN; `None` if it is shorter than 7 bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let optional = |index: usize| bytes.get(index).map(|_| 0);
        let empty = Self { interpolation: optional(7), joints: optional(8), ..Self::default() };
        empty.decode_prefix(bytes).ok().map(|(message, _)| message)
    }
}

impl Layout for PlanBegin {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::PLAN_BEGIN);
        fields.u32(&mut self.samples);
        fields.u16(&mut self.rate_hz);
        if self.joints.is_some() && self.interpolation.is_none() {
            self.interpolation = Some(0);
        }
        self.interpolation.iter_mut().chain(self.joints.iter_mut()).for_each(|value| fields.u8(value));
    }
}

/// PLAN_DATA before its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanDataHead {
    /// Number of the first sample.
    pub offset: u32,
    /// Samples in this message.
    pub count: u16,
}

impl Layout for PlanDataHead {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::PLAN_DATA);
        fields.u32(&mut self.offset);
        fields.u16(&mut self.count);
    }
}

impl PlanDataHead {
    /// The offset as far as a message too short for its head has it: what a refusal echoes, 0 if not even
    /// the offset is there.
    pub fn offset_of(bytes: &[u8]) -> u32 {
        bytes.get(1..5).and_then(<[u8]>::first_chunk).map_or(0, |raw| u32::from_le_bytes(*raw))
    }
}

/// PLAN_END.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanEnd {
    /// CRC-32C (Castagnoli) of all sample bytes.
    pub crc32c: u32,
}

impl Layout for PlanEnd {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::PLAN_END);
        fields.u32(&mut self.crc32c);
    }
}

fn play_fields(params: &mut PlayParams, fields: &mut impl Fields) {
    fields.u16(&mut params.rate_hz);
    fields.u16(&mut params.speed_cap_sps);
    fields.u16(&mut params.max_error_steps);
    fields.u16(&mut params.start_tolerance_steps);
}

const NO_PARAMS: PlayParams =
    PlayParams { rate_hz: 0, speed_cap_sps: 0, max_error_steps: 0, start_tolerance_steps: 0 };

/// PLAY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Play {
    /// Rate, speed cap, largest error, start tolerance.
    pub params: PlayParams,
}

impl Layout for Play {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::PLAY);
        play_fields(&mut self.params, fields);
    }
}

impl Play {
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self { params: NO_PARAMS }.decode_prefix(bytes).ok().map(|(message, _)| message)
    }
}

impl signal::Params {
    /// Reads the 38 bytes of the wire.
    pub fn from_bytes(bytes: &[u8; SIGNAL_BYTES]) -> Self {
        let mut params = Self::default();
        params.fields(&mut Reader::new(bytes));
        params
    }

    /// The 38 bytes of the wire.
    pub fn to_bytes(mut self) -> heapless::Vec<u8, SIGNAL_BYTES> {
        let mut writer = Writer::default();
        self.fields(&mut writer);
        writer.into_bytes()
    }

    fn fields(&mut self, fields: &mut impl Fields) {
        fields.u8(&mut self.joint);
        fields.u8(&mut self.kind);
        let floats = [
            &mut self.amp_deg,
            &mut self.f0_hz,
            &mut self.f1_hz,
            &mut self.duration_s,
            &mut self.vmax_dps,
            &mut self.amax_dps2,
        ];
        for value in floats {
            let mut bits = value.to_bits();
            fields.u32(&mut bits);
            *value = f32::from_bits(bits);
        }
        fields.i16s(&mut self.base_cdeg);
    }
}

/// PLAY_SIGNAL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaySignal {
    /// The parameters of PLAY.
    pub params: PlayParams,
    /// The signal's parameters, as they come.
    pub signal: signal::Params,
}

impl Layout for PlaySignal {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::PLAY_SIGNAL);
        play_fields(&mut self.params, fields);
        self.signal.fields(fields);
    }
}

impl PlaySignal {
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, WrongLength> {
        Self { params: NO_PARAMS, signal: signal::Params::default() }.decode(bytes)
    }
}
