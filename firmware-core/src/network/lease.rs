//! Who has control: one client at a time, for 2 s after its last message, longer while its run goes on.

use crate::platform::ClientId;

/// Control ends this long after the holder's last message, or after the end of the run (µs).
const LEASE_US: u64 = 2_000_000;

/// The control lease.
#[derive(Debug, Default)]
pub(super) struct Lease {
    holder: Option<(ClientId, u64)>,
}

impl Lease {
    /// Who has control at `now_us`.
    pub(super) fn holder(&self, now_us: u64) -> Option<ClientId> {
        self.holder.filter(|(_, since_us)| now_us - since_us < LEASE_US).map(|(client, _)| client)
    }

    /// `client` has control from now on.
    pub(super) fn give(&mut self, client: ClientId, now_us: u64) {
        self.holder = Some((client, now_us));
    }

    /// Nobody has control.
    pub(super) fn end(&mut self) {
        self.holder = None;
    }

    /// A message of `client`: if it has control its time starts again.
    pub(super) fn heard(&mut self, client: ClientId, now_us: u64) {
        if self.holder(now_us) == Some(client) {
            self.give(client, now_us);
        }
    }

    /// The robot is busy: control does not expire, and its time starts when the run ends.
    pub(super) fn keep(&mut self, now_us: u64) {
        if let Some(client) = self.holder(now_us) {
            self.give(client, now_us);
        }
    }
}
