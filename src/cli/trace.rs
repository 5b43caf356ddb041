//! `atom-sim replay` and `atom-sim trace show`: a session once more, or in words.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::exit::CommandError;
use crate::recording::trace::{Difference, Reader, ReplayError, TraceError, Verdict, replay, words};

/// Options of `atom-sim replay`.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// A trace, as `atom-sim --trace FILE` writes it.
    file: PathBuf,
}

/// What to do with a trace.
#[derive(Debug, Args)]
pub(super) struct TraceArgs {
    #[command(subcommand)]
    action: TraceAction,
}

#[derive(Debug, Subcommand)]
enum TraceAction {
    /// Explain a trace in words, one line each.
    Show {
        /// A trace, as `atom-sim --trace FILE` writes it.
        file: PathBuf,
        /// Leave out STREAM and TELEM.
        #[arg(long)]
        brief: bool,
    },
}

/// Replays a trace and says whether the same came out.
pub(super) fn run_replay(args: &ReplayArgs) -> Result<(), CommandError> {
    let mut reader = open(&args.file)?;
    let level = reader.header().options.level;
    match replay(&mut reader).map_err(|error| refuse_replay(&args.file, &error))? {
        Verdict::Same { inputs, outputs, virtual_us } => {
            let cut = if reader.was_cut_off() { ", up to where the trace was cut off" } else { "" };
            say(&format!(
                "identical: {outputs} outputs to {inputs} inputs in {:.3} s of virtual time{cut}",
                virtual_us as f64 / 1e6
            ));
            Ok(())
        }
        Verdict::Different(difference) => {
            let Difference { line, expected, found } = *difference;
            let show =
                |line: Option<_>| line.map_or_else(|| "nothing".to_owned(), |line| words::line(&line, level));
            Err(CommandError::failed(format!(
                "{}:{line}: the first difference: expected {}, found {}",
                args.file.display(),
                show(expected).trim(),
                show(found).trim()
            )))
        }
    }
}

/// Works on a trace.
pub(super) fn run_trace(args: &TraceArgs) -> Result<(), CommandError> {
    let TraceAction::Show { file, brief } = &args.action;
    let mut reader = open(file)?;
    let level = reader.header().options.level;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut print = |text: &str| writeln!(out, "{text}").is_ok();
    let mut open = print(&words::header(reader.header()));
    while open && let Some(line) = reader.read().map_err(|error| refuse(&error))? {
        let text = words::line(&line, level);
        if !(*brief && (text.contains("ATOM  STREAM") || text.contains("ATOM  TELEM"))) {
            // A reader that has seen enough closes the pipe.
            open = print(&text);
        }
    }
    if open && reader.was_cut_off() {
        print("the trace was cut off here");
    }
    Ok(())
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, CommandError> {
    let file =
        File::open(path).map_err(|source| refuse(&TraceError::Io { path: path.to_owned(), source }))?;
    Reader::new(BufReader::new(file), path).map_err(|error| refuse(&error))
}

fn refuse(error: &TraceError) -> CommandError {
    match error {
        TraceError::Io { .. } => CommandError::machine(error),
        TraceError::NoTrace { .. } | TraceError::Newer { .. } | TraceError::Line { .. } => {
            CommandError::bad_input(error)
        }
    }
}

fn refuse_replay(path: &Path, error: &ReplayError) -> CommandError {
    match error {
        ReplayError::Trace(error) => refuse(error),
        ReplayError::Options(_) | ReplayError::Start { .. } | ReplayError::Input { .. } => {
            CommandError::bad_input(format!("{}: {error}", path.display()))
        }
    }
}

fn say(text: &str) {
    // Nobody is left to tell when standard output is closed.
    let _ = writeln!(io::stdout(), "{text}");
}
