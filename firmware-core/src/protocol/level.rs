//! API levels: firmware generations that clients know, and what differs between them on the wire.

use crate::joints::{ARM_JOINTS, JOINTS};

/// A generation of the controller firmware's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ApiLevel {
    /// 4.1: UDP only, no control, no MOVE_TO, JOG, TRACK.
    V4_1,
    /// 4.2: WebSocket, CONTROL, MOVE_TO, JOG.
    V4_2,
    /// 4.4: TRACK.
    V4_4,
    /// 4.6: GRIPPER.
    V4_6,
    /// 5.0: the gripper is J7.
    V5_0,
    /// 5.1: end-effector JOG.
    #[default]
    V5_1,
}

impl ApiLevel {
    /// The version it reports: major, minor, patch.
    pub const fn version(self) -> [u8; 3] {
        match self {
            Self::V4_1 => [4, 1, 0],
            Self::V4_2 => [4, 2, 0],
            Self::V4_4 => [4, 4, 1],
            Self::V4_6 => [4, 6, 1],
            Self::V5_0 => [5, 0, 1],
            Self::V5_1 => [5, 1, 0],
        }
    }

    /// Messages carry J7 as a joint.
    pub const fn has_j7(self) -> bool {
        match self {
            Self::V4_1 | Self::V4_2 | Self::V4_4 | Self::V4_6 => false,
            Self::V5_0 | Self::V5_1 => true,
        }
    }

    /// Joints in a message while `n` are in use.
    pub const fn joints(self, n: usize) -> usize {
        if self.has_j7() && n == JOINTS { JOINTS } else { ARM_JOINTS }
    }
}
