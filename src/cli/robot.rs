//! Options and questions that all commands to an ATOM share.

use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use firmware_core::protocol::build;
use firmware_core::protocol::reply::Done;
use firmware_core::shared::State;
use indicatif::{ProgressBar, ProgressStyle};

use super::exit::CommandError;
use super::output::note;
use crate::client::{Robot, RobotError, Target};
use crate::recording::trace::words;

/// Where the ATOM is.
#[derive(Debug, Args)]
pub(super) struct AtomArgs {
    /// The ATOM: `ws://HOST[:PORT]/ws` or `udp://HOST[:5006]`.
    #[arg(long, value_name = "URL", default_value = "ws://127.0.0.1:8281/ws")]
    atom: Target,
}

impl AtomArgs {
    /// Connects.
    pub(super) fn connect(&self) -> Result<Robot, CommandError> {
        Robot::connect(&self.atom).map_err(CommandError::machine)
    }
}

/// Where the ATOM is, and whether it may move.
#[derive(Debug, Args)]
pub(super) struct RobotArgs {
    #[command(flatten)]
    atom: AtomArgs,
    /// Move a robot that does not say it is a simulator.
    #[arg(long)]
    yes: bool,
    /// Take control over from another client while the robot is at rest.
    #[arg(long)]
    take_over: bool,
}

impl RobotArgs {
    /// Connects for a command that moves the arm: a real robot only with `--yes`.
    pub(super) fn connect_to_move(&self, what: &str) -> Result<Robot, CommandError> {
        let mut robot = self.atom.connect()?;
        let pong = robot.ping().map_err(|error| fail(&error))?;
        if !self.yes && !robot.is_simulator().map_err(|error| fail(&error))? {
            let who = robot.status_line().map_or_else(
                || "no status log line came that says it is a simulator".to_owned(),
                |line| format!("it says `{}`", line.split_whitespace().next().unwrap_or_default()),
            );
            return Err(CommandError::bad_input(format!(
                "this moves a robot ({what}), and {who}; clear its space and say --yes"
            )));
        }
        match State::from_byte(pong.state) {
            Some(State::Error) => {
                return Err(CommandError::failed(
                    "the ATOM is in its error state; look at the arm, then leave it with atom-sim hold",
                ));
            }
            Some(State::Booting | State::Ota) => {
                return Err(CommandError::failed(
                    "the ATOM is starting or being updated; wait until it holds",
                ));
            }
            Some(run) if run.is_run() => {
                return Err(CommandError::failed(format!(
                    "the ATOM is {} already; wait until it is at rest",
                    run.name()
                )));
            }
            Some(_) | None => {}
        }
        note(format_args!(
            "{what}: ATOM {}.{}.{}, {}",
            pong.major,
            pong.minor,
            pong.patch,
            words::state_word(pong.state)
        ));
        if self.take_over {
            robot.request(&build::control(2)).map_err(|error| fail(&error))?;
        }
        Ok(robot)
    }
}

/// Numbers separated by commas.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers(pub(super) Vec<f64>);

/// Reads six or seven numbers, separated by commas.
pub(super) fn parse_joints(text: &str) -> Result<Numbers, String> {
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|word| word.trim().parse().ok().filter(|value: &f64| value.is_finite()))
        .collect();
    match numbers {
        Some(numbers) if (6..=7).contains(&numbers.len()) => Ok(Numbers(numbers)),
        Some(_) | None => {
            Err("expected 6 numbers (J1 to J6) or 7, separated by commas, such as 0,0,-90,0,0,0".to_owned())
        }
    }
}

/// The exit code of a failure at the ATOM.
pub(super) fn fail(error: &RobotError) -> CommandError {
    match error {
        RobotError::Connect { .. }
        | RobotError::Io(_)
        | RobotError::NoAnswer { .. }
        | RobotError::Silent
        | RobotError::EndLost => CommandError::machine(error),
        RobotError::Refused { .. } | RobotError::Upload(_) | RobotError::Stopped => {
            CommandError::failed(error)
        }
    }
}

/// Says how a run ended; anything but done is a failure.
pub(super) fn report(done: &Done) -> Result<(), CommandError> {
    let text = words::done_words(done);
    match done.result {
        0 => {
            note(text);
            Ok(())
        }
        // It was stopped, or never began: there is no error to leave.
        2 | 3 => Err(CommandError::failed(text)),
        _error => Err(CommandError::failed(format!(
            "{text}; look at the arm, then leave the error with atom-sim hold"
        ))),
    }
}

/// From now on Ctrl-C asks a run to stop; a second one ends the program.
pub(super) fn stop_on_ctrl_c() -> fn() -> bool {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let handler = || {
        if ASKED.swap(true, Ordering::Relaxed) {
            // As a shell says of a program that SIGINT ended.
            std::process::exit(130);
        }
        note("stopping; once more ends this program and leaves the arm to its run");
    };
    // It can only fail where there are no signals; there Ctrl-C ends the program.
    let _set = ctrlc::set_handler(handler);
    || ASKED.load(Ordering::Relaxed)
}

/// A bar on a terminal, nothing elsewhere.
pub(super) fn bar(length: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(length).with_message(what);
    // The template is fixed; a broken one would show the default bar.
    if let Ok(style) = ProgressStyle::with_template("{msg:10} {bar:40} {percent:>3} %  {eta}") {
        bar.set_style(style);
    }
    bar
}
