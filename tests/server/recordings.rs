//! Traces and recordings through the command API: where they go, what is in them, whose they are.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::api::Api;
use super::clients::{Client, UdpClient, WebClient, move_to};
use super::events::Events;
use super::simulator::{Simulator, eventually, run};

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("recordings-{name}-{}", std::process::id()));
    // It may be there from a run before.
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn start(folder: &Path, more: &[&str]) -> Simulator {
    let mut options = vec!["--commands-folder", text(folder)];
    options.extend(more);
    Simulator::start(&options)
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Moves J1 there and waits until it is.
fn turn(api: &Api<'_>, udp: &mut UdpClient, j1_deg: i16) {
    udp.send(&move_to([j1_deg, 0, 0, 0, 0, 0]));
    api.post("wait", &json!({ "until": { "state": "moving" } }));
    api.post("wait", &json!({ "until": { "state": "holding" } }));
}

#[test]
fn a_trace_started_by_request_replays_to_the_byte() {
    let folder = folder("trace");
    let simulator = start(&folder, &["--speed", "20"]);
    let api = Api::new(&simulator);
    let mut udp = UdpClient::new(&simulator);
    turn(&api, &mut udp, 10);
    let before = WebClient::new(&simulator);
    let request = json!({ "format": "trace", "name": "move-1", "reset": { "seed": 5 } });
    let reply = api.post("recordings", &request);
    assert_eq!((&reply["file"], &reply["format"]), (&json!("move-1.jsonl"), &json!("trace")));
    drop(before);
    api.post("faults", &json!({ "name": "wifi.jitter", "ms": 3 }));
    turn(&api, &mut udp, 20);
    assert_eq!(api.get("recordings")["recordings"][0]["id"], reply["id"]);
    api.delete(&format!("recordings/{}", reply["id"]));
    assert_eq!(api.get("recordings"), json!({ "recordings": [] }));
    // Nothing more is kept, and the simulator goes on.
    let trace = folder.join("move-1.jsonl");
    let size = fs::metadata(&trace).expect("it is there").len();
    turn(&api, &mut udp, 30);
    assert_eq!(fs::metadata(&trace).expect("it is there").len(), size);
    let replayed = run(&["replay", text(&trace)]);
    let words = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert!(replayed.status.success() && words.starts_with("identical: "), "{words}");
    let shown = run(&["trace", "show", text(&trace)]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("MOVE_TO"));
}

#[test]
fn a_recording_keeps_the_telemetry_of_each_run_without_a_reset() {
    let folder = folder("csv");
    let simulator = start(&folder, &["--speed", "20"]);
    let api = Api::new(&simulator);
    let t_s = api.get("clock")["t_s"].as_f64().expect("a time");
    let reply = api.post("recordings", &json!({ "format": "csv", "name": "runs" }));
    assert_eq!(reply["file"], "runs");
    let mut udp = UdpClient::new(&simulator);
    for j1_deg in [10, 20] {
        turn(&api, &mut udp, j1_deg);
    }
    assert!(api.get("clock")["t_s"].as_f64().expect("a time") > t_s);
    api.delete(&format!("recordings/{}", reply["id"]));
    assert_eq!(files(&folder.join("runs")), ["run-001.csv", "run-002.csv"]);
    let csv = fs::read_to_string(folder.join("runs/run-001.csv")).expect("readable");
    assert!(csv.starts_with("t,q_plan_1,") && csv.lines().count() > 50, "{csv:.200}");
}

#[test]
fn an_mcap_file_started_by_request_is_complete_when_it_ends() {
    let folder = folder("mcap");
    let simulator = start(&folder, &["--speed", "20"]);
    let api = Api::new(&simulator);
    let reply = api.post("recordings", &json!({ "format": "mcap", "name": "view" }));
    assert_eq!((&reply["file"], &reply["format"]), (&json!("view.mcap"), &json!("mcap")));
    let mut udp = UdpClient::new(&simulator);
    turn(&api, &mut udp, 10);
    api.delete(&format!("recordings/{}", reply["id"]));
    let bytes = fs::read(folder.join("view.mcap")).expect("readable");
    let summary =
        mcap::Summary::read(&bytes).expect("an MCAP file").expect("with a summary: it ended in order");
    let topics: Vec<&str> = summary.channels.values().map(|channel| channel.topic.as_str()).collect();
    assert!(topics.contains(&"/joint_states"), "{topics:?}");
    assert!(summary.stats.expect("counts").message_count > 50);
}

#[test]
fn what_a_dead_client_kept_ends_in_order_and_stays_complete() {
    let folder = folder("dead");
    let simulator = start(&folder, &[]);
    let mut events = Events::open(&simulator);
    let session = events.next()["session"].as_str().expect("a session").to_owned();
    let plain = Api::new(&simulator);
    let api = Api::in_session(&simulator, &session);
    api.post("recordings", &json!({ "format": "trace", "name": "t" }));
    api.post("recordings", &json!({ "format": "csv", "name": "c" }));
    let other = plain.post("recordings", &json!({ "format": "csv", "name": "other" }));
    events.die();
    eventually("the end of the session", || {
        let list = plain.get("recordings")["recordings"].as_array().expect("a list").clone();
        (list == [other.clone()]).then_some(())
    });
    let trace = fs::read_to_string(folder.join("t.jsonl")).expect("it stays");
    assert!(trace.trim_end().lines().last().is_some_and(|line| line.contains("\"end\"")), "{trace}");
}

#[test]
fn a_client_writes_inside_the_folder_only_and_over_nothing() {
    let folder = folder("inside");
    let simulator = start(&folder, &[]);
    let api = Api::new(&simulator);
    let t_s = api.get("clock")["t_s"].as_f64().expect("a time");
    fs::write(folder.join("there.jsonl"), "precious").expect("writable");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.join("outside"), folder.join("link.jsonl")).expect("a link");
    let refusal = |name: &str, format: &str| {
        let body = json!({ "format": format, "name": name }).to_string();
        api.refusal("POST", "recordings", &body, &[])
    };
    let long = "x".repeat(65);
    for name in ["", "..", "../up", "/etc/x", "a/b", "a\\b", ".hidden", "a.b", "a\u{0}b", "ä", &long] {
        for format in ["trace", "csv"] {
            assert_eq!(refusal(name, format), (422, "invalid_value".to_owned()), "{name:?}");
        }
    }
    assert_eq!(refusal("there", "trace"), (409, "name_taken".to_owned()));
    #[cfg(unix)]
    assert_eq!(refusal("link", "trace"), (409, "name_taken".to_owned()));
    assert_eq!(refusal("x", "exe"), (400, "invalid_body".to_owned()));
    let wrong_reset =
        json!({ "format": "trace", "name": "gone", "reset": { "angles_deg": [900, 0, 0, 0, 0, 0] } });
    let refused = api.refusal("POST", "recordings", &wrong_reset.to_string(), &[]);
    assert_eq!(refused, (422, "invalid_value".to_owned()));
    assert_eq!(api.refusal("DELETE", "recordings/7", "", &[]), (404, "no_such_recording".to_owned()));
    // Nothing was written, and nothing was reset.
    assert_eq!(fs::read_to_string(folder.join("there.jsonl")).expect("it stays"), "precious");
    let left: &[&str] = if cfg!(unix) { &["link.jsonl", "there.jsonl"] } else { &["there.jsonl"] };
    assert_eq!(files(&folder), left);
    assert!(api.get("clock")["t_s"].as_f64().expect("a time") >= t_s);
    for number in 0..16 {
        api.post("recordings", &json!({ "format": "csv", "name": format!("n{number}") }));
    }
    assert_eq!(refusal("n16", "csv"), (429, "too_many".to_owned()));
}

