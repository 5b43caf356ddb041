//! The queue of inputs to the simulation thread: bounded, each input stamped with its time of arrival.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use super::clients::{ConnectionNumber, Outbox};
use super::pacer::wall_now;

/// Inputs that may wait for the simulation.
const QUEUE_INPUTS: usize = 1024;
/// How long a sender waits before it tries a full queue again.
const RETRY: Duration = Duration::from_millis(1);

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
    /// The server stops.
    Stop,
}

/// An input and when it came.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) at: Instant,
    pub(super) input: Input,
}

/// The simulation has ended; nobody takes inputs any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SimulationEnded;

/// The sending end of the queue.
#[derive(Debug, Clone)]
pub(super) struct Inputs(SyncSender<Arrival>);

/// Makes the queue.
pub(super) fn queue() -> (Inputs, Receiver<Arrival>) {
    let (sender, receiver) = sync_channel(QUEUE_INPUTS);
    (Inputs(sender), receiver)
}

impl Inputs {
    /// Hands an input over; waits while the queue is full. The stamp is the time of the call: waiting is the
    /// host's lag, not the client's.
    pub(super) async fn post(&self, input: Input) -> Result<(), SimulationEnded> {
        let mut arrival = Arrival { at: wall_now(), input };
        loop {
            match self.0.try_send(arrival) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(back)) => {
                    arrival = back;
                    tokio::time::sleep(RETRY).await;
                }
                Err(TrySendError::Disconnected(_)) => return Err(SimulationEnded),
            }
        }
    }

    /// Hands an input over, or drops it when the queue is full: datagrams may be lost. Tells whether it went.
    pub(super) fn offer(&self, input: Input) -> Result<bool, SimulationEnded> {
        match self.0.try_send(Arrival { at: wall_now(), input }) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Disconnected(_)) => Err(SimulationEnded),
        }
    }
}
