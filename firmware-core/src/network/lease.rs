//! Who has control: one client at a time, for 2 s after its last message, longer while the robot is busy.

use crate::platform::ClientId;

/// Control ends this long after the holder's last message, or after the end of the run (µs).
const LEASE_US: u64 = 2_000_000;

/// The control lease.
#[derive(Debug, Default)]
pub(super) struct Lease {
    holder: Option<ClientId>,
    since_us: u64,
    /// The robot was busy when it was last looked at: the lease does not run.
    busy: bool,
}

impl Lease {
    /// Who has control at `now_us`.
    pub(super) fn holder(&self, now_us: u64) -> Option<ClientId> {
        self.holder.filter(|_| self.busy || now_us.saturating_sub(self.since_us) < LEASE_US)
    }

    /// `client` has control from now on.
    pub(super) fn give(&mut self, client: ClientId, now_us: u64) {
        self.holder = Some(client);
        self.since_us = now_us;
    }

    /// Nobody has control.
    pub(super) fn end(&mut self) {
        self.holder = None;
    }

    /// A message of `client`: if it has control its time starts again.
    pub(super) fn heard(&mut self, client: ClientId, now_us: u64) {
        if self.holder(now_us) == Some(client) {
            self.since_us = now_us;
        }
    }

    /// Looks at whether the robot is busy. While it is, control does not expire; its 2 s start when this
    /// first finds it no longer busy.
    pub(super) fn observe(&mut self, busy: bool, now_us: u64) {
        if (busy || self.busy) && self.holder(now_us).is_some() {
            self.since_us = now_us;
        } else {
            self.holder = self.holder(now_us);
        }
        self.busy = busy;
    }
}
