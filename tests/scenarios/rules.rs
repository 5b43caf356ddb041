//! What the runner holds a scenario to: steps come to their end, windows are seen to theirs, faults meet somebody.

use std::path::Path;

use atom_sim::scenario::batch::Options;
use atom_sim::scenario::load::load_text;
use atom_sim::scenario::outcome::{Outcome, Verdict};

use super::run;

const HEAD: &str = r#"name = "s"
purpose = "A rule of the runner"
duration_s = 1
recovery = true
[[client]]
name = "page"
transport = "websocket"
subscribe_hz = 100
[[client]]
name = "late"
transport = "websocket"
connected = false
"#;

fn outcome(body: &str) -> Outcome {
    let scenarios = load_text(Path::new("s.toml"), &format!("{HEAD}{body}")).expect("a right file");
    run(&scenarios, &Options::default()).remove(0)
}

/// Line, expected and seen of every failure.
fn failures(body: &str) -> Vec<(usize, String, String)> {
    match outcome(body).verdict {
        Verdict::Passed => Vec::new(),
        Verdict::Failed(failures) => {
            failures.into_iter().map(|failure| (failure.line, failure.expected, failure.seen)).collect()
        }
        other @ (Verdict::TimedOut | Verdict::Impossible(_)) => panic!("{other:?}"),
    }
}

fn failure(line: usize, expected: &str, seen: &str) -> Vec<(usize, String, String)> {
    vec![(line, expected.to_owned(), seen.to_owned())]
}

#[test]
fn a_wait_for_what_never_comes_fails_at_the_end() {
    let body = "[[step]]\nclient = \"page\"\nwhen.state = \"moving\"\ndo = \"ping\"\n";
    let expected = failure(13, "state moving before the step \"PING\"", "holding");
    assert_eq!(failures(body), expected);
    // The step behind it is not told of as well.
    let two = format!("{body}[[step]]\nclient = \"page\"\ndo = \"state\"\n");
    assert_eq!(failures(&two), expected);
    assert_eq!(failures(&body.replace("do =", "wait_s = 0.5\ndo =")), expected);
}

#[test]
fn a_step_that_is_due_after_the_end_fails() {
    let body = "[[step]]\nclient = \"page\"\nat_s = 0.5\ndo = \"ping\"\n[[step]]\nclient = \"page\"\nafter_s = 0.9\ndo = \"hold\"\n";
    assert_eq!(
        failures(body),
        failure(17, "the step \"HOLD\" to begin", "the scenario ended before it was due")
    );
}

#[test]
fn an_upload_that_the_end_cuts_off_fails() {
    let body = "[[step]]\nclient = \"page\"\nat_s = 0.9\ndo.plan = { rate_hz = 100, points = [[0, 0, 0, 0, 0, 0, 0], [1, 9, 0, 0, 0, 0, 0]] }\n[[fault]]\nname = \"cpu.network_stall\"\nat_s = 0.8\nfor_s = 1\n";
    let [(line, expected, seen)] = &failures(body)[..] else { panic!("one failure") };
    assert_eq!((*line, expected.as_str()), (13, "an ACK to every message of the plan"));
    assert_eq!(seen, "0 of 5 when the scenario ended");
}

#[test]
fn a_step_of_a_client_that_is_not_connected_fails() {
    let ping = "[[step]]\nclient = \"late\"\nat_s = 0.1\ndo = \"ping\"\n";
    assert_eq!(failures(ping), failure(13, "late connected when the step \"PING\" begins", "not connected"));
    let connect = "[[step]]\nclient = \"late\"\ndo = \"connect\"\n";
    assert_eq!(failures(&format!("{connect}{ping}")), []);
    let twice = failures(&format!("{connect}{connect}"));
    assert_eq!(twice, failure(16, "late not connected when the step \"connect\" begins", "connected"));
}

