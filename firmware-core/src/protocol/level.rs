//! API levels: firmware generations that clients know, and what differs between them.

use crate::joints::{ARM_JOINTS, JOINTS, JointTable, TABLE, table_with_j6_limits};
use crate::platform::Transport;

/// A generation of the controller firmware's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ApiLevel {
    /// 4.1: UDP only, no control, no MOVE_TO, JOG, TRACK.
    V4_1,
    /// 4.2: WebSocket, CONTROL, MOVE_TO, JOG.
    V4_2,
    /// 4.4: TRACK.
    V4_4,
    /// 4.6: GRIPPER, and J6 to −225°.
    V4_6,
    /// 5.0: the gripper is J7, STATE and STREAM show goals.
    V5_0,
    /// 5.1: end-effector JOG, and JOG and TRACK switch into each other.
    #[default]
    V5_1,
}

impl ApiLevel {
    /// All levels, the oldest first.
    pub const ALL: [Self; 6] = [Self::V4_1, Self::V4_2, Self::V4_4, Self::V4_6, Self::V5_0, Self::V5_1];

    /// The version that PONG and the status log report: major, minor, patch.
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

    /// The short name, as an option gives it: `5.1`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V4_1 => "4.1",
            Self::V4_2 => "4.2",
            Self::V4_4 => "4.4",
            Self::V4_6 => "4.6",
            Self::V5_0 => "5.0",
            Self::V5_1 => "5.1",
        }
    }

    /// The level of a short name; `None` for a name that no level has.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Clients connect by WebSocket, and one client at a time has control.
    pub fn has_web_socket_and_control(self) -> bool {
        self >= Self::V4_2
    }

    /// Messages carry J7 as a joint; runs and HOLD start from and keep goals, not measured positions.
    pub fn has_j7(self) -> bool {
        self >= Self::V5_0
    }

    /// A JOG during TRACK, and a TRACK during JOG, switches the run instead of being refused.
    pub fn switches_streamed_modes(self) -> bool {
        self >= Self::V5_1
    }

    /// The requests of code `code` exist.
    pub fn has_request(self, code: u8) -> bool {
        use super::codes;
        match code {
            codes::CONTROL | codes::MOVE_TO | codes::JOG => self >= Self::V4_2,
            codes::TRACK => self >= Self::V4_4,
            codes::GRIPPER => self == Self::V4_6,
            code => (codes::PING..=codes::SUBSCRIBE).contains(&code),
        }
    }

    /// The requests of code `code` need control.
    pub fn needs_control(self, code: u8) -> bool {
        use super::codes;
        let moves_or_writes = matches!(
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
                | codes::GRIPPER
        );
        moves_or_writes && self.has_web_socket_and_control() && self.has_request(code)
    }

    /// The TELEM of a MOVE_TO goes to a client of this transport. Level 4.2 sent it to pages too; since then
    /// they watch the STREAM.
    pub fn sends_move_telemetry(self, transport: Transport) -> bool {
        match transport {
            Transport::Udp => true,
            Transport::WebSocket => self == Self::V4_2,
        }
    }

    /// Joints in a message while `n` are in use.
    pub fn joints(self, n: usize) -> usize {
        if self.has_j7() && n == JOINTS { JOINTS } else { ARM_JOINTS }
    }

    /// The joints as this firmware knew them: J6 had other limits before it went past one turn.
    pub fn table(self) -> &'static JointTable {
        static J6_ONE_TURN: JointTable = table_with_j6_limits(-180.0, 180.0);
        static J6_NARROW: JointTable = table_with_j6_limits(-135.0, 135.0);
        static J6_PAST_ONE_TURN: JointTable = TABLE;
        match self {
            Self::V4_1 | Self::V4_2 => &J6_ONE_TURN,
            Self::V4_4 => &J6_NARROW,
            Self::V4_6 | Self::V5_0 | Self::V5_1 => &J6_PAST_ONE_TURN,
        }
    }
}
