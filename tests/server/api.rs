//! The command API: what it reads, what it changes, what it refuses, and that it leaves others alone.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::clients::{
    Client, PING, PONG, STREAM, UdpClient, WebClient, ack_status, control, move_to, subscribe,
};
use super::events::Events;
use super::simulator::{Simulator, eventually, now};

/// A client of the command API.
pub(crate) struct Api<'a> {
    url: String,
    session: Option<&'a str>,
    agent: ureq::Agent,
}

/// An answer: its status and its JSON.
pub(crate) type Answer = (u16, Value);

impl<'a> Api<'a> {
    pub(crate) fn new(simulator: &Simulator) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(Duration::from_mins(1)))
            .build();
        Self { url: format!("http://{}/api/", simulator.websocket), session: None, agent: config.new_agent() }
    }

    pub(crate) fn in_session(simulator: &Simulator, session: &'a str) -> Self {
        Self { session: Some(session), ..Self::new(simulator) }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: String, headers: &[(&str, &str)]) -> Answer {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(session) = self.session {
            request = request.header("Atom-Session", session);
        }
        let mut response = if method == "GET" || method == "DELETE" {
            self.agent.run(request.body(()).expect("a request"))
        } else {
            self.agent.run(request.body(body).expect("a request"))
        }
        .expect("an answer");
        let json = response.body_mut().read_json().expect("every answer is JSON");
        (response.status().as_u16(), json)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        expect_ok(self.ask("GET", path, String::new(), &[]))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        expect_ok(self.ask("POST", path, body.to_string(), &[]))
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Value {
        expect_ok(self.ask("PUT", path, body.to_string(), &[]))
    }

    pub(crate) fn delete(&self, path: &str) -> Value {
        expect_ok(self.ask("DELETE", path, String::new(), &[]))
    }

    /// The status and the code of a refusal.
    pub(crate) fn refusal(
        &self,
        method: &str,
        path: &str,
        body: &str,
        headers: &[(&str, &str)],
    ) -> (u16, String) {
        let (status, json) = self.ask(method, path, body.to_owned(), headers);
        assert!(status >= 400, "{method} {path} {body} was answered {status}: {json}");
        assert!(json["error"]["message"].as_str().is_some_and(|message| message.len() > 10), "{json}");
        (status, json["error"]["code"].as_str().expect("a code").to_owned())
    }

    fn t_s(&self) -> f64 {
        self.get("clock")["t_s"].as_f64().expect("a time")
    }
}

fn expect_ok((status, json): Answer) -> Value {
    assert_eq!(status, 200, "{json}");
    json
}

fn degrees(truth: &Value, joint: usize) -> f64 {
    truth["angle_deg"][joint - 1].as_f64().expect("an angle")
}

#[test]
fn the_truth_is_read() {
    let simulator = Simulator::start(&["--pose", "ready"]);
    let api = Api::new(&simulator);
    let mut page = WebClient::new(&simulator);
    page.ask(&control(1), 0x83);
    let truth = api.get("truth");
    assert_eq!(truth["state"], "holding");
    assert_eq!(truth["joints_in_use"], 7);
    assert!((degrees(&truth, 3) + 90.0).abs() < 0.1, "{truth}");
    assert_eq!(truth["led"].as_array().map(Vec::len), Some(25));
    assert_eq!(truth["holder"], "websocket-1");
    assert_eq!(truth["clients"][0]["name"], "websocket-1");
}

#[test]
fn paused_time_moves_by_command_only_and_exactly() {
    let simulator = Simulator::start(&["--speed", "paused"]);
    let api = Api::new(&simulator);
    let start_s = api.t_s();
    thread::sleep(Duration::from_millis(20));
    assert_eq!(api.t_s().to_bits(), start_s.to_bits());
    let advanced = api.post("advance", &json!({ "for_s": 3600.25 }));
    assert!((advanced["t_s"].as_f64().expect("a time") - start_s - 3600.25).abs() < 1e-6, "{advanced}");
    let before_us = (api.t_s() * 1e6).round() as u64;
    let stepped = api.post("step", &json!({ "ticks": 3 }));
    let after_us = (stepped["t_s"].as_f64().expect("a time") * 1e6).round() as u64;
    assert_eq!(after_us, (before_us / 1_000 + 3) * 1_000);
    assert_eq!(stepped["paused"], true);
}