#[test]
fn without_a_folder_nothing_is_written() {
    let simulator = Simulator::start(&[]);
    let body = r#"{"format": "trace", "name": "x"}"#;
    let refused = Api::new(&simulator).refusal("POST", "recordings", body, &[]);
    assert_eq!(refused, (403, "no_folder".to_owned()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_fails_says_so_and_the_simulator_runs_on() {
    let folder = folder("fails");
    let simulator = start(&folder, &["--speed", "50"]);
    let api = Api::new(&simulator);
    let id = api.post("recordings", &json!({ "format": "csv", "name": "c" }))["id"].clone();
    fs::remove_dir(folder.join("c")).expect("it is empty");
    let mut udp = UdpClient::new(&simulator);
    turn(&api, &mut udp, 10);
    let error = eventually("the error", || {
        let reply = api.get("recordings")["recordings"][0].clone();
        reply["error"].as_str().map(ToOwned::to_owned)
    });
    assert!(error.contains("No such file"), "{error}");
    let refused = api.refusal("DELETE", &format!("recordings/{id}"), "", &[]);
    assert_eq!(refused, (500, "recording_failed".to_owned()));
    assert_eq!(api.get("recordings"), json!({ "recordings": [] }));
    turn(&api, &mut udp, 20);
}

#[test]
fn ctl_starts_and_ends_recordings() {
    let folder = folder("ctl");
    let simulator = start(&folder, &[]);
    let url = format!("http://{}", simulator.websocket);
    let ctl = |words: &[&str]| {
        let line: Vec<&str> = ["ctl", "--url", &url].into_iter().chain(words.iter().copied()).collect();
        let output = run(&line);
        let reply: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (output.status.code(), reply)
    };
    assert_eq!(ctl(&["record", "trace", "demo"]).1["file"], "demo.jsonl");
    assert_eq!(ctl(&["recordings"]).1["recordings"][0]["id"], 1);
    assert_eq!(ctl(&["end-recording", "1"]), (Some(0), json!({ "recordings": [] })));
    assert_eq!(ctl(&["record", "trace", "demo"]).0, Some(1), "the name is taken");
}
