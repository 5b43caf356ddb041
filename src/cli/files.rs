//! `atom-sim plan` and `atom-sim recording`: plans to play, and what recordings say.

use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::exit::CommandError;
use super::output::note;
use crate::client::{circle, plan_csv};
use crate::recording::csv_file::{ReadError, read_file};

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
    File::create(out)
        .and_then(|file| plan_csv::write(BufWriter::new(file), &plan))
        .map_err(|error| CommandError::machine(format!("--out {}: {error}", out.display())))?;
    note(format_args!("{}: {} samples, {:.1} s", out.display(), plan.samples.len(), plan.duration_s()));
    Ok(())
}

/// What recordings say.
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
}

/// Answers.
pub(super) fn run_recording(args: &RecordingArgs) -> Result<(), CommandError> {
    let Question::FlangeError { file, until } = &args.question;
    let (_, rows) = read_file(file).map_err(|error| refuse(&error))?;
    let last_s = rows.last().map_or(0.0, |row| row.t_s);
    let error = circle::flange_error(&rows, until.unwrap_or(last_s - 0.5))
        .ok_or_else(|| CommandError::bad_input(format!("{}: no rows up to then", file.display())))?;
    // Nobody is left to tell when standard output is closed.
    let _ = writeln!(
        stdout(),
        "flange error {:.2} mm RMS, {:.2} mm at most (at {:.2} s)",
        error.rms_mm,
        error.max_mm,
        error.max_at_s
    );
    Ok(())
}

fn refuse(error: &ReadError) -> CommandError {
    match error {
        ReadError::Io { .. } => CommandError::machine(error),
        ReadError::ColumnMissing { .. } | ReadError::Row { .. } | ReadError::Empty { .. } => {
            CommandError::bad_input(error)
        }
    }
}