#[test]
fn a_wait_in_paused_time_stops_where_its_condition_became_true() {
    let simulator = Simulator::start(&["--speed", "paused"]);
    let api = Api::new(&simulator);
    let mut udp = UdpClient::new(&simulator);
    udp.send(&move_to([0, 0, -90, 0, 0, 0]));
    let condition = json!({ "all": [{ "state": "moving" }, { "angle_deg": { "joint": 3, "max": -45 } }] });
    // The datagram is an input of its own: the wait begins once it has come.
    eventually("the datagram", || {
        api.get("truth")["clients"].as_array().filter(|clients| !clients.is_empty()).map(|_| ())
    });
    api.post("wait", &json!({ "until": condition, "advance": true }));
    let truth = api.get("truth");
    // At most 1 ms late at about 60 °/s.
    assert!((-45.1..=-45.0).contains(&degrees(&truth, 3)), "J3 at {}", degrees(&truth, 3));
    api.post("wait", &json!({ "until": { "state": "holding" }, "advance": true }));
    assert_eq!(api.get("truth")["state"], "holding");
}

#[test]
fn a_wait_blocks_nobody_and_ends_by_its_virtual_timeout() {
    let simulator = Simulator::start(&["--speed", "20"]);
    let api = Api::new(&simulator);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let body = json!({ "until": { "state": "error" }, "timeout_s": 20 }).to_string();
            Api::new(&simulator).refusal("POST", "wait", &body, &[])
        });
        let mut udp = UdpClient::new(&simulator);
        let mut longest = Duration::ZERO;
        for _ in 0..100 {
            let asked = now();
            udp.ask(PING, PONG);
            api.get("clock");
            longest = longest.max(now().duration_since(asked));
        }
        assert!(longest < Duration::from_millis(500), "an answer took {longest:?}");
        assert_eq!(waiting.join().expect("no panic"), (409, "wait_timeout".to_owned()));
    });
}

#[test]
fn speed_pause_and_resume_change_the_pace() {
    let simulator = Simulator::start(&[]);
    let api = Api::new(&simulator);
    assert_eq!(api.put("speed", &json!({ "speed": "max" }))["speed"], "max");
    let begin_s = api.t_s();
    eventually("a minute at full speed", || Some(()).filter(|()| api.t_s() > begin_s + 60.0));
    let paused = api.post("pause", &json!({}));
    assert_eq!((&paused["paused"], &paused["paused_by"]), (&json!(true), &json!([""])));
    assert_eq!(api.t_s().to_bits(), paused["t_s"].as_f64().expect("a time").to_bits());
    api.put("speed", &json!({ "speed": 2 }));
    let resumed = api.post("resume", &json!({}));
    assert_eq!((&resumed["paused"], &resumed["speed"]), (&json!(false), &json!(2.0)));
    let before = (now(), api.t_s());
    thread::sleep(Duration::from_millis(200));
    let rate = (api.t_s() - before.1) / now().duration_since(before.0).as_secs_f64();
    assert!((1.5..2.5).contains(&rate), "{rate}");
}

#[test]
fn a_fault_acts_until_it_is_cleared() {
    let simulator = Simulator::start(&[]);
    let api = Api::new(&simulator);
    let mut page = WebClient::new(&simulator);
    page.send(&subscribe(100));
    page.receive_code(STREAM);
    let fault = api.post("faults", &json!({ "name": "wifi.stall", "client": "websocket-1" }));
    eventually("the stall", || Some(()).filter(|()| api.get("faults")["faults"][0]["active"] == true));
    while page.receive_within(Duration::from_millis(100)).is_some() {}
    assert_eq!(page.receive_within(Duration::from_millis(200)), None);
    api.delete(&format!("faults/{}", fault["id"]));
    page.receive_code(STREAM);
    assert_eq!(api.get("faults"), json!({ "faults": [] }));
}

