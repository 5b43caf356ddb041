//! Requests: client → ATOM. Any request, decoded and encoded, and those without a file of their own.

use core::fmt;

use heapless::Vec;

use super::codes;
use super::layout::{Fields, Layout, WrongLength};
use super::level::ApiLevel;
use super::motion::{Gripper, Jog, MoveTo, Track};
use super::plan::{PlanBegin, PlanDataHead, PlanEnd, Play, PlaySignal};
use crate::joints::JOINTS;
use crate::shared::REGISTER_BYTES;

pub use super::build;
pub use super::plan::SIGNAL_BYTES;

/// What CONTROL asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlAction {
    /// 0: release.
    Release,
    /// 1, or no byte: take.
    Take,
    /// 2 or more: take over.
    TakeOver,
}

impl ControlAction {
    /// The action of a byte.
    pub const fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::Release,
            1 => Self::Take,
            2.. => Self::TakeOver,
        }
    }

    /// Its byte.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Release => 0,
            Self::Take => 1,
            Self::TakeOver => 2,
        }
    }
}

/// REG_READ, and REG_WRITE before its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    /// Servo id.
    pub id: u8,
    /// First register.
    pub address: u8,
    /// Number of registers.
    pub length: u8,
}

impl Registers {
    /// As far as the bytes go: what a refusal echoes. Missing bytes are 0.
    pub fn echo_of(bytes: &[u8]) -> Self {
        let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
        Self { id: byte(1), address: byte(2), length: byte(3) }
    }

    /// A servo id of a joint, and a length that one message holds.
    pub fn exist(self) -> bool {
        (1..=JOINTS).contains(&usize::from(self.id))
            && (1..=REGISTER_BYTES).contains(&usize::from(self.length))
    }

    fn fields(&mut self, fields: &mut impl Fields) {
        fields.u8(&mut self.id);
        fields.u8(&mut self.address);
        fields.u8(&mut self.length);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct RegisterRead(Registers);

impl Layout for RegisterRead {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::REG_READ);
        self.0.fields(fields);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct RegisterWriteHead(Registers);

impl Layout for RegisterWriteHead {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::REG_WRITE);
        self.0.fields(fields);
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Subscribe {
    rate_hz: u16,
}

impl Layout for Subscribe {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::SUBSCRIBE);
        fields.u16(&mut self.rate_hz);
    }
}

/// A request that has only its code, or its code and one byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    pub(super) code: u8,
    pub(super) byte: Option<u8>,
}

impl Layout for Plain {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(self.code);
        self.byte.iter_mut().for_each(|byte| fields.u8(byte));
    }
}

/// A request of the right form. Its values are not checked yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request<'b> {
    /// PING.
    Ping,
    /// STATE.
    State,
    /// HOLD.
    Hold,
    /// PLAN_BEGIN.
    PlanBegin(PlanBegin),
    /// PLAN_DATA. Whether the samples have the right length the plan knows.
    PlanData {
        /// Where they go.
        head: PlanDataHead,
        /// cmd and ref of each joint, two bytes each, sample by sample.
        samples: &'b [u8],
    },
    /// PLAN_END.
    PlanEnd(PlanEnd),
    /// PLAY.
    Play(Play),
    /// STOP.
    Stop,
    /// REG_READ.
    RegisterRead(Registers),
    /// REG_WRITE. Whether length and data agree is not checked yet.
    RegisterWrite {
        /// Which registers.
        registers: Registers,
        /// Their values.
        data: &'b [u8],
    },
    /// PLAY_SIGNAL.
    PlaySignal(PlaySignal),
    /// SUBSCRIBE.
    Subscribe {
        /// Rate (Hz); above 100 counts as 100, 0 ends it.
        rate_hz: u16,
    },
    /// CONTROL.
    Control(ControlAction),
    /// MOVE_TO.
    MoveTo(MoveTo),
    /// JOG.
    Jog(Jog),
    /// TRACK.
    Track(Track),
    /// GRIPPER of API level 4.6.
    Gripper(Gripper),
}

