//! The recovery check: when the faults of a scenario have ended, the arm must still hold, answer and move.

use firmware_core::joints::ARM_JOINTS;
use firmware_core::protocol::codes;
use firmware_core::protocol::request::build;
use firmware_core::shared::State;

use super::book::ClientLog;
use super::condition::ReplyName;
use super::outcome::Failure;
use super::runner::Run;
use crate::atom::Transport;

/// Looks during the check (µs).
const LOOK_US: u64 = 2_000;
/// A run that is on, a booting ATOM and control of a client that left get this long (µs).
const CALM_US_MAX: u64 = 40_000_000;
/// A reply comes within this time (µs).
const REPLY_US_MAX: u64 = 1_000_000;
/// The small move takes this long at most, settling and pause included (µs).
const MOVE_US_MAX: u64 = 4_000_000;
/// The small move of J1 (°).
const MOVE_DEG: f64 = 5.0;
/// The arm comes this close to its goal (°).
const NEAR_DEG: f64 = 1.0;

/// Checks it. False: the wall-clock guard ended the run.
pub(super) fn check(run: &mut Run<'_>) -> bool {
    run.world.clear_faults();
    for client in 0..run.book.clients.len() {
        run.close(client);
    }
    let calm = |run: &Run<'_>| {
        let state = run.book.truth.state;
        !state.is_run() && state != State::Booting && run.book.truth.holder.is_none()
    };
    if !until(run, CALM_US_MAX, calm) {
        return false;
    }
    let checker = run.book.clients.len();
    run.book.names.push("recovery check".to_owned());
    let id = run.world.connect(Transport::Udp);
    run.book.clients.push(ClientLog { id: Some(id), ..ClientLog::default() });

    let in_time = hold(run, checker) && answer(run, checker) && move_a_little(run, checker);
    run.close(checker);
    in_time
}

/// Advances until `done`, at most `at_most_us`. False: the wall-clock guard ended the run.
fn until(run: &mut Run<'_>, at_most_us: u64, done: impl Fn(&Run<'_>) -> bool) -> bool {
    let end_us = run.book.now_us() + at_most_us;
    while !done(run) && run.book.now_us() < end_us {
        let next_us = (run.book.now_us() / LOOK_US + 1) * LOOK_US;
        run.advance_to(next_us);
        if run.is_out_of_time() {
            return false;
        }
    }
    true
}

fn has(run: &Run<'_>, client: usize, name: ReplyName, to: u8, status: i8) -> bool {
    let fits = |brief: &super::book::Brief| brief.name == name && brief.to == to && brief.status == status;
    run.book.clients[client].briefs.iter().any(fits)
}

fn miss(run: &mut Run<'_>, expected: &str, seen: String) {
    let t_us = run.book.now_us();
    let around = run.tail.lines(t_us, &run.book.truth);
    let why = Some("recovery = true".to_owned());
    run.failures.push(Failure { line: 0, expected: expected.to_owned(), seen, t_us, why, around });
}

fn hold(run: &mut Run<'_>, client: usize) -> bool {
    run.send(client, &build::plain(codes::HOLD));
    let held = |run: &Run<'_>| {
        has(run, client, ReplyName::Ack, codes::HOLD, 0)
            && matches!(run.book.truth.state, State::Holding | State::Ready)
    };
    if !until(run, REPLY_US_MAX, held) {
        return false;
    }
    if !held(run) {
        let seen = format!("state {:?}, replies {:?}", run.book.truth.state, run.book.clients[client].briefs);
        miss(run, "after the faults, HOLD is answered with 0 and the arm holds", seen);
    }
    true
}

fn answer(run: &mut Run<'_>, client: usize) -> bool {
    run.send(client, &build::plain(codes::PING));
    run.send(client, &build::plain(codes::STATE));
    let answered =
        |run: &Run<'_>| has(run, client, ReplyName::Pong, 0, 0) && has(run, client, ReplyName::State, 0, 0);
    if !until(run, REPLY_US_MAX, answered) {
        return false;
    }
    if !answered(run) {
        let seen = format!("{:?}", run.book.clients[client].briefs);
        miss(run, "after the faults, PING and STATE are answered", seen);
    }
    true
}

fn move_a_little(run: &mut Run<'_>, client: usize) -> bool {
    let mut goal_deg = run.book.truth.goal_deg;
    goal_deg[0] += if goal_deg[0] > 0.0 { -MOVE_DEG } else { MOVE_DEG };
    let limits = firmware_core::joints::TABLE;
    let goals: Vec<f32> = (0..ARM_JOINTS)
        .map(|joint| {
            (goal_deg[joint] as f32).clamp(limits[joint].min_goal_deg(), limits[joint].max_goal_deg())
        })
        .collect();
    run.send(client, &build::move_to(&goals, 0));
    let moved =
        |run: &Run<'_>| run.book.clients[client].briefs.iter().any(|brief| brief.name == ReplyName::Done);
    if !until(run, MOVE_US_MAX, moved) {
        return false;
    }
    let done = run.book.clients[client].briefs.iter().find(|brief| brief.name == ReplyName::Done);
    let off_deg = (run.book.truth.angle_deg[0] - f64::from(goals[0])).abs();
    if done.is_none_or(|brief| brief.done.result != 0) || off_deg > NEAR_DEG {
        let seen = format!("{:?}, J1 is {off_deg:.2}° off", run.book.clients[client].briefs);
        miss(run, "after the faults, a MOVE_TO of J1 by 5° ends with DONE 0 at its goal", seen);
    }
    true
}
