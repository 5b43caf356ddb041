//! The generators: pure functions of state and dt.

pub mod plan;
pub mod signal;
