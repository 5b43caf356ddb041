//! The simulation thread: owns the ATOM and the pacer, takes inputs, sends outputs when they are due.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, broadcast};

use super::api::replies::Event;
use super::api::{ApiError, Desk, Present, Stage};
use super::clients::Clients;
use super::inputs::{Arrival, Input};
use super::live;
use super::pacer::{Pacer, Speed, Wait, wall_now};
use crate::atom::{Atom, Options, Output};
use crate::recording::Keepers;

/// At full speed, virtual time between two looks at the inputs (µs).
const FULL_SPEED_STEP_US: u64 = 20_000;
/// At full speed, inputs taken before time goes on, so that a flood cannot hold it.
const FULL_SPEED_INPUTS: usize = 64;
/// Wall time between two warnings about the same lag.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// Where the status log goes by UDP.
#[derive(Debug)]
pub(super) struct StatusLog {
    pub(super) socket: UdpSocket,
    pub(super) to: SocketAddr,
}

/// Whether the thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Stop,
}

/// What the simulation thread owns.
#[derive(Debug)]
pub(super) struct Simulation {
    atom: Atom,
    keepers: Keepers,
    pacer: Pacer,
    clients: Clients,
    desk: Desk,
    inputs: Receiver<Arrival>,
    status_log: Option<StatusLog>,
    slip: SlipWarning,
    /// Shares of the messages that wait for the next network tick, given back then.
    shares: Vec<OwnedSemaphorePermit>,
    shares_due_us: u64,
    /// Time goes no further than this in one turn (virtual µs).
    stop_us: u64,
}

/// Slips since the last warning about them.
#[derive(Debug, Default)]
struct SlipWarning {
    slipped: Duration,
    warned: Option<Instant>,
}

impl SlipWarning {
    fn add(&mut self, slip: Duration, now: Instant) {
        self.slipped += slip;
        if self.warned.is_none_or(|warned| now.saturating_duration_since(warned) >= WARNING_INTERVAL) {
            tracing::warn!(
                "this host is too slow or busy: virtual time is {:.0} ms later than asked since the last warning",
                self.slipped.as_secs_f64() * 1e3
            );
            *self = Self { slipped: Duration::ZERO, warned: Some(now) };
        }
    }
}

impl Simulation {
    /// A simulation of this ATOM, from its virtual time on.
    pub(super) fn new(
        atom: Atom,
        pacer: Pacer,
        clients: Clients,
        desk: Desk,
        inputs: Receiver<Arrival>,
        status_log: Option<StatusLog>,
    ) -> Self {
        Self {
            atom,
            keepers: Keepers::default(),
            pacer,
            clients,
            desk,
            inputs,
            status_log,
            slip: SlipWarning::default(),
            shares: Vec::new(),
            shares_due_us: 0,
            stop_us: u64::MAX,
        }
    }

    /// Where the command API's event streams hear what happens.
    pub(super) fn events(&self) -> broadcast::Sender<Event> {
        self.desk.events()
    }

    /// Keeps files of what the ATOM does.
    pub(super) fn keep(&mut self, keepers: Keepers) {
        self.keepers = keepers;
    }

    /// Runs until an input says stop, or nobody is left to send one.
    ///
    /// # Errors
    /// A file that was to be kept was not, to its end.
    pub(super) fn run(mut self) -> io::Result<()> {
        while self.turn() == Next::GoOn {
            if let Some(scenario) = self.desk.stage().next()
                && live::run(&mut self, scenario) == Next::Stop
            {
                break;
            }
        }
        self.keepers.end(&mut self.atom)
    }

    /// One turn that takes time no further than `stop_us`.
    pub(super) fn turn_until(&mut self, stop_us: u64) -> Next {
        self.stop_us = stop_us;
        let next = self.turn();
        self.stop_us = u64::MAX;
        next
    }

    /// The ATOM.
    pub(super) fn atom(&mut self) -> &mut Atom {
        &mut self.atom
    }

    /// Scenarios that run live.
    pub(super) fn stage(&mut self) -> &mut Stage {
        self.desk.stage()
    }

    /// Tells everybody what happened at the present.
    pub(super) fn settle(&mut self) {
        self.send_outputs();
        self.desk.publish(&mut self.atom);
    }

    /// Puts the ATOM of a scenario in the place of the one there is.
    pub(super) fn start_anew(&mut self, options: &Options) -> Result<(), ApiError> {
        let atom = Atom::new(options).map_err(ApiError::impossible_scenario)?;
        let (desk, mut present) = self.desk_and_present(wall_now());
        desk.lend_place(atom, &mut present);
        self.shares_due_us = 0;
        self.send_outputs();
        Ok(())
    }

    fn turn(&mut self) -> Next {
        if self.pacer.speed() == Speed::Max || self.desk.drives() {
            return self.turn_at_full_speed();
        }
        let arrival = match self.pacer.wait(self.next_due_us(), wall_now()) {
            Wait::None => match self.inputs.try_recv() {
                Ok(arrival) => Some(arrival),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => return Next::Stop,
            },
            Wait::For(wait) => match self.inputs.recv_timeout(wait) {
                Ok(arrival) => Some(arrival),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Next::Stop,
            },
            Wait::Forever => match self.inputs.recv() {
                Ok(arrival) => Some(arrival),
                Err(_) => return Next::Stop,
            },
        };
        if let Some(arrival) = arrival {
            self.advance_to_wall(arrival.at);
            self.take(arrival)
        } else {
            self.advance_to_wall(wall_now());
            Next::GoOn
        }
    }

