//! A scenario that was checked and is ready to run.

use std::path::PathBuf;
use std::sync::Arc;

use super::condition::Condition;
use super::fault_entry::FaultEntry;
use super::upload::Upload;
use crate::atom::{Options, Transport};
use crate::link::Profile;

/// One scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name, with case and seed.
    pub name: String,
    /// What it shows.
    pub purpose: String,
    /// Its file.
    pub path: PathBuf,
    /// Seed.
    pub seed: u64,
    /// Words to select by.
    pub tags: Vec<String>,
    /// How the ATOM starts.
    pub options: Options,
    /// It ends after this long (µs).
    pub duration_us: u64,
    /// Afterwards the arm must still hold, answer and move.
    pub recovery: bool,
    /// Clients.
    pub clients: Vec<ClientPlan>,
    /// What they do. Behind an `Arc`: seeds and cases share it.
    pub steps: Arc<[StepPlan]>,
    /// What goes wrong.
    pub faults: Arc<[FaultEntry]>,
    /// What must come of it.
    pub expects: Arc<[ExpectPlan]>,
}

/// A client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientPlan {
    /// Name.
    pub name: String,
    /// How it is connected.
    pub transport: Transport,
    /// Subscription (Hz), renewed every second.
    pub subscribe_hz: Option<u16>,
    /// Its own WiFi.
    pub wifi: Option<Profile>,
    /// It connects at the start.
    pub connected: bool,
}

/// When a step begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// At this time (µs).
    At(u64),
    /// This long after the step of this index is over (µs).
    AfterStep(usize, u64),
    /// This long after the start (µs): the first step of a client.
    AfterStart(u64),
}

/// One thing that a client does.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPlan {
    /// Index of the client.
    pub client: usize,
    /// Its label.
    pub label: Option<String>,
    /// When it begins.
    pub begin: Begin,
    /// Then it waits until this is true.
    pub when: Option<Condition>,
    /// The longest wait (µs).
    pub wait_us: u64,
    /// What it does.
    pub deed: Deed,
    /// Period and length of its repetition (µs).
    pub repeat_us: Option<(u64, u64)>,
    /// What it does, in words, for reports.
    pub words: String,
    /// Line in the file.
    pub line: usize,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// Nothing.
    Wait,
    /// Connects.
    Connect,
    /// Closes.
    Close,
    /// Sends a message.
    Send(Vec<u8>),
    /// Uploads a plan.
    Upload(Arc<Upload>),
}

/// When an expectation counts (µs).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// True at this time.
    At(u64),
    /// True at some moment.
    Within(u64, u64),
    /// True at every moment.
    Always(u64, u64),
    /// True at no moment.
    Never(u64, u64),
}

impl Window {
    /// First and last moment (µs).
    pub fn range_us(self) -> (u64, u64) {
        match self {
            Self::At(at_us) => (at_us, at_us),
            Self::Within(from_us, to_us) | Self::Always(from_us, to_us) | Self::Never(from_us, to_us) => {
                (from_us, to_us)
            }
        }
    }

    /// The same window, `by_us` later.
    pub fn later(self, by_us: u64) -> Self {
        match self {
            Self::At(at_us) => Self::At(at_us + by_us),
            Self::Within(from_us, to_us) => Self::Within(from_us + by_us, to_us + by_us),
            Self::Always(from_us, to_us) => Self::Always(from_us + by_us, to_us + by_us),
            Self::Never(from_us, to_us) => Self::Never(from_us + by_us, to_us + by_us),
        }
    }
}

/// One thing that must come of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectPlan {
    /// What.
    pub that: Condition,
    /// When.
    pub window: Window,
    /// Index of the step whose beginning the window counts from.
    pub after: Option<usize>,
    /// Why.
    pub why: Option<String>,
    /// Line in the file.
    pub line: usize,
}
