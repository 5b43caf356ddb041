//! `atom-sim ctl`: commands to a running simulator, through its command API.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, Value, json};
use ureq::http::Method;

use firmware_core::joints::{ARM_JOINTS, JOINTS};

use super::exit::CommandError;
use super::output::{say, say_more};
use super::values::parse_pose;
use crate::server::api::requests::{PowerCycled, RecordingFormat};

pub(crate) const EXAMPLES: &str = "\
Examples:
  atom-sim ctl truth                               what really is
  atom-sim ctl fault wifi.stall for_s=0.25         nothing passes for 250 ms
  atom-sim ctl fault servo.silent joint=3          J3 answers nothing, until cleared
  atom-sim ctl clear                               clear every fault
  atom-sim ctl pause                               stop virtual time ...
  atom-sim ctl wait --advance '{\"state\": \"holding\"}'   ... and let it go on until that is true
  atom-sim ctl pose 0,0,-90,0,0,0                  restart with the arm in that pose
  atom-sim ctl record trace demo                   reset, and keep all that happens in demo.jsonl
  atom-sim ctl events                              watch; a session that ends with this command

Each command prints the reply as JSON. Exit codes: 0 done, 1 the simulator said no, 2 wrong input, 3 no simulator there.";

/// Options of `atom-sim ctl`.
#[derive(Debug, Args)]
pub(crate) struct CtlArgs {
    /// Where the simulator serves.
    #[arg(
        long,
        value_name = "URL",
        env = "ATOM_SIM_URL",
        default_value = "http://127.0.0.1:8281",
        global = true
    )]
    url: String,
    /// Session that owns what is started here.
    #[arg(long, value_name = "SESSION", global = true)]
    session: Option<String>,
    #[command(subcommand)]
    command: CtlCommand,
}

