//! What came into an ATOM from outside, in order: kept only while somebody asks for it.

use std::collections::VecDeque;

use firmware_core::platform::ClientId;

use super::client_name;
use super::effects::FaultEvent;
use super::fault::{Fault, FaultId};
use super::simulated::Atom;
use crate::hardware::HardwareError;
use crate::link::Profile;

/// One input.
#[derive(Debug, Clone, PartialEq)]
pub enum AtomInput {
    /// A client connected and got this id.
    Connect(ClientId),
    /// A client is gone.
    Close(ClientId),
    /// A message.
    Message {
        /// From whom.
        client: ClientId,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A client's link got another quality.
    Wifi {
        /// Whose.
        client: ClientId,
        /// Which.
        profile: Profile,
    },
    /// A fault was given and got this id.
    Inject(FaultId, Fault),
    /// A fault was cleared.
    Clear(FaultId),
}

/// An entry of the journal.
#[derive(Debug, Clone, PartialEq)]
pub enum JournalEntry {
    /// An input at a virtual time (µs).
    Input(u64, AtomInput),
    /// A fault started or ended.
    Fault(FaultEvent),
}

/// Why an input cannot be given again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// This version refuses the fault.
    #[error(transparent)]
    Inject(#[from] HardwareError),
    /// The client got another id.
    #[error(
        "expected the client {}, found {}; are inputs missing before it?",
        client_name::name(*expected),
        client_name::name(*found)
    )]
    Client {
        /// The id it had.
        expected: ClientId,
        /// The id it has.
        found: ClientId,
    },
    /// The fault got another id.
    #[error("expected fault {}, found fault {}; are inputs missing before it?", expected.0, found.0)]
    Fault {
        /// The id it had.
        expected: FaultId,
        /// The id it has.
        found: FaultId,
    },
}

/// The entries that nobody has taken yet; `None` while nobody asks.
#[derive(Debug, Default)]
pub(super) struct Journal(Option<VecDeque<JournalEntry>>);

impl Journal {
    /// Keeps what `make` makes, if anything is kept.
    pub(super) fn keep(&mut self, make: impl FnOnce() -> JournalEntry) {
        if let Some(entries) = &mut self.0 {
            entries.push_back(make());
        }
    }
}

impl Atom {
    /// Keeps a journal from now on. Who asks for it takes the entries with [`Atom::poll_journal`], or memory grows.
    pub fn keep_journal(&mut self) {
        self.journal.0.get_or_insert_default();
    }

    /// Keeps no journal any more.
    pub fn drop_journal(&mut self) {
        self.journal.0 = None;
    }

    /// A journal is kept.
    pub fn keeps_journal(&self) -> bool {
        self.journal.0.is_some()
    }

    /// The oldest entry that was not taken yet.
    pub fn poll_journal(&mut self) -> Option<JournalEntry> {
        self.journal.0.as_mut()?.pop_front()
    }

    /// Gives an input again, now.
    ///
    /// # Errors
    /// [`ApplyError`]: a fault that this version cannot do, or ids that differ.
    pub fn apply(&mut self, input: &AtomInput) -> Result<(), ApplyError> {
        match input {
            AtomInput::Connect(expected) => {
                let (expected, found) = (*expected, self.connect(expected.transport));
                if found == expected { Ok(()) } else { Err(ApplyError::Client { expected, found }) }
            }
            AtomInput::Close(client) => {
                self.close(*client);
                Ok(())
            }
            AtomInput::Message { client, bytes } => {
                self.receive(*client, bytes);
                Ok(())
            }
            AtomInput::Wifi { client, profile } => {
                self.set_wifi(*client, *profile);
                Ok(())
            }
            AtomInput::Inject(expected, fault) => {
                let (expected, found) = (*expected, self.inject(fault.clone())?);
                if found == expected { Ok(()) } else { Err(ApplyError::Fault { expected, found }) }
            }
            AtomInput::Clear(id) => {
                self.clear_fault(*id);
                Ok(())
            }
        }
    }
}