#[test]
fn faults_that_end_by_themselves_are_forgotten() {
    let simulator = Simulator::start(&["--speed", "max"]);
    let api = Api::new(&simulator);
    let mut events = Events::open(&simulator);
    assert_eq!(events.next()["event"], "session");
    let fault = api.post("faults", &json!({ "name": "cpu.slow_cycle", "us": 100, "for_s": 1.5 }));
    for expected in ["fault_started", "fault_ended"] {
        let event = events.next();
        assert_eq!((&event["event"], &event["id"]), (&json!(expected), &fault["id"]));
    }
    eventually("its end", || Some(()).filter(|()| api.get("faults") == json!({ "faults": [] })));
}

#[test]
fn button_power_object_and_pose_reach_the_arm() {
    let simulator = Simulator::start(&["--speed", "20"]);
    let api = Api::new(&simulator);
    let mut udp = UdpClient::new(&simulator);
    udp.send(&move_to([90, 0, 0, 0, 0, 0]));
    api.post("wait", &json!({ "until": { "state": "moving" } }));
    api.post("button", &json!({}));
    api.post("wait", &json!({ "until": { "state": "holding" } }));
    assert!(degrees(&api.get("truth"), 1) < 80.0, "the button stops the move");

    api.post("power-cycle", &json!({ "what": "atom" }));
    api.post("wait", &json!({ "until": { "state": "booting" } }));
    api.post("wait", &json!({ "until": { "state": "holding" } }));

    let object = api.put("object", &json!({ "width_mm": 20 }));
    assert_eq!(object["name"], "gripper.object_in");
    assert_eq!(api.put("object", &json!({}))["name"], "gripper.object_out");

    api.put("pose", &json!({ "angles_deg": [10, 0, -80, 0, 0, 0] }));
    let truth = api.get("truth");
    assert!((degrees(&truth, 1) - 10.0).abs() < 0.2, "{truth}");
    assert!((degrees(&truth, 3) + 80.0).abs() < 0.2, "{truth}");
}

#[test]
fn a_reset_starts_again_and_the_same_seed_gives_the_same_bytes() {
    let simulator = Simulator::start(&["--speed", "paused"]);
    let api = Api::new(&simulator);
    let mut page = WebClient::new(&simulator);
    eventually("the page", || Some(()).filter(|()| clients(&api) == 1));
    api.post("reset", &json!({}));
    assert_eq!(page.close_code(), 1006, "a reset ends WebSockets as a power cycle does");
    assert_eq!(clients(&api), 0);
    let first = recording_of_a_session(&api, &simulator);
    let second = recording_of_a_session(&api, &simulator);
    assert!(first.len() > 10);
    assert_eq!(first, second);
}

fn clients(api: &Api<'_>) -> usize {
    api.get("truth")["clients"].as_array().map_or(0, Vec::len)
}

fn recording_of_a_session(api: &Api<'_>, simulator: &Simulator) -> Vec<Vec<u8>> {
    api.post("reset", &json!({ "seed": 7 }));
    let mut page = WebClient::new(simulator);
    page.send(&subscribe(50));
    eventually("the page", || Some(()).filter(|()| clients(api) == 1));
    thread::sleep(Duration::from_millis(50));
    api.post("advance", &json!({ "for_s": 1 }));
    let mut messages = Vec::new();
    while let Some(message) = page.receive_within(Duration::from_millis(200)) {
        messages.push(message);
    }
    messages
}

