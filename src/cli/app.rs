//! The command line as a whole: parses it, runs the command, turns its end into an exit code.

use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use super::chaos::{self, ChaosArgs};
use super::ctl::{self, CtlArgs};
use super::exit::{self, CommandError};
use super::files::{self, PlanArgs, RecordingArgs};
use super::kinematics::{self, KinematicsArgs};
use super::motion::{self, HoldArgs, MoveArgs, WatchArgs};
use super::play::{self, PlayArgs, SignalArgs};
use super::run::{self, RunArgs};
use super::serve::{self, ServeArgs};
use super::trace::{self, ReplayArgs, TraceArgs};

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (controller firmware 5.1.0)");

const EXAMPLES: &str = "\
Examples:
  atom-sim                                  serve on 127.0.0.1: WebSocket 8281 /ws, UDP 5006
  atom-sim --host 0.0.0.0                   serve the whole network (no authentication, as on the robot)
  atom-sim --pose ready                     start where the end-effector JOG works (the zero pose is singular)
  atom-sim --object -30                     J7 grasps an object at -30°
  atom-sim --instance 1                     a second one beside it, on 8291 and 5016
  atom-sim --port 0 --udp-port 0            free ports; the line on standard output tells which
  atom-sim --speed 10                       ten times as fast as real time
  atom-sim --trace t.jsonl                  keep the session; later: atom-sim replay t.jsonl

Once it accepts clients it prints one line of JSON on standard output:
  {\"event\":\"ready\",\"websocket\":\"ws://127.0.0.1:8281/ws\",\"udp\":\"127.0.0.1:5006\", ...}

Exit codes: 0 done, 1 failed, 2 wrong option or value, 3 the machine (a port in use, a file).";

/// A simulated ATOM, the controller of a myCobot 280: the lab's protocol over UDP and WebSocket, without a robot.
#[derive(Debug, Parser)]
#[command(name = "atom-sim", version = VERSION, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve clients over UDP and WebSocket (the default command).
    #[command(after_help = EXAMPLES)]
    Serve(ServeArgs),
    /// Run scenarios in virtual time, like a test runner.
    Run(RunArgs),
    /// Play random clients and random faults against what must always hold.
    Chaos(ChaosArgs),
    /// Command a running simulator: truth, faults, time, pose, power.
    #[command(after_help = ctl::EXAMPLES)]
    Ctl(CtlArgs),
    /// Where the TCP is, and joint angles for where it shall be.
    Kinematics(KinematicsArgs),
    /// Play a plan on any ATOM, simulated or real, and record it.
    Play(PlayArgs),
    /// Play a test signal of one joint on any ATOM.
    Signal(SignalArgs),
    /// Move any ATOM to a pose.
    Move(MoveArgs),
    /// Hold the pose of any ATOM, which leaves the error state.
    Hold(HoldArgs),
    /// Watch the joints of any ATOM.
    Watch(WatchArgs),
    /// Make a plan to play.
    Plan(PlanArgs),
    /// Ask a recording, or make an MCAP file of it.
    Recording(RecordingArgs),
    /// Replay a trace: give its inputs again and compare the outputs, byte for byte.
    Replay(ReplayArgs),
    /// Explain a trace, or make an MCAP file of it.
    Trace(TraceArgs),
}

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => dispatch(cli),
        Err(error) => return ExitCode::from(report_parse_error(&error)),
    };
    match result {
        Ok(()) => ExitCode::from(exit::OK),
        Err(error) => {
            complain(&error.message);
            ExitCode::from(error.code)
        }
    }
}

fn dispatch(cli: Cli) -> Result<(), CommandError> {
    match cli.command {
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Chaos(args)) => chaos::run(&args),
        Some(Command::Ctl(args)) => ctl::run(&args),
        Some(Command::Kinematics(args)) => kinematics::run(&args),
        Some(Command::Play(args)) => play::run_play(&args),
        Some(Command::Signal(args)) => play::run_signal(&args),
        Some(Command::Move(args)) => motion::run_move(&args),
        Some(Command::Hold(args)) => motion::run_hold(&args),
        Some(Command::Watch(args)) => motion::run_watch(&args),
        Some(Command::Plan(args)) => files::run_plan(&args),
        Some(Command::Recording(args)) => files::run_recording(&args),
        Some(Command::Replay(args)) => trace::run_replay(&args),
        Some(Command::Trace(args)) => trace::run_trace(&args),
        None => serve::run(&cli.serve),
    }
}

