//! Requests: client → ATOM.

use heapless::Vec;

use super::codes;
use super::layout::{Fields, Reader, Writer};
use crate::joints::{ARM_JOINTS, J7, JOINTS, SPEED_LIMIT_DPS};
use crate::motion::signal;
use crate::shared::{JointValues, PlayParams, REGISTER_BYTES, StreamCommand};

/// Bytes of the fixed part of PLAN_DATA.
const PLAN_DATA_HEADER: usize = 7;
/// Bytes of the parameters of a test signal.
pub const SIGNAL_BYTES: usize = 38;
/// Longest request besides PLAN_DATA: PLAY_SIGNAL.
pub const REQUEST_BYTES: usize = 47;

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

/// A request of the right form.
#[derive(Debug, Clone, PartialEq)]
pub enum Request<'b> {
    /// PING.
    Ping,
    /// STATE.
    State,
    /// HOLD.
    Hold,
    /// PLAN_BEGIN.
    PlanBegin {
        /// Samples to come.
        samples: u32,
        /// Their rate (Hz).
        rate_hz: u16,
        /// 1 = cubic, else linear.
        interpolation: u8,
        /// Joints, 6 or 7.
        joints: u8,
    },
    /// PLAN_DATA. Its length is checked by the plan, which knows the joints.
    PlanData {
        /// Number of the first sample.
        offset: u32,
        /// Samples.
        count: u16,
        /// Their bytes.
        samples: &'b [u8],
    },
    /// PLAN_END.
    PlanEnd {
        /// CRC-32C of all sample bytes.
        crc32c: u32,
    },
    /// PLAY.
    Play(PlayParams),
    /// STOP.
    Stop,
    /// REG_READ.
    RegRead {
        /// Servo id.
        id: u8,
        /// First register.
        address: u8,
        /// Registers.
        length: u8,
    },
    /// REG_WRITE.
    RegWrite {
        /// Servo id.
        id: u8,
        /// First register.
        address: u8,
        /// Values.
        data: &'b [u8],
    },
    /// PLAY_SIGNAL.
    PlaySignal(PlayParams, signal::Params),
    /// SUBSCRIBE.
    Subscribe {
        /// Rate (Hz), 0 = end.
        rate_hz: u16,
    },
    /// CONTROL.
    Control(ControlAction),
    /// MOVE_TO.
    MoveTo {
        /// Goals (°).
        goal: JointValues,
        /// Duration (ms), 0 = the shortest.
        duration_ms: u16,
    },
    /// JOG or TRACK.
    Stream(StreamCommand),
}

/// A request that is shorter or longer than its fields, or names what does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// No byte, or a code that no request has: ignored.
    Unknown,
    /// A wrong form of this code.
    Form(u8),
}

