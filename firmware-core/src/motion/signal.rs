//! Test signals: chirp and steps.

/// Parameters of PLAY_SIGNAL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {}
