//! `atom-sim kinematics`: TCP poses, Jacobians, singular values and joint angles for a pose.

use std::fmt::Write as _;

use clap::{Args, Subcommand, ValueEnum};
use firmware_core::joints::{ARM_JOINTS, TABLE};
use firmware_core::motion::twist::SIGMA_DAMPED;
use serde::Serialize;

use super::exit::CommandError;
use super::output::say;
use super::values::{Pose as JointPose, parse_pose};
use crate::kinematics::{self, Angles, Pose, Tcp};

const EXAMPLES: &str = "\
Examples:
  atom-sim kinematics forward --pose ready
  atom-sim kinematics forward --pose 10,-20,30,-40,50,-60 --tcp flange --json
  atom-sim kinematics jacobian --pose ready
  atom-sim kinematics singular-values --pose zero
  atom-sim kinematics inverse --from ready --position 180,-40,120
  atom-sim kinematics inverse --from ready --position 180,-40,120 --rpy 180,0,-90

Angles are in degrees, lengths in mm, in the base frame (z up, origin at the foot). Roll, pitch and yaw are turns about
the base's fixed axes x, y and z, in this order.";

/// Options of `atom-sim kinematics`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct KinematicsArgs {
    #[command(subcommand)]
    question: Option<Question>,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// Where the TCP is: position, orientation.
    Forward(At),
    /// The geometric Jacobian at the TCP: rows vx, vy, vz (mm/rad), ωx, ωy, ωz (rad/rad), in the base frame.
    Jacobian(At),
    /// Singular values of the Jacobian, its linear rows in units of 100 mm.
    SingularValues(At),
    /// Joint angles for a pose of the TCP, that a `MOVE_TO` accepts.
    Inverse(Goal),
}

/// A pose of the joints.
#[derive(Debug, Args)]
struct At {
    /// Joint angles: `zero`, `ready` (0,0,-90,0,0,0) or J1,…,J6 in degrees; a J7 plays no part.
    #[arg(long, value_name = "POSE", value_parser = parse_pose, allow_hyphen_values = true)]
    pose: JointPose,
    #[command(flatten)]
    output: Output,
}

/// A pose of the TCP.
#[derive(Debug, Args)]
struct Goal {
    /// Position of the TCP (mm).
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_triple, allow_hyphen_values = true)]
    position: Triple,
    /// Orientation: roll, pitch, yaw (°); the start's when it is not given.
    #[arg(long, value_name = "R,P,Y", value_parser = parse_triple, allow_hyphen_values = true)]
    rpy: Option<Triple>,
    /// Joint angles to start from: `zero` (singular), `ready` or J1,…,J6 in degrees.
    #[arg(long, value_name = "POSE", value_parser = parse_pose, allow_hyphen_values = true, default_value = "ready")]
    from: JointPose,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Args)]
