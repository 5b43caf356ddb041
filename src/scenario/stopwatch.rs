//! Wall time, for reports and for the guard against a hang. Nothing that is simulated sees it.
#![expect(clippy::disallowed_methods, reason = "how long a run takes on the wall is what this measures")]

use std::time::{Duration, Instant};

/// Time since it was started.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Wall time since its start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
