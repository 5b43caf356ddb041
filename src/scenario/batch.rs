//! Many scenarios: which of them run, on how many threads, how often, and whether twice is the same.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::outcome::{Failure, Outcome, Verdict};
use super::plan::Scenario;
use super::runner::{self, Limits};

/// One machine's part of all scenarios: part `index` (from 1) of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected i/n with 1 ≤ i ≤ n, for instance 2/3, found \"{text}\"");
        let (index, count) = text.split_once('/').ok_or_else(expected)?;
        let shard = Self {
            index: index.parse().map_err(|_| expected())?,
            count: count.parse().map_err(|_| expected())?,
        };
        if (1..=shard.count).contains(&shard.index) { Ok(shard) } else { Err(expected()) }
    }
}

/// What to run and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only the scenario of this name; where there is none, those whose name contains this or that have it as a tag.
    pub only: Option<String>,
    /// Only this machine's part.
    pub shard: Option<Shard>,
    /// Each this many times.
    pub repeat: usize,
    /// Nothing new starts after the first failure.
    pub stop_on_failure: bool,
    /// Threads.
    pub jobs: usize,
    /// Each twice; both runs must have the same inputs and outputs.
    pub check_determinism: bool,
    /// What a run keeps and how long it may take.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            only: None,
            shard: None,
            repeat: 1,
            stop_on_failure: false,
            jobs: 1,
            check_determinism: false,
            limits: Limits { wall: Duration::from_mins(1), trace: false, samples: false },
        }
    }
}

/// The scenarios that `options` select, each as often as they say.
pub fn select<'a>(scenarios: &'a [Scenario], options: &Options) -> Vec<&'a Scenario> {
    let exact = scenarios.iter().any(|scenario| Some(&scenario.name) == options.only.as_ref());
    let wanted = |scenario: &&Scenario| match &options.only {
        None => true,
        // The whole name of one means that one, also where the name of another begins with it.
        Some(only) if exact => scenario.name == *only,
        Some(only) => scenario.name.contains(only) || scenario.tags.contains(only),
    };
    let mine = |index: usize| options.shard.is_none_or(|shard| index % shard.count == shard.index - 1);
    let chosen = scenarios.iter().filter(wanted).enumerate().filter(|(index, _)| mine(*index));
    chosen.flat_map(|(_, scenario)| std::iter::repeat_n(scenario, options.repeat)).collect()
}

/// Runs scenarios on `options.jobs` threads. `finished` hears of each as it ends. The outcomes are in the order
/// of `scenarios`; those that a failure kept from starting are missing.
pub fn run(scenarios: &[&Scenario], options: &Options, finished: &(dyn Fn(&Outcome) + Sync)) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let outcomes: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::new());
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(scenario) = scenarios.get(index) else { return };
            let outcome = run_one(scenario, options);
            finished(&outcome);
            if options.stop_on_failure && !outcome.verdict.passed() {
                stop.store(true, Ordering::Relaxed);
            }
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.push((index, outcome));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn run_one(scenario: &Scenario, options: &Options) -> Outcome {
    if !options.check_determinism {
        return runner::run(scenario, options.limits);
    }
    let limits = Limits { trace: true, ..options.limits };
    let mut first = runner::run(scenario, limits);
    let second = runner::run(scenario, limits);
    if let Some(seen) = difference(&first.trace, &second.trace) {
        let failure = Failure {
            line: 0,
            expected: "the same inputs and outputs in a second run".to_owned(),
            seen,
            t_us: 0,
            why: Some("--check-determinism".to_owned()),
            around: Vec::new(),
        };
        match &mut first.verdict {
            Verdict::Failed(failures) => failures.push(failure),
            Verdict::Passed => first.verdict = Verdict::Failed(vec![failure]),
            Verdict::TimedOut | Verdict::Impossible(_) => {}
        }
    }
    first.wall += second.wall;
    first
}

/// The first line in which two traces differ, in words.
fn difference(first: &[u8], second: &[u8]) -> Option<String> {
    let mut lines = (first.split(|byte| *byte == b'\n'), second.split(|byte| *byte == b'\n'));
    for number in 1.. {
        match (lines.0.next(), lines.1.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                let show =
                    |line: Option<&[u8]>| String::from_utf8_lossy(line.unwrap_or(b"nothing")).into_owned();
                return Some(format!(
                    "line {number} of the trace: {} in the first, {} in the second",
                    show(a),
                    show(b)
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_a_part_of_a_whole() {
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, count: 3 }));
        for wrong in ["3/2", "0/2", "1", "a/b", "1/0", "-1/2", ""] {
            let error = wrong.parse::<Shard>().expect_err(wrong);
            assert_eq!(error, format!("expected i/n with 1 ≤ i ≤ n, for instance 2/3, found \"{wrong}\""));
        }
    }

    #[test]
    fn the_first_line_in_which_two_traces_differ_is_found() {
        assert_eq!(difference(b"a\nb\n", b"a\nb\n"), None);
        let seen = difference(b"a\nb\n", b"a\nc\n");
        assert_eq!(seen.as_deref(), Some("line 2 of the trace: b in the first, c in the second"));
        assert!(difference(b"a\nb", b"a").is_some());
    }
}
