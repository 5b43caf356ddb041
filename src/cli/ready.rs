//! What a started server tells the program that started it: one line of JSON with the real ports.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

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
pub(crate) struct ReadyFile(PathBuf);

impl ReadyFile {
    /// Removes a ready file that an earlier run left behind, so that nobody takes it for this run's.
    pub(crate) fn prepare(path: &Path) -> Result<Self, CommandError> {
        match fs::remove_file(path) {
            Ok(()) => Ok(Self(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self(path.to_owned())),
            Err(error) => Err(cannot_write(path, &error)),
        }
    }

    /// Writes the line so that a reader sees all of it or no file.
    fn write(&self, line: &str) -> Result<(), CommandError> {
        let mut unfinished = self.0.clone().into_os_string();
        unfinished.push(format!(".{}", std::process::id()));
        fs::write(&unfinished, format!("{line}\n"))
            .and_then(|()| fs::rename(&unfinished, &self.0))
            .map_err(|error| cannot_write(&self.0, &error))
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        // Missing already is as good as removed; for anything else it is too late.
        let _ = fs::remove_file(&self.0);
    }
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
