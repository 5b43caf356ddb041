//! Messages that wait for the next network tick, bounded per client.

use std::collections::{BTreeMap, VecDeque};

use firmware_core::platform::ClientId;

/// Messages and bytes of one client that can wait for a tick. A client that sends more in 1 ms loses the
/// rest, as on a full socket buffer; the others lose nothing.
const MESSAGES_MAX: usize = 1_024;
const BYTES_MAX: usize = 256 * 1024;

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// One message.
    Message(Vec<u8>),
    /// The client is gone.
    Closed,
}

/// The queue in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    queue: VecDeque<(ClientId, Input)>,
    waiting: BTreeMap<ClientId, (usize, usize)>,
    lost: u64,
}

impl Inbox {
    /// Queues a message, or loses and counts it when this client's share is full.
    pub(super) fn push(&mut self, client: ClientId, bytes: &[u8]) {
        let (messages, size) = self.waiting.entry(client).or_default();
        if *messages >= MESSAGES_MAX || *size + bytes.len() > BYTES_MAX {
            self.lost += 1;
            return;
        }
        *messages += 1;
        *size += bytes.len();
        self.queue.push_back((client, Input::Message(bytes.to_vec())));
    }

    /// Queues the end of a client. Never lost.
    pub(super) fn close(&mut self, client: ClientId) {
        self.queue.push_back((client, Input::Closed));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The oldest input.
    pub(super) fn pop(&mut self) -> Option<(ClientId, Input)> {
        let next = self.queue.pop_front();
        if self.queue.is_empty() {
            self.waiting.clear();
        }
        next
    }

    /// Messages lost because a client sent too much at once.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}
