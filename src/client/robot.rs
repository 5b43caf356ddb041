//! One ATOM as a client uses it: who it is, requests with their answers, uploads, runs with their telemetry.

use std::io;

use firmware_core::protocol::reply::{Ack, Done, Pong};
use firmware_core::protocol::stream::Stream;
use firmware_core::protocol::{Reply, build, codes};
use firmware_core::shared::State;

use super::link::{Incoming, Link, Target};
use super::plan::Plan;
use super::upload::{Upload, UploadError};
use crate::recording::Collector;
use crate::recording::trace::words;

/// How long an answer may take (µs).
const ANSWER_US: u64 = 2_000_000;
/// A request that may be sent again is, after this long (µs).
const RETRY_US: u64 = 300_000;
/// The status log says who it is within this long (µs).
const LINE_US: u64 = 2_500_000;
/// During a run the state is asked for this often (µs).
const PING_US: u64 = 500_000;
/// A run from which nothing comes for this long is given up (µs).
const SILENCE_US: u64 = 10_000_000;

/// What is to be done is looked at this often (µs).
const LOOK_US: u64 = 100_000;

/// How far the start of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// No answer yet.
    Sent,
    /// Refused as busy or in the wrong state: of a message that came twice this may be the second answer.
    Refused(Ack),
    /// It runs.
    Begun,
}

/// Why something with an ATOM fails.
#[derive(Debug, thiserror::Error)]
pub enum RobotError {
    /// Nobody is there.
    #[error(
        "no ATOM at {target}: {error}; start a simulator with atom-sim, or name the ATOM with --atom (udp://HOST for one without WebSocket)"
    )]
    Connect {
        /// Where it should be.
        target: String,
        /// The system's answer.
        error: io::Error,
    },
    /// The network.
    #[error("the way to the ATOM: {0}")]
    Io(#[from] io::Error),
    /// No answer.
    #[error(
        "no answer to {what} within 2 s; is the address right, the ATOM on, its time not paused, and its firmware new enough?"
    )]
    NoAnswer {
        /// The request.
        what: String,
    },
    /// A refusal.
    #[error("{what}: {status}")]
    Refused {
        /// The request.
        what: String,
        /// The status, in words.
        status: String,
    },
    /// An upload failed.
    #[error("upload: {0}")]
    Upload(#[from] UploadError),
    /// A run fell silent.
    #[error("nothing came from the run for 10 s; the ATOM may still be moving")]
    Silent,
    /// A run is over, and nobody knows how it ended.
    #[error("the run is over, but its end was lost on the way; look at the arm before the next one")]
    EndLost,
}

/// An ATOM at the other end of a link.
#[derive(Debug)]
pub struct Robot {
    link: Link,
    line: Option<String>,
}

impl Robot {
    /// Connects.
    ///
    /// # Errors
    /// A host that is not there.
    pub fn connect(target: &Target) -> Result<Self, RobotError> {
        let link =
            Link::open(target).map_err(|error| RobotError::Connect { target: target.to_string(), error })?;
        Ok(Self { link, line: None })
    }

    /// Time since it was connected (µs).
    pub fn now_us(&self) -> u64 {
        self.link.now_us()
    }

    /// The status log says that this is a simulator. Waits for its line for up to 2.5 s; without one, no.
    ///
    /// # Errors
    /// The network's.
    pub fn is_simulator(&mut self) -> Result<bool, RobotError> {
        let until_us = self.now_us() + LINE_US;
        while self.line.is_none() && self.now_us() < until_us {
            self.receive((self.now_us() + 50_000).min(until_us))?;
        }
        Ok(self.line.as_ref().is_some_and(|line| line.starts_with("atom-sim")))
    }

    /// The latest line of the status log.
    pub fn status_line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// PING, until it answers.
    ///
    /// # Errors
    /// The network's, or silence.
    pub fn ping(&mut self) -> Result<Pong, RobotError> {
        let until_us = self.now_us() + ANSWER_US;
        while self.now_us() < until_us {
            self.link.send(&build::plain(codes::PING))?;
            let retry_us = self.now_us() + RETRY_US;
            while self.now_us() < retry_us {
                if let Some(Reply::Pong(pong)) = self.receive(retry_us)? {
                    return Ok(pong);
                }
            }
        }
        Err(RobotError::NoAnswer { what: "PING".to_owned() })
    }

    /// Sends one request, which may come twice without harm, until its ACK comes.
    ///
    /// # Errors
    /// The network's, silence, or a refusal.
    pub fn request(&mut self, message: &[u8]) -> Result<(), RobotError> {
        let code = message.first().copied().unwrap_or_default();
        let until_us = self.now_us() + ANSWER_US;
        while self.now_us() < until_us {
            self.link.send(message)?;
            let retry_us = self.now_us() + RETRY_US;
            while self.now_us() < retry_us {
                if let Some(Reply::Ack(ack)) = self.receive(retry_us)?
                    && ack.code == code
                {
                    return accepted(ack);
                }
            }
        }
        Err(RobotError::NoAnswer { what: words::code_word(code) })
    }

    /// Sends a message that has no answer of its own.
    ///
    /// # Errors
    /// The network's.
    pub fn send(&mut self, message: &[u8]) -> Result<(), RobotError> {
        Ok(self.link.send(message)?)
    }

