//! A run on an ATOM at rest, from the message that starts it to its DONE, without socket or clock.

use firmware_core::protocol::reply::{Ack, Done};
use firmware_core::protocol::{Reply, build, codes};
use firmware_core::shared::State;

use super::robot::{RobotError, accepted};
use crate::recording::trace::words;

/// The answer to the start takes at most this long (µs); as long may a DONE be late once the ATOM is at rest.
const ANSWER_US: u64 = 2_000_000;
/// What got no answer is sent again after this long (µs).
const RETRY_US: u64 = 300_000;
/// A start that is refused as busy, where messages come twice or are sent again, is refused when the ATOM is still at
/// rest after this long (µs): the first of them may be about to begin.
const REFUSED_US: u64 = 1_000_000;
/// During a run the state is asked for this often (µs).
const PING_US: u64 = 500_000;
/// A run from which nothing comes for this long is given up (µs).
const SILENCE_US: u64 = 10_000_000;

/// How far the start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// No answer yet.
    Sent,
    /// Refused as busy or in the wrong state, first at this time (µs).
    Refused(Ack, u64),
    /// It runs.
    Begun,
}

/// One run.
#[derive(Debug)]
pub struct Run<'m> {
    message: &'m [u8],
    /// Messages may get lost, or come twice.
    lossy: bool,
    start: Start,
    /// The start message is to be sent.
    due: bool,
    /// When something of the run was heard last, or it was sent first (µs).
    heard_us: u64,
    /// Since when the ATOM is at rest after the run had begun (µs).
    at_rest_us: Option<u64>,
    ping_us: u64,
    stop_us: u64,
}

impl<'m> Run<'m> {
    /// A run that `message` starts at `now_us`, over a link on which messages may get lost or come twice, or not.
    pub fn new(message: &'m [u8], lossy: bool, now_us: u64) -> Self {
        Self {
            message,
            lossy,
            start: Start::Sent,
            due: true,
            heard_us: now_us,
            at_rest_us: None,
            ping_us: now_us + RETRY_US,
            stop_us: now_us,
        }
    }

    /// The next message to send at `now_us`, if one is due; `stop` asks the run to stop.
    ///
    /// # Errors
    /// Silence, or a refusal that is one.
    pub fn poll(&mut self, now_us: u64, stop: bool) -> Result<Option<Vec<u8>>, RobotError> {
        let silent_us = now_us.saturating_sub(self.heard_us);
        match self.start {
            Start::Begun if silent_us > SILENCE_US => return Err(RobotError::Silent),
            Start::Sent if silent_us > ANSWER_US => return Err(RobotError::NoAnswer { what: self.name() }),
            Start::Refused(ack, at_us) if now_us > at_us + ANSWER_US => accepted(ack)?,
            Start::Begun | Start::Sent | Start::Refused(..) => {}
        }
        if core::mem::take(&mut self.due) {
            return Ok(Some(self.message.to_vec()));
        }
        if stop && now_us >= self.stop_us {
            self.stop_us = now_us + RETRY_US;
            return Ok(Some(build::plain(codes::STOP).to_vec()));
        }
        if now_us < self.ping_us {
            return Ok(None);
        }
        // The state says whether a start was lost, and that a MOVE_TO over a WebSocket, which has no telemetry, goes on.
        self.ping_us = now_us + if self.start == Start::Begun { PING_US } else { RETRY_US };
        Ok(Some(build::plain(codes::PING).to_vec()))
    }

    /// Takes what the ATOM says; the DONE ends the run.
    ///
    /// # Errors
    /// A refusal, or a run that is over without a DONE.
    pub fn take(&mut self, reply: &Reply, now_us: u64) -> Result<Option<Done>, RobotError> {
        match reply {
            Reply::Ack(ack) if Some(&ack.code) == self.message.first() => self.take_ack(*ack, now_us)?,
            Reply::Telemetry(_) => self.begun(now_us),
            Reply::Done(done) => return Ok(Some(*done)),
            Reply::Pong(pong) if State::from_byte(pong.state).is_some_and(State::is_run) => {
                self.begun(now_us);
            }
            Reply::Pong(_) => self.at_rest(now_us)?,
            Reply::Ack(_)
            | Reply::State(_)
            | Reply::RegisterValues(_)
            | Reply::RegisterWritten(_)
            | Reply::Stream(_) => {}
        }
        Ok(None)
    }

    fn begun(&mut self, now_us: u64) {
        (self.start, self.heard_us, self.at_rest_us) = (Start::Begun, now_us, None);
    }

    fn take_ack(&mut self, ack: Ack, now_us: u64) -> Result<(), RobotError> {
        match (self.start, ack.status) {
            (_, codes::OK) => self.begun(now_us),
            // A start that came twice is refused once.
            (Start::Begun | Start::Refused(..), _) => {}
            (Start::Sent, codes::REFUSED) if self.lossy => self.start = Start::Refused(ack, now_us),
            (Start::Sent, _refused) => accepted(ack)?,
        }
        Ok(())
    }