struct Output {
    /// Tool point.
    #[arg(long, value_enum, default_value_t = TcpName::Gripper)]
    tcp: TcpName,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TcpName {
    /// Between the finger pads.
    Gripper,
    /// The flange: no gripper.
    Flange,
}

impl TcpName {
    pub(super) fn tcp(self) -> Tcp {
        match self {
            Self::Gripper => Tcp::Gripper,
            Self::Flange => Tcp::Flange,
        }
    }
}

/// Three numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Triple([f64; 3]);

fn parse_triple(text: &str) -> Result<Triple, String> {
    let numbers: Vec<f64> = text
        .split(',')
        .map(|word| word.trim().parse().ok().filter(|number: &f64| number.is_finite()))
        .collect::<Option<_>>()
        .ok_or_else(|| format!("expected three numbers such as 180,-40,120, found `{text}`"))?;
    let count = numbers.len();
    let triple = numbers.try_into().map_err(|_| format!("expected three numbers, found {count}"))?;
    Ok(Triple(triple))
}

/// Runs the command.
///
/// # Errors
/// 1: no joint angles were found for a pose. 2: a wrong option, or joint angles outside the joint limits.
pub(super) fn run(args: &KinematicsArgs) -> Result<(), CommandError> {
    let question = args.question.as_ref().ok_or_else(|| {
        CommandError::bad_input(
            "expected what to compute: forward, jacobian, singular-values or inverse; see atom-sim kinematics --help",
        )
    })?;
    say(answer(question)?)
}

/// What the command prints.
fn answer(question: &Question) -> Result<String, CommandError> {
    match question {
        Question::Forward(at) => {
            let angles_deg = arm(&at.pose)?;
            PoseAnswer::new(angles_deg, at.output.tcp).print(at.output.json)
        }
        Question::Jacobian(at) => jacobian(&arm(&at.pose)?, &at.output),
        Question::SingularValues(at) => singular_values(&arm(&at.pose)?, &at.output),
        Question::Inverse(goal) => inverse(goal),
    }
}

/// J1–J6 of a pose inside the joint limits.
fn arm(pose: &JointPose) -> Result<Angles, CommandError> {
    let angles_deg: Angles = core::array::from_fn(|joint| pose.0[joint]);
    for (joint, deg) in angles_deg.iter().enumerate() {
        let (low_deg, high_deg) = (f64::from(TABLE[joint].min_deg), f64::from(TABLE[joint].max_deg));
        if !(low_deg..=high_deg).contains(deg) {
            return Err(CommandError::bad_input(format!(
                "J{} at {deg}° is outside its limits; expected {low_deg} to {high_deg}°",
                joint + 1
            )));
        }
    }
    Ok(angles_deg)
}

#[derive(Serialize)]
struct PoseAnswer {
    tcp: TcpName,
    joints_deg: Angles,
    position_mm: [f64; 3],
    rpy_deg: [f64; 3],
    rotation: kinematics::Rotation,
}

impl PoseAnswer {
    fn new(joints_deg: Angles, tcp: TcpName) -> Self {
        let Pose { position_mm, rotation } = kinematics::forward(&joints_deg, tcp.tcp());
        let rpy_deg = kinematics::rpy_of_rotation(&rotation);
        Self { tcp, joints_deg, position_mm, rpy_deg, rotation }
    }

    fn print(&self, as_json: bool) -> Result<String, CommandError> {
        if as_json {
            return json(self);
        }
        let mut text = String::new();
        line(&mut text, "joints J1-J6 (°)", &self.joints_deg, 3);
        line(&mut text, "position (mm)", &self.position_mm, 3);
        line(&mut text, "roll, pitch, yaw (°)", &self.rpy_deg, 3);
        for (row, name) in self.rotation.iter().zip(["rotation", "", ""]) {
            line(&mut text, name, row, 6);
        }
        Ok(text)
    }
}

fn jacobian(angles_deg: &Angles, output: &Output) -> Result<String, CommandError> {
    #[derive(Serialize)]
    struct Answer<'a> {
        tcp: TcpName,
        joints_deg: &'a Angles,
        jacobian: [[f64; ARM_JOINTS]; 6],
    }

    let jacobian = kinematics::jacobian(angles_deg, output.tcp.tcp());
    if output.json {
        return json(&Answer { tcp: output.tcp, joints_deg: angles_deg, jacobian });
    }
    let names = ["vx (mm/rad)", "vy (mm/rad)", "vz (mm/rad)", "ωx (rad/rad)", "ωy (rad/rad)", "ωz (rad/rad)"];
    let mut text = String::new();
    for (row, name) in jacobian.iter().zip(names) {
        line(&mut text, name, row, if name.starts_with('v') { 3 } else { 6 });
    }
    Ok(text)
}

fn singular_values(angles_deg: &Angles, output: &Output) -> Result<String, CommandError> {
    #[derive(Serialize)]
    struct Answer<'a> {
        tcp: TcpName,
        joints_deg: &'a Angles,
        singular_values: [f64; 6],
        damped: bool,
    }

    let singular_values = kinematics::singular_values(angles_deg, output.tcp.tcp());
    let damped = singular_values[5] < f64::from(SIGMA_DAMPED);
    if output.json {
        return json(&Answer { tcp: output.tcp, joints_deg: angles_deg, singular_values, damped });
    }
    let mut text = String::new();
    line(&mut text, "singular values", &singular_values, 6);
    let below = if damped { "below" } else { "not below" };
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "the smallest is {below} {SIGMA_DAMPED}: end-effector JOG is {}damped here",
        if damped { "" } else { "not " }
    );
    Ok(text)
}