    fn turn_at_full_speed(&mut self) -> Next {
        for _ in 0..FULL_SPEED_INPUTS {
            match self.inputs.try_recv() {
                Ok(arrival) => {
                    if self.take(arrival) == Next::Stop {
                        return Next::Stop;
                    }
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Next::Stop,
            }
        }
        // An input may have stopped time.
        if self.pacer.speed() == Speed::Max || self.desk.drives() {
            self.advance_to(self.atom.now_us() + FULL_SPEED_STEP_US);
        }
        Next::GoOn
    }

    /// Lets all happen that is due up to a wall time.
    fn advance_to_wall(&mut self, wall: Instant) {
        if let Some(slip) = self.pacer.account(self.atom.next_due_us(), wall) {
            self.slip.add(slip, wall);
        }
        self.advance_to(self.pacer.virtual_us(wall, self.atom.now_us()));
    }

    /// When something is due for the ATOM or for somebody who looks (virtual µs).
    fn next_due_us(&self) -> u64 {
        let due_us = self.atom.next_due_us();
        let look_us = self.next_look_us().unwrap_or(u64::MAX);
        due_us.min(look_us).min(self.stop_us)
    }

    /// When somebody who waits, or a file that is kept, must see the ATOM (virtual µs).
    fn next_look_us(&self) -> Option<u64> {
        let wait_us = self.desk.next_look_us(self.atom.now_us());
        wait_us.into_iter().chain(self.keepers.next_look_us()).min()
    }

    /// Advances, with a look whenever one is due. Paused time that went on for a wait alone stops where that wait
    /// ends.
    fn advance_to(&mut self, t_us: u64) {
        let t_us = t_us.min(self.stop_us);
        let driven = self.pacer.speed() == Speed::Paused;
        while let Some(look_us) = self.next_look_us().filter(|look_us| *look_us <= t_us) {
            let wait_us = self.desk.next_look_us(self.atom.now_us());
            self.atom.advance_to(look_us);
            self.send_outputs();
            // A look for a file must not end a wait at another time than without it.
            if wait_us.is_some_and(|wait_us| wait_us <= look_us) {
                self.desk.look(&self.atom);
            }
            if driven && !self.desk.drives() {
                return self.desk.publish(&mut self.atom);
            }
        }
        self.atom.advance_to(t_us);
        self.send_outputs();
        self.desk.publish(&mut self.atom);
        if self.atom.now_us() >= self.shares_due_us {
            self.shares.clear();
        }
    }

    /// Applies one input at the ATOM's present. Every input passes here.
    fn take(&mut self, Arrival { at, input, shares }: Arrival) -> Next {
        let to_atom = match input {
            Input::Opened { connection, outbox } => {
                self.clients.open(&mut self.atom, connection, outbox);
                None
            }
            Input::Message { connection, bytes } => {
                self.clients.websocket(connection).map(|client| (client, bytes))
            }
            Input::Closed { connection } => {
                self.clients.close(&mut self.atom, connection);
                None
            }
            Input::Datagram { source, bytes } => {
                self.clients.udp(&mut self.atom, source, at).map(|client| (client, bytes))
            }
            Input::Order(order) => {
                let (desk, mut present) = self.desk_and_present(at);
                desk.carry_out(*order, &mut present);
                // A reset starts time again: shares must not wait for a time of the old one.
                self.shares_due_us = self.shares_due_us.min(self.atom.next_due_us());
                None
            }
            Input::SessionEnded(session) => {
                let (desk, mut present) = self.desk_and_present(at);
                desk.end_session(session, &mut present);
                None
            }
            // The turn ends here, and who runs turns looks whether he is still wanted.
            Input::Left => None,
            Input::Stop => return Next::Stop,
        };
        if let Some((client, bytes)) = to_atom {
            self.atom.receive(client, &bytes);
            self.shares.extend(shares.into_iter().flatten());
            self.shares_due_us = self.atom.next_due_us();
        }
        self.send_outputs();
        Next::GoOn
    }

    fn desk_and_present(&mut self, at: Instant) -> (&mut Desk, Present<'_>) {
        let present = Present {
            atom: &mut self.atom,
            pacer: &mut self.pacer,
            clients: &mut self.clients,
            keepers: &mut self.keepers,
            at,
        };
        (&mut self.desk, present)
    }

    fn send_outputs(&mut self) {
        let mut now = None;
        self.keepers.take_inputs(&mut self.atom);
        while let Some(output) = self.atom.poll_output() {
            self.keepers.output(&output);
            self.desk.stage().saw(&output);
            match output {
                Output::Message { to, bytes, .. } => {
                    self.clients.send(to, bytes, *now.get_or_insert_with(wall_now));
                }
                Output::Closed { client, .. } => self.clients.cut(client),
                Output::StatusLine { line, .. } => {
                    if let Some(StatusLog { socket, to }) = &self.status_log
                        && let Err(error) = socket.send_to(line.as_bytes(), to)
                    {
                        tracing::debug!("status log line to {to} lost: {error}");
                    }
                    self.clients.broadcast(&Arc::from(line));
                }
            }
        }
    }
}
