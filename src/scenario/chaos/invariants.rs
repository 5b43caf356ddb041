//! What must always hold: control, replies, runs and their DONE. Motion is in [`super::motion`].
//!
//! A fault that takes messages away, or bytes off the bus, makes some of it impossible to see: those checks
//! pause while such a fault is there and for a while after.

use std::collections::BTreeSet;

use firmware_core::protocol::codes;
use firmware_core::protocol::reply::Done;

use super::motion::{Disturbance, Motion};
use super::play::{Clients, Violation};
use super::story::{CLIENTS, client_name};
use crate::atom::fault::{ClientFault, FaultKind};
use crate::atom::{Transport, Truth};
use crate::recording::trace::words::code_word;
use crate::scenario::book::Brief;
use crate::scenario::condition::ReplyName;
use crate::scenario::words;

/// The end of a WebSocket arrives within this time (µs), stalls of the WiFi profiles included.
const STRANGER_US_MAX: u64 = 1_000_000;

/// What one client did and got.
#[derive(Debug, Clone, Default)]
struct Account {
    /// Codes it sent.
    sent: BTreeSet<u8>,
    /// It sends whatever a fault makes it send.
    garbage: bool,
    /// Requests that start a timed run and were accepted.
    accepted: u32,
    /// DONEs by result 0–4.
    done: [u32; 5],
    /// Messages of it or to it were lost, or it was away: counts mean nothing.
    unreliable: bool,
}

/// The state of all checks.
#[derive(Debug)]
pub(super) struct Invariants {
    accounts: [Account; CLIENTS],
    motion: Motion,
    /// Some fault keeps counts from meaning anything: the ATOM restarted.
    restarted: bool,
    /// The clients' WiFi delays and loses nothing.
    ideal: bool,
    /// A client that is not connected has control since (µs).
    stranger_since_us: Option<u64>,
    /// Clients whose run was accepted since the last look.
    accepted: Vec<usize>,
}

impl Invariants {
    /// `ideal`: the clients' WiFi delays and loses nothing.
    pub(super) fn new(truth: &Truth, ideal: bool) -> Self {
        Self {
            accounts: Default::default(),
            motion: Motion::new(truth, ideal),
            restarted: false,
            ideal,
            stranger_since_us: None,
            accepted: Vec::new(),
        }
    }

    /// A client sends.
    pub(super) fn sent(&mut self, t_us: u64, client: usize, bytes: &[u8]) {
        if let Some(code) = bytes.first() {
            self.accounts[client].sent.insert(*code);
            self.motion.sent(t_us, bytes);
        }
    }

    /// A client is gone, by its own will or not.
    pub(super) fn cut(&mut self, client: usize) {
        self.accounts[client].unreliable = true;
    }

    /// A fault starts.
    pub(super) fn fault(&mut self, t_us: u64, kind: &FaultKind, for_us: u64) {
        match kind {
            FaultKind::Wifi { .. } | FaultKind::Client { .. } => {
                let sends = matches!(
                    kind,
                    FaultKind::Client { fault: ClientFault::Garbage(_) | ClientFault::Flood(_), .. }
                );
                for account in &mut self.accounts {
                    account.unreliable = true;
                    account.garbage |= sends;
                }
                self.motion.disturb(t_us, for_us, Disturbance::Messages);
            }
            FaultKind::Power(_) | FaultKind::Ota(_) => {
                self.restarted = true;
                self.motion.disturb(t_us, for_us, Disturbance::Bus);
            }
            FaultKind::Cpu(_) => {
                self.motion.disturb(t_us, for_us, Disturbance::Messages);
                self.motion.disturb(t_us, for_us, Disturbance::Bus);
            }
            FaultKind::Servo { .. } | FaultKind::Bus(_) | FaultKind::Gripper(_) | FaultKind::Arm(_) => {
                self.motion.disturb(t_us, for_us, Disturbance::Bus);
            }
            FaultKind::Imu(_) | FaultKind::HeapLimit(_) | FaultKind::Button => {}
        }
    }

