//! Traces and recordings that clients of the API start, each with its owner.
//!
//! A client names a file, never a path: names are letters, digits, `-` and `_`, the folder is the one of the
//! options, and what is there already is never written over or through.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use super::error::{ApiError, Code};
use super::order::{Owner, SessionNumber};
use super::replies::{RecordingReply, RecordingsReply};
use super::requests::{RecordingFormat, invalid};
use crate::atom::Atom;
use crate::recording::bounded::Bounded;
use crate::recording::{Keeper, KeeperId, Keepers, RunFiles, mcap, trace};

/// Recordings at once.
const RECORDINGS_MAX: usize = 16;
/// Largest file of a client (bytes): at full speed a forgotten trace would fill the disk.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Recordings of runs in one folder.
const RUNS_MAX: u32 = 1_000;
/// Longest name (bytes).
const NAME_MAX: usize = 64;

/// Something that is being kept.
#[derive(Debug)]
struct Kept {
    keeper: KeeperId,
    format: RecordingFormat,
    file: String,
    owner: Owner,
}

/// A place for a file, taken and empty.
#[derive(Debug)]
pub(super) struct Place {
    format: RecordingFormat,
    file: String,
    path: PathBuf,
    taken: Taken,
}

/// What stands at a place, empty.
#[derive(Debug)]
enum Taken {
    Trace(File),
    Mcap(File),
    /// A folder for the recordings of runs.
    Runs,
}

/// All that is being kept for clients of the API.
#[derive(Debug)]
pub(super) struct Recordings {
    folder: Option<PathBuf>,
    made: u32,
    kept: BTreeMap<u32, Kept>,
}

impl Recordings {
    /// Files go into `folder`; without it none can be asked for.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, made: 0, kept: BTreeMap::new() }
    }

    /// Takes the place of a new file. Nothing is there after a refusal that was not there before.
    pub(super) fn take_place(&self, format: RecordingFormat, name: &str) -> Result<Place, ApiError> {
        let Some(folder) = &self.folder else {
            return Err(ApiError::new(
                Code::NoFolder,
                "there is no folder for files; start the simulator with --commands-folder FOLDER",
            ));
        };
        if self.kept.len() >= RECORDINGS_MAX {
            let message = format!("{RECORDINGS_MAX} recordings are on already; end one first");
            return Err(ApiError::new(Code::TooMany, message));
        }
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !(1..=NAME_MAX).contains(&name.len()) || !name.bytes().all(fits) {
            let expected = format!("1 to {NAME_MAX} letters, digits, - and _, no path");
            return Err(invalid("name", &expected, format_args!("\"{}\"", name.escape_debug())));
        }
        let file = match format {
            RecordingFormat::Trace => format!("{name}.jsonl"),
            RecordingFormat::Mcap => format!("{name}.mcap"),
            RecordingFormat::Csv => name.to_owned(),
        };
        let path = folder.join(&file);
        // All fail if anything is there, a link included.
        let taken = match format {
            RecordingFormat::Trace => File::create_new(&path).map(Taken::Trace),
            RecordingFormat::Mcap => File::create_new(&path).map(Taken::Mcap),
            RecordingFormat::Csv => fs::create_dir(&path).map(|()| Taken::Runs),
        };
        match taken {
            Ok(taken) => Ok(Place { format, file, path, taken }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ApiError::new(Code::NameTaken, format!("{file} is there already; choose another name")))
            }
            Err(error) => Err(failed(&file, &error)),
        }
    }

    /// Starts to keep a file.
    pub(super) fn start(
        &mut self,
        place: Place,
        owner: Owner,
        keepers: &mut Keepers,
        atom: &mut Atom,
    ) -> Result<RecordingReply, ApiError> {
        let Place { format, file, path, taken } = place;
        let bounded = |file| Bounded::new(BufWriter::new(file), FILE_BYTES_MAX);
        let keeper: io::Result<Box<dyn Keeper>> = match taken {
            Taken::Trace(out) => trace::Writer::begin(bounded(out), atom).map(boxed),
            Taken::Mcap(out) => mcap::Live::begin(bounded(out), mcap::live::RATE_HZ, atom).map(boxed),
            Taken::Runs => RunFiles::new(&path, RUNS_MAX).map(boxed),
        };
        let keeper = keeper.and_then(|keeper| keepers.add(keeper, atom)).map_err(|error| {
            give_up(format, &path);
            failed(&file, &error)
        })?;
        self.made += 1;
        let kept = Kept { keeper, format, file, owner };
        let reply = reply(self.made, &kept, keepers);
        self.kept.insert(self.made, kept);
        Ok(reply)
    }

    /// Ends a file in order.
    pub(super) fn end(
        &mut self,
        id: u32,
        keepers: &mut Keepers,
        atom: &mut Atom,
    ) -> Result<RecordingsReply, ApiError> {
        let Some(Kept { keeper, file, .. }) = self.kept.remove(&id) else {
            return Err(ApiError::new(
                Code::NoSuchRecording,
                format!("no recording has the number {id}; GET /api/recordings lists those that are on"),
            ));
        };
        keepers.end_one(keeper, atom).map_err(|error| failed(&file, &error))?;
        Ok(self.list(keepers))
    }

    /// Ends the files of a session in order.
    pub(super) fn end_session(&mut self, session: SessionNumber, keepers: &mut Keepers, atom: &mut Atom) {
        let owned: Vec<u32> =
            self.kept.iter().filter(|(_, kept)| kept.owner == Some(session)).map(|(&id, _)| id).collect();
        for id in owned {
            if let Err(error) = self.end(id, keepers, atom) {
                tracing::warn!("{}", error.error.message);
            }
        }
    }

    /// All that are on.
    pub(super) fn list(&self, keepers: &Keepers) -> RecordingsReply {
        RecordingsReply { recordings: self.kept.iter().map(|(&id, kept)| reply(id, kept, keepers)).collect() }
    }
}

fn reply(id: u32, kept: &Kept, keepers: &Keepers) -> RecordingReply {
    RecordingReply {
        id,
        format: kept.format,
        file: kept.file.clone(),
        session: kept.owner.map(|session| session.to_string()),
        error: keepers.failure(kept.keeper).map(ToString::to_string),
    }
}

fn boxed<K: Keeper + 'static>(keeper: K) -> Box<dyn Keeper> {
    Box::new(keeper)
}

impl Place {
    /// Gives the place up again.
    pub(super) fn give_up(self) {
        give_up(self.format, &self.path);
    }
}

/// Takes away what was made of a recording that did not begin.
fn give_up(format: RecordingFormat, path: &Path) {
    let gone = match format {
        RecordingFormat::Trace | RecordingFormat::Mcap => fs::remove_file(path),
        RecordingFormat::Csv => fs::remove_dir_all(path),
    };
    if let Err(error) = gone {
        tracing::warn!("{} stays, though nothing is kept in it: {error}", path.display());
    }
}

fn failed(file: &str, error: &io::Error) -> ApiError {
    ApiError::new(
        Code::RecordingFailed,
        format!("{file} cannot be written: {error}; is the folder there, with room?"),
    )
}
