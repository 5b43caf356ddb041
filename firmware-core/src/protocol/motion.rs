//! Requests that move joints: MOVE_TO, JOG, TRACK, and GRIPPER of API level 4.6.

use super::codes;
use super::layout::{Fields, Layout};
use crate::joints::{ARM_JOINTS, JOINTS};

/// GRIPPER: torque off.
pub const TORQUE_OFF: u16 = 0xFFFF;
/// GRIPPER: fully open (0.1 %).
pub const OPENING_MAX_PERMILLE: u16 = 1000;

/// Wire values of 6 or 7 joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireJoints {
    /// One value per joint; those past `n` are 0.
    pub values: [i16; JOINTS],
    /// Joints given, 6 or 7.
    pub n: usize,
}

impl WireJoints {
    fn zeros(n: usize) -> Self {
        Self { values: [0; JOINTS], n }
    }

    /// The first 7 of `values`; fewer than 7 count as J1–J6.
    pub fn new(values: &[i16]) -> Self {
        let mut joints = Self::zeros(if values.len() < JOINTS { ARM_JOINTS } else { JOINTS });
        for (to, from) in joints.values.iter_mut().zip(values) {
            *to = *from;
        }
        joints
    }

    /// The values given.
    pub fn as_slice(&self) -> &[i16] {
        &self.values[..self.n.min(JOINTS)]
    }

    fn fields(&mut self, fields: &mut impl Fields) {
        let n = self.n.min(JOINTS);
        fields.i16s(&mut self.values[..n]);
    }

    /// 6 or 7 joints of two bytes each in a message of `length` bytes that has `others` more.
    fn of_length(length: usize, others: usize) -> Option<Self> {
        [ARM_JOINTS, JOINTS].into_iter().find(|n| length == 2 * n + others).map(Self::zeros)
    }
}

/// MOVE_TO.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveTo {
    /// Goals (0.01°).
    pub goal_cdeg: WireJoints,
    /// Duration (ms), 0 = the shortest.
    pub duration_ms: u16,
}

impl Layout for MoveTo {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::MOVE_TO);
        self.goal_cdeg.fields(fields);
        fields.u16(&mut self.duration_ms);
    }
}

impl MoveTo {
    /// Decodes a MOVE_TO of 6 or 7 joints; `None` for another length.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let goal_cdeg = WireJoints::of_length(bytes.len(), 3)?;
        Self { goal_cdeg, duration_ms: 0 }.decode(bytes).ok()
    }
}

/// TRACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Track {
    /// Goals (0.01°).
    pub goal_cdeg: WireJoints,
    /// Top speed (0.1 °/s); above 90 °/s counts as 90 °/s.
    pub vmax_ddps: u16,
}

impl Layout for Track {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::TRACK);
        self.goal_cdeg.fields(fields);
        fields.u16(&mut self.vmax_ddps);
    }
}

impl Track {
    /// Decodes a TRACK of 6 or 7 joints; `None` for another length.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let goal_cdeg = WireJoints::of_length(bytes.len(), 3)?;
        Self { goal_cdeg, vmax_ddps: 0 }.decode(bytes).ok()
    }
}

/// JOG frame 0: joint velocities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JogJoints {
    /// Velocities (0.1 °/s).
    pub velocity_ddps: WireJoints,
}

impl Layout for JogJoints {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::JOG);
        fields.u8(&mut 0);
        self.velocity_ddps.fields(fields);
    }
}

/// Axes of an end-effector JOG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// 1: the base's axes.
    Base,
    /// 2: the tool's axes.
    Tool,
}

impl Frame {
    const fn byte(self) -> u8 {
        match self {
            Self::Base => 1,
            Self::Tool => 2,
        }
    }
}

/// JOG frame 1 or 2: a twist of the TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JogTwist {
    /// Axes of the twist.
    pub frame: Frame,
    /// Linear velocity x, y, z (0.1 mm/s).
    pub linear_dmm_s: [i16; 3],
    /// Angular velocity about x, y, z through the TCP (0.1 °/s).
    pub angular_ddps: [i16; 3],
    /// J7's own velocity (0.1 °/s).
    pub j7_ddps: i16,
    /// Joint speed cap (0.1 °/s); above 90 °/s counts as 90 °/s.
    pub speed_cap_ddps: u16,
}

impl Layout for JogTwist {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::JOG);
        fields.u8(&mut self.frame.byte());
        fields.i16s(&mut self.linear_dmm_s);
        fields.i16s(&mut self.angular_ddps);
        fields.i16(&mut self.j7_ddps);
        fields.u16(&mut self.speed_cap_ddps);
    }
}

/// JOG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jog {
    /// Frame 0.
    Joints(JogJoints),
    /// Frame 1 or 2.
    Twist(JogTwist),
}

impl Jog {
    /// Decodes a JOG of any frame; `None` for another frame or length.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let twist = |frame| {
            let zero =
                JogTwist { frame, linear_dmm_s: [0; 3], angular_ddps: [0; 3], j7_ddps: 0, speed_cap_ddps: 0 };
            zero.decode(bytes).ok().map(Self::Twist)
        };
        match bytes.get(1)? {
            0 => {
                let velocity_ddps = WireJoints::of_length(bytes.len(), 2)?;
                JogJoints { velocity_ddps }.decode(bytes).ok().map(Self::Joints)
            }
            1 => twist(Frame::Base),
            2 => twist(Frame::Tool),
            3.. => None,
        }
    }
}

/// GRIPPER of API level 4.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gripper {
    /// Opening (0.1 %), 0 closed to [`OPENING_MAX_PERMILLE`] open, or [`TORQUE_OFF`].
    pub opening_permille: u16,
}

impl Layout for Gripper {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::GRIPPER);
        fields.u16(&mut self.opening_permille);
    }
}