    /// Uploads a plan; `progress` hears messages done and of all.
    ///
    /// # Errors
    /// The network's, or a refusal that sending again does not mend.
    pub fn upload(&mut self, plan: &Plan, mut progress: impl FnMut(usize, usize)) -> Result<(), RobotError> {
        let mut upload = Upload::new(plan);
        while !upload.is_done() {
            while let Some(bytes) = upload.poll(self.link.now_us())? {
                self.link.send(bytes)?;
            }
            let until_us = upload.next_due_us().min(self.now_us() + RETRY_US);
            if let Some(Reply::Ack(ack)) = self.receive(until_us)? {
                upload.take(&ack)?;
                let (done, all) = upload.progress();
                progress(done, all);
            }
        }
        Ok(())
    }

    /// Starts a run with `message` on an ATOM at rest and waits for its end; the telemetry goes into `collector`, also
    /// of a run that fails. `progress` hears the time of the latest sample (s); once `asked_to_stop` says so, the run
    /// is stopped.
    ///
    /// # Errors
    /// The network's, a refusal, or silence.
    pub fn run(
        &mut self,
        message: &[u8],
        collector: &mut Collector,
        asked_to_stop: impl Fn() -> bool,
        mut progress: impl FnMut(f64),
    ) -> Result<Done, RobotError> {
        let what = || words::code_word(message.first().copied().unwrap_or_default());
        self.link.send(message)?;
        let mut start = Start::Sent;
        let (mut heard_us, mut at_rest_us) = (self.now_us(), None);
        let (mut ping_us, mut stop_us) = (self.now_us() + RETRY_US, self.now_us());
        loop {
            let now_us = self.now_us();
            match start {
                Start::Begun if now_us > heard_us + SILENCE_US => return Err(RobotError::Silent),
                Start::Refused(ack) if now_us > heard_us + ANSWER_US => {
                    return accepted(ack).and(Err(RobotError::Silent));
                }
                Start::Sent if now_us > heard_us + ANSWER_US => {
                    return Err(RobotError::NoAnswer { what: what() });
                }
                Start::Begun | Start::Refused(_) | Start::Sent => {}
            }
            if asked_to_stop() && now_us >= stop_us {
                self.link.send(&build::plain(codes::STOP))?;
                stop_us = now_us + RETRY_US;
            }
            // The state says whether a start was lost, and that a MOVE_TO over a WebSocket, which has no telemetry,
            // goes on.
            if now_us >= ping_us {
                self.link.send(&build::plain(codes::PING))?;
                ping_us = now_us + if start == Start::Begun { PING_US } else { RETRY_US };
            }
            match self.receive(ping_us.min(now_us + LOOK_US))? {
                Some(Reply::Ack(ack)) if Some(&ack.code) == message.first() => {
                    heard_us = self.now_us();
                    match ack.status {
                        codes::OK => start = Start::Begun,
                        // A message that came twice is refused the second time.
                        _busy if start == Start::Begun => {}
                        codes::REFUSED => (start, ping_us) = (Start::Refused(ack), heard_us),
                        _refused => accepted(ack)?,
                    }
                }
                Some(Reply::Telemetry(packet)) => {
                    (start, heard_us) = (Start::Begun, self.now_us());
                    collector.take(&packet);
                    progress(collector.latest_s());
                }
                Some(Reply::Done(done)) => return Ok(done),
                Some(Reply::Pong(pong)) if State::from_byte(pong.state).is_some_and(State::is_run) => {
                    (start, heard_us) = (Start::Begun, self.now_us());
                    at_rest_us = None;
                }
                Some(Reply::Pong(_)) => match start {
                    Start::Sent => self.link.send(message)?,
                    Start::Refused(ack) => accepted(ack)?,
                    // A DONE may still be on its way.
                    Start::Begun => {
                        let since_us = *at_rest_us.get_or_insert(self.now_us());
                        if self.now_us() > since_us + ANSWER_US {
                            return Err(RobotError::EndLost);
                        }
                    }
                },
                Some(_) | None => {}
            }
        }
    }

    /// The next STREAM until `until_us`.
    ///
    /// # Errors
    /// The network's.
    pub fn stream(&mut self, until_us: u64) -> Result<Option<Stream>, RobotError> {
        match self.receive(until_us)? {
            Some(Reply::Stream(stream)) => Ok(Some(stream)),
            Some(_) | None => Ok(None),
        }
    }

    fn receive(&mut self, until_us: u64) -> Result<Option<Reply>, RobotError> {
        match self.link.receive(until_us)? {
            // Bytes that are no reply are another program's, or of a newer API: not ours to judge.
            Some(Incoming::Message(bytes)) => Ok(Reply::decode(&bytes).ok()),
            Some(Incoming::Line(line)) => {
                self.line = Some(line);
                Ok(None)
            }
            None => Ok(None),
        }
    }
}

fn accepted(ack: Ack) -> Result<(), RobotError> {
    if ack.status == codes::OK {
        return Ok(());
    }
    let status = words::status_word(ack.code, ack.status);
    Err(RobotError::Refused { what: words::code_word(ack.code), status })
}