#[derive(Debug, Subcommand)]
enum CtlCommand {
    /// Whether the simulation answers.
    Health,
    /// What really is, beside the protocol.
    Truth,
    /// Virtual time, its speed and who paused it.
    Clock,
    /// The faults that are there or still to come.
    Faults,
    /// The table of faults.
    Catalogue,
    /// Give a fault: its name, its parameters and scope as KEY=VALUE.
    Fault {
        /// Its name, such as `wifi.stall`.
        name: String,
        /// Parameters and scope (`after_s`, `for_s`, `every_s`, `probability`).
        #[arg(value_name = "KEY=VALUE", value_parser = parse_pair)]
        parameters: Vec<(String, Value)>,
    },
    /// Clear a fault by its number, or every fault.
    Clear {
        /// Its number.
        id: Option<u32>,
    },
    /// Press the ATOM's button.
    Button,
    /// Take power away and give it back.
    PowerCycle {
        /// What loses power.
        #[arg(value_enum, default_value_t = PowerCycled::Both)]
        what: PowerCycled,
    },
    /// Put an object between the fingers that J7 touches at DEG, or take it out.
    #[command(allow_negative_numbers = true)]
    Object {
        /// Where J7 touches it (°, −51.5 to 0); without it the object is taken out.
        deg: Option<f64>,
    },
    /// Restart with the arm in a pose.
    #[command(allow_negative_numbers = true)]
    Pose {
        /// `zero`, `ready`, or the angles of J1–J6 or J1–J7 (°), separated by commas or spaces.
        #[arg(num_args = 1..=7, required = true)]
        pose: Vec<String>,
    },
    /// Restart: time, arm, controller, faults.
    Reset {
        /// Seed of everything random.
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Set how fast virtual time goes: a factor of real time, or `max`.
    Speed {
        /// The speed.
        speed: String,
    },
    /// Stop virtual time.
    Pause,
    /// Let virtual time go on.
    Resume,
    /// While paused: go on to the end of some network ticks of 1 ms.
    Step {
        /// How many.
        #[arg(default_value_t = 1)]
        ticks: u32,
    },
    /// While paused: go on by some seconds.
    Advance {
        /// How far (s).
        for_s: f64,
    },
    /// Wait in virtual time until a condition is true.
    Wait {
        /// The condition, as JSON: `{"state": "holding"}`, `{"angle_deg": {"joint": 3, "max": -89}}`, …
        condition: String,
        /// Longest wait (s of virtual time).
        #[arg(long, value_name = "S", default_value_t = 60.0)]
        timeout_s: f64,
        /// While paused: let time go on for this wait.
        #[arg(long)]
        advance: bool,
    },
    /// The traces and recordings that are on.
    Recordings,
    /// Start a trace (with a reset) or a recording in the simulator's --commands-folder.
    Record {
        /// What is kept.
        #[arg(value_enum)]
        format: RecordingFormat,
        /// Name of the file: letters, digits, - and _.
        name: String,
    },
    /// End a trace or recording by its number.
    EndRecording {
        /// Its number.
        id: u32,
    },
    /// Run a scenario file on the served ATOM, with a reset, and print what came of it.
    RunScenario {
        /// The file.
        file: PathBuf,
        /// Which of them, when the file has several by its cases or seeds.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Run on the ATOM as it stands, without a reset.
        #[arg(long)]
        as_it_stands: bool,
    },
    /// Open a session and print what happens, a line of JSON each, until interrupted.
    Events,
    /// Start a session that lives by its lease.
    Session {
        /// It ends when no request has named it for this long (s).
        #[arg(long, value_name = "S", default_value_t = 10.0)]
        lease_s: f64,
    },
    /// End a session, and with it what it owns.
    EndSession {
        /// Its name.
        name: String,
    },
}

/// Runs one command.
///
/// # Errors
/// No simulator answers, or it refuses.
pub(crate) fn run(args: &CtlArgs) -> Result<(), CommandError> {
    let client = Client::new(args);
    match &args.command {
        CtlCommand::Health => client.get("health"),
        CtlCommand::Truth => client.get("truth"),
        CtlCommand::Clock => client.get("clock"),
        CtlCommand::Faults => client.get("faults"),
        CtlCommand::Catalogue => client.get("faults/catalogue"),
        CtlCommand::Fault { name, parameters } => {
            let mut body: Map<String, Value> = parameters.iter().cloned().collect();
            body.insert("name".to_owned(), json!(name));
            client.send(&Method::POST, "faults", &body)
        }
        CtlCommand::Clear { id: Some(id) } => client.delete(&format!("faults/{id}")),
        CtlCommand::Clear { id: None } => client.delete("faults"),
        CtlCommand::Button => client.post("button", &json!({})),
        CtlCommand::PowerCycle { what } => client.post("power-cycle", &json!({ "what": what })),
        CtlCommand::Object { deg: Some(deg) } => {
            client.send(&Method::PUT, "object", &json!({ "angle_deg": deg }))
        }
        CtlCommand::Object { deg: None } => client.send(&Method::PUT, "object", &json!({})),
        CtlCommand::Pose { pose } => {
            let text = pose.join(",");
            let pose = parse_pose(&text).map_err(CommandError::bad_input)?;
            // Without an angle of its own J7 stays where it is.
            let joints = if text.split(',').count() == JOINTS { JOINTS } else { ARM_JOINTS };
            client.send(&Method::PUT, "pose", &json!({ "angles_deg": pose.0[..joints] }))
        }
        CtlCommand::Reset { seed: Some(seed) } => client.post("reset", &json!({ "seed": seed })),
        CtlCommand::Reset { seed: None } => client.post("reset", &json!({})),
        CtlCommand::Speed { speed } => {
            client.send(&Method::PUT, "speed", &json!({ "speed": number_or_text(speed) }))
        }
        CtlCommand::Pause => client.post("pause", &json!({})),
        CtlCommand::Resume => client.post("resume", &json!({})),
        CtlCommand::Step { ticks } => client.post("step", &json!({ "ticks": ticks })),
        CtlCommand::Advance { for_s } => client.post("advance", &json!({ "for_s": for_s })),
        CtlCommand::Wait { condition, timeout_s, advance } => {
            let until: Value = serde_json::from_str(condition).map_err(|error| {
                CommandError::bad_input(format!(
                    "the condition {condition} is no JSON: {error}; expected such as '{{\"state\": \"holding\"}}'"
                ))
            })?;
            client.post("wait", &json!({ "until": until, "timeout_s": timeout_s, "advance": advance }))
        }
        CtlCommand::Recordings => client.get("recordings"),
        CtlCommand::Record { format, name } => {
            client.post("recordings", &json!({ "format": format, "name": name }))
        }
        CtlCommand::EndRecording { id } => client.delete(&format!("recordings/{id}")),
        CtlCommand::RunScenario { file, name, as_it_stands } => {
            client.run_scenario(file, name.as_deref(), !as_it_stands)
        }
        CtlCommand::Events => client.watch(),
        CtlCommand::Session { lease_s } => client.post("sessions", &json!({ "lease_s": lease_s })),
        CtlCommand::EndSession { name } => client.delete(&format!("sessions/{name}")),
    }
}

/// Speaks to one simulator.
struct Client<'a> {
    agent: ureq::Agent,
    url: &'a str,
    session: Option<&'a str>,
}

impl<'a> Client<'a> {
    fn new(args: &'a CtlArgs) -> Self {
        // Answers that say no carry the reason in their body. A simulator needs no proxy.
        let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build();
        Self {
            agent: config.new_agent(),
            url: args.url.trim_end_matches('/'),
            session: args.session.as_deref(),
        }
    }

    fn get(&self, path: &str) -> Result<(), CommandError> {
        self.ask(self.request(&Method::GET, path).body(String::new()))
    }

    fn delete(&self, path: &str) -> Result<(), CommandError> {
        self.ask(self.request(&Method::DELETE, path).body(String::new()))
    }

    fn post(&self, path: &str, body: &impl Serialize) -> Result<(), CommandError> {
        self.send(&Method::POST, path, body)
    }

    fn send(&self, method: &Method, path: &str, body: &impl Serialize) -> Result<(), CommandError> {
        self.reply_to(method, path, body).map(drop)
    }

