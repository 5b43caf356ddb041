//! The client commands `move`, `play`, `signal` and `watch`: the real binary against a serving one, by both ways.

use std::fs;
use std::path::PathBuf;

use atom_sim::recording::csv_file::read_file;
use serde_json::json;

use super::api::Api;
use super::simulator::{Simulator, eventually, run};

/// Twenty times real time: a run of a few seconds takes a moment.
const FAST: [&str; 4] = ["--speed", "20", "--pose", "ready"];

fn scratch_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}

/// Runs a command; its exit code, standard output and standard error.
fn ask(options: &[&str]) -> (Option<i32>, String, String) {
    let output = run(options);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Where a simulator serves, by WebSocket and by UDP.
fn ways(simulator: &Simulator) -> [String; 2] {
    [format!("ws://{}/ws", simulator.websocket), format!("udp://{}", simulator.udp)]
}

#[test]
fn move_arrives_and_watch_shows_where() {
    let simulator = Simulator::start(&FAST);
    for (way, goal) in ways(&simulator).iter().zip(["20,0,-90,0,0,0", "-15,0,-90,0,0,0"]) {
        let (code, _, error) = ask(&["move", goal, "--atom", way, "--yes", "--take-over"]);
        assert_eq!(code, Some(0), "{way}: {error}");
        let (code, table, error) = ask(&["watch", "--count", "2", "--atom", way]);
        assert_eq!(code, Some(0), "{way}: {error}");
        let j1 = table.lines().rev().find(|line| line.trim_start().starts_with("J1")).expect("a row of J1");
        let deg: f64 = goal.split(',').next().and_then(|text| text.parse().ok()).expect("a number");
        let near = |word: &str| {
            word.trim_end_matches('°').parse::<f64>().is_ok_and(|shown| (shown - deg).abs() < 0.6)
        };
        assert!(j1.split_whitespace().any(near), "{way}: {j1}");
        assert!(table.contains("holding"), "{way}: {table}");
    }
}

#[test]
fn what_does_not_say_that_it_is_a_simulator_is_not_moved_without_yes() {
    let simulator = Simulator::start(&FAST);
    let [web_socket, udp] = ways(&simulator);
    let (code, _, error) = ask(&["move", "20,0,-90,0,0,0", "--atom", &udp]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("--yes") && error.contains("moves a robot"), "{error}");
    let (_, table, _) = ask(&["watch", "--count", "1", "--atom", &udp]);
    assert!(table.contains("holding"), "{table}");
    let (code, _, error) = ask(&["move", "5,0,-90,0,0,0", "--atom", &web_socket]);
    assert_eq!(code, Some(0), "the status log says atom-sim: {error}");
}

#[test]
fn play_uploads_plays_and_records_without_a_gap() {
    let simulator = Simulator::start(&FAST);
    let plan = scratch_file("plan.csv");
    let row = |i: i32| format!("{},{},0,-90,0,0,0\n", f64::from(i) * 0.004, f64::from(i) * 0.05);
    let rows: String = (0..=250).map(row).collect();
    fs::write(&plan, format!("t,q_plan_1,q_plan_2,q_plan_3,q_plan_4,q_plan_5,q_plan_6\n{rows}"))
        .expect("a file");
    for (i, way) in ways(&simulator).iter().enumerate() {
        let (code, _, error) = ask(&["move", "0,0,-90,0,0,0", "--atom", way, "--yes", "--take-over"]);
        assert_eq!(code, Some(0), "{error}");
        let record = scratch_file(&format!("run-{i}.csv"));
        let paths = [plan.to_str().expect("UTF-8"), record.to_str().expect("UTF-8")];
        let (code, _, error) =
            ask(&["play", paths[0], "--record", paths[1], "--atom", way, "--yes", "--take-over"]);
        assert_eq!(code, Some(0), "{way}: {error}");
        let (joints, rows) = read_file(&record).expect("a recording");
        // One second and the half that the run holds its end, at 500 Hz.
        assert_eq!((joints, rows.len()), (6, 750), "{way}: {error}");
        let last = rows.last().expect("rows");
        assert!((last.position_deg[0] - 12.5).abs() < 0.5, "{way}: {}", last.position_deg[0]);
        fs::remove_file(&record).expect("it was there");
    }
    fs::remove_file(&plan).expect("it was there");
}

#[test]
fn signal_plays_a_chirp_and_a_refused_one_says_why() {
    let simulator = Simulator::start(&FAST);
    for way in &ways(&simulator) {
        let line =
            ["signal", "chirp", "--joint", "1", "--amp", "5", "--duration", "4", "--base", "0,0,-90,0,0,0"];
        let (code, _, error) = ask(&[&line[..], &["--atom", way, "--yes", "--take-over"]].concat());
        assert_eq!(code, Some(0), "{way}: {error}");
    }
    let way = &ways(&simulator)[0];
    let (code, _, error) = ask(&["signal", "chirp", "--joint", "1", "--amp", "120", "--atom", way]);
    assert!(matches!(code, Some(1 | 2)) && error.contains("amplitude"), "{code:?} {error}");
}

#[test]
fn a_move_that_the_firmware_does_not_know_ends_and_its_stream_shows_no_goals() {
    let simulator = Simulator::start(&["--api", "4.1"]);
    let udp = format!("udp://{}", simulator.udp);
    let (code, _, error) = ask(&["move", "ready", "--atom", &udp, "--yes"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("no answer to MOVE_TO within 2 s"), "{error}");
    let (code, table, error) = ask(&["watch", "--count", "1", "--atom", &udp]);
    assert_eq!(code, Some(0), "{error}");
    let j1 = table.lines().find(|line| line.starts_with("J1")).expect("a row of J1");
    assert_eq!(j1.split_whitespace().nth(2), Some("–"), "{j1}");
}

#[test]
fn a_run_whose_end_is_lost_ends_too() {
    let simulator = Simulator::start(&["--speed", "20", "--pose", "ready"]);
    let [_, udp] = ways(&simulator);
    let moving = std::thread::spawn(move || {
        ask(&["move", "90,0,-90,0,0,0", "--duration", "60", "--atom", &udp, "--yes"])
    });
    let api = Api::new(&simulator);
    api.post("wait", &json!({ "until": { "state": "moving" } }));
    // What the ATOM sends is lost until the move is over.
    api.post("faults", &json!({ "name": "wifi.loss", "chance": 1, "direction": "from-atom", "for_s": 90 }));
    let (code, _, error) = moving.join().expect("no panic");
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("the run is over, but its end was lost"), "{error}");
}

#[test]
fn nobody_at_the_address_is_told_with_the_address() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let way = format!("ws://{}/ws", free.local_addr().expect("bound"));
    drop(free);
    let (code, _, error) = ask(&["move", "ready", "--atom", &way]);
    assert_eq!(code, Some(3));
    assert!(error.contains(&format!("no ATOM at {way}: ")) && error.contains("--atom"), "{error}");
}

