//! Options that keep files of what an ATOM does: trace, recordings, MCAP.

use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;

use super::exit::CommandError;
use super::new_file::{NewFile, refuse};
use super::values::whole;
use crate::atom::Atom;
use crate::recording::{Keepers, RunFiles, mcap, trace};

/// What to keep.
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// Keep every input and output with its virtual time in this file, for `atom-sim replay` and `atom-sim trace`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Keep the telemetry of every run as a recording in this folder: run-001.csv, run-002.csv, …
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Keep joints, TCP, IMU, state and events in this MCAP file, for a viewer such as Foxglove.
    #[arg(long, value_name = "FILE")]
    mcap: Option<PathBuf>,
    /// Moments per virtual second in the MCAP file.
    #[arg(long, value_name = "HZ", requires = "mcap", default_value_t = mcap::live::RATE_HZ, value_parser = whole::<u16>(1..=1000), allow_negative_numbers = true)]
    mcap_rate: u16,
}

impl KeepArgs {
    /// Opens the files for an ATOM that has had no input yet. They are removed again unless they are finished.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub(super) fn open(&self, atom: &mut Atom) -> Result<(Keepers, Vec<NewFile>), CommandError> {
        let (mut keepers, mut made) = (Keepers::default(), Vec::new());
        if let Some(path) = &self.trace {
            let (new, file) = NewFile::create("--trace", path)?;
            let writer = trace::Writer::begin(BufWriter::new(file), atom)
                .map_err(|error| refuse("--trace", path, &error))?;
            keepers.add(Box::new(writer), atom).map_err(|error| refuse("--trace", path, &error))?;
            made.push(new);
        }
        if let Some(path) = &self.record {
            let files = RunFiles::new(path, u32::MAX).map_err(|error| refuse("--record", path, &error))?;
            keepers.add(Box::new(files), atom).map_err(|error| refuse("--record", path, &error))?;
        }
        if let Some(path) = &self.mcap {
            let (new, file) = NewFile::create("--mcap", path)?;
            let live = mcap::Live::begin(BufWriter::new(file), self.mcap_rate, atom)
                .map_err(|error| refuse("--mcap", path, &error))?;
            keepers.add(Box::new(live), atom).map_err(|error| refuse("--mcap", path, &error))?;
            made.push(new);
        }
        Ok((keepers, made))
    }
}
