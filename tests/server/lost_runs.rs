//! Client commands whose messages come twice or never, whose run is stopped, or whose recording has no place.

use std::fs;
use std::io::Read;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use atom_sim::recording::csv_file::read_file;
use serde_json::json;
use tempfile::TempDir;

use super::api::Api;
use super::simulator::{Simulator, command, eventually, run, wait};

const MOVE_TO: u8 = 0x0E;
const PLAY: u8 = 0x07;
const PLAY_SIGNAL: u8 = 0x0B;

/// Copies of the request of a number, from 0, that go to the ATOM.
type Copies = fn(usize) -> usize;

/// A way by UDP on which requests of some codes come twice, or get lost.
struct Proxy {
    way: String,
    ends: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Proxy {
    fn start(simulator: &Simulator, codes: &'static [u8], copies: Copies) -> Self {
        let client_side = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let atom_side = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        atom_side.connect(simulator.udp).expect("the ATOM's port");
        for socket in [&client_side, &atom_side] {
            socket.set_read_timeout(Some(Duration::from_millis(1))).expect("a time-out");
        }
        let way = format!("udp://{}", client_side.local_addr().expect("bound"));
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let thread = thread::spawn(move || {
            let (mut client, mut count, mut bytes) = (None, 0, [0; 2048]);
            while !ended.load(Ordering::Relaxed) {
                if let Ok((length, from)) = client_side.recv_from(&mut bytes) {
                    client = Some(from);
                    let counts = codes.contains(&bytes[0]);
                    for _ in 0..if counts { copies(count) } else { 1 } {
                        atom_side.send(&bytes[..length]).expect("the ATOM is there");
                    }
                    count += usize::from(counts);
                }
                while let Ok(length) = atom_side.recv(&mut bytes) {
                    if let Some(client) = client {
                        client_side.send_to(&bytes[..length], client).expect("the client is there");
                    }
                }
            }
        });
        Self { way, ends, thread: Some(thread) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().expect("once").join().expect("no panic");
    }
}

/// A plan of one second: J1 goes from 0 to 12.5°.
fn plan(folder: &TempDir) -> String {
    let path = folder.path().join("plan.csv");
    let row = |i: i32| format!("{},{},0,-90,0,0,0\n", f64::from(i) * 0.004, f64::from(i) * 0.05);
    let rows: String = (0..=250).map(row).collect();
    fs::write(&path, format!("t,q_plan_1,q_plan_2,q_plan_3,q_plan_4,q_plan_5,q_plan_6\n{rows}"))
        .expect("a file");
    text(&path)
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

fn ask(options: &[&str]) -> (Option<i32>, String) {
    let output = run(options);
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[test]
fn a_start_that_comes_twice_or_at_the_second_try_only_plays_and_records_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(&folder);
    let twice: Copies = |_| 2;
    let second: Copies = |count| usize::from(count > 0);
    for (name, copies) in [("twice", twice), ("second", second)] {
        let simulator = Simulator::start(&["--speed", "5", "--pose", "ready"]);
        let proxy = Proxy::start(&simulator, &[PLAY, PLAY_SIGNAL, MOVE_TO], copies);
        let record = text(&folder.path().join(name).with_extension("csv"));
        let line = ["play", &plan, "--record", &record, "--atom", &proxy.way, "--yes"];
        let (code, error) = ask(&line);
        assert_eq!(code, Some(0), "{name}: {error}");
        let (_, rows) = read_file(Path::new(&record)).expect("a recording");
        assert_eq!(rows.len(), 750, "{name}: {error}");
        let (code, error) = ask(&["move", "ready", "--atom", &proxy.way, "--yes", "--take-over"]);
        assert_eq!(code, Some(0), "{name}: {error}");
    }
}

#[test]
fn what_came_of_a_run_whose_end_is_lost_is_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, record) = (plan(&folder), text(&folder.path().join("run.csv")));
    let simulator = Simulator::start(&["--pose", "ready"]);
    let api = Api::new(&simulator);
    let way = format!("udp://{}", simulator.udp);
    let playing = thread::spawn({
        let record = record.clone();
        move || ask(&["play", &plan, "--record", &record, "--atom", &way, "--yes"])
    });
    api.post("wait", &json!({ "until": { "state": "playing" } }));
    api.post("wait", &json!({ "until": { "angle_deg": { "joint": 1, "min": 4 } } }));
    let none = json!({ "name": "wifi.loss", "chance": 1, "direction": "from-atom", "for_s": 1.5 });
    api.post("faults", &none);
    let (code, error) = playing.join().expect("no panic");
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("its end was lost") && error.contains("up to where the run was lost"), "{error}");
    let (_, rows) = read_file(Path::new(&record)).expect("a recording");
    assert!((100..700).contains(&rows.len()), "{} rows", rows.len());
}

#[test]
fn ctrl_c_stops_the_run_and_keeps_its_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, record) = (plan(&folder), text(&folder.path().join("run.csv")));
    let simulator = Simulator::start(&["--pose", "ready"]);
    let api = Api::new(&simulator);
    let way = format!("ws://{}/ws", simulator.websocket);
    let mut player =
        command(&["play", &plan, "--record", &record, "--atom", &way]).spawn().expect("the binary starts");
    api.post("wait", &json!({ "until": { "state": "playing" } }));
    api.post("wait", &json!({ "until": { "angle_deg": { "joint": 1, "min": 2 } } }));
    let status =
        Command::new("kill").args(["-s", "INT", &player.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
    let code = wait(&mut player).code();
    let mut error = String::new();
    player.stderr.take().expect("a pipe").read_to_string(&mut error).expect("UTF-8");
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("DONE stopped"), "{error}");
    assert_eq!(api.get("truth")["state"], "ready", "it holds, and the plan is there");
    let (_, rows) = read_file(Path::new(&record)).expect("a recording");
    assert!(rows.len() < 700, "{} rows", rows.len());
}

