//! The process: ready line, exit codes, signals, ports.

use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;

use super::clients::{Client, PING, PONG, UdpClient, WebClient};
use super::simulator::{Simulator, eventually, run};

fn scratch_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}

/// Checks that a command line ends with this code and one line of error that has these words.
fn refuse(options: &[&str], code: i32, words: &[&str]) {
    let output = run(options);
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{options:?}: {error}");
    assert!(output.stdout.is_empty(), "{options:?} printed on standard output");
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 1, "{options:?}: {error}");
    assert!(error.starts_with("error: "), "{options:?}: {error}");
    for word in words {
        assert!(error.contains(word), "{options:?}: no {word:?} in {error}");
    }
}

#[test]
fn a_wrong_option_ends_with_2_and_one_line_that_says_what_why_and_what_to_do() {
    refuse(&["--port", "65536"], 2, &["--port", "65536", "65535", "--help"]);
    refuse(&["--pose", "1,2,3"], 2, &["--pose", "6 angles", "found 3"]);
    refuse(&["--pose", "171,0,0,0,0,0"], 2, &["--pose", "J1", "171", "end stops", "170.9"]);
    refuse(&["--object", "5"], 2, &["--object", "5", "-51.5", "open"]);
    refuse(&["--object", "-30", "--no-gripper"], 2, &["--object", "--no-gripper"]);
    refuse(&["--speed", "0"], 2, &["--speed", "max", "paused"]);
    refuse(&["--max-subscribers", "0"], 2, &["--max-subscribers", "from 1 to 256", "found `0`"]);
    refuse(&["--status-log", "here"], 2, &["--status-log", "here"]);
    refuse(&["--host", "256.1.1.1"], 2, &["--host", "256.1.1.1", "127.0.0.1"]);
    refuse(&["--instance", "6000"], 2, &["--instance 6000", "65535"]);
    refuse(&["--recordin", "x.csv"], 2, &["--recording"]);
    refuse(&["serv"], 2, &["serv"]);
}

#[test]
fn a_recording_that_cannot_be_read_is_refused() {
    refuse(&["--recording", "circle.csv"], 3, &["failed to read circle.csv"]);
    refuse(&["--play", "circle.csv"], 3, &["failed to read circle.csv"]);
    refuse(&["--play", "Cargo.toml"], 2, &["Cargo.toml:1: expected a column `t`"]);
    refuse(&["--recording", "Cargo.toml"], 2, &["Cargo.toml:1: expected a column `t`, found none"]);
}

#[test]
fn a_tcp_port_in_use_ends_with_3() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = other.local_addr().expect("bound").port().to_string();
    refuse(&["--port", &port, "--udp-port", "0"], 3, &["TCP", &port, "in use", "--instance", "--port 0"]);
}

#[test]
fn a_udp_port_in_use_ends_with_3() {
    let other = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = other.local_addr().expect("bound").port().to_string();
    refuse(&["--port", "0", "--udp-port", &port], 3, &["UDP", &port, "in use", "--instance", "--udp-port 0"]);
}

#[test]
fn an_address_of_another_machine_ends_with_3() {
    refuse(&["--host", "192.0.2.1"], 3, &["192.0.2.1", "--host"]);
}

#[test]
fn a_ready_file_that_cannot_be_written_ends_with_3() {
    let path = scratch_file("no-such-folder").join("ready");
    let path = path.to_str().expect("UTF-8");
    refuse(
        &["--port", "0", "--udp-port", "0", "--log", "off", "--ready-file", path],
        3,
        &["ready file", path],
    );
}

#[test]
fn a_ready_file_of_somebody_else_stays_as_it_is() {
    let path = scratch_file("notes");
    let name = path.to_str().expect("UTF-8");
    fs::write(&path, "milk, eggs").expect("a scratch file");
    refuse(&["--port", "0", "--udp-port", "0", "--ready-file", name], 2, &["ready file", "another name"]);
    assert_eq!(fs::read_to_string(&path).expect("still there"), "milk, eggs");
    fs::remove_file(&path).expect("ours");

    let first = Simulator::start(&["--ready-file", name]);
    let serving = fs::read_to_string(&path).expect("it serves");
    refuse(&["--port", "0", "--udp-port", "0", "--ready-file", name], 3, &["ready file", "serves"]);
    assert_eq!(fs::read_to_string(&path).expect("still there"), serving);
    // Another one's word is not taken away at the end either.
    fs::write(&path, "of another").expect("a scratch file");
    drop(first);
    assert_eq!(fs::read_to_string(&path).expect("still there"), "of another");
    fs::remove_file(&path).expect("ours");
}

