//! What a started server tells the program that started it: one line of JSON with the real ports.

use std::cell::OnceCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::exit::CommandError;
use crate::server::Endpoints;

/// The ready line. Keys are part of the interface: they stay, new ones may come.
#[derive(Debug, Serialize)]
struct Ready<'a> {
    event: &'static str,
    version: &'static str,
    pid: u32,
    websocket: Option<&'a str>,
    websocket_port: u16,
    udp: String,
    udp_port: u16,
    host: String,
}

fn ready_line(endpoints: &Endpoints) -> serde_json::Result<String> {
    serde_json::to_string(&Ready {
        event: "ready",
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        websocket: endpoints.websocket_url().as_deref(),
        websocket_port: endpoints.http.port(),
        udp: endpoints.udp.to_string(),
        udp_port: endpoints.udp.port(),
        host: endpoints.http.ip().to_string(),
    })
}

/// The ready file: there while the server serves, gone before and after.
#[derive(Debug)]
pub(crate) struct ReadyFile {
    path: PathBuf,
    /// What this server wrote.
    line: OnceCell<String>,
}

impl ReadyFile {
    /// Removes what a run that was killed left behind, so that nobody takes it for this run's.
    ///
    /// # Errors
    /// A file that is something else (2), or that of another server (3), which stays as it is.
    pub(crate) fn prepare(path: &Path) -> Result<Self, CommandError> {
        let file = Self { path: path.to_owned(), line: OnceCell::new() };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(file),
            Err(error) => return Err(cannot_write(path, &error)),
        };
        let line: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        if line["event"] != "ready" && !text.trim().is_empty() {
            return Err(CommandError::bad_input(format!(
                "{} is there and no ready file; give --ready-file another name, or remove that file",
                path.display()
            )));
        }
        if let Some(pid) = line["pid"].as_u64().filter(|pid| serves(*pid)) {
            return Err(CommandError::machine(format!(
                "the ready file {} is that of process {pid}, which serves; give --ready-file another name, or stop that",
                path.display()
            )));
        }
        fs::remove_file(path).map_err(|error| cannot_write(path, &error))?;
        Ok(file)
    }

    /// Writes the line so that a reader sees all of it or no file.
    fn write(&self, line: &str) -> Result<(), CommandError> {
        let line = self.line.get_or_init(|| format!("{line}\n"));
        let mut unfinished = self.path.clone().into_os_string();
        unfinished.push(format!(".{}", std::process::id()));
        fs::write(&unfinished, line)
            .and_then(|()| fs::rename(&unfinished, &self.path))
            .map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        let ours = |text: String| Some(&text) == self.line.get();
        if fs::read_to_string(&self.path).is_ok_and(ours) {
            // Missing by now is as good as removed; for anything else it is too late.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The process is there and of this program, as far as the system tells; a number may have gone to another one.
fn serves(pid: u64) -> bool {
    let own = env!("CARGO_PKG_NAME");
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == own)
}

fn cannot_write(path: &Path, error: &io::Error) -> CommandError {
    CommandError::machine(format!(
        "cannot write the ready file {}: {error}; give --ready-file a file in a folder that exists and is writable",
        path.display()
    ))
}

/// Prints the ready line on standard output and writes it to the ready file, if any.
pub(crate) fn announce(endpoints: &Endpoints, file: Option<&ReadyFile>) -> Result<(), CommandError> {
    let line = ready_line(endpoints)
        .map_err(|error| CommandError::failed(format!("cannot make the ready line: {error}")))?;
    if let Some(file) = file {
        file.write(&line)?;
    }
    let mut out = io::stdout().lock();
    if let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) {
        // A closed standard output is no reason not to serve.
        tracing::warn!("cannot print the ready line: {error}");
    }
    Ok(())
}