impl<'b> Request<'b> {
    /// Decodes a request.
    ///
    /// # Errors
    /// [`Malformed`] says how it is answered.
    pub fn decode(bytes: &'b [u8]) -> Result<Self, Malformed> {
        let (&code, body) = bytes.split_first().ok_or(Malformed::Unknown)?;
        let at_least =
            |length: usize| if bytes.len() >= length { Ok(()) } else { Err(Malformed::Form(code)) };
        let mut reader = Reader::new(body);
        match code {
            codes::PING => Ok(Self::Ping),
            codes::STATE => Ok(Self::State),
            codes::HOLD => Ok(Self::Hold),
            codes::STOP => Ok(Self::Stop),
            codes::PLAN_BEGIN => {
                at_least(7)?;
                let (mut samples, mut rate_hz) = (0, 0);
                reader.u32(&mut samples);
                reader.u16(&mut rate_hz);
                let rest = reader.rest();
                let interpolation = rest.first().copied().unwrap_or(0);
                let joints = rest.get(1).copied().unwrap_or(ARM_JOINTS as u8);
                Ok(Self::PlanBegin { samples, rate_hz, interpolation, joints })
            }
            codes::PLAN_DATA => {
                at_least(PLAN_DATA_HEADER)?;
                let (mut offset, mut count) = (0, 0);
                reader.u32(&mut offset);
                reader.u16(&mut count);
                Ok(Self::PlanData { offset, count, samples: reader.rest() })
            }
            codes::PLAN_END => {
                at_least(5)?;
                let mut crc32c = 0;
                reader.u32(&mut crc32c);
                Ok(Self::PlanEnd { crc32c })
            }
            codes::PLAY => {
                at_least(9)?;
                Ok(Self::Play(play_params(&mut reader)))
            }
            codes::PLAY_SIGNAL => {
                let params = play_params(&mut reader);
                let signal = reader.rest().first_chunk().filter(|_| bytes.len() == REQUEST_BYTES);
                let signal: &[u8; SIGNAL_BYTES] = signal.ok_or(Malformed::Form(code))?;
                Ok(Self::PlaySignal(params, signal::Params::from_bytes(signal)))
            }
            codes::REG_READ => {
                at_least(4)?;
                Ok(Self::RegRead { id: body[0], address: body[1], length: body[2] })
            }
            codes::REG_WRITE => match body {
                [id, address, length, data @ ..]
                    if usize::from(*length) == data.len() && (1..=REGISTER_BYTES).contains(&data.len()) =>
                {
                    Ok(Self::RegWrite { id: *id, address: *address, data })
                }
                _wrong_length => Err(Malformed::Form(code)),
            },
            codes::SUBSCRIBE => {
                at_least(3)?;
                let mut rate_hz = 0;
                reader.u16(&mut rate_hz);
                Ok(Self::Subscribe { rate_hz })
            }
            codes::CONTROL => Ok(Self::Control(match body.first() {
                Some(0) => ControlAction::Release,
                None | Some(1) => ControlAction::Take,
                Some(2..) => ControlAction::TakeOver,
            })),
            codes::MOVE_TO => {
                let n = joints_of(body.len(), 2).ok_or(Malformed::Form(code))?;
                let goal = joint_values(&mut reader, n, 100.0);
                let mut duration_ms = 0;
                reader.u16(&mut duration_ms);
                Ok(Self::MoveTo { goal, duration_ms })
            }
            codes::JOG => decode_jog(body).map(Self::Stream).ok_or(Malformed::Form(code)),
            codes::TRACK => {
                let n = joints_of(body.len(), 2).ok_or(Malformed::Form(code))?;
                let goal = joint_values(&mut reader, n, 100.0);
                let vmax_dps = speed_cap(&mut reader);
                Ok(Self::Stream(StreamCommand::Track { goal, vmax_dps }))
            }
            _unknown => Err(Malformed::Unknown),
        }
    }

    /// Its code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Ping => codes::PING,
            Self::State => codes::STATE,
            Self::Hold => codes::HOLD,
            Self::PlanBegin { .. } => codes::PLAN_BEGIN,
            Self::PlanData { .. } => codes::PLAN_DATA,
            Self::PlanEnd { .. } => codes::PLAN_END,
            Self::Play(_) => codes::PLAY,
            Self::Stop => codes::STOP,
            Self::RegRead { .. } => codes::REG_READ,
            Self::RegWrite { .. } => codes::REG_WRITE,
            Self::PlaySignal(..) => codes::PLAY_SIGNAL,
            Self::Subscribe { .. } => codes::SUBSCRIBE,
            Self::Control(_) => codes::CONTROL,
            Self::MoveTo { .. } => codes::MOVE_TO,
            Self::Stream(StreamCommand::Joints(_) | StreamCommand::Twist { .. }) => codes::JOG,
            Self::Stream(StreamCommand::Track { .. }) => codes::TRACK,
        }
    }
}

/// Codes of requests that need control.
pub fn needs_control(code: u8) -> bool {
    matches!(
        code,
        codes::PLAN_BEGIN
            | codes::PLAN_DATA
            | codes::PLAN_END
            | codes::PLAY
            | codes::REG_WRITE
            | codes::PLAY_SIGNAL
            | codes::MOVE_TO
            | codes::JOG
            | codes::TRACK
    )
}

