//! `atom-sim move` and `atom-sim watch`: one motion, and a live table of the joints.

use std::fmt::Write as _;
use std::io::{IsTerminal, stdout};

use clap::Args;
use firmware_core::joints::ARM_JOINTS;
use firmware_core::protocol::stream::Stream;
use firmware_core::protocol::{build, codes};
use firmware_core::shared::State;

use super::exit::CommandError;
use super::output::{note, say_more};
use super::robot::{AtomArgs, Numbers, RobotArgs, bar, fail, parse_joints, report, stop_on_ctrl_c};
use super::values::whole;
use crate::hardware::{READY_DEG, ZERO_DEG};
use crate::recording::Collector;
use crate::recording::row::{angle_deg, load_percent, speed_dps};
use crate::recording::trace::words;

/// Largest angle that MOVE_TO carries: 32,767 hundredths (°). Whether a joint goes there the ATOM knows.
const GOAL_DEG_MAX: f32 = 327.67;
/// Longest duration that MOVE_TO carries: 65,535 ms, in whole seconds.
const DURATION_S_MAX: f64 = 65.0;

/// Options of `atom-sim move`.
#[derive(Debug, Args)]
pub(super) struct MoveArgs {
    /// Goal: `zero` or `ready` (J7 keeps its goal), J1,…,J6 or J1,…,J7 (°).
    #[arg(value_parser = parse_goal, allow_hyphen_values = true)]
    goal: Numbers,
    /// Duration (s); as short as the limits allow when it is not given.
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_negative_numbers = true)]
    duration: f64,
    #[command(flatten)]
    robot: RobotArgs,
}

fn parse_goal(text: &str) -> Result<Numbers, String> {
    match text {
        "zero" => Ok(Numbers(ZERO_DEG[..ARM_JOINTS].to_vec())),
        "ready" => Ok(Numbers(READY_DEG[..ARM_JOINTS].to_vec())),
        angles => parse_joints(angles),
    }
}

/// Moves to a pose.
pub(super) fn run_move(args: &MoveArgs) -> Result<(), CommandError> {
    let goal: Vec<f32> = args.goal.0.iter().map(|deg| *deg as f32).collect();
    if let Some((joint, deg)) = (1..).zip(&goal).find(|(_, deg)| deg.abs() > GOAL_DEG_MAX) {
        return Err(CommandError::bad_input(format!(
            "J{joint}: expected -{GOAL_DEG_MAX} to {GOAL_DEG_MAX} degrees, found {deg}"
        )));
    }
    let duration_ms = (args.duration * 1000.0).round();
    if !(0.0..=DURATION_S_MAX * 1000.0).contains(&duration_ms)
        || (duration_ms == 0.0) != (args.duration == 0.0)
    {
        return Err(CommandError::bad_input(format!(
            "--duration: expected 0, or 0.001 to {DURATION_S_MAX} s, found {}",
            args.duration
        )));
    }
    let mut robot = args.robot.connect_to_move(&format!("moves to {goal:?}°"))?;
    let bar = bar(1, "moving");
    let message = build::move_to(&goal, duration_ms as u16);
    let done = robot
        .run(&message, &mut Collector::default(), stop_on_ctrl_c(), |_| bar.tick())
        .map_err(|error| fail(&error))?;
    bar.finish_and_clear();
    report(&done)
}

/// Options of `atom-sim hold`.
#[derive(Debug, Args)]
pub(super) struct HoldArgs {
    #[command(flatten)]
    atom: AtomArgs,
}

/// Holds the pose; leaves the error state.
pub(super) fn run_hold(args: &HoldArgs) -> Result<(), CommandError> {
    let mut robot = args.atom.connect()?;
    robot.request(&build::plain(codes::HOLD)).map_err(|error| fail(&error))?;
    note("the arm is held");
    Ok(())
}

/// Options of `atom-sim watch`.
#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    /// Pictures per second.
    #[arg(long, value_name = "HZ", default_value_t = 10, value_parser = whole::<u16>(1..=100), allow_negative_numbers = true)]
    rate: u16,
    /// End after this many pictures.
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    count: Option<u64>,
    #[command(flatten)]
    atom: AtomArgs,
}

/// Shows the joints until Ctrl-C.
pub(super) fn run_watch(args: &WatchArgs) -> Result<(), CommandError> {
    let mut robot = args.atom.connect()?;
    // Before 5.0 the STREAM carries no goals.
    let has_goals = robot.ping().map_err(|error| fail(&error))?.major >= 5;
    let terminal = stdout().is_terminal();
    let (mut shown, mut renew_us, mut heard_us) = (0, 0, robot.now_us());
    while args.count.is_none_or(|count| shown < count) {
        if robot.now_us() >= renew_us {
            robot.send(&build::subscribe(args.rate)).map_err(|error| fail(&error))?;
            renew_us = robot.now_us() + 1_000_000;
        }
        match robot.stream(robot.now_us() + 100_000).map_err(|error| fail(&error))? {
            Some(stream) => {
                heard_us = robot.now_us();
                let table = table(&stream, has_goals, robot.status_line());
                // On a terminal each table goes over the one before.
                let home = if terminal { "\x1b[H\x1b[2J" } else { "" };
                if say_more(format_args!("{home}{table}"))?.is_break() {
                    break;
                }
                shown += 1;
            }
            None if robot.now_us() > heard_us + 5_000_000 => {
                return Err(CommandError::machine(
                    "no STREAM for 5 s; is the ATOM still on, and a place for a subscriber free?",
                ));
            }
            None => {}
        }
    }
    Ok(())
}

/// What the LED matrix shows in a state.
fn led_word(state: State) -> &'static str {
    match state {
        State::Booting => "blue",
        State::Holding => "green",
        State::Ready => "yellow",
        State::Playing | State::Moving => "cyan spiral",
        State::Error => "red",
        State::Ota => "magenta",
        State::Jogging | State::Tracking => "violet",
    }
}

fn table(stream: &Stream, has_goals: bool, line: Option<&str>) -> String {
    let control = match stream.control {
        0 => "nobody",
        1 => "this client",
        _others => "another client",
    };
    let joints = &stream.seen.joints;
    let mut text = format!(
        "{:.1} s  {}  LED {}  control: {control}{}\n\n      angle     goal    speed   load  temp  volt  status\n",
        f64::from(stream.t_ms) / 1000.0,
        words::state_word(stream.state),
        State::from_byte(stream.state).map_or("unknown", led_word),
        if joints.ok { "" } else { "  not all joints answered" },
    );
    for joint in 0..usize::from(stream.seen.n).min(7) {
        let goal = if has_goals {
            format!("{:7.2}°", angle_deg(joint, joints.goal[joint]))
        } else {
            format!("{:>8}", "–")
        };
        // Each joint's health is read about once a second: until then it is not known.
        let health = match joints.voltage_dv[joint] {
            0 => format!("{:>5} {:>5}  {:>2}", "–", "–", "–"),
            dv => format!(
                "{:3}°C {:4.1}V  {:02X}",
                joints.temperature_c[joint],
                f64::from(dv) / 10.0,
                joints.status[joint]
            ),
        };
        let _ = writeln!(
            text,
            "J{}  {:7.2}° {goal} {:6.1}°/s {:5.1}% {health}",
            joint + 1,
            angle_deg(joint, joints.position[joint]),
            speed_dps(joint, joints.speed[joint]),
            load_percent(joint, joints.load[joint]),
        );
    }
    if let Some(line) = line {
        let _ = writeln!(text, "\n{line}");
    }
    text
}
