//! `atom-sim ctl` against a running simulator: replies, refusals, exit codes.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::api::Api;
use super::simulator::{Simulator, eventually, run};

#[test]
fn ctl_speaks_the_api() {
    let simulator = Simulator::start(&["--speed", "paused"]);
    let url = format!("http://{}", simulator.websocket);
    let ctl = |words: &[&str]| {
        let line: Vec<&str> = ["ctl", "--url", &url].into_iter().chain(words.iter().copied()).collect();
        let output = run(&line);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let reply: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        (output.status.code(), reply, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(ctl(&["health"]).1["status"], "ok");
    let (code, truth, _) = ctl(&["truth"]);
    assert_eq!((code, &truth["state"]), (Some(0), &json!("holding")));
    let (code, fault, error) = ctl(&["fault", "wifi.latency", "ms=3", "for_s=0.25", "after_s=1"]);
    assert_eq!((code, &fault["parameters"]["ms"]), (Some(0), &json!(3.0)), "{error}");
    assert_eq!(ctl(&["clear"]).0, Some(0));
    assert_eq!(ctl(&["advance", "0.5"]).0, Some(0));
    let (code, clock, error) = ctl(&["wait", "--advance", r#"{"state": "holding"}"#]);
    assert_eq!((code, &clock["paused"]), (Some(0), &json!(true)), "{error}");
    let j7_deg = |truth: &Value| truth["angle_deg"][6].as_f64().expect("a number");
    assert_eq!(ctl(&["pose", "0", "0", "-90", "0", "0", "0", "-40"]).0, Some(0));
    assert!((j7_deg(&ctl(&["truth"]).1) + 40.0).abs() < 0.2);
    for pose in [&["pose", "5", "0", "-90", "0", "0", "0"][..], &["pose", "ready"]] {
        assert_eq!(ctl(pose).0, Some(0));
        let j7_deg = j7_deg(&ctl(&["truth"]).1);
        assert!((j7_deg + 40.0).abs() < 0.2, "without an angle of its own J7 went to {j7_deg}°");
    }
    let (code, _, error) = ctl(&["fault", "servo.silnt"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("unknown_fault") && error.contains("servo.silent"), "{error}");
    let (code, _, error) = ctl(&["wait", "holding"]);
    assert_eq!(code, Some(2), "{error}");
    drop(simulator);
    let (code, _, error) = ctl(&["truth"]);
    assert_eq!(code, Some(3));
    assert!(error.contains("no simulator answers"), "{error}");
}

#[test]
fn events_are_printed_until_their_reader_has_enough() {
    let simulator = Simulator::start(&[]);
    let mut watching = Command::new(env!("CARGO_BIN_EXE_atom-sim"))
        .args(["ctl", "events"])
        .env("ATOM_SIM_URL", format!("http://{}", simulator.websocket))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    let first: Value = serde_json::from_str(&lines.next().expect("a line").expect("readable")).expect("JSON");
    assert_eq!(first["event"], "session");
    drop(lines);
    let api = Api::new(&simulator);
    let ended = eventually("the end of the command", || {
        api.post("faults", &json!({ "name": "button.press" }));
        watching.try_wait().expect("it is our child")
    });
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn events_that_are_refused_are_no_stream_that_ended() {
    let simulator = Simulator::start(&["--commands", "off"]);
    let output = run(&["ctl", "--url", &format!("http://{}", simulator.websocket), "events"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("the command API is off"), "{error}");
}