/// Prints help and version as asked, and anything else as one line.
fn report_parse_error(error: &clap::Error) -> u8 {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Nobody is left to tell when standard output is closed.
        let _ = error.print();
        return exit::OK;
    }
    complain(&explain(error));
    exit::BAD_INPUT
}

fn explain(error: &clap::Error) -> String {
    let text = error.to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        && let Some((_, rest)) = text.split_once("Usage: ")
    {
        let usage = rest.lines().next().unwrap_or_default();
        let command = usage.split(" [").next().unwrap_or_default().split(" <").next().unwrap_or_default();
        return format!("expected {usage}; see {command} --help");
    }
    one_line(&text)
}

/// The command whose usage a message shows, with the words of its subcommands.
fn command_of(message: &str) -> String {
    let usage = message.split_once("Usage: ").map_or("", |(_, rest)| rest);
    let plain =
        |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
    let words: Vec<&str> = usage.split_whitespace().take_while(plain).collect();
    if words.is_empty() { "atom-sim".to_owned() } else { words.join(" ") }
}

/// The parser's message without its usage block, on one line, with where to read more.
fn one_line(message: &str) -> String {
    let said = message.split("Usage:").next().unwrap_or_default();
    let said = said.split("For more information").next().unwrap_or_default();
    let words: Vec<&str> = said.split_whitespace().collect();
    let words = words.join(" ");
    let words = words.strip_prefix("error: ").unwrap_or(&words);
    format!("{}; see {} --help", words.trim_end_matches('.'), command_of(message))
}

fn complain(message: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(std::io::stderr(), "error: {message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_error(line: &[&str]) -> String {
        let error = Cli::try_parse_from(line).expect_err("the line is wrong");
        explain(&error)
    }

    #[test]
    fn the_definition_of_the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn an_error_is_one_line_that_says_what_why_and_where_to_read_more() {
        let message = parse_error(&["atom-sim", "--port", "99999"]);
        assert!(!message.contains('\n'), "{message}");
        assert!(message.contains("99999") && message.contains("--port"), "{message}");
        assert!(message.ends_with("; see atom-sim --help"), "{message}");
        let message = parse_error(&["atom-sim", "kinematics", "forward"]);
        assert!(message.ends_with("--pose <POSE>; see atom-sim kinematics forward --help"), "{message}");
    }

    #[test]
    fn a_number_that_is_none_is_answered_with_its_range() {
        for (option, range) in [("--port", "0 to 65535"), ("--seed", "0 to 18446744073709551615")] {
            for text in ["abc", "-1", "", "99999999999999999999"] {
                let message = parse_error(&["atom-sim", option, text]);
                let expected = format!("expected a whole number from {range}, found `{text}`");
                assert!(message.contains(&expected), "{message}");
            }
        }
    }

    #[test]
    fn a_command_that_needs_more_says_what() {
        assert_eq!(
            parse_error(&["atom-sim", "ctl"]),
            "expected atom-sim ctl [OPTIONS] <COMMAND>; see atom-sim ctl --help"
        );
    }

    #[test]
    fn the_line_of_the_labs_python_simulator_works_as_it_stands() {
        let line = ["atom-sim", "--host", "100.69.15.110", "--port", "8281", "--no-gripper"];
        assert!(Cli::try_parse_from(line).is_ok());
        let line = ["atom-sim", "--host", "127.0.0.1", "--object", "-30"];
        assert!(Cli::try_parse_from(line).is_ok());
    }

    #[test]
    fn a_mistyped_option_names_the_nearest_one() {
        let message = parse_error(&["atom-sim", "--objekt", "-30"]);
        assert!(message.contains("--object"), "{message}");
    }
}
