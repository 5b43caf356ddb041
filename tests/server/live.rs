//! Scenarios on the served ATOM: their outcome, who else is served, and what is left when they break off.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::api::Api;
use super::clients::{Client, PING, PONG, STREAM, UdpClient, WebClient, subscribe};
use super::events::Events;
use super::simulator::{Simulator, eventually, now, run};

/// A file of the library.
fn library(name: &str) -> String {
    let path = format!("{}/scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the library has it")
}

/// The network side stands still for an hour: nothing is answered until the scenario ends.
const STALLED: &str = r#"
name = "stalled"
purpose = "The network side stands still"
duration_s = 3600
[[client]]
name = "a"
transport = "udp"
[[fault]]
at_s = 0.01
name = "cpu.network_stall"
for_s = 3600
[[expect]]
that.holder = "nobody"
at_s = 3600
"#;

fn request(toml: &str) -> Value {
    json!({ "toml": toml })
}

#[test]
fn a_scenario_of_the_library_runs_on_the_served_atom() {
    let simulator = Simulator::start(&["--speed", "max"]);
    let api = Api::new(&simulator);
    let reply = api.post("scenarios/run", &request(&library("plan-played")));
    assert_eq!((&reply["name"], &reply["passed"]), (&json!("plan-played"), &json!(true)), "{reply}");
    // Longer than the scenario: its recovery check comes on top.
    assert!(reply["virtual_s"].as_f64().expect("a time") >= 6.0, "{reply}");
    assert_eq!(api.get("truth")["holder"], Value::Null, "its clients are gone");
    let mut one_seed = request(&library("wifi-hotspot"));
    one_seed["name"] = json!("wifi-hotspot#3");
    let reply = api.post("scenarios/run", &one_seed);
    assert_eq!((&reply["seed"], &reply["passed"]), (&json!(3), &json!(true)), "{reply}");
}

#[test]
fn what_was_not_as_expected_is_told_with_its_line() {
    let simulator = Simulator::start(&["--speed", "max"]);
    let api = Api::new(&simulator);
    let toml = "name = \"wrong\"\npurpose = \"A wrong expectation\"\nduration_s = 1\n\n[[expect]]\nthat.state = \"moving\"\nat_s = 0.5\n";
    let reply = api.post("scenarios/run", &request(toml));
    assert_eq!((&reply["passed"], &reply["failures"][0]["line"]), (&json!(false), &json!(5)), "{reply}");
    assert!(reply["failures"][0]["expected"].as_str().is_some_and(|text| text.contains("moving")), "{reply}");
}

#[test]
fn others_are_served_meanwhile_and_see_the_arm_move() {
    let simulator = Simulator::start(&["--speed", "4"]);
    let toml = r#"
name = "turn"
purpose = "J1 turns to 30°"
duration_s = 4
[[client]]
name = "a"
transport = "udp"
[[step]]
client = "a"
do.move_to = { goal_deg = [30, 0, 0, 0, 0, 0] }
[[expect]]
that.angle_deg = { joint = 1, near = 30, by = 0.5 }
eventually_s = 4
"#;
    let mut page = WebClient::new(&simulator);
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let body = json!({ "toml": toml, "fresh": false });
            Api::new(&simulator).post("scenarios/run", &body)
        });
        let api = Api::new(&simulator);
        let mut longest = Duration::ZERO;
        let mut moving = false;
        while !running.is_finished() {
            page.send(&subscribe(50));
            page.receive_code(STREAM);
            let asked = now();
            moving |= api.get("truth")["state"] == "moving";
            longest = longest.max(now().duration_since(asked));
        }
        let reply = running.join().expect("no panic");
        assert_eq!(reply["passed"], true, "{reply}");
        assert!(moving && longest < Duration::from_millis(500), "{longest:?}");
    });
    // Without a reset the page stays connected.
    page.ask(PING, PONG);
}

#[test]
fn time_that_stands_still_holds_a_scenario_too() {
    let simulator = Simulator::start(&["--speed", "paused"]);
    let toml = "name = \"short\"\npurpose = \"Nothing\"\nduration_s = 1\nrecovery = true\n";
    thread::scope(|scope| {
        let running = scope.spawn(|| Api::new(&simulator).post("scenarios/run", &request(toml)));
        let api = Api::new(&simulator);
        thread::sleep(Duration::from_millis(100));
        api.post("advance", &json!({ "for_s": 0.999 }));
        thread::sleep(Duration::from_millis(100));
        assert!(!running.is_finished());
        let second = api.refusal("POST", "scenarios/run", &request(toml).to_string(), &[]);
        assert_eq!(second, (409, "scenario_running".to_owned()));
        // The recovery check goes on for some seconds.
        api.post("advance", &json!({ "for_s": 60 }));
        assert_eq!(running.join().expect("no panic")["passed"], true);
    });
}