#[test]
fn files_that_are_there_are_kept() {
    let (trace, folder) = (scratch_file("kept.jsonl"), scratch_file("kept-runs"));
    fs::write(&trace, "mine").expect("a scratch file");
    let (code, _, error) =
        ask(&["--port", "0", "--udp-port", "0", "--trace", trace.to_str().expect("UTF-8")]);
    assert_eq!((code, fs::read_to_string(&trace).expect("there")), (Some(3), "mine".to_owned()), "{error}");
    assert!(error.contains("what is there stays as it is"), "{error}");
    fs::create_dir_all(&folder).expect("a scratch folder");
    fs::write(folder.join("run-007.csv"), "mine").expect("a scratch file");
    let simulator =
        Simulator::start(&["--speed", "20", "--pose", "ready", "--record", folder.to_str().expect("UTF-8")]);
    let [_, udp] = ways(&simulator);
    let (code, _, error) = ask(&["move", "5,0,-90,0,0,0", "--atom", &udp, "--yes"]);
    assert_eq!(code, Some(0), "{error}");
    eventually("the recording", || folder.join("run-008.csv").exists().then_some(()));
    assert_eq!(fs::read_to_string(folder.join("run-007.csv")).expect("there"), "mine");
    fs::remove_dir_all(&folder).expect("ours");
    fs::remove_file(&trace).expect("ours");
}

#[test]
fn tolerances_that_are_none_are_refused() {
    for (option, value) in [("--max-error", "-5"), ("--start-tolerance", "nan"), ("--max-error", "361")] {
        let (code, _, error) = ask(&["play", "plan.csv", option, value]);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(option) && error.contains("expected 0 to 360 degrees"), "{error}");
    }
}
