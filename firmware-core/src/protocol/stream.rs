//! STATE and STREAM: the joints as a client sees them, at every API level.

use heapless::Vec;

use super::codes;
use super::layout::{Fields, Layout, Writer, WrongLength};
use super::level::ApiLevel;
use crate::joints::{ARM_JOINTS, J7, JOINTS};
use crate::platform::ImuSample;
use crate::shared::{JointState, REPLY_BYTES, View};

/// Longest STATE: seven joints.
pub const STATE_BYTES_MAX: usize = 15 + 8 * JOINTS;
/// Longest STREAM: seven joints.
pub const STREAM_BYTES_MAX: usize = 21 + 11 * JOINTS;
/// STATE before 5.0.
const STATE_BYTES_BEFORE_5: usize = 50;

/// The gripper is closed, and open, at these positions (steps) for API level 4.6.
pub const GRIPPER_TRAVEL_STEPS: (u16, u16) = (1477, 2033);

/// What STATE shows, and STREAM in its second part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Joints {
    /// Joints, 6 or 7. Before 5.0 always 6.
    pub n: u8,
    /// The reading. What the message does not carry is 0 when decoded: temperature, voltage and status in
    /// STATE, goals before 5.0.
    pub joints: JointState,
    /// IMU sample.
    pub imu: ImuSample,
}

impl Joints {
    /// What a client of API level `level` sees of `view`. Before the first read all is 0 and `n` is 6.
    pub fn of(view: &View, imu: Option<ImuSample>, level: ApiLevel) -> Self {
        let n = level.joints(usize::from(view.n)) as u8;
        Self { n, joints: view.joints, imu: imu.unwrap_or_default() }
    }

    /// STATE at `level`.
    pub fn encode(&self, level: ApiLevel) -> Vec<u8, REPLY_BYTES> {
        let mut message = *self;
        let mut writer = Writer::default();
        if level.has_j7() {
            message.state_fields(&mut writer);
        } else {
            message.state_fields_before_5(&mut writer);
        }
        writer.into_bytes()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, WrongLength> {
        if bytes.len() == STATE_BYTES_BEFORE_5 {
            return Old(Self { n: ARM_JOINTS as u8, ..Self::default() }).decode(bytes).map(|old| old.0);
        }
        let n = joint_count(bytes, 2)?;
        New(Self { n, ..Self::default() }).decode(bytes).map(|new| new.0)
    }

    fn state_fields(&mut self, fields: &mut impl Fields) {
        let n = usize::from(self.n).min(JOINTS);
        fields.code(codes::STATE_REPLY);
        fields.bool(&mut self.joints.ok);
        fields.u8(&mut self.n);
        fields.u16s(&mut self.joints.position[..n]);
        fields.u16s(&mut self.joints.goal[..n]);
        fields.u16s(&mut self.joints.speed[..n]);
        fields.u16s(&mut self.joints.load[..n]);
        imu_fields(&mut self.imu, fields);
    }

    fn state_fields_before_5(&mut self, fields: &mut impl Fields) {
        fields.code(codes::STATE_REPLY);
        fields.bool(&mut self.joints.ok);
        fields.u16s(&mut self.joints.position[..ARM_JOINTS]);
        fields.u16s(&mut self.joints.speed[..ARM_JOINTS]);
        fields.u16s(&mut self.joints.load[..ARM_JOINTS]);
        imu_fields(&mut self.imu, fields);
    }
}

#[derive(Clone)]
struct New(Joints);

impl Layout for New {
    fn fields(&mut self, fields: &mut impl Fields) {
        self.0.state_fields(fields);
    }
}

#[derive(Clone)]
struct Old(Joints);

impl Layout for Old {
    fn fields(&mut self, fields: &mut impl Fields) {
        self.0.state_fields_before_5(fields);
    }
}

/// The gripper as API level 4.6 shows it at the end of STREAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GripperSeen {
    /// The gripper is there.
    pub found: bool,
    /// Its opening (0.1 %): 0 closed, 1000 open.
    pub opening_permille: u16,
    /// Its load (0.1 %).
    pub load_permille: i16,
}

impl GripperSeen {
    fn of(view: &View) -> Self {
        if usize::from(view.n) < JOINTS {
            return Self::default();
        }
        Self {
            found: true,
            opening_permille: opening_permille(view.joints.position[J7]),
            load_permille: signed_load(view.joints.load[J7]),
        }
    }
}

/// STREAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stream {
    /// ATOM time (ms).
    pub t_ms: u32,
    /// State byte.
    pub state: u8,
    /// 0 nobody has control, 1 the receiver, 2 another client. Not carried at 4.1.
    pub control: u8,
    /// The joints.
    pub seen: Joints,
    /// The gripper, at 4.6.
    pub gripper: GripperSeen,
}

/// The layouts that STREAM has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    V4_1,
    V4_2,
    V4_6,
    V5,
}

impl Form {
    fn of(level: ApiLevel) -> Self {
        match level {
            ApiLevel::V4_1 => Self::V4_1,
            ApiLevel::V4_2 | ApiLevel::V4_4 => Self::V4_2,
            ApiLevel::V4_6 => Self::V4_6,
            ApiLevel::V5_0 | ApiLevel::V5_1 => Self::V5,
        }
    }
}