#[test]
fn ctrl_c_before_the_run_moves_nothing_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, record) = (plan(&folder), text(&folder.path().join("run.csv")));
    // Paused, it answers no PING: the command waits for it.
    let simulator = Simulator::start(&["--pose", "ready", "--speed", "paused"]);
    let way = format!("ws://{}/ws", simulator.websocket);
    let mut player =
        command(&["play", &plan, "--record", &record, "--atom", &way]).spawn().expect("the binary starts");
    eventually("the file", || Path::new(&record).exists().then_some(()));
    let status =
        Command::new("kill").args(["-s", "INT", &player.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
    let api = Api::new(&simulator);
    api.post("resume", &json!({}));
    let code = wait(&mut player).code();
    let mut error = String::new();
    player.stderr.take().expect("a pipe").read_to_string(&mut error).expect("UTF-8");
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("stopped before anything moved"), "{error}");
    assert!(!Path::new(&record).exists() && api.get("truth")["plan_valid"] == false);
}

#[test]
fn a_recording_without_a_place_is_refused_before_anything_moves() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(&folder);
    let simulator = Simulator::start(&["--pose", "ready"]);
    let way = format!("ws://{}/ws", simulator.websocket);
    let none = text(&folder.path().join("none/run.csv"));
    for (record, why) in [(&plan, "what is there stays as it is"), (&none, "a folder that exists")] {
        let (code, error) = ask(&["play", &plan, "--record", record, "--atom", &way]);
        assert_eq!(code, Some(3), "{error}");
        assert!(error.contains("--record ") && error.contains(why), "{error}");
    }
    assert_eq!(Api::new(&simulator).get("truth")["plan_valid"], false, "nothing was uploaded");
    // A run that is refused leaves no empty file in the way of the next try.
    let record = text(&folder.path().join("run.csv"));
    let nobody = "ws://127.0.0.1:1/ws";
    assert_eq!(ask(&["play", &plan, "--record", &record, "--atom", nobody]).0, Some(3));
    assert!(!Path::new(&record).exists());
}

#[test]
fn after_an_error_commands_say_so_and_hold_leaves_it() {
    let simulator = Simulator::start(&["--speed", "20", "--pose", "ready"]);
    let (api, way) = (Api::new(&simulator), format!("ws://{}/ws", simulator.websocket));
    api.post("faults", &json!({ "name": "servo.blocked", "joint": 1 }));
    let (code, error) = ask(&["move", "60,0,-90,0,0,0", "--atom", &way]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("tracking error: J1 was") && error.contains("atom-sim hold"), "{error}");
    let (code, error) = ask(&["move", "ready", "--atom", &way]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("error state") && error.contains("atom-sim hold"), "{error}");
    api.delete("faults");
    let (code, error) = ask(&["hold", "--atom", &way]);
    assert_eq!(code, Some(0), "{error}");
    let (code, error) = ask(&["move", "ready", "--atom", &way]);
    assert_eq!(code, Some(0), "{error}");
}

#[test]
fn the_mcap_file_of_a_session_that_begins_with_a_plan_is_that_of_its_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| text(&folder.path().join(name));
    let (plan, live, trace, again) =
        (plan(&folder), path("live.mcap"), path("session.trace"), path("again.mcap"));
    let line = ["--speed", "10", "--play", &plan, "--mcap", &live, "--trace", &trace];
    let mut simulator = Simulator::start(&line);
    Api::new(&simulator).post("wait", &json!({ "until": { "state": "ready" }, "timeout_s": 20 }));
    simulator.signal("INT");
    assert!(simulator.wait().success());
    let (code, error) = ask(&["trace", "mcap", &trace, "--out", &again]);
    assert_eq!(code, Some(0), "{error}");
    let (live, again) = (fs::read(&live).expect("a file"), fs::read(&again).expect("a file"));
    assert!(live.len() > 10_000 && live == again, "{} and {} bytes", live.len(), again.len());
}

#[test]
fn what_cannot_be_made_leaves_no_file_in_the_way_of_the_next_try() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| text(&folder.path().join(name));
    let (broken, mcap, trace) = (path("broken.csv"), path("broken.mcap"), path("session.trace"));
    let recording = fs::read_to_string("recordings/steps.csv").expect("it is of the project");
    fs::write(&broken, recording.replacen("\n0.5,", "\n0.5,x", 1)).expect("room");
    for _ in 0..2 {
        let (code, error) = ask(&["recording", "mcap", &broken]);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains("broken.csv:52: ") && !Path::new(&mcap).exists(), "{error}");
    }
    // A start that fails after the file was made.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("bound").port().to_string();
    for _ in 0..2 {
        let (code, error) = ask(&["--port", &port, "--udp-port", "0", "--trace", &trace]);
        assert_eq!(code, Some(3), "{error}");
        assert!(error.contains("in use") && !Path::new(&trace).exists(), "{error}");
    }
}
