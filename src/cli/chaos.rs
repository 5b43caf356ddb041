//! `atom-sim chaos`: random clients and faults against the invariants.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clap::Args;

use super::exit::CommandError;
use super::output::{note, say};
use super::values::whole;
use crate::scenario::chaos::shrink::shrink;
use crate::scenario::chaos::story::{STORY_US, story};
use crate::scenario::chaos::{Violation, play};
use crate::scenario::stopwatch::Stopwatch;

/// Seeds from a first to a last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seeds(RangeInclusive<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("expected FIRST..LAST with FIRST ≤ LAST, for instance 1..500, found \"{text}\"");
        let (first, last) = text.split_once("..").ok_or_else(expected)?;
        let first = first.parse().map_err(|_| expected())?;
        let last = last.parse().map_err(|_| expected())?;
        if first <= last { Ok(Self(first..=last)) } else { Err(expected()) }
    }
}

/// Options of `atom-sim chaos`.
#[derive(Debug, Args)]
pub(super) struct ChaosArgs {
    /// First and last seed, both included.
    #[arg(long, default_value = "1..100", value_name = "FIRST..LAST")]
    seeds: Seeds,
    /// Threads; every core when it is not given.
    #[arg(long, value_parser = whole::<u16>(1..=1024), allow_negative_numbers = true)]
    jobs: Option<u16>,
    /// Only these events of the story, by number: repeats a shrunk failure. Needs a single seed.
    #[arg(long, value_delimiter = ',', value_name = "N,N,…")]
    keep: Option<Vec<usize>>,
    /// Do not look for a shorter story that fails too.
    #[arg(long)]
    no_shrink: bool,
}

/// Runs the command.
///
/// # Errors
/// 1: an invariant did not hold. 2: a wrong option.
pub(super) fn run(args: &ChaosArgs) -> Result<(), CommandError> {
    let Seeds(seeds) = &args.seeds;
    if args.keep.is_some() && seeds.start() != seeds.end() {
        return Err(CommandError::bad_input("--keep needs a single seed, for instance --seeds 7..7"));
    }
    let events = story(*seeds.start()).events.len();
    if let Some(bad) = args.keep.iter().flatten().find(|index| **index >= events) {
        let message =
            format!("--keep {bad}: the story of seed {} has events 0 to {}", seeds.start(), events - 1);
        return Err(CommandError::bad_input(message));
    }
    let started = Stopwatch::start();
    let failures = play_all(args, seeds);
    let count = seeds.end() - seeds.start() + 1;
    let virtual_s = count as f64 * STORY_US as f64 * 1e-6;
    say(format_args!(
        "{count} stories, {virtual_s:.0} s virtual, {:.1} s wall, {} failed\n",
        started.elapsed().as_secs_f64(),
        failures.len()
    ))?;
    if failures.is_empty() {
        return Ok(());
    }
    Err(CommandError::failed(format!("{} of {count} stories broke an invariant", failures.len())))
}

fn play_all(args: &ChaosArgs, seeds: &RangeInclusive<u64>) -> Vec<u64> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(*seeds.start());
    let done = AtomicBool::new(false);
    let failures = Mutex::new(Vec::new());
    let work = || {
        while !done.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= *seeds.end() {
                done.store(true, Ordering::Relaxed);
            }
            if seed > *seeds.end() {
                return;
            }
            if let Err(violation) = play(&story(seed), args.keep.as_deref()) {
                note(report(seed, &violation, args));
                if let Ok(mut failures) = failures.lock() {
                    failures.push(seed);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..args.jobs.map_or(cores, usize::from) {
            scope.spawn(work);
        }
        work();
    });
    failures.into_inner().unwrap_or_default()
}

/// What broke, with the fewest events that break it and the command that repeats it.
fn report(seed: u64, violation: &Violation, args: &ChaosArgs) -> String {
    let story = story(seed);
    let shrunk = if args.no_shrink { None } else { shrink(&story, args.keep.as_deref()) };
    let all = || args.keep.clone().unwrap_or_else(|| (0..story.events.len()).collect());
    let (kept, violation) = shrunk.unwrap_or_else(|| (all(), violation.clone()));
    let mut text = format!("FAIL seed {seed} at {violation}\n");
    for index in &kept {
        let _ = writeln!(text, "  {index:>3}  {}", story.events[*index]);
    }
    let list = kept.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    text + &format!("  again: atom-sim chaos --seeds {seed}..{seed} --keep {list}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_range_in_order() {
        assert_eq!("3..9".parse(), Ok(Seeds(3..=9)));
        for wrong in ["9..3", "3", "a..b", "..", "-1..2"] {
            assert!(wrong.parse::<Seeds>().is_err(), "{wrong}");
        }
    }
}
