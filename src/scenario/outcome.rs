//! What came of a run.

use std::path::PathBuf;
use std::time::Duration;

/// One thing that was not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Line of the expectation or step in the file; 0 for the recovery check.
    pub line: usize,
    /// What was expected, and when.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// When (µs from the start).
    pub t_us: u64,
    /// Why it is expected.
    pub why: Option<String>,
    /// The last seconds around it, a line each.
    pub around: Vec<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Everything was as expected.
    Passed,
    /// Something was not.
    Failed(Vec<Failure>),
    /// The wall-clock guard ended it.
    TimedOut,
    /// The ATOM cannot be made as the file says, or a fault cannot be given.
    Impossible(String),
}

impl Verdict {
    /// Everything was as expected.
    pub fn passed(&self) -> bool {
        *self == Self::Passed
    }
}

/// A run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Name of the scenario, with case and seed.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// How long it took in virtual time (µs).
    pub virtual_us: u64,
    /// How long it took on the wall.
    pub wall: Duration,
    /// The trace, when asked for: every input and output, which `atom-sim replay` plays again.
    pub trace: Vec<u8>,
    /// Goals and angles every 20 ms, when asked for.
    pub samples: Vec<crate::atom::Truth>,
}
