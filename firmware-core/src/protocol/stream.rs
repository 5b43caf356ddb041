//! STATE and STREAM: the joints as a client sees them, at every API level.

use heapless::Vec;

use super::codes;
use super::layout::{Fields, Layout, Writer, WrongLength};
use super::level::ApiLevel;
use crate::joints::{ARM_JOINTS, J7, JOINTS};
use crate::platform::ImuSample;
use crate::shared::{JointState, REPLY_BYTES};

/// Longest STREAM: seven joints.
pub const STREAM_BYTES: usize = 21 + 11 * JOINTS;
/// Steps of the gripper's opening at API level 4.6: 0 (closed) and 1000 (open).
const OPENING_STEPS: (u16, u16) = (1477, 2033);

/// What STATE shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Joints {
    /// Joints in use, 6 or 7.
    pub n: u8,
    /// The reading. STATE has no temperature, voltage and status: they are 0 when decoded.
    pub joints: JointState,
    /// IMU sample.
    pub imu: ImuSample,
}

impl Joints {
    /// STATE at `level`.
    pub fn encode(&self, level: ApiLevel) -> Vec<u8, REPLY_BYTES> {
        let mut writer = Writer::default();
        let mut message = *self;
        if level.has_j7() {
            message.fields(&mut writer);
        } else {
            message.fields_before_5(&mut writer);
        }
        writer.into_bytes()
    }

    /// Decodes STATE of API levels 5.0 and later.
    ///
    /// # Errors
    /// A number of joints that is not 6 or 7, or another length than it asks for.
    pub fn decode(bytes: &[u8]) -> Result<Self, WrongLength> {
        let n = bytes.get(2).copied().filter(|n| (6..=7).contains(n)).ok_or(WrongLength)?;
        Self { n, ..Self::default() }.decode_fields(bytes)
    }

    fn decode_fields(self, bytes: &[u8]) -> Result<Self, WrongLength> {
        Layout::decode(self, bytes)
    }

    fn fields_before_5(&mut self, fields: &mut impl Fields) {
        fields.code(codes::STATE_REPLY);
        fields.bool(&mut self.joints.ok);
        fields.u16s(&mut self.joints.position[..ARM_JOINTS]);
        fields.u16s(&mut self.joints.speed[..ARM_JOINTS]);
        fields.u16s(&mut self.joints.load[..ARM_JOINTS]);
        imu_fields(&mut self.imu, fields);
    }
}

impl Layout for Joints {
    fn fields(&mut self, fields: &mut impl Fields) {
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
}

/// What STREAM shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stream {
    /// ATOM time (ms).
    pub t_ms: u32,
    /// State byte.
    pub state: u8,
    /// 0 nobody has control, 1 the receiver, 2 another client.
    pub control: u8,
    /// The joints.
    pub seen: Joints,
}

impl Stream {
    /// STREAM at `level`.
    pub fn encode(&self, level: ApiLevel) -> Vec<u8, STREAM_BYTES> {
        let mut writer = Writer::default();
        let mut message = *self;
        match level {
            ApiLevel::V5_0 | ApiLevel::V5_1 => message.fields(&mut writer),
            ApiLevel::V4_1 => message.fields_4_1(&mut writer),
            ApiLevel::V4_2 | ApiLevel::V4_4 => message.fields_4_2(&mut writer),
            ApiLevel::V4_6 => message.fields_4_6(&mut writer),
        }
        writer.into_bytes()
    }

    /// Decodes STREAM of API levels 5.0 and later.
    ///
    /// # Errors
    /// A number of joints that is not 6 or 7, or another length than it asks for.
    pub fn decode(bytes: &[u8]) -> Result<Self, WrongLength> {
        let n = bytes.get(8).copied().filter(|n| (6..=7).contains(n)).ok_or(WrongLength)?;
        let empty = Self { seen: Joints { n, ..Joints::default() }, ..Self::default() };
        Layout::decode(empty, bytes)
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
        let mut found = usize::from(self.seen.n) == JOINTS;
        let mut opening = if found { opening_permille(self.seen.joints.position[J7]) } else { 0 };
        let mut load = if found { signed_load(self.seen.joints.load[J7]) } else { 0 };
        fields.bool(&mut found);
        fields.u16(&mut opening);
        fields.i16(&mut load);
    }
}

impl Layout for Stream {
    fn fields(&mut self, fields: &mut impl Fields) {
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

/// Opening of the gripper (0.1 %) at a position (steps), as API level 4.6 shows it.
pub fn opening_permille(steps: u16) -> u16 {
    let (closed, open) = OPENING_STEPS;
    let travelled = u32::from(steps.clamp(closed, open) - closed);
    (travelled * 1000 / u32::from(open - closed)) as u16
}

fn signed_load(raw: u16) -> i16 {
    let magnitude = (raw & 0x3FF) as i16;
    if raw & 0x400 == 0 { magnitude } else { -magnitude }
}
