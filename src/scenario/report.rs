//! Reports: lines for a terminal, `JUnit` XML, JSON.

use std::fmt::Write as _;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use utoipa::ToSchema;

use super::outcome::{Failure, Outcome, Verdict};
use super::words::seconds;

/// The command that repeats one run.
pub fn repeat_command(outcome: &Outcome) -> String {
    format!("atom-sim run {} --only {}", quoted(&outcome.path.display().to_string()), quoted(&outcome.name))
}

/// A text as a shell takes it for one word.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Counts of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Totals {
    /// Runs that passed.
    pub passed: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Runs that the wall-clock guard ended.
    pub timed_out: usize,
    /// Runs that could not be done as the file says.
    pub impossible: usize,
}

impl Totals {
    /// Counts outcomes.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let mut totals = Self::default();
        for outcome in outcomes {
            match outcome.verdict {
                Verdict::Passed => totals.passed += 1,
                Verdict::Failed(_) => totals.failed += 1,
                Verdict::TimedOut => totals.timed_out += 1,
                Verdict::Impossible(_) => totals.impossible += 1,
            }
        }
        totals
    }
}

/// One line for a run.
pub fn line(outcome: &Outcome) -> String {
    let word = match outcome.verdict {
        Verdict::Passed => "ok  ",
        Verdict::Failed(_) => "FAIL",
        Verdict::TimedOut => "TIME",
        Verdict::Impossible(_) => "BAD ",
    };
    let wall_s = outcome.wall.as_secs_f64();
    let speed = if wall_s > 0.0 { outcome.virtual_us as f64 * 1e-6 / wall_s } else { 0.0 };
    format!(
        "{word} {:<44} {:>10} virtual {:>8.1} ms wall {speed:>6.0} × seed {}",
        outcome.name,
        seconds(outcome.virtual_us),
        wall_s * 1e3,
        outcome.seed
    )
}

/// What went wrong in a run, for a terminal. Empty when it passed.
pub fn details(outcome: &Outcome) -> String {
    let mut text = String::new();
    match &outcome.verdict {
        Verdict::Passed => return text,
        Verdict::Failed(failures) => {
            for failure in failures {
                text.push_str(&failure_text(outcome, failure));
            }
        }
        Verdict::TimedOut => {
            let _ = writeln!(
                text,
                "  the wall-clock guard ended it at {} of virtual time",
                seconds(outcome.virtual_us)
            );
        }
        Verdict::Impossible(message) => {
            let _ = writeln!(text, "  {}: {message}", outcome.path.display());
        }
    }
    let _ = writeln!(text, "  seed {}; again: {}", outcome.seed, repeat_command(outcome));
    text
}

fn failure_text(outcome: &Outcome, failure: &Failure) -> String {
    let mut text = String::new();
    let place = if failure.line == 0 {
        outcome.path.display().to_string()
    } else {
        format!("{}:{}", outcome.path.display(), failure.line)
    };
    let _ = writeln!(text, "  {place}");
    let _ = writeln!(text, "    expected  {}", failure.expected);
    let _ = writeln!(text, "    seen      {}", failure.seen);
    let _ = writeln!(text, "    when      {}", seconds(failure.t_us));
    if let Some(why) = &failure.why {
        let _ = writeln!(text, "    why       {why}");
    }
    for line in &failure.around {
        let _ = writeln!(text, "      {line}");
    }
    text
}

/// A `JUnit` report.
///
/// # Errors
/// The XML cannot be written.
pub fn junit(outcomes: &[Outcome]) -> Result<String, quick_junit::SerializeError> {
    let mut report = Report::new("atom-sim scenarios");
    let mut suite = TestSuite::new("scenarios");
    for outcome in outcomes {
        let status = match &outcome.verdict {
            Verdict::Passed => TestCaseStatus::success(),
            Verdict::Failed(failures) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                let first = failures.first().map_or("", |failure| failure.expected.as_str());
                status.set_message(format!("expected {first}")).set_description(details(outcome));
                status
            }
            Verdict::TimedOut | Verdict::Impossible(_) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message("the run could not be finished").set_description(details(outcome));
                status
            }
        };
        let mut case = TestCase::new(outcome.name.as_str(), status);
        case.set_classname(outcome.path.display().to_string());
        case.set_time(outcome.wall);
        suite.add_test_case(case);
    }
    report.add_test_suite(suite);
    report.to_string()
}

#[derive(Serialize)]
struct JsonReport<'a> {
    format: u32,
    totals: Totals,
    runs: Vec<JsonRun<'a>>,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    name: &'a str,
    file: String,
    seed: u64,
    verdict: &'static str,
    virtual_s: f64,
    wall_s: f64,
    repeat: String,
    failures: Vec<FailureReport>,
}

/// A failure as reports in JSON have it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FailureReport {
    /// Line of the expectation or step in the file; 0 for the recovery check.
    pub line: usize,
    /// What was expected, and when.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// When (s from the start).
    pub t_s: f64,
    /// Why it is expected.
    pub why: Option<String>,
    /// The last seconds around it, a line each.
    pub around: Vec<String>,
}

impl From<&Failure> for FailureReport {
    fn from(failure: &Failure) -> Self {
        Self {
            line: failure.line,
            expected: failure.expected.clone(),
            seen: failure.seen.clone(),
            t_s: failure.t_us as f64 * 1e-6,
            why: failure.why.clone(),
            around: failure.around.clone(),
        }
    }
}

/// A JSON report. Its `format` is 1; a later one that means something else gets another number.
///
/// # Errors
/// The JSON cannot be written.
pub fn json(outcomes: &[Outcome]) -> Result<String, serde_json::Error> {
    let runs = outcomes.iter().map(json_run).collect();
    serde_json::to_string_pretty(&JsonReport { format: 1, totals: Totals::of(outcomes), runs })
}

fn json_run(outcome: &Outcome) -> JsonRun<'_> {
    let (verdict, failures) = match &outcome.verdict {
        Verdict::Passed => ("passed", &[][..]),
        Verdict::Failed(failures) => ("failed", &failures[..]),
        Verdict::TimedOut => ("timed_out", &[][..]),
        Verdict::Impossible(_) => ("impossible", &[][..]),
    };
    JsonRun {
        name: &outcome.name,
        file: outcome.path.display().to_string(),
        seed: outcome.seed,
        verdict,
        virtual_s: outcome.virtual_us as f64 * 1e-6,
        wall_s: outcome.wall.as_secs_f64(),
        repeat: repeat_command(outcome),
        failures: failures.iter().map(FailureReport::from).collect(),
    }
}
