//! What is wrong with a scenario file: file, line, column, and what would be right.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::atom::fault::catalogue::nearest;

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1; 0 when the whole file is meant.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.path.display(), self.message)
        } else {
            write!(f, "{}:{}:{}: {}", self.path.display(), self.line, self.column, self.message)
        }
    }
}

impl std::error::Error for FileError {}

/// The text of a file, to say where things stand.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file.
    pub path: &'a Path,
    /// The folder of the files that it names; `None` for a text that may read none.
    pub folder: Option<&'a Path>,
    /// Its text.
    pub text: &'a str,
}

impl Source<'_> {
    /// An error at a place in the text (bytes).
    pub fn error(&self, span: &Range<usize>, message: impl Into<String>) -> FileError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        FileError {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }

    /// An error of the TOML parser or of the types of the format.
    pub fn toml_error(&self, error: &toml::de::Error) -> FileError {
        let span = error.span().unwrap_or(0..0);
        self.error(&span, with_nearest(error.message()))
    }
}

/// Adds the nearest right name to "unknown field `x`, expected one of `a`, `b`".
fn with_nearest(message: &str) -> String {
    let message = message.trim_end();
    let mut quoted = message.split('`').skip(1).step_by(2);
    if !message.starts_with("unknown ") || !message.contains("expected") {
        return message.to_owned();
    }
    let Some(unknown) = quoted.next() else { return message.to_owned() };
    match nearest(unknown, quoted) {
        "" => message.to_owned(),
        best => format!("{message}; the nearest is `{best}`"),
    }
}
