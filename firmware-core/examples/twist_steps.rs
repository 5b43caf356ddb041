//! Runs every step of recorded sequences of the end-effector JOG, as often as asked: something to count instructions of.
//!
//! `twist_steps PASSES FILE…` reads the files once and passes over them PASSES times, each sequence from its first
//! state on. It prints the steps of one pass and a sum of the joint goals, which keeps the work from being optimised
//! away and shows that two builds did the same. Two runs that differ in PASSES alone differ by the passes alone:
//! `benches/instructions.sh` uses that.

use std::error::Error;
use std::fs;

use firmware_core::joints::JOINTS;
use firmware_core::kinematics::Tcp;
use firmware_core::motion::joint::JointMotion;
use firmware_core::motion::twist::{TwistCommand, TwistController};

/// One row of a file.
struct Step {
    /// The state, in the row before the first step of a sequence.
    start: Option<(JointMotion, Tcp)>,
    command: TwistCommand,
    dt_s: f32,
}

fn read(path: &str) -> Result<Vec<Step>, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        header.iter().position(|found| *found == name).ok_or_else(|| format!("{path}: no column {name}"))
    };
    let (step, dt, tcp, tool, vmax) =
        (column("step")?, column("dt")?, column("tcp")?, column("tool")?, column("vmax")?);
    let (want, angles, speeds) = (column("want1")?, column("q1")?, column("qd1")?);
    lines
        .map(|line| {
            let values = line.split(',').map(str::parse).collect::<Result<Vec<f32>, _>>()?;
            let joints = |first: usize| {
                let mut joints = [0.0; JOINTS];
                joints[..6].copy_from_slice(&values[first..first + 6]);
                joints
            };
            let start = (values[step] < 1.0).then(|| {
                let tcp = if values[tcp] > 0.5 { Tcp::Gripper } else { Tcp::Flange };
                (JointMotion { q_deg: joints(angles), v_dps: joints(speeds) }, tcp)
            });
            let command = TwistCommand {
                tool: values[tool] > 0.5,
                linear_mm_s: [values[want], values[want + 1], values[want + 2]],
                angular_rad_s: [values[want + 3], values[want + 4], values[want + 5]],
                speed_cap_dps: values[vmax],
            };
            Ok(Step { start, command, dt_s: values[dt] })
        })
        .collect()
}

/// One pass; returns the steps made and the sum of the goals after each.
fn pass(rows: &[Step]) -> (usize, f64) {
    let (mut steps, mut sum) = (0, 0.0);
    let mut state = None;
    for row in rows {
        if let Some((motion, tcp)) = row.start {
            state = Some((motion, TwistController::enter(&motion, tcp)));
        } else if let Some((motion, controller)) = &mut state {
            controller.step(motion, &row.command, row.dt_s);
            steps += 1;
            sum += f64::from(motion.q_deg.iter().sum::<f32>());
        }
    }
    (steps, sum)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let passes: usize = arguments.next().ok_or("usage: twist_steps PASSES FILE…")?.parse()?;
    let mut rows = Vec::new();
    for path in arguments {
        rows.extend(read(&path)?);
    }
    let mut result = (rows.iter().filter(|row| row.start.is_none()).count(), 0.0);
    for _ in 0..passes {
        result = pass(&rows);
    }
    println!("{} {:.3}", result.0, result.1);
    Ok(())
}
