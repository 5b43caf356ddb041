//! Reads a trace line by line.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::format::{FORMAT_VERSION, Header, Line};

/// Longest line that is read (bytes): a message of 16 KiB in hexadecimal digits, with room.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("failed to read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// It is no trace.
    #[error("{}:1: expected a trace, which begins with {{\"atom_sim_trace\":{FORMAT_VERSION},…}}: {reason}", path.display())]
    NoTrace {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A newer program wrote it.
    #[error(
        "{}: the trace has format {found}, written by atom-sim {version}; this program reads up to {FORMAT_VERSION}. \
         Read it with atom-sim {version} or newer",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The program that wrote it.
        version: String,
    },
    /// A line is broken.
    #[error("{}:{line}: expected a line of a trace: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// What of the header every version has.
#[derive(Debug, serde::Deserialize)]
struct Version {
    atom_sim_trace: u32,
    #[serde(default)]
    version: String,
}

/// Reads one trace.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    path: PathBuf,
    header: Header,
    number: usize,
    text: String,
    cut_off: bool,
    /// Times of the last output and of the last line that is none (µs): each kind is in order.
    output_us: u64,
    input_us: u64,
    /// That was the end.
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header. `path` is for messages.
    ///
    /// # Errors
    /// No trace, or a newer one.
    pub fn new(mut input: R, path: &Path) -> Result<Self, TraceError> {
        let mut text = String::new();
        read_line(&mut input, &mut text, path, 1)?;
        let no_trace = |reason: serde_json::Error| TraceError::NoTrace {
            path: path.to_owned(),
            reason: reason.to_string(),
        };
        let version: Version = serde_json::from_str(&text).map_err(no_trace)?;
        if version.atom_sim_trace == 0 {
            let reason = "expected a format from 1 on, found 0".to_owned();
            return Err(TraceError::NoTrace { path: path.to_owned(), reason });
        }
        if version.atom_sim_trace > FORMAT_VERSION {
            let (found, version) = (version.atom_sim_trace, version.version);
            return Err(TraceError::Newer { path: path.to_owned(), found, version });
        }
        let header: Header = serde_json::from_str(&text).map_err(no_trace)?;
        let start_us = header.start_us;
        Ok(Self {
            input,
            path: path.to_owned(),
            header,
            number: 1,
            text,
            cut_off: false,
            output_us: start_us,
            input_us: start_us,
            ended: false,
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of the line read last, from 1.
    pub fn line_number(&self) -> usize {
        self.number
    }

    /// The last line was cut off in the middle, as by a crash; it was left out.
    pub fn was_cut_off(&self) -> bool {
        self.cut_off
    }

    /// Refuses a line that cannot stand where it stands.
    fn in_order(&mut self, line: Line) -> Result<Line, TraceError> {
        let wrong = |reason: String| TraceError::Line { path: self.path.clone(), line: self.number, reason };
        if self.ended {
            return Err(wrong("expected nothing behind the end, found a line".to_owned()));
        }
        let t_us = line.t_us();
        if let Line::Reset { .. } = line {
            // A new ATOM begins a time of its own.
            (self.output_us, self.input_us) = (t_us, t_us);
            return Ok(line);
        }
        let before_us = if line.is_output() { self.output_us } else { self.input_us };
        if t_us < before_us {
            return Err(wrong(format!("expected a time from {before_us} µs on, found {t_us} µs")));
        }
        *(if line.is_output() { &mut self.output_us } else { &mut self.input_us }) = t_us;
        self.ended = matches!(line, Line::End { .. });
        Ok(line)
    }

    /// The next line, `None` at the end. A last line without its end, as a crash leaves it, counts as no line.
    ///
    /// # Errors
    /// A broken line.
    pub fn read(&mut self) -> Result<Option<Line>, TraceError> {
        loop {
            self.number += 1;
            if !read_line(&mut self.input, &mut self.text, &self.path, self.number)? {
                return Ok(None);
            }
            if self.text.trim().is_empty() {
                continue;
            }
            match serde_json::from_str(&self.text) {
                Ok(line) => return self.in_order(line).map(Some),
                Err(_) if !self.text.ends_with('\n') => {
                    self.cut_off = true;
                    return Ok(None);
                }
                Err(error) => {
                    let (path, line, reason) = (self.path.clone(), self.number, error.to_string());
                    return Err(TraceError::Line { path, line, reason });
                }
            }
        }
    }
}

fn read_line(
    input: &mut impl BufRead,
    text: &mut String,
    path: &Path,
    line: usize,
) -> Result<bool, TraceError> {
    text.clear();
    let length = std::io::Read::take(input, LINE_BYTES_MAX as u64).read_line(text).map_err(|source| {
        match source.kind() {
            std::io::ErrorKind::InvalidData => {
                let reason = "expected text in UTF-8, found other bytes".to_owned();
                TraceError::Line { path: path.to_owned(), line, reason }
            }
            _ => TraceError::Io { path: path.to_owned(), source },
        }
    })?;
    if length == LINE_BYTES_MAX {
        let reason = "it is longer than 64 KiB".to_owned();
        return Err(TraceError::Line { path: path.to_owned(), line, reason });
    }
    Ok(length > 0)
}