fn play_params(reader: &mut Reader<'_>) -> PlayParams {
    let mut fields = [0; 4];
    reader.u16s(&mut fields);
    let [rate_hz, speed_cap_sps, max_error_steps, start_tolerance_steps] = fields;
    PlayParams { rate_hz, speed_cap_sps, max_error_steps, start_tolerance_steps }
}

/// Joints of a body of one i16 per joint and `others` more bytes.
fn joints_of(body: usize, others: usize) -> Option<usize> {
    [ARM_JOINTS, JOINTS].into_iter().find(|n| body == 2 * n + others)
}

fn joint_values(reader: &mut Reader<'_>, n: usize, per_unit: f32) -> JointValues {
    let mut values = [0.0; JOINTS];
    for value in &mut values[..n] {
        *value = scaled(reader, per_unit);
    }
    JointValues { values, n }
}

/// A field of two signed bytes in hundredths or tenths.
fn scaled(reader: &mut Reader<'_>, per_unit: f32) -> f32 {
    let mut raw = 0;
    reader.i16(&mut raw);
    f32::from(raw) / per_unit
}

fn speed_cap(reader: &mut Reader<'_>) -> f32 {
    let mut raw = 0;
    reader.u16(&mut raw);
    (f32::from(raw) / 10.0).min(SPEED_LIMIT_DPS)
}

fn decode_jog(body: &[u8]) -> Option<StreamCommand> {
    let (frame, body) = body.split_first()?;
    let mut reader = Reader::new(body);
    let tool = match frame {
        0 => {
            let n = joints_of(body.len(), 0)?;
            return Some(StreamCommand::Joints(joint_values(&mut reader, n, 10.0)));
        }
        1 => false,
        2 => true,
        3.. => return None,
    };
    if body.len() != 16 {
        return None;
    }
    let linear_mm_s = core::array::from_fn(|_| scaled(&mut reader, 10.0));
    let angular_rad_s = core::array::from_fn(|_| scaled(&mut reader, 10.0).to_radians());
    let j7_dps = scaled(&mut reader, 10.0);
    let speed_cap_dps = speed_cap(&mut reader);
    Some(StreamCommand::Twist { tool, linear_mm_s, angular_rad_s, j7_dps, speed_cap_dps })
}

/// Builds the bytes of a request, for clients and tests. Values are rounded to the message's unit.
pub mod build {
    use super::{ARM_JOINTS, Fields, J7, JOINTS, PlayParams, REQUEST_BYTES, Vec, Writer, codes};

    type Bytes = Vec<u8, REQUEST_BYTES>;

    fn message(code: u8, fields: impl FnOnce(&mut Writer<REQUEST_BYTES>)) -> Bytes {
        let mut writer = Writer::default();
        writer.code(code);
        fields(&mut writer);
        writer.into_bytes()
    }

    fn put_scaled(writer: &mut Writer<REQUEST_BYTES>, values: &[f32], per_unit: f32) {
        for value in values {
            writer.i16(&mut (libm::roundf(*value * per_unit) as i16));
        }
    }

    /// A request without fields: PING, STATE, HOLD, STOP.
    pub fn plain(code: u8) -> Bytes {
        message(code, |_| {})
    }

    /// SUBSCRIBE.
    pub fn subscribe(rate_hz: u16) -> Bytes {
        message(codes::SUBSCRIBE, |writer| writer.u16(&mut { rate_hz }))
    }

    /// CONTROL: 0 release, 1 take, 2 take over.
    pub fn control(action: u8) -> Bytes {
        message(codes::CONTROL, |writer| writer.u8(&mut { action }))
    }

    /// MOVE_TO with 6 or 7 goals (°).
    pub fn move_to(goal_deg: &[f32], duration_ms: u16) -> Bytes {
        message(codes::MOVE_TO, |writer| {
            put_scaled(writer, &goal_deg[..goal_deg.len().min(JOINTS)], 100.0);
            writer.u16(&mut { duration_ms });
        })
    }

