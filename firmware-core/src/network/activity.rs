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
    /// HOLD or the button.
    Hold,
    /// The begin or the failure of a firmware update.
    Update,
}

impl Kind {
    pub(super) fn of(request: &Request) -> Self {
        match request {
            Request::Play { .. } | Request::PlaySignal { .. } => Self::Play,
            Request::MoveTo { .. } => Self::Move,
            Request::Stream(_) => Self::Stream,
            Request::RegisterRead { .. } | Request::RegisterWrite { .. } => Self::Register,
            Request::Hold(_) => Self::Hold,
            Request::OtaBegin | Request::OtaFailed => Self::Update,
        }
    }
}

/// What the controller is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// Booting, in a firmware update or about to begin one: only questions are answered.
    Away,
    /// State error, nothing pending.
    Error,
    /// Holding or ready, nothing pending.
    Idle,
    /// A run of this kind is on, or a request of this kind is pending or being worked on.
    Busy(Kind),
}

impl Activity {
    /// What `shared` shows at `now_us`; `posted` is the kind of the last request.
    pub(super) fn of(shared: &mut Shared, posted: Option<Kind>, now_us: u64) -> Self {
        let pending = shared.request.is_some();
        let view = shared.view.at(now_us);
        let asked = posted.filter(|_| pending || view.working);
        match view.state {
            State::Booting | State::Ota => Self::Away,
            State::Playing => Self::Busy(Kind::Play),
            State::Moving => Self::Busy(Kind::Move),
            State::Jogging | State::Tracking => Self::Busy(Kind::Stream),
            State::Error | State::Holding | State::Ready => match asked {
                Some(Kind::Update) => Self::Away,
                Some(kind @ (Kind::Play | Kind::Move | Kind::Stream | Kind::Register | Kind::Hold)) => {
                    Self::Busy(kind)
                }
                None if view.state == State::Error => Self::Error,
                None => Self::Idle,
            },
        }
    }

    /// Playing, moving, jogging or tracking, or about to: control does not expire.
    pub(super) fn is_motion(self) -> bool {
        match self {
            Self::Busy(Kind::Play | Kind::Move | Kind::Stream) => true,
            Self::Busy(Kind::Register | Kind::Hold | Kind::Update)
            | Self::Away
            | Self::Error
            | Self::Idle => false,
        }
    }

    /// A run is on, or a motion or register request is pending: control is not taken over.
    pub(super) fn is_busy(self) -> bool {
        self.is_motion() || self == Self::Busy(Kind::Register)
    }

    /// Registers are read and written while nothing is pending, in holding, ready and error.
    pub(super) fn accepts_registers(self) -> bool {
        match self {
            Self::Idle | Self::Error => true,
            Self::Away | Self::Busy(_) => false,
        }
    }

    /// A PLAY or PLAY_SIGNAL runs or is pending: the plan may not change.
    pub(super) fn plays(self) -> bool {
        self == Self::Busy(Kind::Play)
    }
}
