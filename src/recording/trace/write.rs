//! Writes a trace while the ATOM runs.

use std::io::{self, Write};

use super::format::{FORMAT_VERSION, Header, Line};
use crate::atom::{Atom, JournalEntry, Output};
use crate::recording::keeper::Keeper;

/// Lines reach the file at least this often (virtual µs), so that a crash loses little.
const FLUSH_US: u64 = 1_000_000;

/// Writes the lines of one trace.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    flush_due_us: u64,
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
        let mut writer = Self { out, flush_due_us: 0 };
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
        self.flush_due_us = 0;
        self.put(&Line::Reset { start_us: atom.now_us(), options })
    }

    /// An input or event.
    ///
    /// # Errors
    /// The writer's.
    pub fn entry(&mut self, entry: &JournalEntry) -> io::Result<()> {
        self.put(&Line::from(entry.clone()))
    }

    /// An output.
    ///
    /// # Errors
    /// The writer's.
    pub fn output(&mut self, output: &Output) -> io::Result<()> {
        self.put(&Line::from(output))
    }

    /// Ends the trace at a virtual time (µs) and gives the writer back.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self, t_us: u64) -> io::Result<W> {
        self.put(&Line::End { t_us })?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }
}

impl<W: Write + Send + std::fmt::Debug> Keeper for Writer<W> {
    fn name(&self) -> String {
        "the trace".to_owned()
    }

    fn reset(&mut self, atom: &mut Atom) -> io::Result<()> {
        Self::reset(self, atom)
    }

    fn entry(&mut self, entry: &JournalEntry) -> io::Result<()> {
        Self::entry(self, entry)
    }

    fn output(&mut self, output: &Output) -> io::Result<()> {
        Self::output(self, output)
    }

    fn look(&mut self, atom: &Atom) -> io::Result<()> {
        if atom.now_us() < self.flush_due_us {
            return Ok(());
        }
        self.flush_due_us = atom.now_us() + FLUSH_US;
        self.out.flush()
    }

    fn end(&mut self, atom: &Atom) -> io::Result<()> {
        self.put(&Line::End { t_us: atom.now_us() })?;
        self.out.flush()
    }
}
