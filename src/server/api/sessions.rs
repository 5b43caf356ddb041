//! Sessions: what a client of the API started ends with its session. A session lives by its lease, which every
//! request that names it renews and which does not run out while one is open, or as long as its event stream.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::error::{ApiError, Code};
use super::order::SessionNumber;
use crate::server::inputs::{Input, Inputs};

/// Sessions at once.
const SESSIONS_MAX: usize = 64;

#[derive(Debug, Default)]
struct Registry {
    made: u64,
    /// The sessions that live, with their open requests.
    alive: BTreeMap<SessionNumber, watch::Sender<usize>>,
}

/// The sessions of one server.
#[derive(Debug, Clone)]
pub(in crate::server) struct Sessions {
    registry: Arc<Mutex<Registry>>,
    inputs: Inputs,
}

/// An open request of a session. Its end renews the lease, as its beginning did.
#[derive(Debug)]
pub(super) struct Open(watch::Sender<usize>);

impl Open {
    fn new(requests: watch::Sender<usize>) -> Self {
        requests.send_modify(|open| *open += 1);
        Self(requests)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

impl Sessions {
    pub(in crate::server) fn new(inputs: Inputs) -> Self {
        Self { registry: Arc::default(), inputs }
    }

    /// A session that lives until [`Sessions::end`].
    pub(super) fn start(&self) -> Result<SessionNumber, ApiError> {
        self.make().map(|(session, _)| session)
    }

    /// A session that ends when no request of it has been open for `lease`.
    pub(super) fn start_leased(&self, lease: Duration) -> Result<SessionNumber, ApiError> {
        let (session, mut requests) = self.make()?;
        let sessions = self.clone();
        tokio::spawn(async move {
            while requests.wait_for(|open| *open == 0).await.is_ok() {
                tokio::select! {
                    () = tokio::time::sleep(lease) => {
                        sessions.end(session);
                        break;
                    }
                    change = requests.changed() => if change.is_err() { break },
                }
            }
        });
        Ok(session)
    }

    fn make(&self) -> Result<(SessionNumber, watch::Receiver<usize>), ApiError> {
        let mut registry = self.lock();
        if registry.alive.len() >= SESSIONS_MAX {
            return Err(ApiError::new(
                Code::TooMany,
                format!("{SESSIONS_MAX} sessions are open; end one with DELETE /api/sessions/{{session}}"),
            ));
        }
        registry.made += 1;
        let session = SessionNumber(registry.made);
        let (sender, requests) = watch::channel(0);
        registry.alive.insert(session, sender);
        Ok((session, requests))
    }

    /// The session that a request names, which lives as long as the request is open.
    pub(super) fn open(&self, name: &str) -> Result<(SessionNumber, Open), ApiError> {
        let session: SessionNumber = name.parse().map_err(|()| Self::unknown(name))?;
        let registry = self.lock();
        let requests = registry.alive.get(&session).ok_or_else(|| Self::unknown(name))?;
        Ok((session, Open::new(requests.clone())))
    }

    /// Ends a session, and all it owns: what is asked of the simulation afterwards finds it undone.
    pub(super) fn end(&self, session: SessionNumber) {
        if self.lock().alive.remove(&session).is_some() {
            // An ended simulation has nothing left behind.
            let _ = self.inputs.post(Input::SessionEnded(session));
        }
    }

    /// It has not ended.
    pub(super) fn is_alive(&self, session: SessionNumber) -> bool {
        self.lock().alive.contains_key(&session)
    }

    pub(super) fn unknown(name: &str) -> ApiError {
        ApiError::new(
            Code::UnknownSession,
            format!("the session \"{name}\" does not exist or has ended; start one with POST /api/sessions"),
        )
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        // Nothing under the lock can panic half-way.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