#[test]
fn help_and_version_go_to_standard_output() {
    for (option, words) in [("--help", "Examples:"), ("--version", "atom-sim 0.")] {
        let output = run(&[option]);
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty());
        assert!(String::from_utf8_lossy(&output.stdout).contains(words), "{option}");
    }
}

#[test]
fn the_ready_line_and_file_name_ports_where_clients_are_served() {
    let path = scratch_file("ready");
    // A run that was killed left it behind: no process has this number.
    fs::write(&path, "{\"event\":\"ready\",\"pid\":4194305}\n").expect("a scratch file");
    let mut simulator = Simulator::start(&["--ready-file", path.to_str().expect("UTF-8")]);
    assert_eq!(fs::read_to_string(&path).expect("written before the line is printed"), simulator.ready_line);
    assert_eq!(UdpClient::new(&simulator).ask(PING, PONG).len(), 14);
    assert_eq!(WebClient::new(&simulator).ask(PING, PONG).len(), 14);
    simulator.signal("TERM");
    assert_eq!(simulator.wait().code(), Some(0));
    assert!(!path.exists(), "the ready file outlived the server");
}

#[test]
fn a_signal_closes_websockets_with_1001_and_ends_with_0() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut simulator = Simulator::start(&[]);
        let mut client = WebClient::new(&simulator);
        client.ask(PING, PONG);
        simulator.signal(signal);
        assert_eq!(client.close_code(), 1001);
        assert_eq!(simulator.wait().code(), Some(0), "after SIG{signal}");
    }
}

#[test]
fn a_server_starts_again_at_once_on_the_port_it_left() {
    let mut first = Simulator::start(&[]);
    let mut client = WebClient::new(&first);
    client.ask(PING, PONG);
    first.signal("TERM");
    first.wait();
    let port = first.websocket.port().to_string();
    let second = Simulator::start_with(&["--port", &port, "--udp-port", "0"]);
    assert_eq!(second.websocket, first.websocket);
}

#[test]
fn an_instance_listens_ten_ports_higher() {
    // Another program may hold the port we count on: take the next one then.
    let moved = (0..20_u16).find_map(|attempt| {
        let port = 20_000 + 100 * attempt;
        let free = |port| {
            TcpListener::bind(("127.0.0.1", port)).is_ok() && UdpSocket::bind(("127.0.0.1", port + 1)).is_ok()
        };
        free(port + 20).then_some(port)
    });
    let port = moved.expect("some port is free");
    let (tcp, udp) = (port.to_string(), (port + 1).to_string());
    let simulator = Simulator::start_with(&["serve", "--port", &tcp, "--udp-port", &udp, "--instance", "2"]);
    assert_eq!((simulator.websocket.port(), simulator.udp.port()), (port + 20, port + 21));
}

#[test]
fn a_paused_simulator_accepts_clients_and_its_time_stands_still() {
    let simulator = Simulator::start(&["--speed", "paused"]);
    let mut client = UdpClient::new(&simulator);
    client.send(PING);
    assert_eq!(client.receive_within(std::time::Duration::from_millis(300)), None);
    assert!(TcpStream::connect(simulator.websocket).is_ok());
}

#[test]
fn a_closed_standard_output_does_not_stop_the_server() {
    let command =
        format!("{} --port 0 --udp-port 0 --ready-file \"$1\" >&- & echo $!", env!("CARGO_BIN_EXE_atom-sim"));
    let path = scratch_file("closed-stdout");
    let started = std::process::Command::new("sh")
        .args(["-c", &command, "sh", path.to_str().expect("UTF-8")])
        .stderr(std::process::Stdio::null())
        .output()
        .expect("sh runs");
    let ready = eventually("the ready file", || fs::read_to_string(&path).ok());
    assert!(ready.contains("\"event\":\"ready\""), "{ready}");
    let pid = String::from_utf8(started.stdout).expect("a number");
    let status = std::process::Command::new("kill").arg(pid.trim()).status().expect("kill runs");
    assert!(status.success(), "it no longer ran");
    eventually("the end of the server", || (!path.exists()).then_some(()));
}
