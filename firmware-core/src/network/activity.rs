//! What the controller is doing, as requests see it.

use crate::shared::{Request, Shared, State};

/// A kind of pending or taken request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// PLAY or PLAY_SIGNAL.
    Play,
    /// MOVE_TO.
    Move,
    /// The first JOG or TRACK.
    Stream,
    /// REG_READ or REG_WRITE.
    Register,
    /// HOLD, the button, or a firmware update.
    Other,
}

impl Kind {
    pub(super) fn of(request: &Request) -> Self {
        match request {
            Request::Play { .. } | Request::PlaySignal { .. } => Self::Play,
            Request::MoveTo { .. } => Self::Move,
            Request::Stream(_) => Self::Stream,
            Request::RegisterRead { .. } | Request::RegisterWrite { .. } => Self::Register,
            Request::Hold(_) | Request::OtaBegin | Request::OtaFailed => Self::Other,
        }
    }
}

/// What the controller is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// Booting or in a firmware update: nothing but questions is answered.
    Away,
    /// State error, nothing pending.
    Error,
    /// Holding or ready, nothing pending.
    Idle,
    /// A request is pending or being worked on, or a run of this kind is on.
    Busy(Kind),
}

impl Activity {
    /// What `shared` shows at `now_us`; `posted` is the kind of the last request.
    pub(super) fn of(shared: &mut Shared, posted: Option<Kind>, now_us: u64) -> Self {
        let pending = shared.request.is_some();
        let view = shared.view.at(now_us);
        let asked = || posted.filter(|_| pending || view.working);
        match view.state {
            State::Booting | State::Ota => Self::Away,
            State::Playing => Self::Busy(Kind::Play),
            State::Moving => Self::Busy(Kind::Move),
            State::Jogging | State::Tracking => Self::Busy(Kind::Stream),
            State::Error => asked().map_or(Self::Error, Self::Busy),
            State::Holding | State::Ready => asked().map_or(Self::Idle, Self::Busy),
        }
    }

    /// Playing, moving, jogging or tracking, or about to.
    pub(super) fn is_motion(self) -> bool {
        match self {
            Self::Busy(Kind::Play | Kind::Move | Kind::Stream) => true,
            Self::Busy(Kind::Register | Kind::Other) | Self::Away | Self::Error | Self::Idle => false,
        }
    }

    /// A PLAY or PLAY_SIGNAL runs or is pending: the plan may not change.
    pub(super) fn plays(self) -> bool {
        self == Self::Busy(Kind::Play)
    }
}
