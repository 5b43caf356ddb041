//! `atom-sim run`: scenarios, like a test runner.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::exit::CommandError;
use super::output::{note, say};
use super::values::whole;
use crate::scenario::batch::{self, Options, Shard};
use crate::scenario::load;
use crate::scenario::outcome::Outcome;
use crate::scenario::report::{self, Totals};
use crate::scenario::runner::Limits;
use crate::scenario::{record, schema};

/// Options of `atom-sim run`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct RunArgs {
    /// Scenario files, or folders of them.
    #[arg(default_value = "scenarios")]
    paths: Vec<PathBuf>,
    /// Only the scenario of this name, or else those whose name contains this or that have it as a tag.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Only part i of n, for several machines.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Threads; every core when it is not given.
    #[arg(long, value_parser = whole::<u16>(1..=1024), allow_negative_numbers = true)]
    jobs: Option<u16>,
    /// Run each this many times.
    #[arg(long, default_value_t = 1, value_parser = whole::<u32>(1..=1_000_000), allow_negative_numbers = true)]
    repeat: u32,
    /// Start nothing new after the first failure.
    #[arg(long)]
    stop_on_failure: bool,
    /// Run each twice and compare every input and output, byte for byte.
    #[arg(long)]
    check_determinism: bool,
    /// Longest time of one scenario on the wall (s).
    #[arg(long, default_value_t = 60, value_parser = whole::<u64>(1..=86_400), allow_negative_numbers = true)]
    wall_limit: u64,
    /// Write a `JUnit` report.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a JSON report.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write log, trace and CSV of every failure into this folder.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// With --record: of every scenario, not of failures only.
    #[arg(long, requires = "record")]
    record_all: bool,
    /// Only check the files.
    #[arg(long)]
    check: bool,
    /// Print the JSON Schema of scenario files and end.
    #[arg(long)]
    schema: bool,
}

/// Runs the command.
///
/// # Errors
/// 1: a scenario failed. 2: a wrong option or file; nothing was run. 3: a report cannot be written, or the
/// wall-clock guard ended a scenario.
pub(super) fn run(args: &RunArgs) -> Result<(), CommandError> {
    if args.schema {
        return say(schema::json_schema().map_err(CommandError::failed)?);
    }
    let scenarios = load::load(&args.paths).map_err(|errors| {
        let list = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        CommandError::bad_input(format!("nothing was run\n{list}"))
    })?;
    let options = batch_options(args);
    let selected = batch::select(&scenarios, &options);
    if selected.is_empty() {
        let unsharded = Options { shard: None, ..options.clone() };
        let count = batch::select(&scenarios, &unsharded).len();
        return Err(CommandError::bad_input(match (&args.only, args.shard) {
            (_, Some(shard)) if count > 0 => {
                format!(
                    "--shard {}/{} of {count} scenarios has none; expected at most {count} shards",
                    shard.index, shard.count
                )
            }
            (only, _) => format!(
                "of {} scenarios none is selected by --only {}; names are in the files",
                scenarios.len(),
                only.as_deref().unwrap_or_default()
            ),
        }));
    }
    if args.check {
        return say(format_args!("{} scenarios are right\n", selected.len()));
    }
    prepare_reports(args)?;

    let bar = progress_bar(selected.len());
    let outcomes = batch::run(&selected, &options, &|outcome| {
        // What standard output does not take, the conclusion complains about.
        let _ = bar.suspend(|| say(format_args!("{}\n{}", report::line(outcome), report::details(outcome))));
        bar.inc(1);
    });
    bar.finish_and_clear();
    write_reports(args, &outcomes)?;
    conclude(&outcomes, selected.len())
}

fn batch_options(args: &RunArgs) -> Options {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Options {
        only: args.only.clone(),
        shard: args.shard,
        repeat: args.repeat as usize,
        stop_on_failure: args.stop_on_failure,
        jobs: args.jobs.map_or(cores, usize::from),
        check_determinism: args.check_determinism,
        limits: Limits {
            wall: Duration::from_secs(args.wall_limit),
            trace: args.record.is_some(),
            samples: args.record.is_some(),
        },
    }
}

fn progress_bar(count: usize) -> ProgressBar {
    if !std::io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {elapsed}");
    ProgressBar::new(count as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Makes sure, before anything runs, that the reports can be written.
fn prepare_reports(args: &RunArgs) -> Result<(), CommandError> {
    for path in [&args.junit, &args.json].into_iter().flatten() {
        std::fs::File::create(path).map_err(|error| {
            CommandError::machine(format!("{} cannot be written: {error}; nothing was run", path.display()))
        })?;
    }
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder).map_err(|error| {
            CommandError::machine(format!("{} cannot be made: {error}; nothing was run", folder.display()))
        })?;
    }
    Ok(())
}

fn write_reports(args: &RunArgs, outcomes: &[Outcome]) -> Result<(), CommandError> {
    let cannot = |path: &PathBuf, error: &dyn std::fmt::Display| {
        CommandError::machine(format!("{} cannot be written: {error}", path.display()))
    };
    if let Some(path) = &args.junit {
        let text = report::junit(outcomes).map_err(|error| cannot(path, &error))?;
        std::fs::write(path, text).map_err(|error| cannot(path, &error))?;
    }
    if let Some(path) = &args.json {
        let text = report::json(outcomes).map_err(|error| cannot(path, &error))?;
        std::fs::write(path, text).map_err(|error| cannot(path, &error))?;
    }
    if let Some(folder) = &args.record {
        let mut recorded = 0;
        for outcome in outcomes.iter().filter(|outcome| args.record_all || !outcome.verdict.passed()) {
            record::write(folder, outcome).map_err(|error| cannot(folder, &error))?;
            recorded += 1;
        }
        note(format_args!("log, trace and CSV of {recorded} runs are in {}", folder.display()));
    }
    Ok(())
}

fn conclude(outcomes: &[Outcome], selected: usize) -> Result<(), CommandError> {
    let totals = Totals::of(outcomes);
    let virtual_s = outcomes.iter().map(|outcome| outcome.virtual_us as f64 * 1e-6).sum::<f64>();
    let wall_s = outcomes.iter().map(|outcome| outcome.wall.as_secs_f64()).sum::<f64>();
    say(format_args!(
        "{} passed, {} failed, {} timed out, {} not run; {virtual_s:.1} s virtual, {wall_s:.2} s of one core\n",
        totals.passed,
        totals.failed + totals.impossible,
        totals.timed_out,
        selected - outcomes.len()
    ))?;
    if totals.impossible > 0 {
        return Err(CommandError::bad_input(format!(
            "{} scenarios cannot be done as their files say",
            totals.impossible
        )));
    }
    if totals.failed > 0 {
        return Err(CommandError::failed(format!(
            "{} of {} scenarios failed",
            totals.failed,
            outcomes.len()
        )));
    }
    if totals.timed_out > 0 {
        return Err(CommandError::machine(format!(
            "{} scenarios took longer than --wall-limit",
            totals.timed_out
        )));
    }
    Ok(())
}
