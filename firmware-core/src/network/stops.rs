//! What ends a run or replaces a request: STOP, HOLD, the button, a firmware update, a client that is gone.

use heapless::Vec;

use super::activity::{Activity, Kind};
use super::message::{Message, refusal_of};
use super::side::Network;
use crate::platform::{ClientId, NetworkPort};
use crate::protocol::codes;
use crate::shared::{Mailbox, Posted, Request, Shared, State};

/// After a bystander's STOP or HOLD, JOG and TRACK are refused for this long (µs).
const STREAM_BLOCK_US: u64 = 500_000;
/// Clients that can wait for the end of another client's HOLD.
const HOLD_WAITERS: usize = 16;

/// Clients whose HOLD joined one that was pending already: they get its ACK too.
#[derive(Debug, Default)]
pub(super) struct HoldWaiters(Vec<Waiter, HOLD_WAITERS>);

#[derive(Debug, Clone, Copy)]
struct Waiter {
    holds_for: ClientId,
    client: ClientId,
}

impl HoldWaiters {
    /// `client` waits for the HOLD of `holds_for`. False: too many wait.
    fn join(&mut self, client: ClientId, holds_for: ClientId) -> bool {
        self.0.push(Waiter { holds_for, client }).is_ok()
    }

    /// A reply goes out: if it is the ACK of a HOLD, those who joined that HOLD get it too.
    pub(super) fn share(&mut self, posted: &Posted, port: &mut impl NetworkPort) {
        if posted.message.get(..2) != Some(&[codes::ACK, codes::HOLD]) {
            return;
        }
        for waiter in self.0.iter().filter(|waiter| waiter.holds_for == posted.to) {
            port.send(waiter.client, &posted.message);
        }
        self.0.retain(|waiter| waiter.holds_for != posted.to);
    }
}

impl Network {
    pub(super) fn handle_stop(&mut self, message: &mut Message<'_, impl NetworkPort>) {
        self.block_streams(message);
        if message.activity.is_motion() {
            stop(message.shared);
        }
        message.ack(codes::STOP, codes::OK);
    }

    pub(super) fn handle_hold(&mut self, message: &mut Message<'_, impl NetworkPort>) {
        if message.activity == Activity::Away {
            message.ack(codes::HOLD, codes::REFUSED);
            return;
        }
        self.block_streams(message);
        match message.shared.request.take() {
            None if message.activity.is_motion() => {
                stop(message.shared);
                message.ack(codes::HOLD, codes::OK);
                return;
            }
            Some(Request::Hold(Some(holds_for))) => {
                message.shared.request = Some(Request::Hold(Some(holds_for)));
                if !self.hold_waiters.join(message.from, holds_for) {
                    message.ack(codes::HOLD, codes::REFUSED);
                }
                return;
            }
            Some(replaced) => {
                if let Some((client, refusal)) = refusal_of(&replaced, message.shared) {
                    message.port.send(client, &refusal);
                }
            }
            None => {}
        }
        self.post(message.shared, Request::Hold(Some(message.from)));
    }

    /// A STOP or HOLD of a client other than the holder keeps a page that still streams from starting again.
    fn block_streams(&mut self, message: &Message<'_, impl NetworkPort>) {
        if self.lease.holder(message.now_us).is_some_and(|holder| holder != message.from) {
            self.stream_blocked_until_us = message.now_us + STREAM_BLOCK_US;
        }
    }

    /// The button: while playing nothing; in another run STOP; otherwise HOLD, without ACK. While booting and
    /// in a firmware update nothing.
    pub fn button(&mut self, now_us: u64, mailbox: &impl Mailbox, port: &mut impl NetworkPort) {
        mailbox.with(|shared| match self.observe(shared, now_us) {
            Activity::Away | Activity::Busy(Kind::Play) => {}
            Activity::Busy(Kind::Move | Kind::Stream) => stop(shared),
            Activity::Idle | Activity::Error | Activity::Busy(Kind::Register | Kind::Hold | Kind::Update) => {
                match shared.request.take() {
                    Some(hold @ Request::Hold(_)) => shared.request = Some(hold),
                    replaced @ (Some(_) | None) => {
                        if let Some((client, refusal)) =
                            replaced.and_then(|replaced| refusal_of(&replaced, shared))
                        {
                            port.send(client, &refusal);
                        }
                        self.post(shared, Request::Hold(None));
                    }
                }
            }
        });
    }

    /// A firmware update wants to begin: only from holding, ready or error, with nothing pending. False:
    /// refused.
    pub fn ota_begin(&mut self, now_us: u64, mailbox: &impl Mailbox) -> bool {
        mailbox.with(|shared| match self.observe(shared, now_us) {
            Activity::Idle | Activity::Error => {
                self.post(shared, Request::OtaBegin);
                true
            }
            Activity::Away | Activity::Busy(_) => false,
        })
    }

    /// The firmware update failed: bus on, hold. One that has not begun is withdrawn; without one nothing
    /// happens.
    pub fn ota_failed(&mut self, now_us: u64, mailbox: &impl Mailbox) {
        mailbox.with(|shared| {
            self.observe(shared, now_us);
            let begins = matches!(shared.request, Some(Request::OtaBegin));
            if begins || shared.view.latest().state == State::Ota {
                self.post(shared, Request::OtaFailed);
            }
        });
    }

    /// A client is gone: its subscription and its control end, and its JOG or TRACK stops at once. Its PLAY or
    /// MOVE_TO runs on.
    pub fn closed(&mut self, now_us: u64, client: ClientId, mailbox: &impl Mailbox) {
        mailbox.with(|shared| {
            self.observe(shared, now_us);
            self.subscriptions.end(client);
            if self.lease.holder(now_us) == Some(client) {
                self.lease.end();
            }
            if let Some(stream) = shared.stream.as_mut().filter(|stream| stream.client == client) {
                stream.abandoned = true;
            }
            self.share_read_rate(shared);
        });
    }
}

fn stop(shared: &mut Shared) {
    shared.stop = true;
    shared.doorbell = true;
}