    fn reply_to(&self, method: &Method, path: &str, body: &impl Serialize) -> Result<Value, CommandError> {
        let body = serde_json::to_string(body)
            .map_err(|error| CommandError::failed(format!("cannot write the request: {error}")))?;
        self.answer(self.request(method, path).header("content-type", "application/json").body(body))
    }

    fn run_scenario(&self, file: &Path, name: Option<&str>, fresh: bool) -> Result<(), CommandError> {
        let toml = std::fs::read_to_string(file).map_err(|error| {
            CommandError::machine(format!("{}: {error}; give a scenario file", file.display()))
        })?;
        let body = json!({ "toml": toml, "name": name, "fresh": fresh });
        let reply = self.reply_to(&Method::POST, "scenarios/run", &body)?;
        if reply["passed"] == true {
            return Ok(());
        }
        Err(CommandError::failed(format!("{}: not everything was as expected", file.display())))
    }

    fn request(&self, method: &Method, path: &str) -> ureq::http::request::Builder {
        let request =
            ureq::http::Request::builder().method(method.clone()).uri(format!("{}/api/{path}", self.url));
        match self.session {
            Some(session) => request.header("atom-session", session),
            None => request,
        }
    }

    fn respond(
        &self,
        request: Result<ureq::http::Request<String>, ureq::http::Error>,
    ) -> Result<ureq::http::Response<ureq::Body>, CommandError> {
        let request = request.map_err(|error| {
            CommandError::bad_input(format!(
                "--url {}: {error}; expected such as http://127.0.0.1:8281",
                self.url
            ))
        })?;
        // `run` allows a body with DELETE and GET, where ours are empty.
        self.agent.run(request).map_err(|error| {
            CommandError::machine(format!(
                "no simulator answers at {}: {error}; start one with atom-sim, or name it with --url",
                self.url
            ))
        })
    }

    /// Sends a request and prints the reply.
    fn ask(
        &self,
        request: Result<ureq::http::Request<String>, ureq::http::Error>,
    ) -> Result<(), CommandError> {
        self.answer(request).map(drop)
    }

    /// Sends a request, prints the reply and gives it back.
    fn answer(
        &self,
        request: Result<ureq::http::Request<String>, ureq::http::Error>,
    ) -> Result<Value, CommandError> {
        let mut response = self.respond(request)?;
        if !response.status().is_success() {
            return Err(self.refusal(&mut response));
        }
        let text = text_of(&mut response)?;
        say(format_args!("{}\n", pretty(&text)))?;
        Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Why the simulator said no.
    fn refusal(&self, response: &mut ureq::http::Response<ureq::Body>) -> CommandError {
        let status = response.status();
        let text = match text_of(response) {
            Ok(text) => text,
            Err(error) => return error,
        };
        let reply: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let error = &reply["error"];
        let message = match (error["code"].as_str(), error["message"].as_str()) {
            (Some(code), Some(message)) => format!("{code}: {message}"),
            _ => format!("{} answered {status}; is that a simulator with the command API?", self.url),
        };
        CommandError::failed(message)
    }

    /// Prints events until the stream ends.
    fn watch(&self) -> Result<(), CommandError> {
        let mut response = self.respond(self.request(&Method::GET, "events").body(String::new()))?;
        if !response.status().is_success() {
            return Err(self.refusal(&mut response));
        }
        let lines = BufReader::new(response.body_mut().as_reader()).lines();
        for line in lines.map_while(Result::ok) {
            if let Some(event) = line.strip_prefix("data: ")
                && say_more(format_args!("{event}\n"))?.is_break()
            {
                return Ok(());
            }
        }
        Err(CommandError::machine(format!("the events of {} ended: the simulator stopped", self.url)))
    }
}

fn text_of(response: &mut ureq::http::Response<ureq::Body>) -> Result<String, CommandError> {
    let text = response.body_mut().read_to_string();
    text.map_err(|error| CommandError::machine(format!("the reply broke off: {error}")))
}

fn pretty(text: &str) -> String {
    serde_json::from_str::<Value>(text)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| text.to_owned())
}

fn parse_pair(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| format!("expected KEY=VALUE such as joint=3 or for_s=0.25, found `{text}`"))?;
    Ok((key.to_owned(), number_or_text(value)))
}

/// A number, a list of numbers (`1,2,3`), or a text.
fn number_or_text(text: &str) -> Value {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(str::parse).collect();
    match numbers.as_deref() {
        Ok([number]) => json!(number),
        Ok(numbers) => json!(numbers),
        Err(_) => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbers_lists_or_texts() {
        assert_eq!(parse_pair("joint=3"), Ok(("joint".to_owned(), json!(3.0))));
        assert_eq!(parse_pair("acc_g=0,0.5,-1"), Ok(("acc_g".to_owned(), json!([0.0, 0.5, -1.0]))));
        assert_eq!(parse_pair("client=udp-2"), Ok(("client".to_owned(), json!("udp-2"))));
        assert!(parse_pair("joint").is_err());
    }
}
