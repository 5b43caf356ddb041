//! What commands print: results on standard output, notes on standard error. Neither ends in a panic when
//! nobody takes it.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::ops::ControlFlow;

use super::exit::CommandError;

/// Prints a result, and nothing when its reader has had enough.
///
/// # Errors
/// 3: standard output takes nothing, for another reason.
pub(super) fn say(text: impl Display) -> Result<(), CommandError> {
    say_more(text).map(drop)
}

/// Prints a piece of a result that goes on, until its reader has had enough.
///
/// # Errors
/// As [`say`].
pub(super) fn say_more(text: impl Display) -> Result<ControlFlow<()>, CommandError> {
    said(write!(io::stdout(), "{text}").and_then(|()| io::stdout().flush()))
}

fn said(written: io::Result<()>) -> Result<ControlFlow<()>, CommandError> {
    match written {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(error) => Err(CommandError::machine(format!(
            "cannot print: {error}; give standard output a place that takes it"
        ))),
    }
}

/// Prints a line beside the results. Nobody is left to tell when standard error is closed.
pub(super) fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_leaves_is_no_error_and_a_full_disk_is() {
        assert_eq!(said(Ok(())), Ok(ControlFlow::Continue(())));
        assert_eq!(said(Err(ErrorKind::BrokenPipe.into())), Ok(ControlFlow::Break(())));
        let full = said(Err(ErrorKind::StorageFull.into())).expect_err("it is not written");
        assert_eq!(full.code, crate::cli::exit::MACHINE);
        assert!(full.message.contains("standard output"), "{full}");
    }
}
