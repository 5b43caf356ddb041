//! The LED matrix: which picture it shows, refreshed every 100 ms while the picture moves.

use crate::led::{self, Frame};
use crate::shared::{State, View};

/// Refresh period of the progress spiral (µs).
const REFRESH_US: u64 = 100_000;

/// The picture on the matrix.
#[derive(Debug)]
pub(super) struct Leds {
    state: State,
    frame: Frame,
    refresh_us: u64,
}

impl Default for Leds {
    fn default() -> Self {
        Self { state: State::Booting, frame: led::frame(State::Booting, 0), refresh_us: u64::MAX }
    }
}

impl Leds {
    pub(super) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Shows `state` at once when it changes, and the progress of `view` every 100 ms.
    pub(super) fn show(&mut self, state: State, view: &View, now_us: u64) {
        if state == self.state && now_us < self.refresh_us {
            return;
        }
        self.state = state;
        self.frame = led::frame(state, view.progress_permille);
        self.refresh_us = if led::shows_progress(state) { now_us + REFRESH_US } else { u64::MAX };
    }

    /// When the picture is refreshed next (µs).
    pub(super) fn next_us(&self) -> u64 {
        self.refresh_us
    }
}