fn inverse(goal: &Goal) -> Result<String, CommandError> {
    let start_deg = arm(&goal.from)?;
    let tcp = goal.output.tcp;
    let rotation = match goal.rpy {
        Some(Triple(rpy_deg)) => kinematics::rotation_of_rpy(rpy_deg),
        None => kinematics::forward(&start_deg, tcp.tcp()).rotation,
    };
    let target = Pose { position_mm: goal.position.0, rotation };
    let angles_deg = kinematics::inverse(&target, &start_deg, tcp.tcp()).map_err(CommandError::failed)?;
    PoseAnswer::new(angles_deg, tcp).print(goal.output.json)
}

/// One line: a name and numbers.
fn line(text: &mut String, name: &str, values: &[f64], decimals: usize) {
    // Writing into a string cannot fail.
    let _ = write!(text, "{name:<20}");
    for value in values {
        // Adding 0 takes the sign off −0.
        let _ = write!(text, " {:>12.decimals$}", rounded(*value, decimals) + 0.0);
    }
    text.push('\n');
}

/// Rounded to some decimals, so that −0.0001 does not print as −0.000.
fn rounded(value: f64, decimals: usize) -> f64 {
    let unit = (0..decimals).fold(1.0, |unit, _| unit * 10.0);
    (value * unit).round() / unit
}

fn json(answer: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(answer).map(|text| text + "\n").map_err(CommandError::failed)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: KinematicsArgs,
    }

    fn ask(words: &str) -> Result<String, CommandError> {
        let line = Line::try_parse_from(words.split(' ')).expect("the line is right");
        answer(&line.args.question.expect("a question"))
    }

    #[test]
    fn forward_prints_position_and_orientation() {
        let text = ask("kinematics forward --pose ready").expect("the pose is right");
        assert!(text.contains("position (mm)             163.806"), "{text}");
        assert!(text.contains("-58.397"), "{text}");
    }

    #[test]
    fn json_is_one_line_with_the_same_numbers() {
        let text = ask("kinematics forward --pose ready --tcp flange --json").expect("the pose is right");
        let value: serde_json::Value = serde_json::from_str(text.trim_end()).expect("it is JSON");
        assert_eq!(value["tcp"], "flange");
        assert_eq!(value["joints_deg"][2], -90.0);
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn singular_values_tell_where_the_motion_is_damped() {
        let damped = |pose: &str| -> serde_json::Value {
            let text = ask(&format!("kinematics singular-values --json --pose {pose}")).expect("it is right");
            serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON")["damped"].clone()
        };
        assert_eq!(damped("zero"), true);
        assert_eq!(damped("ready"), false);
    }

    #[test]
    fn inverse_brings_the_tcp_to_the_position_with_the_orientation_of_the_start() {
        let text = ask("kinematics inverse --from ready --position 180,-40,120 --json").expect("it is near");
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        for (axis, expected) in [180.0, -40.0, 120.0].into_iter().enumerate() {
            let found = value["position_mm"][axis].as_f64().expect("a number");
            assert!((found - expected).abs() < 0.01, "{value}");
        }
        let down = value["rotation"][2][2].as_f64().expect("a number");
        assert!((down + 1.0).abs() < 1e-4, "{value}");
    }

    #[test]
    fn errors_say_what_is_expected_and_carry_their_code() {
        let error = ask("kinematics forward --pose 0,150,0,0,0,0").expect_err("J2 goes to 140");
        assert_eq!((error.code, error.message.contains("J2 at 150°")), (super::super::exit::BAD_INPUT, true));
        let error = ask("kinematics inverse --position 900,0,0").expect_err("out of reach");
        assert_eq!(error.code, super::super::exit::FAILED);
        assert!(parse_triple("1,2").is_err_and(|message| message.contains("found 2")));
        assert!(parse_triple("1,2,inf").is_err());
    }
}