#[test]
fn a_scenario_ends_with_its_session_and_with_a_reset() {
    let simulator = Simulator::start(&["--speed", "2"]);
    let plain = Api::new(&simulator);
    let interrupted = (409, "interrupted".to_owned());
    let mut events = Events::open(&simulator);
    let session = events.next()["session"].as_str().expect("a session").to_owned();
    thread::scope(|scope| {
        let in_session = Api::in_session(&simulator, &session);
        let running = scope
            .spawn(move || in_session.refusal("POST", "scenarios/run", &request(STALLED).to_string(), &[]));
        thread::sleep(Duration::from_millis(200));
        events.die();
        assert_eq!(running.join().expect("no panic"), interrupted);
        UdpClient::new(&simulator).ask(PING, PONG);

        let running = scope.spawn(|| {
            Api::new(&simulator).refusal("POST", "scenarios/run", &request(STALLED).to_string(), &[])
        });
        thread::sleep(Duration::from_millis(200));
        plain.post("reset", &json!({}));
        assert_eq!(running.join().expect("no panic"), interrupted);
        UdpClient::new(&simulator).ask(PING, PONG);
    });
}

#[test]
fn a_client_that_dies_leaves_no_scenario_behind_even_in_paused_time() {
    use std::io::Write;
    let simulator = Simulator::start(&[]);
    let api = Api::new(&simulator);
    let body = request(STALLED).to_string();
    let mut dying = std::net::TcpStream::connect(simulator.websocket).expect("it listens");
    write!(
        dying,
        "POST /api/scenarios/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    let mut udp = UdpClient::new(&simulator);
    eventually("the fault", || {
        udp.send(PING);
        udp.receive_within(Duration::from_millis(300)).is_none().then_some(())
    });
    api.post("pause", &json!({}));
    drop(dying);
    thread::sleep(Duration::from_millis(200));
    api.post("resume", &json!({}));
    eventually("an answer", || {
        udp.send(PING);
        udp.receive_within(Duration::from_millis(100))
    });
}

#[test]
fn a_text_that_is_no_scenario_is_refused_and_changes_nothing() {
    let simulator = Simulator::start(&[]);
    let api = Api::new(&simulator);
    let page = WebClient::new(&simulator);
    let invalid = (422, "invalid_scenario".to_owned());
    for toml in ["", "name = 1", "[[", &library("wifi-hotspot")] {
        assert_eq!(
            api.refusal("POST", "scenarios/run", &request(toml).to_string(), &[]),
            invalid,
            "{toml:.40}"
        );
    }
    let file = STALLED.replace(
        "[[fault]]",
        "[[step]]\nclient = \"a\"\ndo.plan = { rate_hz = 100, csv = \"plan.csv\" }\n[[fault]]",
    );
    let files = api.ask("POST", "scenarios/run", request(&file).to_string(), &[]);
    assert_eq!(files.0, 422);
    let told = files.1["error"]["message"].as_str().expect("a message");
    assert!(told.contains("write the plan as points"), "{told}");
    let many = format!("{STALLED}[parameters]\nseeds = [0, 999999]\n");
    assert_eq!(api.refusal("POST", "scenarios/run", &request(&many).to_string(), &[]), invalid);
    let named = json!({ "toml": library("plan-played"), "name": "other" }).to_string();
    assert_eq!(api.refusal("POST", "scenarios/run", &named, &[]), invalid);
    let path = json!({ "path": "/etc/passwd" }).to_string();
    assert_eq!(api.refusal("POST", "scenarios/run", &path, &[]), (400, "invalid_body".to_owned()));
    eventually("the page is still there", || {
        (api.get("truth")["clients"][0]["name"] == "websocket-1").then_some(())
    });
    drop(page);
}

#[test]
fn a_reset_after_a_scenario_brings_the_served_atom_back() {
    let simulator = Simulator::start(&["--speed", "max", "--no-gripper"]);
    let api = Api::new(&simulator);
    let toml = "name = \"s\"\npurpose = \"Another arm\"\nduration_s = 1\nrecovery = true\n[arm]\npose_deg = [90, 0, 0, 0, 0, 0]\n";
    let arm = || {
        let truth = api.get("truth");
        (truth["angle_deg"][0].as_f64().expect("an angle") > 45.0, truth["joints_in_use"].clone())
    };
    for _ in 0..2 {
        assert_eq!(api.post("scenarios/run", &request(toml))["passed"], true);
        assert_eq!(arm(), (true, json!(7)), "the scenario's ATOM stays for a look");
    }
    api.post("reset", &json!({}));
    assert_eq!(arm(), (false, json!(6)));
}

#[test]
fn ctl_runs_a_scenario_and_tells_by_its_exit_code() {
    let simulator = Simulator::start(&["--speed", "max"]);
    let url = format!("http://{}", simulator.websocket);
    let passed = run(&["ctl", "--url", &url, "run-scenario", "scenarios/button.toml"]);
    assert_eq!(passed.status.code(), Some(0), "{}", String::from_utf8_lossy(&passed.stderr));
    let missing = run(&["ctl", "--url", &url, "run-scenario", "scenarios/nothing.toml"]);
    assert_eq!(missing.status.code(), Some(3));
}
