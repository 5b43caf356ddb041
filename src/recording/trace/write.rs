//! Writes a trace while the ATOM runs.

use std::io::{self, Write};

use super::format::{FORMAT_VERSION, Header, Line};
use crate::atom::{Atom, JournalEntry, Output};

/// Writes the lines of one trace.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    /// Inputs and outputs that came before this time are on their way to the file (µs).
    latest_us: u64,
}

impl<W: Write> Writer<W> {
    /// Begins the trace of an ATOM that has had no input yet, and lets it keep its journal.
    ///
    /// # Errors
    /// The writer's.
    pub fn begin(out: W, atom: &mut Atom) -> io::Result<Self> {
        atom.keep_journal();
        let header = Header {
            atom_sim_trace: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            start_us: atom.now_us(),
            options: atom.options().clone(),
        };
        let mut writer = Self { out, latest_us: header.start_us };
        writer.put(&header)?;
        Ok(writer)
    }

    /// The ATOM was made anew.
    ///
    /// # Errors
    /// The writer's.
    pub fn reset(&mut self, atom: &mut Atom) -> io::Result<()> {
        atom.keep_journal();
        let options = Box::new(atom.options().clone());
        self.line(&Line::Reset { start_us: atom.now_us(), options })
    }

    /// An input or event.
    ///
    /// # Errors
    /// The writer's.
    pub fn entry(&mut self, entry: &JournalEntry) -> io::Result<()> {
        self.line(&Line::from(entry.clone()))
    }

    /// An output.
    ///
    /// # Errors
    /// The writer's.
    pub fn output(&mut self, output: &Output) -> io::Result<()> {
        self.line(&Line::from(output))
    }

    /// Ends the trace at a virtual time (µs) and gives the writer back.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self, t_us: u64) -> io::Result<W> {
        self.line(&Line::End { t_us: t_us.max(self.latest_us) })?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Brings all lines into the file.
    ///
    /// # Errors
    /// The writer's.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.latest_us = line.t_us();
        self.put(line)
    }

    fn put(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }
}