/// Why bytes are no request. [`RequestError::WrongForm`] gets the refusal of its code, the others are ignored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RequestError {
    /// No byte.
    Empty,
    /// A code that no request of this API level has.
    UnknownCode {
        /// The code.
        code: u8,
        /// The level.
        level: ApiLevel,
    },
    /// The message is shorter than its fields, of a length that its code does not have, or of an unknown
    /// frame.
    WrongForm {
        /// The code.
        code: u8,
        /// Bytes found.
        length: usize,
        /// Bytes expected, in words.
        expected: &'static str,
    },
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("expected a request, found no bytes; send at least a code"),
            Self::UnknownCode { code, level } => {
                write!(f, "expected a request code of API level {}, found {code:02X} (hex)", level.name())
            }
            Self::WrongForm { code, length, expected } => {
                write!(f, "request {code:02X} (hex): expected {expected}, found {length} bytes")
            }
        }
    }
}

impl core::error::Error for RequestError {}

/// The bytes that a code asks for, in words.
fn expected_form(code: u8, level: ApiLevel) -> &'static str {
    match code {
        codes::PLAN_BEGIN => "7 bytes or more",
        codes::PLAN_DATA => "7 bytes and the samples",
        codes::PLAN_END => "5 bytes or more",
        codes::PLAY => "9 bytes or more",
        codes::REG_READ | codes::REG_WRITE => "4 bytes or more",
        codes::PLAY_SIGNAL => "47 bytes",
        codes::SUBSCRIBE | codes::GRIPPER => "3 bytes",
        codes::MOVE_TO | codes::TRACK if level.has_j7() => "15 bytes or, with J7, 17",
        codes::MOVE_TO | codes::TRACK => "15 bytes",
        codes::JOG if level == ApiLevel::V5_1 => "frame 0 with 14 or 16 bytes, or frame 1 or 2 with 18",
        codes::JOG if level.has_j7() => "frame 0 with 14 or 16 bytes",
        codes::JOG => "frame 0 with 14 bytes",
        _others_have_only_a_code => "1 byte or more",
    }
}

impl<'b> Request<'b> {
    /// Decodes a request as firmware of API level `level` reads it.
    ///
    /// # Errors
    /// [`RequestError`] says what is wrong with the form. Values are the caller's to check.
    pub fn decode(bytes: &'b [u8], level: ApiLevel) -> Result<Self, RequestError> {
        let &code = bytes.first().ok_or(RequestError::Empty)?;
        if !level.has_request(code) {
            return Err(RequestError::UnknownCode { code, level });
        }
        let wrong_form =
            || RequestError::WrongForm { code, length: bytes.len(), expected: expected_form(code, level) };
        Self::decode_form(code, bytes).filter(|request| request.exists_at(level)).ok_or_else(wrong_form)
    }

    fn decode_form(code: u8, bytes: &'b [u8]) -> Option<Self> {
        match code {
            codes::PING => Some(Self::Ping),
            codes::STATE => Some(Self::State),
            codes::HOLD => Some(Self::Hold),
            codes::STOP => Some(Self::Stop),
            codes::PLAN_BEGIN => PlanBegin::from_bytes(bytes).map(Self::PlanBegin),
            codes::PLAN_DATA => {
                let (head, samples) = prefix(PlanDataHead::default(), bytes)?;
                Some(Self::PlanData { head, samples })
            }
            codes::PLAN_END => prefix(PlanEnd::default(), bytes).map(|(end, _)| Self::PlanEnd(end)),
            codes::PLAY => Play::from_bytes(bytes).map(Self::Play),
            codes::PLAY_SIGNAL => PlaySignal::from_bytes(bytes).ok().map(Self::PlaySignal),
            codes::REG_READ => {
                prefix(RegisterRead::default(), bytes).map(|(read, _)| Self::RegisterRead(read.0))
            }
            codes::REG_WRITE => {
                let (head, data) = prefix(RegisterWriteHead::default(), bytes)?;
                Some(Self::RegisterWrite { registers: head.0, data })
            }
            codes::SUBSCRIBE => prefix(Subscribe::default(), bytes)
                .map(|(asked, _)| Self::Subscribe { rate_hz: asked.rate_hz }),
            codes::CONTROL => Some(Self::Control(
                bytes.get(1).map_or(ControlAction::Take, |byte| ControlAction::from_byte(*byte)),
            )),
            codes::MOVE_TO => MoveTo::from_bytes(bytes).map(Self::MoveTo),
            codes::JOG => Jog::from_bytes(bytes).map(Self::Jog),
            codes::TRACK => Track::from_bytes(bytes).map(Self::Track),
            codes::GRIPPER => Gripper::default().decode(bytes).ok().map(Self::Gripper),
            _unknown => None,
        }
    }

