//! Scenarios that clients of the API run live: text → a scenario, and the one that is on.

use std::collections::VecDeque;
use std::path::Path;

use tokio::sync::oneshot;

use super::error::{ApiError, Code};
use super::order::{LiveScenario, Owner, SessionNumber};
use super::replies::Reply;
use super::requests::ScenarioRequest;
use crate::atom::{FaultEvent, Output};
use crate::scenario::load;
use crate::scenario::plan::Scenario;

/// What stands for the file in messages.
const FILE: &str = "toml";
/// Errors of one text that an answer lists.
const ERRORS_MAX: usize = 10;

/// The way back to who asked for a scenario.
type Answer = oneshot::Sender<Result<Reply, ApiError>>;

/// The scenario of a request. It names no files: who may call the API need not be allowed to read them.
pub(super) fn read(request: &ScenarioRequest) -> Result<Scenario, ApiError> {
    load::load_one(Path::new(FILE), &request.toml, request.name.as_deref()).map_err(|errors| {
        let list: Vec<String> = errors.iter().take(ERRORS_MAX).map(ToString::to_string).collect();
        let more = errors.len() - list.len();
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        ApiError::new(Code::InvalidScenario, list.join("; ") + &more)
    })
}

/// The scenario that is on, and the one that is about to be.
#[derive(Debug, Default)]
pub(in crate::server) struct Stage {
    waiting: Option<LiveScenario>,
    on: Option<On>,
}

/// A scenario that is on.
#[derive(Debug)]
pub(in crate::server) struct On {
    owner: Owner,
    /// Where its outcome goes.
    pub(in crate::server) answer: Answer,
    /// Why it must end before its time.
    pub(in crate::server) over: Option<&'static str>,
    /// The ATOM it ran on is gone.
    pub(in crate::server) replaced: bool,
    /// What came out of the ATOM since the runner looked last.
    outputs: VecDeque<Output>,
    fault_events: VecDeque<FaultEvent>,
}

impl On {
    fn is_over(&self) -> bool {
        self.over.is_some() || self.answer.is_closed()
    }
}

impl Stage {
    /// Lets a scenario run next, unless one is on.
    pub(super) fn put(&mut self, live: LiveScenario) {
        if self.waiting.is_some() || self.on.as_ref().is_some_and(|on| !on.is_over()) {
            let error = ApiError::new(Code::ScenarioRunning, "a scenario runs already; let it end first");
            // A client that left wants no answer.
            let _ = live.reply.send(Err(error));
            return;
        }
        self.waiting = Some(live);
    }

    /// The scenario to run next.
    pub(in crate::server) fn next(&mut self) -> Option<LiveScenario> {
        self.waiting.take()
    }

    /// A scenario begins.
    pub(in crate::server) fn begin(&mut self, owner: Owner, answer: Answer) {
        self.on = Some(On {
            owner,
            answer,
            over: None,
            replaced: false,
            outputs: VecDeque::new(),
            fault_events: VecDeque::new(),
        });
    }

    /// The scenario that is on must end: nobody wants its outcome, or it cannot go on.
    pub(in crate::server) fn is_over(&self) -> bool {
        self.on.as_ref().is_none_or(On::is_over)
    }

    /// The scenario has ended.
    pub(in crate::server) fn end(&mut self) -> Option<On> {
        self.on.take()
    }

    /// The ATOM put this out.
    pub(in crate::server) fn saw(&mut self, output: &Output) {
        if let Some(on) = &mut self.on {
            on.outputs.push_back(output.clone());
        }
    }

    /// A fault started or ended.
    pub(super) fn saw_fault(&mut self, event: &FaultEvent) {
        if let Some(on) = &mut self.on {
            on.fault_events.push_back(event.clone());
        }
    }

    /// The oldest output that the runner has not seen.
    pub(in crate::server) fn poll_output(&mut self) -> Option<Output> {
        self.on.as_mut()?.outputs.pop_front()
    }

    /// The oldest start or end of a fault that the runner has not seen.
    pub(in crate::server) fn poll_fault_event(&mut self) -> Option<FaultEvent> {
        self.on.as_mut()?.fault_events.pop_front()
    }

    /// Another ATOM is in the place of the one it ran on.
    pub(super) fn atom_replaced(&mut self) {
        if let Some(on) = &mut self.on {
            on.over = Some("the ATOM was reset");
            on.replaced = true;
        }
    }

    /// A session ends, and its scenario.
    pub(super) fn end_session(&mut self, session: SessionNumber) {
        const WHY: &str = "the session of this scenario ended";
        if let Some(on) = self.on.as_mut().filter(|on| on.owner == Some(session)) {
            on.over = Some(WHY);
        }
        if let Some(live) = self.waiting.take_if(|live| live.owner == Some(session)) {
            let _ = live.reply.send(Err(ApiError::interrupted(WHY)));
        }
    }
}
