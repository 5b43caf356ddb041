//! The invariants of replies and control bite: fabricated accounts that break one are found.

use super::*;
use crate::atom::{Atom, ClientId, Options};

fn invariants() -> (Invariants, Truth) {
    let truth = Atom::new(&Options::default()).expect("the default ATOM").truth();
    (Invariants::new(&truth, true), truth)
}

fn brief(name: ReplyName) -> Brief {
    Brief { t_us: 1, name, to: 0, status: 0, value: 0, done: Done::default() }
}

fn ack(to: u8) -> Brief {
    Brief { to, ..brief(ReplyName::Ack) }
}

fn done(done: Done) -> Brief {
    Brief { done, ..brief(ReplyName::Done) }
}

/// Sends `codes` and takes `replies` as client 0; the first violation, at the end of the story too.
fn violation(codes: &[u8], replies: &[Brief]) -> Option<String> {
    let (mut invariants, _) = invariants();
    for code in codes {
        invariants.sent(0, 0, &[*code]);
    }
    let found = replies.iter().find_map(|brief| invariants.reply(0, brief).err());
    let found = found.or_else(|| invariants.finish(1, &Clients::default()).err());
    found.map(|violation| violation.message)
}

#[test]
fn a_run_that_is_accepted_and_ends_breaks_nothing() {
    let replies = [ack(codes::MOVE_TO), done(Done { cycles: 9, late_cycles: 9, ..Done::default() })];
    assert_eq!(violation(&[codes::MOVE_TO], &replies), None);
    assert_eq!(violation(&[], &[]), None);
}

#[test]
fn a_reply_to_what_was_never_sent_is_found() {
    let found = violation(&[codes::PING], &[ack(codes::MOVE_TO)]).expect("it never sent MOVE_TO");
    assert!(found.starts_with("every reply goes to its sender; "), "{found}");
    assert!(violation(&[codes::STATE], &[brief(ReplyName::Pong)]).is_some());
}

#[test]
fn a_run_without_an_end_and_an_end_without_a_run_are_found() {
    let endless = violation(&[codes::PLAY], &[ack(codes::PLAY)]).expect("no DONE");
    assert!(endless.starts_with("every accepted run ends in a DONE; "), "{endless}");
    for result in [0, 2] {
        let twice = [ack(codes::PLAY), done(Done { result, ..Done::default() })];
        let twice = [&twice[..], &twice[1..]].concat();
        let found = violation(&[codes::PLAY], &twice).expect("two DONEs");
        assert!(found.starts_with("every DONE 0 or 2 ends an accepted run; "), "{found}");
    }
}

#[test]
fn counters_that_cannot_be_are_found() {
    for wrong in [
        Done { result: 5, ..Done::default() },
        Done { joint: 8, ..Done::default() },
        Done { cycles: 3, late_cycles: 4, ..Done::default() },
        Done { cycles: 3, telemetry_dropped: 4, ..Done::default() },
    ] {
        let found = violation(&[codes::PLAY], &[ack(codes::PLAY), done(wrong)]).expect("it cannot be");
        assert!(found.starts_with("DONE "), "{found}");
    }
}

#[test]
fn samples_that_are_missing_are_found() {
    let (invariants, _) = invariants();
    let mut clients = Clients::default();
    clients.logs[1].telemetry.missing = 2;
    let found = invariants.finish(1, &clients).expect_err("two are missing").message;
    assert!(found.starts_with("sequence numbers have no gaps within a run; "), "{found}");
}

#[test]
fn a_stranger_in_control_and_a_run_of_who_has_none_are_found() {
    let page = ClientId { transport: Transport::WebSocket, number: 7 };
    let (mut invariants, mut truth) = invariants();
    truth.holder = Some(page);
    let nobody = Clients::default();
    assert_eq!(invariants.look(2_000, &truth, &nobody), Ok(()));
    assert_eq!(invariants.look(2_000 + STRANGER_US_MAX, &truth, &nobody), Ok(()));
    let found = invariants.look(4_000 + STRANGER_US_MAX, &truth, &nobody).expect_err("a stranger").message;
    assert!(found.starts_with("only a connected client has control; "), "{found}");

    let mut clients = Clients::default();
    clients.ids[0] = Some(ClientId { transport: Transport::Udp, number: 1 });
    let (mut invariants, truth) = self::invariants();
    invariants.sent(0, 0, &[codes::MOVE_TO]);
    invariants.reply(0, &ack(codes::MOVE_TO)).expect("it was sent");
    let found = invariants.look(2_000, &truth, &clients).expect_err("nobody has control").message;
    assert!(found.starts_with("only the holder's run is accepted; "), "{found}");
}
