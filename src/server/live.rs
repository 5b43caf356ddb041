//! A scenario on the ATOM that is served, while everybody else is served too: the simulation takes its turns inside
//! the runner's wish for time to go on.

use std::time::Duration;

use super::api::{ApiError, LiveScenario, RunReply};
use super::simulation::{Next, Simulation};
use crate::atom::fault::{Fault, FaultId};
use crate::atom::{Atom, ClientId, FaultEvent, Output, Transport};
use crate::hardware::HardwareError;
use crate::scenario::runner::{self, Limits};
use crate::scenario::world::World;

/// Virtual time goes at the server's pace, and may stand still: no guard on the wall.
const LIMITS: Limits = Limits { wall: Duration::MAX, trace: false, samples: false };

/// The served ATOM as the world of a scenario.
#[derive(Debug)]
struct Live<'a> {
    simulation: &'a mut Simulation,
    clients: Vec<ClientId>,
    faults: Vec<FaultId>,
    next: Next,
}

/// Runs a scenario live and answers who asked for it. Its clients and faults are gone afterwards.
pub(super) fn run(simulation: &mut Simulation, live: LiveScenario) -> Next {
    let LiveScenario { scenario, fresh, owner, reply } = live;
    if fresh && let Err(error) = simulation.start_anew(&scenario.options) {
        // A client that left wants no answer.
        let _ = reply.send(Err(error));
        return Next::GoOn;
    }
    simulation.stage().begin(owner, reply);
    let mut live = Live { simulation, clients: Vec::new(), faults: Vec::new(), next: Next::GoOn };
    let outcome = runner::run_in(&mut live, &scenario, LIMITS);
    let next = live.next;
    let Some(on) = live.simulation.stage().end() else { return next };
    if !on.replaced {
        live.tidy_up();
    }
    let answer = match (next, on.over) {
        (Next::Stop, _) => Err(ApiError::interrupted("the simulator stops")),
        (Next::GoOn, Some(why)) => Err(ApiError::interrupted(why)),
        (Next::GoOn, None) => RunReply::of(&outcome),
    };
    let _ = on.answer.send(answer.map(RunReply::into_reply));
    next
}

impl Live<'_> {
    /// Takes away what the scenario brought.
    fn tidy_up(&mut self) {
        self.clear_faults();
        for client in std::mem::take(&mut self.clients) {
            self.simulation.atom().close(client);
        }
        // They are gone before anything else happens.
        self.simulation.settle();
    }

    fn goes_on(&mut self) -> bool {
        self.next == Next::GoOn && !self.simulation.stage().is_over()
    }
}

impl World for Live<'_> {
    fn atom(&mut self) -> &mut Atom {
        self.simulation.atom()
    }

    fn advance_to(&mut self, t_us: u64) -> bool {
        self.simulation.settle();
        while self.goes_on() && self.simulation.atom().now_us() < t_us {
            self.next = self.simulation.turn_until(t_us);
        }
        self.goes_on()
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.simulation.stage().poll_output()
    }

    fn poll_fault_event(&mut self) -> Option<FaultEvent> {
        self.simulation.stage().poll_fault_event()
    }

    fn connect(&mut self, transport: Transport) -> ClientId {
        let client = self.simulation.atom().connect(transport);
        self.clients.push(client);
        client
    }

    fn close(&mut self, client: ClientId) {
        self.clients.retain(|of| *of != client);
        self.simulation.atom().close(client);
    }

    fn inject(&mut self, fault: Fault) -> Result<FaultId, HardwareError> {
        let id = self.simulation.atom().inject(fault)?;
        self.faults.push(id);
        Ok(id)
    }

    fn clear_faults(&mut self) {
        for id in std::mem::take(&mut self.faults) {
            self.simulation.atom().clear_fault(id);
        }
    }
}