#[derive(Clone)]
struct Formed {
    form: Form,
    stream: Stream,
}

impl Layout for Formed {
    fn fields(&mut self, fields: &mut impl Fields) {
        match self.form {
            Form::V4_1 => self.stream.fields_4_1(fields),
            Form::V4_2 => self.stream.fields_4_2(fields),
            Form::V4_6 => self.stream.fields_4_6(fields),
            Form::V5 => self.stream.fields_5(fields),
        }
    }
}

impl Stream {
    /// What a client of API level `level` sees of `view`.
    pub fn of(view: &View, imu: Option<ImuSample>, level: ApiLevel) -> Self {
        Self { seen: Joints::of(view, imu, level), gripper: GripperSeen::of(view), ..Self::default() }
    }

    /// STREAM at `level`.
    pub fn encode(&self, level: ApiLevel) -> Vec<u8, STREAM_BYTES_MAX> {
        Formed { form: Form::of(level), stream: *self }.encode()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, WrongLength> {
        let (form, n) = match bytes.len() {
            73 => (Form::V4_1, ARM_JOINTS as u8),
            74 => (Form::V4_2, ARM_JOINTS as u8),
            79 => (Form::V4_6, ARM_JOINTS as u8),
            _other => (Form::V5, joint_count(bytes, 8)?),
        };
        let stream = Self { seen: Joints { n, ..Joints::default() }, ..Self::default() };
        Formed { form, stream }.decode(bytes).map(|formed| formed.stream)
    }

    fn fields_4_1(&mut self, fields: &mut impl Fields) {
        let joints = &mut self.seen.joints;
        fields.code(codes::STREAM);
        fields.u32(&mut self.t_ms);
        fields.u8(&mut self.state);
        fields.bool(&mut joints.ok);
        fields.u16s(&mut joints.position[..ARM_JOINTS]);
        fields.u16s(&mut joints.speed[..ARM_JOINTS]);
        fields.u16s(&mut joints.load[..ARM_JOINTS]);
        fields.u8s(&mut joints.temperature_c[..ARM_JOINTS]);
        fields.u8s(&mut joints.voltage_dv[..ARM_JOINTS]);
        fields.u8s(&mut joints.status[..ARM_JOINTS]);
        imu_fields(&mut self.seen.imu, fields);
    }

    fn fields_4_2(&mut self, fields: &mut impl Fields) {
        self.fields_4_1(fields);
        fields.u8(&mut self.control);
    }

    fn fields_4_6(&mut self, fields: &mut impl Fields) {
        self.fields_4_2(fields);
        fields.bool(&mut self.gripper.found);
        fields.u16(&mut self.gripper.opening_permille);
        fields.i16(&mut self.gripper.load_permille);
    }

    fn fields_5(&mut self, fields: &mut impl Fields) {
        let n = usize::from(self.seen.n).min(JOINTS);
        let joints = &mut self.seen.joints;
        fields.code(codes::STREAM);
        fields.u32(&mut self.t_ms);
        fields.u8(&mut self.state);
        fields.bool(&mut joints.ok);
        fields.u8(&mut self.control);
        fields.u8(&mut self.seen.n);
        fields.u16s(&mut joints.position[..n]);
        fields.u16s(&mut joints.goal[..n]);
        fields.u16s(&mut joints.speed[..n]);
        fields.u16s(&mut joints.load[..n]);
        fields.u8s(&mut joints.temperature_c[..n]);
        fields.u8s(&mut joints.voltage_dv[..n]);
        fields.u8s(&mut joints.status[..n]);
        imu_fields(&mut self.seen.imu, fields);
    }
}

pub(super) fn imu_fields(imu: &mut ImuSample, fields: &mut impl Fields) {
    fields.i16s(&mut imu.acc);
    fields.i16s(&mut imu.gyro);
}

/// The number of joints at `index`: 6 or 7.
fn joint_count(bytes: &[u8], index: usize) -> Result<u8, WrongLength> {
    let n = bytes.get(index).copied().ok_or(WrongLength)?;
    if (ARM_JOINTS..=JOINTS).contains(&usize::from(n)) { Ok(n) } else { Err(WrongLength) }
}

/// Opening of the gripper (0.1 %, nearest) at a position (steps), as API level 4.6 shows it.
pub fn opening_permille(position_steps: u16) -> u16 {
    let (closed, open) = GRIPPER_TRAVEL_STEPS;
    let travel = u32::from(open - closed);
    let opened = u32::from(position_steps.clamp(closed, open) - closed);
    ((opened * 1000 + travel / 2) / travel) as u16
}

/// Position (steps, nearest) of an opening of the gripper (0.1 %), as API level 4.6 asks for it.
pub fn opening_to_steps(opening_permille: u16) -> u16 {
    let (closed, open) = GRIPPER_TRAVEL_STEPS;
    let travel = u32::from(open - closed);
    closed + ((u32::from(opening_permille.min(1000)) * travel + 500) / 1000) as u16
}

/// A load in wire encoding (0.1 %, sign in bit 10) as a signed number.
pub fn signed_load(raw: u16) -> i16 {
    let magnitude = (raw & 0x3FF) as i16;
    if raw & 0x400 == 0 { magnitude } else { -magnitude }
}
