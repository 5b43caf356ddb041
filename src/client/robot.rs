//! One ATOM as a client uses it: who it is, requests with their answers, uploads, runs with their telemetry.

use std::io;

use firmware_core::protocol::reply::{Ack, Done, Pong};
use firmware_core::protocol::stream::Stream;
use firmware_core::protocol::{Reply, build, codes};

use super::link::{Incoming, Link, Target};
use super::plan::Plan;
use super::run::Run;
use super::upload::{Upload, UploadError};
use crate::recording::Collector;
use crate::recording::trace::words;

/// How long an answer may take (µs).
const ANSWER_US: u64 = 2_000_000;
/// A request that may be sent again is, after this long (µs).
const RETRY_US: u64 = 300_000;
/// The status log says who it is within this long (µs).
const LINE_US: u64 = 2_500_000;

/// During a run what is to be done is looked at this often (µs).
const LOOK_US: u64 = 100_000;

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
    /// It was asked to stop before anything moved.
    #[error("stopped before anything moved")]
    Stopped,
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
    /// The network's, a refusal that sending again does not mend, or that it was asked to stop.
    pub fn upload(
        &mut self,
        plan: &Plan,
        asked_to_stop: impl Fn() -> bool,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<(), RobotError> {
        let mut upload = Upload::new(plan);
        while !upload.is_done() {
            if asked_to_stop() {
                return Err(RobotError::Stopped);
            }
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
    /// The network's, a refusal, silence, or that it was asked to stop before it began.
    pub fn run(
        &mut self,
        message: &[u8],
        collector: &mut Collector,
        asked_to_stop: impl Fn() -> bool,
        mut progress: impl FnMut(f64),
    ) -> Result<Done, RobotError> {
        if asked_to_stop() {
            return Err(RobotError::Stopped);
        }
        let mut run = Run::new(message, self.link.is_lossy(), self.now_us());
        loop {
            while let Some(bytes) = run.poll(self.now_us(), asked_to_stop())? {
                self.link.send(&bytes)?;
            }
            let Some(reply) = self.receive(self.now_us() + LOOK_US)? else { continue };
            if let Reply::Telemetry(packet) = &reply {
                collector.take(packet);
                progress(collector.latest_s());
            }
            if let Some(done) = run.take(&reply, self.now_us())? {
                return Ok(done);
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

/// The refusal that an ACK is, unless it is none.
pub(super) fn accepted(ack: Ack) -> Result<(), RobotError> {
    if ack.status == codes::OK {
        return Ok(());
    }
    let status = words::status_word(ack.code, ack.status);
    Err(RobotError::Refused { what: words::code_word(ack.code), status })
}
