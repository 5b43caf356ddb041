//! Keeps a recording of every run whose telemetry goes out: one CSV each, in a folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use firmware_core::platform::ClientId;
use firmware_core::protocol::{Reply, codes};

use super::Collector;
use super::csv_file::Writer;
use super::keeper::Keeper;
use super::row::Row;
use crate::atom::{Atom, JournalEntry, Output};

/// Writes `run-001.csv`, `run-002.csv`, … as runs end.
#[derive(Debug)]
pub struct RunFiles {
    folder: PathBuf,
    /// Number of the last file.
    number: u64,
    runs: u32,
    runs_max: u32,
    collectors: BTreeMap<ClientId, Collector>,
}

impl RunFiles {
    /// Recordings go into `folder`, which is made if it is not there, of at most `runs_max` runs. What is there stays:
    /// numbers go on after the last.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(folder: &Path, runs_max: u32) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut number = 0;
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name();
            let found: Option<u32> =
                name.to_str().and_then(|name| name.strip_prefix("run-")?.strip_suffix(".csv")?.parse().ok());
            number = number.max(found.map_or(0, u64::from));
        }
        Ok(Self { folder: folder.to_owned(), number, runs: 0, runs_max, collectors: BTreeMap::new() })
    }

    fn write(&mut self, collector: &Collector) -> io::Result<()> {
        let (path, file) = self.next_file()?;
        write_recording(file, collector)?;
        tracing::info!("recorded {} samples in {}", collector.len(), path.display());
        Ok(())
    }

    /// The next file that is not there yet: another simulator may record into the same folder.
    fn next_file(&mut self) -> io::Result<(PathBuf, File)> {
        loop {
            if self.runs >= self.runs_max {
                return Err(io::Error::other(format!(
                    "expected at most {} recordings, the limit of them is reached",
                    self.runs_max
                )));
            }
            self.number += 1;
            let path = self.folder.join(format!("run-{:03}.csv", self.number));
            match File::create_new(&path) {
                Ok(file) => {
                    self.runs += 1;
                    return Ok((path, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Writes the telemetry of one run.
///
/// # Errors
/// The writer's.
pub fn write_recording(out: impl Write, collector: &Collector) -> io::Result<()> {
    let mut writer = Writer::new(BufWriter::new(out), collector.joints())?;
    for sample in collector.samples() {
        writer.write(&Row::from_sample(sample))?;
    }
    writer.finish().map(drop)
}

impl Keeper for RunFiles {
    fn name(&self) -> String {
        format!("the recordings in {}", self.folder.display())
    }

    fn reset(&mut self, _atom: &mut Atom) -> io::Result<()> {
        self.collectors.clear();
        Ok(())
    }

    fn entry(&mut self, _entry: &JournalEntry) -> io::Result<()> {
        Ok(())
    }

    fn output(&mut self, output: &Output) -> io::Result<()> {
        let Output::Message { to, bytes, .. } = output else { return Ok(()) };
        if ![Some(&codes::TELEM), Some(&codes::DONE)].contains(&bytes.first()) {
            return Ok(());
        }
        match Reply::decode(bytes) {
            Ok(Reply::Telemetry(packet)) => self.collectors.entry(*to).or_default().take(&packet),
            Ok(Reply::Done(_)) => {
                if let Some(collector) = self.collectors.remove(to) {
                    self.write(&collector)?;
                }
            }
            // A message that a fault has garbled is no telemetry.
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }

    fn look(&mut self, _atom: &Atom) -> io::Result<()> {
        Ok(())
    }

    /// A run that the end cuts off is recorded as far as it came.
    fn end(&mut self, _atom: &Atom) -> io::Result<()> {
        for collector in std::mem::take(&mut self.collectors).values() {
            self.write(collector)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_simulators_recordings_in_the_folder_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut first = RunFiles::new(folder.path(), u32::MAX).expect("a folder");
        let mut second = RunFiles::new(folder.path(), u32::MAX).expect("a folder");
        for (files, name) in [(&mut first, "run-001.csv"), (&mut second, "run-002.csv")] {
            let (path, _) = files.next_file().expect("room");
            assert_eq!(path, folder.path().join(name));
        }
        assert_eq!(first.next_file().expect("room").0, folder.path().join("run-003.csv"));
    }

    #[test]
    fn no_more_runs_than_asked_for_are_kept_whatever_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("run-4294967295.csv"), "").expect("room");
        std::fs::write(folder.path().join("run-9.csv"), "").expect("room");
        let mut files = RunFiles::new(folder.path(), 2).expect("a folder");
        for _ in 0..2 {
            files.next_file().expect("room");
        }
        assert!(
            files.next_file().expect_err("two were asked for").to_string().contains("at most 2 recordings")
        );
    }
}