    /// JOG frame 0 with 6 or 7 velocities (°/s).
    pub fn jog(velocity_dps: &[f32]) -> Bytes {
        message(codes::JOG, |writer| {
            writer.u8(&mut 0);
            put_scaled(writer, &velocity_dps[..velocity_dps.len().min(JOINTS)], 10.0);
        })
    }

    /// JOG frame 1 (base) or 2 (tool): mm/s, °/s, J7 °/s, joint speed cap °/s.
    pub fn jog_tcp(
        frame: u8,
        linear_mm_s: [f32; 3],
        angular_dps: [f32; 3],
        j7_dps: f32,
        cap_dps: f32,
    ) -> Bytes {
        message(codes::JOG, |writer| {
            writer.u8(&mut { frame });
            put_scaled(writer, &linear_mm_s, 10.0);
            put_scaled(writer, &angular_dps, 10.0);
            put_scaled(writer, &[j7_dps], 10.0);
            writer.u16(&mut (libm::roundf(cap_dps * 10.0) as u16));
        })
    }

    /// TRACK with 6 or 7 goals (°) and a top speed (°/s).
    pub fn track(goal_deg: &[f32], vmax_dps: f32) -> Bytes {
        message(codes::TRACK, |writer| {
            put_scaled(writer, &goal_deg[..goal_deg.len().min(JOINTS)], 100.0);
            writer.u16(&mut (libm::roundf(vmax_dps * 10.0) as u16));
        })
    }

    /// PLAY.
    pub fn play(params: PlayParams) -> Bytes {
        message(codes::PLAY, |writer| put_play(writer, params))
    }

    /// PLAY_SIGNAL with the 38 bytes of its parameters.
    pub fn play_signal(params: PlayParams, signal: &[u8; super::SIGNAL_BYTES]) -> Bytes {
        message(codes::PLAY_SIGNAL, |writer| {
            put_play(writer, params);
            writer.u8s(&mut signal.clone());
        })
    }

    fn put_play(writer: &mut Writer<REQUEST_BYTES>, params: PlayParams) {
        let PlayParams { rate_hz, speed_cap_sps, max_error_steps, start_tolerance_steps } = params;
        writer.u16s(&mut [rate_hz, speed_cap_sps, max_error_steps, start_tolerance_steps]);
    }

    /// PLAN_BEGIN.
    pub fn plan_begin(samples: u32, rate_hz: u16, cubic: bool, joints: u8) -> Bytes {
        message(codes::PLAN_BEGIN, |writer| {
            writer.u32(&mut { samples });
            writer.u16(&mut { rate_hz });
            writer.bool(&mut { cubic });
            writer.u8(&mut { joints });
        })
    }

    /// The head of PLAN_DATA; the samples' bytes follow it.
    pub fn plan_data_head(offset: u32, count: u16) -> Bytes {
        message(codes::PLAN_DATA, |writer| {
            writer.u32(&mut { offset });
            writer.u16(&mut { count });
        })
    }

    /// PLAN_END.
    pub fn plan_end(crc32c: u32) -> Bytes {
        message(codes::PLAN_END, |writer| writer.u32(&mut { crc32c }))
    }

    /// REG_READ.
    pub fn reg_read(id: u8, address: u8, length: u8) -> Bytes {
        message(codes::REG_READ, |writer| writer.u8s(&mut [id, address, length]))
    }

    /// REG_WRITE of at most 32 bytes.
    pub fn reg_write(id: u8, address: u8, data: &[u8]) -> Bytes {
        message(codes::REG_WRITE, |writer| {
            writer.u8s(&mut [id, address, data.len() as u8]);
            data.iter().take(super::REGISTER_BYTES).for_each(|byte| writer.u8(&mut { *byte }));
        })
    }

    const _: () = assert!(1 + 2 * JOINTS + 2 <= REQUEST_BYTES && J7 == ARM_JOINTS);
}
