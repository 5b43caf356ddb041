//! Sessions of the command API: how they end, and that nothing stays behind.

use std::thread;
use std::time::Duration;

use serde_json::json;

use super::api::Api;
use super::clients::{Client, PING, PONG, UdpClient};
use super::events::Events;
use super::simulator::{Simulator, eventually};

#[test]
fn a_client_that_dies_leaves_no_fault_pause_speed_or_wait_behind() {
    let simulator = Simulator::start(&["--speed", "3"]);
    let plain = Api::new(&simulator);
    let mut events = Events::open(&simulator);
    let session = events.next()["session"].as_str().expect("a session").to_owned();
    let api = Api::in_session(&simulator, &session);
    api.post("faults", &json!({ "name": "cpu.slow_cycle", "us": 100 }));
    api.post("faults", &json!({ "name": "wifi.loss", "chance": 1, "after_s": 1000 }));
    api.put("speed", &json!({ "speed": "max" }));
    api.post("pause", &json!({}));
    let started = events.next();
    assert_eq!((&started["event"], &started["name"]), (&json!("fault_started"), &json!("cpu.slow_cycle")));
    assert_eq!(plain.get("clock")["paused_by"], json!([session]));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| api.refusal("POST", "wait", r#"{"until": {"state": "error"}}"#, &[]));
        thread::sleep(Duration::from_millis(100));
        events.die();
        assert_eq!(waiting.join().expect("no panic"), (409, "interrupted".to_owned()));
    });
    assert_eq!(plain.get("faults"), json!({ "faults": [] }));
    let clock = plain.get("clock");
    assert_eq!((&clock["paused"], &clock["speed"]), (&json!(false), &json!(3.0)));
    assert_eq!(api.refusal("POST", "pause", "", &[]), (404, "unknown_session".to_owned()));
}

#[test]
fn a_lease_that_runs_out_ends_its_session_and_requests_renew_it() {
    let simulator = Simulator::start(&[]);
    let plain = Api::new(&simulator);
    let reply = plain.post("sessions", &json!({ "lease_s": 0.5 }));
    let session = reply["session"].as_str().expect("a session");
    let api = Api::in_session(&simulator, session);
    api.post("pause", &json!({}));
    for _ in 0..10 {
        thread::sleep(Duration::from_millis(100));
        assert_eq!(api.get("clock")["paused"], true);
    }
    eventually("the end of the lease", || Some(()).filter(|()| plain.get("clock")["paused"] == false));
}

#[test]
fn a_session_ended_by_request_is_undone_when_that_is_answered() {
    let simulator = Simulator::start(&[]);
    let plain = Api::new(&simulator);
    let session = plain.post("sessions", &json!({}))["session"].as_str().expect("a session").to_owned();
    let api = Api::in_session(&simulator, &session);
    api.post("faults", &json!({ "name": "cpu.network_stall" }));
    plain.delete(&format!("sessions/{session}"));
    assert_eq!(plain.get("faults"), json!({ "faults": [] }));
    UdpClient::new(&simulator).ask(PING, PONG);
}

#[test]
fn a_lease_does_not_run_out_while_a_request_is_open() {
    let simulator = Simulator::start(&[]);
    let plain = Api::new(&simulator);
    let reply = plain.post("sessions", &json!({ "lease_s": 0.3 }));
    let session = reply["session"].as_str().expect("a session");
    let api = Api::in_session(&simulator, session);
    let from_s = plain.get("clock")["t_s"].as_f64().expect("a time");
    // More than three leases of real time, since virtual time goes at its speed.
    api.post("wait", &json!({ "until": { "time_s": { "min": from_s + 1.0 } } }));
    api.post("pause", &json!({}));
    eventually("the end of the lease", || Some(()).filter(|()| plain.get("clock")["paused"] == false));
}

#[test]
fn a_wait_that_drives_time_tells_what_happened_on_its_way() {
    let simulator = Simulator::start(&["--speed", "paused"]);
    let api = Api::new(&simulator);
    let mut events = Events::open(&simulator);
    assert_eq!(events.next()["event"], "session");
    api.post("faults", &json!({ "name": "cpu.slow_cycle", "us": 10, "after_s": 0.01 }));
    let from_s = api.get("clock")["t_s"].as_f64().expect("a time");
    let until = json!({ "time_s": { "min": from_s + 0.01 } });
    api.post("wait", &json!({ "until": until, "advance": true }));
    // Nobody asks for anything more: the event comes by itself.
    assert_eq!(events.next()["event"], "fault_started");
}