#[test]
fn windows_count_from_steps_that_send_nothing_too() {
    let expect = |window: &str| format!("[[expect]]\nthat.state = \"holding\"\nafter = \"x\"\n{window}\n");
    for step in ["do = \"wait\"", "do = \"close\"", "at_s = 0.2\ndo = \"wait\""] {
        let step = format!("[[step]]\nclient = \"page\"\nlabel = \"x\"\n{step}\n");
        assert_eq!(failures(&format!("{step}{}", expect("at_s = 0.1"))), [], "{step}");
        let wrong = expect("at_s = 0.1").replace("holding", "moving");
        assert_eq!(failures(&format!("{step}{wrong}")).len(), 1, "{step}");
    }
}

#[test]
fn a_window_that_the_end_cuts_off_was_not_seen() {
    for window in ["always_s = [0, 0.9]", "never_s = [0.2, 0.9]"] {
        let state = if window.starts_with("always") { "holding" } else { "moving" };
        let body = |at_s: f64| {
            format!(
                "[[step]]\nclient = \"page\"\nlabel = \"x\"\nat_s = {at_s}\ndo = \"ping\"\n[[expect]]\nthat.state = \"{state}\"\nafter = \"x\"\n{window}\n"
            )
        };
        assert_eq!(failures(&body(0.1)), [], "{window}");
        let [(line, _, seen)] = &failures(&body(0.2))[..] else { panic!("one failure of {window}") };
        assert_eq!((*line, seen.as_str()), (18, "the scenario ended before that"));
    }
}

#[test]
fn a_fault_on_a_client_that_is_not_connected_cannot_be_given() {
    let body = "[[fault]]\nname = \"wifi.stall\"\nclient = \"late\"\nat_s = 0.25\n";
    let Verdict::Impossible(told) = outcome(body).verdict else { panic!("it meets nobody") };
    assert_eq!(told, "the fault wifi.stall cannot be given: the client \"late\" is not connected at 0.25 s");
}

#[test]
fn a_choked_reader_is_served_again_when_the_fault_ends() {
    for fault in ["client.slow_reader", "wifi.bandwidth"] {
        let body = format!(
            "[[fault]]\nname = \"{fault}\"\nclient = \"page\"\nbytes_s = 200\nat_s = 0.2\nfor_s = 0.3\n\
             [[expect]]\nthat.stream = {{ client = \"page\", field = \"age_ms\", min = 100 }}\nat_s = 0.49\n\
             [[expect]]\nthat.stream = {{ client = \"page\", field = \"age_ms\", max = 20 }}\nalways_s = [0.52, 1]\n"
        );
        assert_eq!(failures(&body), [], "{fault}");
    }
}

#[test]
fn a_flood_ends_with_the_connection_that_it_comes_from() {
    let body = "[[fault]]\nname = \"client.flood\"\nclient = \"page\"\nper_s = 1000\nat_s = 0.1\nevery_s = 0.3\nfor_s = 0.2\n\
                [[step]]\nclient = \"page\"\nat_s = 0.25\ndo = \"close\"\n\
                [[expect]]\nthat.connected = \"page\"\nat_s = 0.2\n";
    let scenarios = load_text(Path::new("s.toml"), &format!("{HEAD}{body}")).expect("a right file");
    let mut options = Options::default();
    options.limits.trace = true;
    let outcome = run(&scenarios, &options).remove(0);
    assert_eq!(outcome.verdict, Verdict::Passed);
    let trace = String::from_utf8(outcome.trace).expect("lines of JSON");
    let lines: Vec<serde_json::Value> =
        trace.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let start_us = lines[0]["start_us"].as_u64().expect("a time");
    let to_page = lines.iter().rfind(|line| line["what"] == "sent" && line["client"] == "websocket-1");
    let last_us = to_page.expect("it was served")["t_us"].as_u64().expect("a time") - start_us;
    assert!((240_000..=251_000).contains(&last_us), "{last_us}");
}
