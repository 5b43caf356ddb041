//! Files that commands make: none goes over one that is there, and one that could not be finished is taken back.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::exit::CommandError;

/// A file that was made and is not finished. Dropped like this, it is removed.
#[derive(Debug)]
pub(super) struct NewFile {
    path: PathBuf,
    finished: bool,
}

impl NewFile {
    /// Makes the file that `option` names.
    ///
    /// # Errors
    /// 3: it is there, or cannot be made.
    pub(super) fn create(option: &str, path: &Path) -> Result<(Self, File), CommandError> {
        let file = File::create_new(path).map_err(|error| refuse(option, path, &error))?;
        Ok((Self { path: path.to_owned(), finished: false }, file))
    }

    /// It stays.
    pub(super) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            // An error is being told already.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Why the file of `option` cannot be made or written.
pub(super) fn refuse(option: &str, path: &Path, error: &io::Error) -> CommandError {
    let advice = if error.kind() == ErrorKind::AlreadyExists {
        "what is there stays as it is: give another name, or remove it"
    } else {
        "give it a place in a folder that exists and is writable"
    };
    CommandError::machine(format!("{option} {}: {error}; {advice}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_stays_and_one_that_is_not_finished_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.csv");
        let (unfinished, _) = NewFile::create("--record", &path).expect("a new file");
        drop(unfinished);
        assert!(!path.exists());
        NewFile::create("--record", &path).expect("a new file").0.finish();
        let error = NewFile::create("--record", &path).expect_err("it is there");
        assert!(path.exists() && error.message.contains("what is there stays"), "{error}");
        let error = NewFile::create("--out", &folder.path().join("none/run.csv")).expect_err("no folder");
        assert!(
            error.message.starts_with("--out ") && error.message.contains("folder that exists"),
            "{error}"
        );
    }
}
