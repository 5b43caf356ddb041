//! Where a scenario runs: on an ATOM of its own, or on one that serves others meanwhile.

use std::fmt::Debug;

use crate::atom::fault::{Fault, FaultId};
use crate::atom::{Atom, ClientId, FaultEvent, Output, Transport};
use crate::hardware::HardwareError;

/// What the runner needs of the world around a scenario.
pub trait World: Debug {
    /// The ATOM.
    fn atom(&mut self) -> &mut Atom;

    /// Advances virtual time to `t_us`. False: the world ends the run, whatever there was to come.
    fn advance_to(&mut self, t_us: u64) -> bool;

    /// The oldest output that the runner has not seen.
    fn poll_output(&mut self) -> Option<Output>;

    /// The oldest start or end of a fault that the runner has not seen.
    fn poll_fault_event(&mut self) -> Option<FaultEvent>;

    /// A client of the scenario connects.
    fn connect(&mut self, transport: Transport) -> ClientId;

    /// A client of the scenario is gone.
    fn close(&mut self, client: ClientId);

    /// Gives a fault of the scenario.
    ///
    /// # Errors
    /// The ATOM cannot have it.
    fn inject(&mut self, fault: Fault) -> Result<FaultId, HardwareError>;

    /// Clears the faults of the scenario.
    fn clear_faults(&mut self);
}

/// An ATOM of its own.
#[derive(Debug)]
pub struct Alone(pub Atom);

impl World for Alone {
    fn atom(&mut self) -> &mut Atom {
        &mut self.0
    }

    fn advance_to(&mut self, t_us: u64) -> bool {
        self.0.advance_to(t_us);
        true
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.0.poll_output()
    }

    fn poll_fault_event(&mut self) -> Option<FaultEvent> {
        self.0.poll_fault_event()
    }

    fn connect(&mut self, transport: Transport) -> ClientId {
        self.0.connect(transport)
    }

    fn close(&mut self, client: ClientId) {
        self.0.close(client);
    }

    fn inject(&mut self, fault: Fault) -> Result<FaultId, HardwareError> {
        self.0.inject(fault)
    }

    fn clear_faults(&mut self) {
        self.0.clear_faults();
    }
}
