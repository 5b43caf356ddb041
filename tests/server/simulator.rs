//! The simulator under test as a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for anything that should come at once.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// Calls `ready` until it gives a value.
pub(crate) fn eventually<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let begin = now();
    while now().duration_since(begin) < SOON {
        if let Some(value) = ready() {
            return value;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("{what} within {SOON:?}");
}

#[expect(clippy::disallowed_methods, reason = "these tests run in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Runs the binary to its end: for command lines that must not serve.
pub(crate) fn run(options: &[&str]) -> Output {
    let mut child = command(options).spawn().expect("the binary starts");
    let status = wait(&mut child);
    let mut output = Output { status, stdout: Vec::new(), stderr: Vec::new() };
    child.stdout.take().expect("a pipe").read_to_end(&mut output.stdout).expect("readable");
    child.stderr.take().expect("a pipe").read_to_end(&mut output.stderr).expect("readable");
    output
}

pub(crate) fn command(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atom-sim"));
    command.args(options).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let begin = now();
    loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            return status;
        }
        if now().duration_since(begin) > SOON {
            child.kill().expect("it is our child");
            panic!("the simulator did not end within {SOON:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A serving simulator on free ports. Ends with the test.
pub(crate) struct Simulator {
    child: Child,
    /// Kept open: the simulator may print.
    _stdout: BufReader<ChildStdout>,
    log: Arc<Mutex<String>>,
    /// The ready line as printed.
    pub(crate) ready_line: String,
    /// Where its WebSocket listens.
    pub(crate) websocket: SocketAddr,
    /// Where its UDP commands arrive.
    pub(crate) udp: SocketAddr,
}

impl Simulator {
    /// Starts one on free ports, with further options.
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut line = vec!["--port", "0", "--udp-port", "0"];
        line.extend(options);
        Self::start_with(&line)
    }

    /// Starts one with exactly these options.
    pub(crate) fn start_with(options: &[&str]) -> Self {
        let mut child = command(options).spawn().expect("the binary starts");
        let log = follow_log(&mut child);
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut ready_line = String::new();
        stdout.read_line(&mut ready_line).expect("a line on standard output");
        let ready: serde_json::Value = serde_json::from_str(&ready_line).unwrap_or_else(|error| {
            panic!("{error} in {ready_line:?}; log: {}", log.lock().expect("no panic"))
        });
        let address = |port: &str| {
            let host = ready["host"].as_str().expect("a host").parse().expect("an IP address");
            SocketAddr::new(host, ready[port].as_u64().expect("a port").try_into().expect("16 bits"))
        };
        let (websocket, udp) = (address("websocket_port"), address("udp_port"));
        Self { child, _stdout: stdout, log, ready_line, websocket, udp }
    }

    /// What it wrote on standard error so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("no panic").clone()
    }

    /// Sends it a signal by name, as a shell would.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status().expect("kill runs");
        assert!(status.success());
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }

    /// Its resident memory (MB).
    #[cfg(target_os = "linux")]
    pub(crate) fn resident_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("Linux tells");
        let kb: f64 = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
        kb / 1e3
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        // Ended already is as good as killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow_log(child: &mut Child) -> Arc<Mutex<String>> {
    let log = Arc::new(Mutex::new(String::new()));
    let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let kept = Arc::clone(&log);
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let mut log = kept.lock().expect("no panic");
            log.push_str(&line);
            log.push('\n');
        }
    });
    log
}
