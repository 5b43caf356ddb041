//! What commands print: results on standard output, notes on standard error. Neither ends in a panic when
//! nobody takes it.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use super::exit::CommandError;

/// Prints a result, and nothing when its reader has had enough.
///
/// # Errors
/// 3: standard output takes nothing, for another reason.
pub(super) fn say(text: impl Display) -> Result<(), CommandError> {
    said(write!(io::stdout(), "{text}").and_then(|()| io::stdout().flush()))
}

fn said(written: io::Result<()>) -> Result<(), CommandError> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CommandError::machine(format!(
            "cannot print: {error}; give standard output a place that takes it"
        ))),
        Ok(()) | Err(_) => Ok(()),
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
        assert_eq!(said(Ok(())), Ok(()));
        assert_eq!(said(Err(ErrorKind::BrokenPipe.into())), Ok(()));
        let full = said(Err(ErrorKind::StorageFull.into())).expect_err("it is not written");
        assert_eq!(full.code, crate::cli::exit::MACHINE);
        assert!(full.message.contains("standard output"), "{full}");
    }
}
