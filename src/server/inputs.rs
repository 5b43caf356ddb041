//! The queue of inputs to the simulation thread: each stamped with its time of arrival, each WebSocket and each UDP
//! source with a share of its own, all UDP sources together with another. The simulation then bounds each source.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::api::{Order, SessionNumber};
use super::clients::{ConnectionNumber, Outbox};
use super::pacer::wall_now;

/// Messages of one client between two network ticks of the ATOM (1 ms). A WebSocket that sends more waits, a
/// UDP source that sends more loses them.
pub const MESSAGES_PER_TICK: usize = 64;
/// Datagrams of all sources that may wait for the simulation.
const DATAGRAMS_MAX: usize = 1024;
/// Datagrams of one source that may wait for it.
const DATAGRAMS_OF_ONE_MAX: usize = 2 * MESSAGES_PER_TICK;

/// What happens at the sockets.
#[derive(Debug)]
pub(super) enum Input {
    /// A WebSocket opened; messages to it go into its outbox.
    Opened { connection: ConnectionNumber, outbox: Outbox },
    /// A binary message from a WebSocket.
    Message { connection: ConnectionNumber, bytes: Vec<u8> },
    /// A WebSocket closed.
    Closed { connection: ConnectionNumber },
    /// A datagram from a UDP source.
    Datagram { source: SocketAddr, bytes: Vec<u8> },
    /// A client of the command API wants something.
    Order(Box<Order>),
    /// A session of the command API ended.
    SessionEnded(SessionNumber),
    /// Somebody who waited for an answer left: there may be something to end.
    Left,
    /// The server stops.
    Stop,
}

/// An input, when it came, and the parts of shares that it takes until it is dropped.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) at: Instant,
    pub(super) input: Input,
    pub(super) shares: Shares,
}

/// Parts of the shares that an input takes.
pub(super) type Shares = [Option<OwnedSemaphorePermit>; 2];

/// The simulation has ended; nobody takes inputs any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SimulationEnded;

/// The sending end of the queue.
#[derive(Debug, Clone)]
pub(super) struct Inputs(Sender<Arrival>);

/// A share of the queue.
#[derive(Debug, Clone)]
pub(super) struct Share(Arc<Semaphore>);

impl Share {
    /// The share of one WebSocket.
    pub(super) fn of_websocket() -> Self {
        Self(Arc::new(Semaphore::new(MESSAGES_PER_TICK)))
    }

    /// The share of one UDP source.
    pub(super) fn of_one_source() -> Self {
        Self(Arc::new(Semaphore::new(DATAGRAMS_OF_ONE_MAX)))
    }

    /// Nothing of it waits for the simulation.
    pub(super) fn is_free(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    fn take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }

    /// The share of all UDP sources.
    pub(super) fn of_datagrams() -> Self {
        Self(Arc::new(Semaphore::new(DATAGRAMS_MAX)))
    }
}

/// Makes the queue. The shares bound it.
pub(super) fn queue() -> (Inputs, Receiver<Arrival>) {
    let (sender, receiver) = channel();
    (Inputs(sender), receiver)
}

impl Inputs {
    /// Hands over what happens once or twice in the life of a connection.
    pub(super) fn post(&self, input: Input) -> Result<(), SimulationEnded> {
        self.send(input, [None, None])
    }

    /// Hands a message over; waits while its share is taken.
    pub(super) async fn post_within(&self, share: &Share, input: Input) -> Result<(), SimulationEnded> {
        // A share is never closed.
        let permit = Arc::clone(&share.0).acquire_owned().await.ok();
        self.send(input, [permit, None])
    }

    /// Hands a message over, or drops it when one of its shares is taken. Tells whether it went.
    pub(super) fn offer_within(&self, shares: [&Share; 2], input: Input) -> Result<bool, SimulationEnded> {
        match shares.map(Share::take) {
            taken @ [Some(_), Some(_)] => self.send(input, taken).map(|()| true),
            [None, _] | [_, None] => Ok(false),
        }
    }

    fn send(&self, input: Input, shares: Shares) -> Result<(), SimulationEnded> {
        self.0.send(Arrival { at: wall_now(), input, shares }).map_err(|_| SimulationEnded)
    }
}
