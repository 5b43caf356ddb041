//! A simulator left alone at full speed keeps its memory; `tools/soak.py` does the same for as long as one likes.
#![cfg(target_os = "linux")]

use std::thread;
use std::time::Duration;

use serde_json::json;

use super::api::Api;
use super::clients::{Client, PING, PONG, STREAM, UdpClient, WebClient, move_to, subscribe};
use super::simulator::{Simulator, now};

/// Growth that is allowed (MB): allocators keep some for themselves.
const GROWTH_MB_MAX: f64 = 2.0;
/// Virtual time of each part (s).
const PART_S: f64 = 4.0 * 3600.0;
/// Bound on the wall: a machine this slow cannot judge.
const WALL_MAX: Duration = Duration::from_mins(2);

/// Clients, faults and sessions come and go, and the arm moves, for so much virtual time.
fn churn(simulator: &Simulator, udp: &mut UdpClient, virtual_s: f64) {
    let api = Api::new(simulator);
    let t_s = || api.get("clock")["t_s"].as_f64().expect("a time");
    let (begin, end_s) = (now(), t_s() + virtual_s);
    while t_s() < end_s {
        assert!(now().duration_since(begin) < WALL_MAX, "at {} s of {end_s} s", t_s());
        let mut page = WebClient::new(simulator);
        page.send(&subscribe(100));
        page.receive_code(STREAM);
        udp.send(&move_to([30, 0, 0, 0, 0, 0]));
        udp.send(&move_to([-30, 0, 0, 0, 0, 0]));
        api.post("faults", &json!({ "name": "wifi.jitter", "ms": 5, "for_s": 30, "every_s": 60 }));
        api.delete("faults");
        let session = api.post("sessions", &json!({}))["session"].as_str().expect("a session").to_owned();
        api.delete(&format!("sessions/{session}"));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn memory_stays_flat_over_virtual_hours_while_clients_faults_and_sessions_come_and_go() {
    let simulator = Simulator::start(&["--speed", "max", "--log", "error"]);
    let mut udp = UdpClient::new(&simulator);
    udp.ask(PING, PONG);
    churn(&simulator, &mut udp, PART_S);
    let before_mb = simulator.resident_mb();
    churn(&simulator, &mut udp, 3.0 * PART_S);
    let after_mb = simulator.resident_mb();
    assert!(after_mb - before_mb < GROWTH_MB_MAX, "{before_mb} MB grew to {after_mb} MB");
}
