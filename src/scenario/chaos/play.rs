//! A story on an ATOM: every message at its time, a look each control period, the invariants at every look.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::invariants::Invariants;
use super::story::{self, CLIENTS, STORY_US, Story, What, client_name, transport};
use crate::atom::fault::{self, FaultKind, WifiFault};
use crate::atom::{Atom, ClientId, Output};
use crate::link::{Profile, association};
use crate::scenario::book::ClientLog;

/// A look each control period of 500 Hz (µs).
const LOOK_US: u64 = 2_000;
/// A client that closed comes back after this long (µs).
const AWAY_US: u64 = 100_000;

/// An invariant that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// When (µs).
    pub t_us: u64,
    /// What must hold and what was seen.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} s: {}", self.t_us as f64 * 1e-6, self.message)
    }
}

/// One thing to do.
#[derive(Debug, Clone)]
enum Act<'a> {
    Send(usize, &'a [u8]),
    Close(usize),
    Connect(usize),
    Fault(&'a What),
}

/// The clients of a story, as the invariants see them.
#[derive(Debug, Default)]
pub(super) struct Clients {
    /// Who each is now.
    pub(super) ids: [Option<ClientId>; CLIENTS],
    /// What each saw.
    pub(super) logs: [ClientLog; CLIENTS],
}

/// Plays the events of `story` whose indices are in `keep`; every one with `None`.
///
/// # Errors
/// The first invariant that did not hold. A panic of the ATOM is one.
pub fn play(story: &Story, keep: Option<&[usize]>) -> Result<(), Violation> {
    catch_unwind(AssertUnwindSafe(|| run(story, keep))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Violation { t_us: 0, message: format!("the ATOM never panics; it did: {text}") })
    })
}

fn run(story: &Story, keep: Option<&[usize]>) -> Result<(), Violation> {
    let mut atom = match Atom::new(&story.options) {
        Ok(atom) => atom,
        Err(error) => {
            return Err(Violation { t_us: 0, message: format!("the story's ATOM can be made: {error}") });
        }
    };
    let start_us = atom.now_us();
    let acts = acts(story, keep);
    let mut next = 0;
    let mut clients = Clients::default();
    for client in 0..CLIENTS {
        clients.ids[client] = Some(atom.connect(transport(client)));
    }
    let mut invariants = Invariants::new(&atom.truth(), story.options.wifi == Profile::Ideal);
    let mut t_us = 0;
    while t_us < STORY_US {
        t_us += LOOK_US;
        while let Some((at_us, act)) = acts.get(next).filter(|(at_us, _)| *at_us < t_us) {
            atom.advance_to(start_us + at_us);
            carry_out(&mut atom, act, *at_us, &mut clients, &mut invariants);
            next += 1;
        }
        atom.advance_to(start_us + t_us);
        take_outputs(&mut atom, start_us, &mut clients, &mut invariants, t_us)?;
        let truth = atom.truth();
        invariants.look(t_us, &truth, &clients)?;
    }
    invariants.finish(t_us, &clients)
}

fn acts<'a>(story: &'a Story, keep: Option<&[usize]>) -> Vec<(u64, Act<'a>)> {
    let mut acts = Vec::new();
    for (index, event) in story.events.iter().enumerate() {
        if keep.is_some_and(|keep| !keep.contains(&index)) {
            continue;
        }
        match &event.what {
            What::Client(client, deed) => {
                acts.extend(
                    deed.sends
                        .iter()
                        .map(|(after_us, bytes)| (event.t_us + after_us, Act::Send(*client, bytes))),
                );
            }
            What::Reconnect(client) => {
                acts.push((event.t_us, Act::Close(*client)));
                acts.push((event.t_us + AWAY_US, Act::Connect(*client)));
            }
            fault @ What::Fault { .. } => acts.push((event.t_us, Act::Fault(fault))),
        }
    }
    acts.sort_by_key(|(at_us, _)| *at_us);
    acts
}

fn carry_out(atom: &mut Atom, act: &Act<'_>, at_us: u64, clients: &mut Clients, invariants: &mut Invariants) {
    match act {
        Act::Send(client, bytes) => {
            if let Some(id) = clients.ids[*client] {
                invariants.sent(at_us, *client, bytes);
                atom.receive(id, bytes);
            }
        }
        Act::Close(client) => {
            if let Some(id) = clients.ids[*client].take() {
                invariants.cut(*client);
                atom.close(id);
            }
        }
        Act::Connect(client) => {
            if clients.ids[*client].is_none() {
                clients.ids[*client] = Some(atom.connect(transport(*client)));
            }
        }
        Act::Fault(What::Fault { name, values, for_us }) => {
            let client =
                |wanted: &str| (0..CLIENTS).find(|c| client_name(*c) == wanted).and_then(|c| clients.ids[c]);
            // A fault of a client that is away, or that this arm cannot have, does not happen.
            if let Ok(fault) = fault::make(name, values, story::scope(*for_us), &client)
                && atom.inject(fault.clone()).is_ok()
            {
                invariants.fault(at_us, &fault.kind, fault_length_us(&fault.kind, *for_us));
            }
        }
        Act::Fault(What::Client(..) | What::Reconnect(_)) => {}
    }
}

/// A drop of the association lasts until the ATOM has joined again, every 15 s.
fn fault_length_us(kind: &FaultKind, for_us: u64) -> u64 {
    let drop = matches!(kind, FaultKind::Wifi { fault: WifiFault::Drop, .. });
    if drop { association::REJOIN_US } else { for_us }
}

/// Outputs of one look that are still no sign of a queue without bound.
const OUTPUTS_PER_LOOK_MAX: usize = 4_000;

fn take_outputs(
    atom: &mut Atom,
    start_us: u64,
    clients: &mut Clients,
    invariants: &mut Invariants,
    now_us: u64,
) -> Result<(), Violation> {
    let mut count = 0;
    while let Some(output) = atom.poll_output() {
        count += 1;
        match output {
            Output::Message { t_us, to, bytes } => {
                let Some(client) = clients.ids.iter().position(|id| *id == Some(to)) else { continue };
                match clients.logs[client].take(t_us - start_us, &bytes) {
                    Some(brief) => invariants.reply(client, &brief)?,
                    None if clients.logs[client].undecodable > 0 => {
                        let message = format!(
                            "every message to a client decodes; {} got {bytes:02X?}",
                            client_name(client)
                        );
                        return Err(Violation { t_us: t_us - start_us, message });
                    }
                    None => {}
                }
            }
            Output::StatusLine { .. } => {}
            Output::Closed { client: id, .. } => {
                if let Some(client) = clients.ids.iter().position(|known| *known == Some(id)) {
                    clients.ids[client] = None;
                    invariants.cut(client);
                }
            }
        }
    }
    if count > OUTPUTS_PER_LOOK_MAX {
        let message = format!("at most {OUTPUTS_PER_LOOK_MAX} outputs in 2 ms; there were {count}");
        return Err(Violation { t_us: now_us, message });
    }
    Ok(())
}