    /// Firmware of API level `level` takes this form of the request.
    fn exists_at(&self, level: ApiLevel) -> bool {
        match self {
            Self::MoveTo(MoveTo { goal_cdeg: joints, .. })
            | Self::Track(Track { goal_cdeg: joints, .. })
            | Self::Jog(Jog::Joints(super::motion::JogJoints { velocity_ddps: joints })) => {
                joints.n < JOINTS || level.has_j7()
            }
            Self::Jog(Jog::Twist(_)) => level == ApiLevel::V5_1,
            Self::Ping
            | Self::State
            | Self::Hold
            | Self::PlanBegin(_)
            | Self::PlanData { .. }
            | Self::PlanEnd(_)
            | Self::Play(_)
            | Self::Stop
            | Self::RegisterRead(_)
            | Self::RegisterWrite { .. }
            | Self::PlaySignal(_)
            | Self::Subscribe { .. }
            | Self::Control(_)
            | Self::Gripper(_) => true,
        }
    }

    /// The request's bytes, in its longest form.
    ///
    /// # Errors
    /// [`WrongLength`] if they are more than `N`. [`REQUEST_BYTES`] is enough for every request but PLAN_DATA.
    pub fn encode<const N: usize>(&self) -> Result<Vec<u8, N>, WrongLength> {
        let plain = |code| Plain { code, byte: None }.encode();
        let mut tail: &[u8] = &[];
        let head: Vec<u8, REQUEST_BYTES> = match self {
            Self::Ping => plain(codes::PING),
            Self::State => plain(codes::STATE),
            Self::Hold => plain(codes::HOLD),
            Self::Stop => plain(codes::STOP),
            Self::PlanBegin(begin) => begin.encode(),
            Self::PlanData { head, samples } => {
                tail = samples;
                head.encode()
            }
            Self::PlanEnd(end) => end.encode(),
            Self::Play(play) => play.encode(),
            Self::RegisterRead(registers) => RegisterRead(*registers).encode(),
            Self::RegisterWrite { registers, data } => {
                tail = data;
                RegisterWriteHead(*registers).encode()
            }
            Self::PlaySignal(signal) => signal.encode(),
            Self::Subscribe { rate_hz } => Subscribe { rate_hz: *rate_hz }.encode(),
            Self::Control(action) => Plain { code: codes::CONTROL, byte: Some(action.byte()) }.encode(),
            Self::MoveTo(move_to) => move_to.encode(),
            Self::Jog(Jog::Joints(joints)) => joints.encode(),
            Self::Jog(Jog::Twist(twist)) => twist.encode(),
            Self::Track(track) => track.encode(),
            Self::Gripper(gripper) => gripper.encode(),
        };
        let mut message = Vec::new();
        message.extend_from_slice(&head).map_err(|_| WrongLength)?;
        message.extend_from_slice(tail).map_err(|_| WrongLength)?;
        Ok(message)
    }
}

/// Longest request besides PLAN_DATA: PLAY_SIGNAL.
pub const REQUEST_BYTES: usize = super::plan::PLAY_SIGNAL_BYTES;

fn prefix<T: Layout>(empty: T, bytes: &[u8]) -> Option<(T, &[u8])> {
    empty.decode_prefix(bytes).ok()
}
