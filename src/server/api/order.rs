//! What the desk is asked to do, and by whom.

use std::fmt;
use std::str::FromStr;

use tokio::sync::oneshot;

use super::condition::Condition;
use super::error::ApiError;
use super::replies::Reply;
use super::requests::{FaultRequest, ObjectRequest, RecordingRequest, ResetRequest};
use crate::atom::fault::FaultId;
use crate::scenario::plan::Scenario;
use crate::server::Speed;

/// The number of a session; never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::server) struct SessionNumber(pub(super) u64);

impl fmt::Display for SessionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

impl FromStr for SessionNumber {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix('s').and_then(|number| number.parse().ok()).map(Self).ok_or(())
    }
}

/// Whose a fault, a pause, a speed, a wait, a recording or a scenario is: it ends with its session. `None`: it stays until a request ends it.
pub(in crate::server) type Owner = Option<SessionNumber>;

/// What is to be done.
#[derive(Debug)]
pub(super) enum Command {
    Truth,
    Clock,
    Faults,
    Inject(FaultRequest),
    ClearFault(FaultId),
    ClearFaults,
    Object(ObjectRequest),
    Speed(Speed),
    Pause,
    Resume,
    /// Advance to the end of this many network ticks.
    Step(u64),
    /// Advance by this much (µs).
    Advance(u64),
    Wait {
        until: Condition,
        timeout_us: u64,
        advance: bool,
    },
    Reset(ResetRequest),
    Recordings,
    StartRecording(RecordingRequest),
    EndRecording(u32),
    RunScenario {
        scenario: Box<Scenario>,
        fresh: bool,
    },
}

/// A scenario that is to run on the served ATOM.
#[derive(Debug)]
pub(in crate::server) struct LiveScenario {
    pub(in crate::server) scenario: Box<Scenario>,
    /// On an ATOM as it says, not on the one there is.
    pub(in crate::server) fresh: bool,
    pub(in crate::server) owner: Owner,
    pub(in crate::server) reply: oneshot::Sender<Result<Reply, ApiError>>,
}

/// A command on its way to the simulation thread.
#[derive(Debug)]
pub(in crate::server) struct Order {
    pub(super) command: Command,
    pub(super) owner: Owner,
    pub(super) reply: oneshot::Sender<Result<Reply, ApiError>>,
}