    /// A reply came.
    pub(super) fn reply(&mut self, client: usize, brief: &Brief) -> Result<(), Violation> {
        let account = &mut self.accounts[client];
        let code = match brief.name {
            ReplyName::Pong => Some(codes::PING),
            ReplyName::State => Some(codes::STATE),
            ReplyName::Ack | ReplyName::Register | ReplyName::Written => Some(brief.to),
            ReplyName::Done | ReplyName::Telem | ReplyName::Stream => None,
        };
        if let Some(code) = code.filter(|code| !account.sent.contains(code) && !account.garbage) {
            let message = format!(
                "every reply goes to its sender; {} got {} but never sent {}",
                client_name(client),
                words::brief(brief),
                code_word(code)
            );
            return Err(Violation { t_us: brief.t_us, message });
        }
        let starts_run = [codes::MOVE_TO, codes::PLAY, codes::PLAY_SIGNAL].contains(&brief.to);
        if brief.name == ReplyName::Ack && brief.status == 0 && starts_run {
            account.accepted += 1;
            self.accepted.push(client);
        }
        if brief.name == ReplyName::Done {
            let Some(count) = account.done.get_mut(usize::from(brief.done.result)) else {
                let message = format!("DONE has a result from 0 to 4; found {}", brief.done.result);
                return Err(Violation { t_us: brief.t_us, message });
            };
            *count += 1;
            let Done { cycles, late_cycles, telemetry_dropped, joint, .. } = brief.done;
            if joint > 7 {
                let message = format!("DONE names a joint from 0 to 7; found {joint}");
                return Err(Violation { t_us: brief.t_us, message });
            }
            if late_cycles > cycles || telemetry_dropped > cycles {
                let message = format!(
                    "DONE counts no more late cycles and dropped samples than cycles; found {late_cycles} and {telemetry_dropped} of {cycles}"
                );
                return Err(Violation { t_us: brief.t_us, message });
            }
        }
        Ok(())
    }

    /// A look at the ATOM.
    pub(super) fn look(&mut self, t_us: u64, truth: &Truth, clients: &Clients) -> Result<(), Violation> {
        self.check_control(t_us, truth, clients)?;
        self.motion.look(t_us, truth)
    }

    /// Only a connected client has control, and only a holder's run is accepted.
    fn check_control(&mut self, t_us: u64, truth: &Truth, clients: &Clients) -> Result<(), Violation> {
        let quiet = self.motion.messages_are_quiet(t_us) && !self.restarted;
        for client in std::mem::take(&mut self.accepted) {
            let id = clients.ids[client];
            if quiet && self.ideal && id.is_some() && truth.holder != id {
                let message = format!(
                    "only the holder's run is accepted; that of {} was, control is with {:?}",
                    client_name(client),
                    truth.holder
                );
                return Err(Violation { t_us, message });
            }
        }
        let web_socket = truth.holder.filter(|holder| holder.transport == Transport::WebSocket);
        if !quiet || web_socket.is_none_or(|holder| clients.ids.contains(&Some(holder))) {
            self.stranger_since_us = None;
            return Ok(());
        }
        // The end of a connection is on its way for a while.
        let since_us = *self.stranger_since_us.get_or_insert(t_us);
        if t_us > since_us + STRANGER_US_MAX {
            let message = format!("only a connected client has control; {:?} has it", truth.holder);
            return Err(Violation { t_us, message });
        }
        Ok(())
    }

    /// The story is over and all is quiet.
    pub(super) fn finish(&self, t_us: u64, clients: &Clients) -> Result<(), Violation> {
        for (client, account) in self.accounts.iter().enumerate() {
            let name = client_name(client);
            let fail = |message: String| Err(Violation { t_us, message });
            if account.unreliable || self.restarted {
                continue;
            }
            let [good, tracking, stopped, _, bus] = account.done;
            if good + stopped > account.accepted {
                return fail(format!(
                    "every DONE 0 or 2 ends an accepted run; {name} got {} for {} runs",
                    good + stopped,
                    account.accepted
                ));
            }
            if account.accepted > good + stopped + tracking + bus {
                return fail(format!(
                    "every accepted run ends in a DONE; {name} got {:?} for {} runs",
                    account.done, account.accepted
                ));
            }
            let missing = clients.logs[client].telemetry.missing;
            if missing > 0 && self.ideal && self.motion.was_undisturbed() {
                return fail(format!(
                    "sequence numbers have no gaps within a run; {name} misses {missing} samples"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "invariants_tests.rs"]
mod tests;
