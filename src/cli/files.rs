//! `atom-sim plan` and `atom-sim recording`: plans to play, and what recordings say.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::exit::CommandError;
use super::kinematics::TcpName;
use super::new_file::{NewFile, refuse as refuse_file};
use super::output::{note, say};
use super::trace::mcap_file;
use crate::client::{circle, plan_csv};
use crate::recording::csv_file::read_file;
use crate::recording::mcap::{self, convert::ConvertError};
use crate::recording::{ReadError, Reader};

/// Plans to play.
#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(subcommand)]
    which: PlanKind,
}

#[derive(Debug, Subcommand)]
enum PlanKind {
    /// The lab's circle: vertical, radius 50 mm, 170 mm ahead at a height of 310 mm, two laps of 4 s.
    Circle {
        /// Where to write it.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

/// Writes a plan.
pub(super) fn run_plan(args: &PlanArgs) -> Result<(), CommandError> {
    let PlanKind::Circle { out } = &args.which;
    let plan = circle::plan();
    let (made, file) = NewFile::create("--out", out)?;
    plan_csv::write(BufWriter::new(file), &plan).map_err(|error| refuse_file("--out", out, &error))?;
    made.finish();
    note(format_args!("{}: {} samples, {:.1} s", out.display(), plan.samples.len(), plan.duration_s()));
    Ok(())
}

/// What recordings say, and what can be made of them.
#[derive(Debug, Args)]
pub(super) struct RecordingArgs {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// How far the measured flange was from the planned one.
    FlangeError {
        /// A recording.
        file: PathBuf,
        /// Rows up to this time (s); by default all but the last half second, in which the arm settles.
        #[arg(long, value_name = "S")]
        until: Option<f64>,
    },
    /// Make an MCAP file of it, for a viewer such as Foxglove.
    Mcap {
        /// A recording.
        file: PathBuf,
        /// Where to write it; by default beside the recording, with the ending .mcap.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// The tool point; by default the gripper's for seven joints, the flange for six.
        #[arg(long, value_enum)]
        tcp: Option<TcpName>,
    },
}

/// Answers.
pub(super) fn run_recording(args: &RecordingArgs) -> Result<(), CommandError> {
    match &args.question {
        Question::FlangeError { file, until } => flange_error(file, *until),
        Question::Mcap { file, out, tcp } => to_mcap(file, out.as_deref(), *tcp),
    }
}

fn to_mcap(path: &Path, out: Option<&Path>, tcp: Option<TcpName>) -> Result<(), CommandError> {
    let input =
        File::open(path).map_err(|source| refuse(&ReadError::Io { path: path.to_owned(), source }))?;
    let mut reader = Reader::new(input, path).map_err(|error| refuse(&error))?;
    let (out, made, file) = mcap_file(path, out)?;
    let rows =
        mcap::convert(&mut reader, tcp.map(TcpName::tcp), BufWriter::new(file)).map_err(
            |error| match error {
                ConvertError::Read(error) => refuse(&error),
                ConvertError::Write(_) => CommandError::machine(format!("{}: {error}", out.display())),
            },
        )?;
    made.finish();
    note(format_args!("{}: {rows} samples", out.display()));
    Ok(())
}

fn flange_error(file: &Path, until_s: Option<f64>) -> Result<(), CommandError> {
    let (_, rows) = read_file(file).map_err(|error| refuse(&error))?;
    let last_s = rows.last().map_or(0.0, |row| row.t_s);
    let error = circle::flange_error(&rows, until_s.unwrap_or(last_s - 0.5))
        .ok_or_else(|| CommandError::bad_input(format!("{}: no rows up to then", file.display())))?;
    say(format_args!(
        "flange error {:.2} mm RMS, {:.2} mm at most (at {:.2} s)\n",
        error.rms_mm, error.max_mm, error.max_at_s
    ))
}

/// The exit code of a recording or plan that cannot be read: 2 if it is none, 3 if it cannot be opened.
pub(super) fn refuse(error: &ReadError) -> CommandError {
    match error {
        ReadError::Io { .. } => CommandError::machine(error),
        ReadError::Content { .. } => CommandError::bad_input(error),
    }
}
