//! The library of scenarios: every one passes and needs its faults; traces replay, and a part runs twice to the same bytes.

mod files;
mod rules;

use std::path::{Path, PathBuf};
use std::time::Duration;

use atom_sim::atom::fault::catalogue;
use atom_sim::scenario::batch::{self, Options, Shard};
use atom_sim::scenario::load::{load, load_text};
use atom_sim::scenario::outcome::Outcome;
use atom_sim::scenario::plan::Scenario;
use atom_sim::scenario::report;
use atom_sim::scenario::stopwatch::Stopwatch;

fn library() -> Vec<Scenario> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios"));
    load(&[folder]).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn run(scenarios: &[Scenario], options: &Options) -> Vec<Outcome> {
    batch::run(&batch::select(scenarios, options), options, &|_| {})
}

fn failures(outcomes: &[Outcome]) -> String {
    outcomes.iter().filter(|outcome| !outcome.verdict.passed()).map(report::details).collect()
}

const WRONG: &str = r#"name = "wrong"
purpose = "The arm is said to move, and does not"
duration_s = 1

[[client]]
name = "page"
transport = "udp"

[[step]]
client = "page"
at_s = 0.2
do = "ping"

[[expect]]
that.state = "moving"
at_s = 0.5
why = "to see a failure"
"#;

fn wrong() -> Vec<Scenario> {
    load_text(Path::new("wrong.toml"), WRONG).expect("the file is right, what it expects is not")
}

#[test]
fn every_scenario_of_the_library_passes() {
    let scenarios = library();
    let files: std::collections::BTreeSet<&Path> =
        scenarios.iter().map(|scenario| scenario.path.as_path()).collect();
    assert!(files.len() >= 40, "{} files", files.len());
    let started = Stopwatch::start();
    let outcomes = run(&scenarios, &Options { jobs: jobs(), ..Options::default() });
    assert_eq!(failures(&outcomes), "");
    assert_eq!(outcomes.len(), scenarios.len());
    println!("{} scenarios in {:?}", outcomes.len(), started.elapsed());
}

#[test]
fn every_fault_is_in_a_scenario() {
    let mut texts = String::new();
    for scenario in &library() {
        texts += &std::fs::read_to_string(&scenario.path).expect("a file of the library");
    }
    let missing: Vec<&str> = catalogue::all()
        .map(|entry| entry.name)
        .filter(|name| !texts.contains(&format!("\"{name}\"")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What a fault changes nothing of passes without it too.
const UNMOVED: [&str; 1] = ["ota-fail-without-an-update"];

#[test]
fn no_scenario_passes_without_its_faults() {
    let mut scenarios = library();
    scenarios.retain(|scenario| !scenario.faults.is_empty());
    for scenario in &mut scenarios {
        scenario.faults = std::sync::Arc::from([]);
    }
    let outcomes = run(&scenarios, &Options { jobs: jobs(), ..Options::default() });
    let unmoved = |outcome: &&Outcome| UNMOVED.iter().any(|name| outcome.name.starts_with(name));
    let passed = outcomes.iter().filter(|outcome| outcome.verdict.passed());
    let names: Vec<&str> = passed.filter(|outcome| !unmoved(outcome)).map(|o| o.name.as_str()).collect();
    assert!(names.is_empty(), "{names:#?}");
}

#[test]
fn a_seed_gives_the_same_bytes_twice() {
    let options = Options {
        only: Some("wifi".to_owned()),
        shard: Some(Shard { index: 1, count: 3 }),
        check_determinism: true,
        jobs: jobs(),
        ..Options::default()
    };
    let outcomes = run(&library(), &options);
    assert!(!outcomes.is_empty());
    assert_eq!(failures(&outcomes), "");
}

#[test]
fn shards_are_parts_of_the_whole() {
    let scenarios = library();
    let part = |index| {
        let options = Options { shard: Some(Shard { index, count: 3 }), ..Options::default() };
        batch::select(&scenarios, &options)
            .into_iter()
            .map(|scenario| scenario.name.clone())
            .collect::<Vec<_>>()
    };
    let mut all: Vec<String> = (1..=3).flat_map(part).collect();
    all.sort();
    let mut expected: Vec<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    expected.sort();
    assert_eq!(all, expected);
}

#[test]
fn a_failure_says_what_was_expected_what_was_seen_when_and_how_to_repeat_it() {
    let outcomes = run(&wrong(), &Options::default());
    let text = report::details(&outcomes[0]);
    for part in [
        "wrong.toml:14",
        "expected  state moving, at 0.500 s",
        "seen      holding",
        "when      0.500 s",
        "why       to see a failure",
        "0.200 s  page → PING",
        "page ← PONG",
        "seed 0; again: atom-sim run wrong.toml --only wrong",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let junit = report::junit(&outcomes).expect("XML");
    assert!(
        junit.contains(r#"failures="1""#) && junit.contains("expected state moving, at 0.500 s"),
        "{junit}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&report::json(&outcomes).expect("JSON")).expect("JSON");
    assert_eq!(json["runs"][0]["verdict"], "failed");
    assert_eq!(json["runs"][0]["failures"][0]["seen"], "holding");
    assert_eq!(json["totals"]["failed"], 1);
}

#[test]
fn the_wall_clock_guard_ends_a_run() {
    let mut scenarios = wrong();
    scenarios[0].duration_us = 3_600_000_000;
    let mut options = Options::default();
    options.limits.wall = Duration::ZERO;
    let outcomes = run(&scenarios, &options);
    assert!(report::line(&outcomes[0]).starts_with("TIME"), "{}", report::line(&outcomes[0]));
}

#[test]
fn nothing_new_starts_after_a_failure_that_is_to_stop_all() {
    let options = Options { repeat: 5, stop_on_failure: true, ..Options::default() };
    assert_eq!(run(&wrong(), &options).len(), 1);
}

#[test]
fn the_trace_of_a_run_replays_to_the_same_bytes() {
    use atom_sim::recording::trace::{Reader, Verdict, replay};
    let mut options = Options { only: Some("gamepad-menu".to_owned()), ..Options::default() };
    options.limits.trace = true;
    let outcomes = run(&library(), &options);
    let mut reader =
        Reader::new(outcomes[0].trace.as_slice(), Path::new("gamepad-menu.trace")).expect("a trace");
    let verdict = replay(&mut reader).expect("it replays");
    assert!(matches!(verdict, Verdict::Same { .. }), "{verdict:?}");
}
