//! Recorded sequences of the end-effector JOG, read from their files and run again.

use std::error::Error;
use std::fs;

use firmware_core::joints::JOINTS;
use firmware_core::kinematics::Tcp;
use firmware_core::motion::joint::JointMotion;
use firmware_core::motion::twist::{TwistCommand, TwistController};

/// One row of a file.
pub(crate) struct Step {
    /// The state, in the row before the first step of a sequence.
    start: Option<(JointMotion, Tcp)>,
    command: TwistCommand,
    dt_s: f32,
}

/// Reads a file.
pub(crate) fn read(path: &str) -> Result<Vec<Step>, Box<dyn Error>> {
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

/// Steps through rows, round and round; a sequence begins with its first state.
pub(crate) struct Walk<'a> {
    rows: &'a [Step],
    next: usize,
    state: Option<(JointMotion, TwistController)>,
}

impl<'a> Walk<'a> {
    /// At the first row.
    pub(crate) fn new(rows: &'a [Step]) -> Self {
        Self { rows, next: 0, state: None }
    }

    /// Makes the next step; returns the sum of the joint goals (°) after it.
    pub(crate) fn step(&mut self) -> f32 {
        loop {
            let row = &self.rows[self.next];
            self.next = if self.next + 1 < self.rows.len() { self.next + 1 } else { 0 };
            if let Some((motion, tcp)) = row.start {
                self.state = Some((motion, TwistController::enter(&motion, tcp)));
            } else if let Some((motion, controller)) = &mut self.state {
                controller.step(motion, &row.command, row.dt_s);
                return motion.q_deg.iter().sum();
            }
        }
    }
}

/// Steps in one pass over the rows.
pub(crate) fn steps(rows: &[Step]) -> usize {
    rows.iter().filter(|row| row.start.is_none()).count()
}