    /// The ATOM is at rest.
    fn at_rest(&mut self, now_us: u64) -> Result<(), RobotError> {
        match self.start {
            // No run is so short that it would be over: the start was lost.
            Start::Sent => self.due = self.lossy && now_us >= self.heard_us + RETRY_US,
            Start::Refused(ack, at_us) if now_us >= at_us + REFUSED_US => accepted(ack)?,
            Start::Refused(..) => {}
            Start::Begun => {
                // The DONE may still be on its way.
                if now_us > *self.at_rest_us.get_or_insert(now_us) + ANSWER_US {
                    return Err(RobotError::EndLost);
                }
            }
        }
        Ok(())
    }

    fn name(&self) -> String {
        words::code_word(self.message.first().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use firmware_core::protocol::reply::Pong;

    use super::*;

    const MESSAGE: [u8; 9] = [codes::PLAY; 9];

    fn ack(status: i8) -> Reply {
        Reply::Ack(Ack { code: codes::PLAY, status, value: 0 })
    }

    fn pong(state: State) -> Reply {
        Reply::Pong(Pong { state: state as u8, ..Pong::default() })
    }

    /// A run whose start was sent at 0.
    fn sent(lossy: bool) -> Run<'static> {
        let mut run = Run::new(&MESSAGE, lossy, 0);
        assert_eq!(run.poll(0, false).expect("a start"), Some(MESSAGE.to_vec()));
        assert_eq!(run.poll(0, false).expect("nothing more"), None);
        run
    }

    fn refusal(result: &Result<Option<Done>, RobotError>) -> bool {
        matches!(result, Err(RobotError::Refused { .. }))
    }

    #[test]
    fn a_start_that_came_twice_begins_in_whatever_order_its_answers_come() {
        for answers in [[0, -1], [-1, 0]] {
            let mut run = sent(true);
            for (status, t_us) in answers.into_iter().zip([1_000, 2_000]) {
                assert!(matches!(run.take(&ack(status), t_us), Ok(None)), "{answers:?}");
            }
            // The first of them was only about to begin.
            assert!(matches!(run.take(&pong(State::Ready), 3_000), Ok(None)), "{answers:?}");
            assert!(matches!(run.take(&pong(State::Playing), 400_000), Ok(None)), "{answers:?}");
            let done = Done { cycles: 7, ..Done::default() };
            assert!(matches!(run.take(&Reply::Done(done), 500_000), Ok(Some(Done { cycles: 7, .. }))));
        }
    }

    #[test]
    fn a_refusal_is_one_at_once_where_messages_come_once_and_else_when_the_arm_stays_at_rest() {
        assert!(refusal(&sent(false).take(&ack(-1), 1_000)));
        assert!(refusal(&sent(true).take(&ack(-2), 1_000)), "nobody else's run is this one");
        let mut run = sent(true);
        assert!(matches!(run.take(&ack(-1), 1_000), Ok(None)));
        assert!(matches!(run.take(&pong(State::Holding), 1_000_999), Ok(None)));
        assert!(refusal(&run.take(&pong(State::Holding), 1_001_000)));
        let mut run = sent(true);
        assert!(matches!(run.take(&ack(-1), 1_000), Ok(None)));
        assert!(matches!(run.poll(2_001_001, false), Err(RobotError::Refused { .. })), "no state came");
    }

    #[test]
    fn a_start_is_sent_again_only_while_the_arm_is_at_rest() {
        let mut run = sent(true);
        assert!(matches!(run.poll(299_999, false), Ok(None)));
        assert_eq!(run.poll(300_000, false).expect("a question"), Some(build::plain(codes::PING).to_vec()));
        assert!(matches!(run.take(&pong(State::Ready), 310_000), Ok(None)));
        assert_eq!(run.poll(310_000, false).expect("the start"), Some(MESSAGE.to_vec()));
        assert!(matches!(run.take(&pong(State::Playing), 320_000), Ok(None)));
        assert_eq!(run.poll(320_000, false).expect("nothing"), None);
        let mut stream = sent(false);
        assert!(matches!(stream.take(&pong(State::Ready), 310_000), Ok(None)));
        assert!(
            !matches!(stream.poll(310_000, false), Ok(Some(bytes)) if bytes == MESSAGE),
            "nothing gets lost"
        );
        assert!(matches!(run.poll(10_400_000, false), Err(RobotError::Silent)));
        assert!(matches!(sent(true).poll(2_000_001, false), Err(RobotError::NoAnswer { .. })));
    }

    #[test]
    fn a_stop_is_sent_until_the_done_comes_and_a_done_that_never_comes_is_lost() {
        let mut run = sent(true);
        assert!(matches!(run.take(&ack(0), 1_000), Ok(None)));
        let stop = Some(build::plain(codes::STOP).to_vec());
        assert_eq!(run.poll(2_000, true).expect("a stop"), stop);
        assert_eq!(run.poll(3_000, true).expect("nothing"), None);
        assert_eq!(run.poll(302_000, true).expect("a stop"), stop);
        assert!(matches!(run.take(&pong(State::Holding), 400_000), Ok(None)));
        assert!(matches!(run.take(&pong(State::Holding), 2_400_000), Ok(None)));
        assert!(matches!(run.take(&pong(State::Holding), 2_400_001), Err(RobotError::EndLost)));
    }
}
