//! Plans as CSV: columns `t`, `q_plan_1…6` or `…7`, and `q_cmd_1…` where goals differ from wanted positions. A
//! recording is a plan too.

use std::io::Write;
use std::path::Path;

use firmware_core::joints::{ARM_JOINTS, JOINTS};

use super::plan::{Plan, Sample};

/// Rates that a plan can have (Hz).
const RATES_HZ: std::ops::RangeInclusive<f64> = 1.0..=1_000.0;
/// Most samples that are read.
const SAMPLES_MAX: usize = 200_000;

/// Why a plan cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// The file.
    #[error("failed to read the plan {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// What is in it.
    #[error("{path}:{line}: expected {expected}, found {found}")]
    Content {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What belongs there.
        expected: String,
        /// What is there.
        found: String,
    },
}

/// Reads a plan. Its rate is that of the times in column `t`.
///
/// # Errors
/// [`PlanFileError`], with file and line.
pub fn read(path: &Path) -> Result<Plan, PlanFileError> {
    let name = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|source| PlanFileError::Io { path: name.clone(), source })?;
    parse(&text, &name)
}

fn parse(text: &str, path: &str) -> Result<Plan, PlanFileError> {
    let wrong = |line: usize, expected: &str, found: &str| PlanFileError::Content {
        path: path.to_owned(),
        line,
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let column = |name: &str| header.iter().position(|column| *column == name);
    let columns = |kind: &str| -> Vec<usize> {
        (1..=JOINTS).map_while(|joint| column(&format!("{kind}_{joint}"))).collect()
    };
    let time = column("t").ok_or_else(|| wrong(1, "a column `t` (s)", "none"))?;
    let reference = columns("q_plan");
    if reference.len() < ARM_JOINTS {
        return Err(wrong(1, "columns `q_plan_1` to `q_plan_6` (°)", "fewer"));
    }
    let cmd = Some(columns("q_cmd")).filter(|cmd| !cmd.is_empty());
    if let Some(cmd) = cmd.as_ref().filter(|cmd| cmd.len() != reference.len()) {
        let expected = format!("as many columns `q_cmd_1` … as `q_plan_1` …, {}, or none", reference.len());
        return Err(wrong(1, &expected, &cmd.len().to_string()));
    }
    let (mut times_s, mut samples) = (Vec::new(), Vec::new());
    for (index, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let number = |&at: &usize| {
            let cell = cells.get(at).copied().unwrap_or("nothing");
            let value = cell.parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| wrong(index + 2, &format!("a number in column `{}`", header[at]), cell))
        };
        let mut sample = Sample::default();
        for (joint, at) in reference.iter().enumerate() {
            sample.reference_deg[joint] = number(at)?;
            sample.cmd_deg[joint] = number(cmd.as_ref().map_or(at, |cmd| &cmd[joint]))?;
        }
        let time_s = number(&time)?;
        if times_s.last().is_some_and(|last_s| time_s <= *last_s) {
            return Err(wrong(
                index + 2,
                "a time in column `t` above that of the row before",
                &time_s.to_string(),
            ));
        }
        times_s.push(time_s);
        samples.push(sample);
        if samples.len() > SAMPLES_MAX {
            return Err(wrong(index + 2, &format!("at most {SAMPLES_MAX} samples"), "more"));
        }
    }
    let rate_hz = rate_hz(&times_s).ok_or_else(|| {
        wrong(2, "at least two rows with rising times, 1 to 1,000 per second", "other times")
    })?;
    Ok(Plan { rate_hz, joints: reference.len(), cubic: false, samples })
}

fn rate_hz(times_s: &[f64]) -> Option<u16> {
    let (first, last) = (times_s.first()?, times_s.last()?);
    let rate_hz = ((times_s.len() - 1) as f64 / (last - first)).round();
    RATES_HZ.contains(&rate_hz).then_some(rate_hz as u16)
}

/// Writes a plan.
///
/// # Errors
/// The writer's.
pub fn write(mut out: impl Write, plan: &Plan) -> std::io::Result<()> {
    let names = |kind: &str| (1..=plan.joints).map(|j| format!("{kind}_{j}")).collect::<Vec<_>>().join(",");
    writeln!(out, "t,{},{}", names("q_plan"), names("q_cmd"))?;
    for (k, sample) in plan.samples.iter().enumerate() {
        write!(out, "{}", k as f64 / f64::from(plan.rate_hz))?;
        for pose_deg in [&sample.reference_deg, &sample.cmd_deg] {
            for deg in &pose_deg[..plan.joints] {
                write!(out, ",{deg:.4}")?;
            }
        }
        writeln!(out)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_back_and_a_broken_cell_is_named() {
        let mut sample = Sample::default();
        (sample.reference_deg[2], sample.cmd_deg[2]) = (12.5, 13.25);
        let plan = Plan { rate_hz: 250, joints: 6, cubic: false, samples: vec![sample; 5] };
        let mut bytes = Vec::new();
        write(&mut bytes, &plan).expect("memory");
        let text = String::from_utf8(bytes).expect("ASCII");
        assert_eq!(parse(&text, "p.csv").expect("a plan"), plan);
        let broken = text.replacen("13.2500", "x", 1);
        assert_eq!(
            parse(&broken, "p.csv").expect_err("broken").to_string(),
            "p.csv:2: expected a number in column `q_cmd_3`, found x"
        );
        let back = text.replacen("\n0.008,", "\n0.003,", 1);
        assert_eq!(
            parse(&back, "p.csv").expect_err("back in time").to_string(),
            "p.csv:4: expected a time in column `t` above that of the row before, found 0.003"
        );
        let partial = text.replacen("q_cmd_6", "cmd_6", 1);
        assert_eq!(
            parse(&partial, "p.csv").expect_err("five of six").to_string(),
            "p.csv:1: expected as many columns `q_cmd_1` … as `q_plan_1` …, 6, or none, found 5"
        );
        assert!(parse("t,q_1\n", "p.csv").is_err());
        assert!(
            parse("t,q_plan_1,q_plan_2,q_plan_3,q_plan_4,q_plan_5,q_plan_6\n0,0,0,0,0,0,0\n", "p").is_err()
        );
    }
}
