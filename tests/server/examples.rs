//! The clients of the README and of `examples/` work as printed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use super::simulator::{SOON, Simulator};

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The first block of the README in a language, with the ports of a simulator, as a file.
fn readme_block(language: &str, simulator: &Simulator, file: &str) -> PathBuf {
    let readme = fs::read_to_string(project().join("README.md")).expect("the README is there");
    let start = format!("```{language}\n");
    let (_, rest) = readme.split_once(&start).unwrap_or_else(|| panic!("no {language} in the README"));
    let (block, _) = rest.split_once("```").expect("the block ends");
    assert!(block.contains("8281") || block.contains("5006"), "the block connects to the default ports");
    let block = block
        .replace("8281", &simulator.websocket.port().to_string())
        .replace("5006", &simulator.udp.port().to_string());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{file}", std::process::id()));
    fs::write(&path, block).expect("a scratch file");
    path
}

/// A client as a process, and its lines.
struct Script {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Script {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}; `make tools` installs it"));
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line; the test fails when none comes.
    fn line(&self) -> String {
        self.lines.recv_timeout(SOON).expect("the client prints another line in time")
    }

    /// All lines of a client that ends by itself.
    fn finish(mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(SOON) {
                Ok(line) => lines.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("the client hangs after {lines:?}"),
            }
        }
        assert!(self.child.wait().expect("it is our child").success(), "after {lines:?}");
        lines
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // Ended already is as good as killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Node.js with a global `WebSocket`, which version 20 has behind a flag.
fn node(script: &Path, arguments: &[&str]) -> Script {
    let version = Command::new("node").arg("--version").output().expect("`make tools` installs Node.js");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let major: u32 = version.trim_start_matches('v').split('.').next().unwrap_or("0").parse().unwrap_or(0);
    let flag: &[&str] = if major < 22 { &["--experimental-websocket"] } else { &[] };
    Script::start("node", &[flag, &[script.to_str().expect("UTF-8")], arguments].concat())
}

#[test]
fn the_readmes_javascript_prints_the_stream_and_the_status_log() {
    let simulator = Simulator::start(&[]);
    let script = node(&readme_block("js", &simulator, "watch.mjs"), &[]);
    let (mut stream, mut log) = (0, 0);
    while stream < 100 || log < 2 {
        let line = script.line();
        if line.starts_with("atom-sim v5.1.0 (") {
            log += 1;
        } else {
            assert!(line == "7 joints; J1 0 °" || line == "7 joints; J1 -0 °", "{line}");
            stream += 1;
        }
    }
    assert!(log <= 4, "{log} status log lines with {stream} packets");
}

#[test]
fn the_readmes_python_moves_to_the_ready_pose() {
    let simulator = Simulator::start(&["--speed", "5"]);
    let script = readme_block("python", &simulator, "move.py");
    let lines = Script::start("python3", &[script.to_str().expect("UTF-8")]).finish();
    assert_eq!(lines[..2], ["ACK 0", "DONE 0"]);
    let pose: Vec<f64> = serde_json::from_str(&lines[2]).expect("a list of angles");
    for (found_deg, wanted_deg) in pose.iter().zip([0.0, 0.0, -90.0, 0.0, 0.0, 0.0, -20.0]) {
        assert!((found_deg - wanted_deg).abs() < 0.5, "{pose:?}");
    }
}

#[test]
fn the_readmes_shell_lines_print_a_pong() {
    let simulator = Simulator::start(&[]);
    let script = readme_block("bash", &simulator, "ping.sh");
    let lines = Script::start("bash", &[script.to_str().expect("UTF-8")]).finish();
    assert_eq!(lines, [" 81 05 00 01 00 00 00 00 fa 00 01 01 01 00"]);
}

#[test]
fn the_udp_client_bound_to_a_port_of_its_own_moves_and_gets_its_telemetry() {
    let simulator = Simulator::start(&["--speed", "5"]);
    let script = project().join("examples/atom_link.py");
    let port = simulator.udp.port().to_string();
    let lines =
        Script::start("python3", &[script.to_str().expect("UTF-8"), "127.0.0.1", &port, "0"]).finish();
    assert_eq!(
        lines[..3],
        [
            "version, state, plan: 5.1.0 1 0",
            "angles: 0.0 0.0 0.0 0.0 0.0 0.0 -20.0",
            "gains of J1: P 32 D 4 I 16",
        ]
    );
    let samples = lines[3].strip_prefix("move: done with ").expect("the move is done");
    let samples: u32 =
        samples.strip_suffix(" telemetry samples").expect("counted").parse().expect("a number");
    // 1.875 s of motion and 0.5 s to settle, at 500 Hz.
    assert!((1_180..=1_195).contains(&samples), "{samples}");
    assert!(lines[4].starts_with("angles: ") && lines[4].contains(" -90.0 "), "{}", lines[4]);
}

#[test]
fn the_websocket_client_jogs_j1_and_stops() {
    let simulator = Simulator::start(&[]);
    let lines =
        node(&project().join("examples/jog.mjs"), &[&format!("ws://{}/ws", simulator.websocket)]).finish();
    assert!(lines.iter().any(|line| line.starts_with("jogging J1 ")), "{lines:?}");
    let last = lines.last().expect("the stream");
    let j1_deg: f64 = last
        .strip_prefix("holding J1 ")
        .and_then(|rest| rest.strip_suffix(" °"))
        .unwrap_or_else(|| panic!("{last}"))
        .parse()
        .expect("an angle");
    // One second at 10 °/s by a timer of the client's, which a busy machine may hold up past the deadman.
    assert!((2.0..=14.0).contains(&j1_deg), "{last}");
}
