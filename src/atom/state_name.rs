//! The name of a controller state in files and in the command API.

use firmware_core::shared::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A state of the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateName {
    /// Starting.
    Booting,
    /// Holding, no valid plan.
    Holding,
    /// Holding, with a valid plan.
    Ready,
    /// PLAY or PLAY_SIGNAL.
    Playing,
    /// Error.
    Error,
    /// Firmware update.
    Ota,
    /// MOVE_TO.
    Moving,
    /// JOG.
    Jogging,
    /// TRACK.
    Tracking,
}

impl From<State> for StateName {
    fn from(state: State) -> Self {
        match state {
            State::Booting => Self::Booting,
            State::Holding => Self::Holding,
            State::Ready => Self::Ready,
            State::Playing => Self::Playing,
            State::Error => Self::Error,
            State::Ota => Self::Ota,
            State::Moving => Self::Moving,
            State::Jogging => Self::Jogging,
            State::Tracking => Self::Tracking,
        }
    }
}