#[test]
fn bad_requests_have_a_stable_code_and_change_nothing() {
    let simulator = Simulator::start(&["--speed", "paused"]);
    let api = Api::new(&simulator);
    let before = api.get("truth");
    let huge = format!("{{\"name\": \"{}\"}}", "x".repeat(300_000));
    let table: &[(&str, &str, &str, u16, &str)] = &[
        ("GET", "nothing", "", 404, "not_found"),
        ("GET", "pause", "", 405, "method_not_allowed"),
        ("POST", "faults", "{", 400, "invalid_body"),
        ("POST", "faults", "[1]", 400, "invalid_body"),
        ("POST", "faults", "{}", 400, "invalid_body"),
        ("POST", "faults", &huge, 413, "too_large"),
        ("POST", "faults", r#"{"name": "servo.silnt"}"#, 422, "unknown_fault"),
        ("POST", "faults", r#"{"name": "servo.silent", "joint": 8}"#, 422, "invalid_value"),
        ("POST", "faults", r#"{"name": "servo.silent", "jiont": 1}"#, 422, "unknown_fault"),
        ("POST", "faults", r#"{"name": "servo.silent"}"#, 422, "invalid_value"),
        ("POST", "faults", r#"{"name": "wifi.stall", "client": "udp-9"}"#, 422, "invalid_value"),
        ("POST", "faults", r#"{"name": "wifi.address", "ip": [1, 2, 3, 4.5]}"#, 422, "invalid_value"),
        (
            "POST",
            "faults",
            r#"{"name": "gripper.object_in", "angle_deg": -9, "width_mm": 9}"#,
            422,
            "invalid_value",
        ),
        ("POST", "faults", r#"{"name": "button.press", "for_s": -1}"#, 422, "invalid_value"),
        ("POST", "faults", r#"{"name": "button.press", "every_s": 0}"#, 422, "invalid_value"),
        ("POST", "faults", r#"{"name": "button.press", "probability": 2}"#, 422, "invalid_value"),
        ("DELETE", "faults/1", "", 404, "no_such_fault"),
        ("DELETE", "faults/x", "", 422, "invalid_value"),
        ("PUT", "speed", r#"{"speed": 0}"#, 422, "invalid_value"),
        ("PUT", "speed", r#"{"speed": "fast"}"#, 422, "invalid_value"),
        ("POST", "step", r#"{"ticks": 0}"#, 422, "invalid_value"),
        ("POST", "advance", r#"{"for_s": -1}"#, 422, "invalid_value"),
        ("POST", "advance", r#"{"for_s": 1e300}"#, 422, "invalid_value"),
        ("POST", "pause", r#"{"x": 1}"#, 400, "invalid_body"),
        ("POST", "wait", r#"{"until": {"state": "sleeping"}}"#, 400, "invalid_body"),
        ("POST", "wait", r#"{"until": {"angle_deg": {"joint": 9, "min": 0}}}"#, 422, "invalid_value"),
        ("POST", "wait", r#"{"until": {"time_s": {"min": 2, "max": 1}}}"#, 422, "invalid_value"),
        ("POST", "wait", r#"{"until": {"all": []}}"#, 422, "invalid_value"),
        ("PUT", "pose", r#"{"angles_deg": [0, 0, 0]}"#, 422, "invalid_value"),
        ("PUT", "pose", r#"{"angles_deg": [0, 0, 900, 0, 0, 0]}"#, 422, "invalid_value"),
        ("PUT", "object", r#"{"angle_deg": 3}"#, 422, "invalid_value"),
        ("PUT", "object", r#"{"angle_deg": -3, "width_mm": 7}"#, 422, "invalid_value"),
        ("POST", "reset", r#"{"api": "9.9"}"#, 422, "invalid_value"),
        ("POST", "sessions", r#"{"lease_s": 0}"#, 422, "invalid_value"),
        ("DELETE", "sessions/s99", "", 404, "unknown_session"),
    ];
    for (method, path, body, status, code) in table {
        assert_eq!(
            api.refusal(method, path, body, &[]),
            (*status, (*code).to_owned()),
            "{method} {path} {body:.60}"
        );
    }
    let stale = Api::in_session(&simulator, "s99").refusal("POST", "pause", "{}", &[]);
    assert_eq!(stale, (404, "unknown_session".to_owned()));
    assert_eq!(api.get("truth"), before);
    let running = Simulator::start(&[]);
    let refusal = Api::new(&running).refusal("POST", "advance", r#"{"for_s": 1}"#, &[]);
    assert_eq!(refusal, (409, "not_paused".to_owned()));
}

#[test]
fn pages_of_other_origins_are_refused_and_their_websockets_are_not() {
    let simulator = Simulator::start(&[]);
    let api = Api::new(&simulator);
    let foreign = [("Origin", "http://example.org")];
    assert_eq!(api.refusal("POST", "pause", "{}", &foreign), (403, "origin_refused".to_owned()));
    let rebound = [("Host", "example.org")];
    assert_eq!(api.refusal("GET", "truth", "", &rebound), (403, "host_refused".to_owned()));
    let own = format!("http://{}", simulator.websocket);
    assert_eq!(api.ask("POST", "pause", String::new(), &[("Origin", &own)]).0, 200);
    assert!(WebClient::open(simulator.websocket, Some("http://example.org")).is_ok());
    let off = Simulator::start(&["--commands", "off"]);
    assert_eq!(Api::new(&off).refusal("GET", "truth", "", &[]), (403, "off".to_owned()));
}

#[test]
fn the_description_names_every_path_and_its_bodies() {
    let simulator = Simulator::start(&[]);
    let description = Api::new(&simulator).get("openapi.json");
    assert_eq!(description["openapi"], "3.1.0");
    let paths = description["paths"].as_object().expect("paths");
    for path in ["/api/truth", "/api/faults", "/api/faults/{id}", "/api/wait", "/api/reset", "/api/events"] {
        assert!(paths.contains_key(path), "{path} in {:?}", paths.keys());
    }
    let schemas = description["components"]["schemas"].as_object().expect("schemas");
    for name in ["TruthReply", "FaultRequest", "Condition", "ApiError", "Event"] {
        assert!(schemas.contains_key(name), "{name} in {:?}", schemas.keys());
    }
}

#[test]
fn commands_refuse_as_the_protocol_does_only_through_clients() {
    // The API moves nothing: control stays with the client that has it.
    let simulator = Simulator::start(&[]);
    let api = Api::new(&simulator);
    let mut page = WebClient::new(&simulator);
    assert_eq!(ack_status(&page.ask(&control(1), 0x83)), 0);
    api.post("faults", &json!({ "name": "cpu.slow_cycle", "us": 10, "for_s": 0.01 }));
    assert_eq!(api.get("truth")["holder"], "websocket-1");
}

#[test]
fn the_tour_of_the_documents_does_what_it_says() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/api.md")).expect("the page");
    let script = page.split("```bash\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a script");
    let simulator = Simulator::start(&[]);
    let output = std::process::Command::new("bash")
        .args(["-c", script])
        .env("ATOM_SIM_URL", format!("http://{}", simulator.websocket))
        .env("no_proxy", "*")
        .output()
        .expect("bash and curl are there");
    let replies: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(output.status.success(), "{replies:?} {}", String::from_utf8_lossy(&output.stderr));
    let [_, reset, advanced, stepped, fault, faults, waited, truth, .., resumed] = replies.as_slice() else {
        panic!("fewer replies than calls: {replies:?}")
    };
    let t_s = |reply: &Value| reply["t_s"].as_f64().expect("a time");
    assert!((t_s(advanced) - t_s(reset) - 2.0).abs() < 1e-6);
    assert!((0.0..=0.001).contains(&(t_s(stepped) - t_s(advanced))), "{stepped}");
    assert_eq!(faults["faults"][0]["id"], fault["id"]);
    // A second until the fault, then the controller takes a few misses for it.
    assert!((1.0..10.0).contains(&(t_s(waited) - t_s(stepped))), "{waited}");
    assert_eq!(truth["joints_in_use"], 6);
    assert!((degrees(truth, 3) + 90.0).abs() < 0.2, "{truth}");
    assert_eq!(resumed["paused"], false);
    let api = Api::new(&simulator);
    assert_eq!(api.get("truth")["joints_in_use"], 7);
    assert_eq!(api.get("faults")["faults"][0]["name"], "gripper.object_in");
}
