//! Exit codes, and the error that ends a command with one.

use std::fmt;

/// The command did what it was asked.
pub const OK: u8 = 0;
/// The command ran and failed: a test failed, or the simulator itself did.
pub const FAILED: u8 = 1;
/// The command line or an input file is wrong. Nothing was started.
pub const BAD_INPUT: u8 = 2;
/// The machine stood in the way: a port in use, a file that cannot be read or written, no time left.
pub const MACHINE: u8 = 3;

/// Why a command ends early: a code of this module, and one line that says what failed, why and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandError {
    /// One of this module's codes.
    pub code: u8,
    /// What failed, why, and what to do, on one line.
    pub message: String,
}

impl CommandError {
    /// The command line or an input file is wrong.
    pub fn bad_input(message: impl fmt::Display) -> Self {
        Self { code: BAD_INPUT, message: message.to_string() }
    }

    /// The machine stood in the way.
    pub fn machine(message: impl fmt::Display) -> Self {
        Self { code: MACHINE, message: message.to_string() }
    }

    /// The command ran and failed.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self { code: FAILED, message: message.to_string() }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CommandError {}
