//! `atom-sim replay` and `atom-sim trace show`: a session once more, or in words.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::exit::CommandError;
use super::new_file::NewFile;
use super::output::{note, say, say_more};
use super::values::whole;
use crate::recording::mcap;
use crate::recording::trace::{
    Difference, Line, Reader, ReplayError, TraceError, Verdict, is_stream, replay, replay_kept, words,
};

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
    /// Make an MCAP file of it, for a viewer such as Foxglove: replays it, as if `--mcap` had been given.
    Mcap {
        /// A trace, as `atom-sim --trace FILE` writes it.
        file: PathBuf,
        /// Where to write it; by default beside the trace, with the ending .mcap.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Moments per second.
        #[arg(long, value_name = "HZ", default_value_t = mcap::live::RATE_HZ, value_parser = whole::<u16>(1..=1000), allow_negative_numbers = true)]
        rate: u16,
    },
}

/// Replays a trace and says whether the same came out.
pub(super) fn run_replay(args: &ReplayArgs) -> Result<(), CommandError> {
    let mut reader = open(&args.file)?;
    let verdict = replay(&mut reader).map_err(|error| refuse_replay(&args.file, &error))?;
    judge(&args.file, &reader, verdict)
}

/// Says what a replay showed; a difference is a failure.
fn judge(path: &Path, reader: &Reader<BufReader<File>>, verdict: Verdict) -> Result<(), CommandError> {
    let level = reader.header().options.level;
    match verdict {
        Verdict::Same { inputs, outputs, virtual_us } => {
            let cut = if reader.was_cut_off() { ", up to where the trace was cut off" } else { "" };
            say(format_args!(
                "identical: {outputs} outputs to {inputs} inputs in {:.3} s of virtual time{cut}\n",
                virtual_us as f64 / 1e6
            ))
        }
        Verdict::Different(difference) => {
            let Difference { line, expected, found } = *difference;
            let show =
                |line: Option<_>| line.map_or_else(|| "nothing".to_owned(), |line| words::line(&line, level));
            Err(CommandError::failed(format!(
                "{}:{line}: the first difference: expected {}, found {}",
                path.display(),
                show(expected).trim(),
                show(found).trim()
            )))
        }
    }
}

/// Works on a trace.
pub(super) fn run_trace(args: &TraceArgs) -> Result<(), CommandError> {
    match &args.action {
        TraceAction::Show { file, brief } => show(file, *brief),
        TraceAction::Mcap { file, out, rate } => convert(file, out.as_deref(), *rate),
    }
}

fn convert(path: &Path, out: Option<&Path>, rate_hz: u16) -> Result<(), CommandError> {
    let mut reader = open(path)?;
    let (out, made, file) = mcap_file(path, out)?;
    let verdict = replay_kept(&mut reader, |atom| mcap::Live::begin(BufWriter::new(file), rate_hz, atom))
        .map_err(|error| refuse_replay(path, &error))?;
    // Of a difference it shows what came up to there.
    made.finish();
    note(format_args!("{}", out.display()));
    judge(path, &reader, verdict)
}

/// Makes the MCAP file of a file; without a name it stands beside it.
pub(super) fn mcap_file(of: &Path, out: Option<&Path>) -> Result<(PathBuf, NewFile, File), CommandError> {
    let out = out.map_or_else(|| of.with_extension("mcap"), Path::to_owned);
    let (made, file) = NewFile::create("--out", &out)?;
    Ok((out, made, file))
}

fn show(file: &Path, brief: bool) -> Result<(), CommandError> {
    let mut reader = open(file)?;
    let level = reader.header().options.level;
    let mut said = say_more(format_args!("{}\n", words::header(reader.header())))?;
    while said.is_continue()
        && let Some(line) = reader.read().map_err(|error| refuse(&error))?
    {
        if !(brief && matches!(&line, Line::Sent { bytes, .. } if is_stream(bytes))) {
            said = say_more(format_args!("{}\n", words::line(&line, level)))?;
        }
    }
    if said.is_continue() && reader.was_cut_off() {
        say("the trace was cut off here\n")?;
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
        ReplayError::Keep { .. } => CommandError::machine(error),
        ReplayError::Options(_) | ReplayError::Start { .. } | ReplayError::Input { .. } => {
            CommandError::bad_input(format!("{}: {error}", path.display()))
        }
    }
}
