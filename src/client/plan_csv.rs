//! Plans as CSV: columns `t`, `q_plan_1…6` or `…7`, and `q_cmd_1…` where goals differ from wanted positions. A
//! recording is a plan too.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use firmware_core::joints::{ARM_JOINTS, J7, JOINTS};

use super::plan::{Plan, Sample};
use crate::recording::{ReadError, TimeTable};

/// Rates that a plan can have (Hz).
const RATES_HZ: std::ops::RangeInclusive<f64> = 1.0..=1_000.0;
/// How far the rate of the times may be from a whole number: what a plan that was rounded to milliseconds is off.
const RATE_OFF_MAX: f64 = 0.01;
/// Most samples that are read.
pub(crate) const SAMPLES_MAX: usize = 200_000;

/// Reads a plan. Its rate is that of the times in column `t`.
///
/// # Errors
/// [`ReadError`], with file and line.
pub fn read(path: &Path) -> Result<Plan, ReadError> {
    let file = File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    parse(file, path)
}

fn parse(input: impl Read, path: &Path) -> Result<Plan, ReadError> {
    let mut table = TimeTable::new(input, path)?;
    let columns = |kind: &str| (1..=JOINTS).map(|joint| format!("{kind}_{joint}")).collect::<Vec<_>>();
    let (mut names, cmd) = (columns("q_plan"), columns("q_cmd"));
    names.truncate(if table.has(&names[J7]) { JOINTS } else { ARM_JOINTS });
    let joints = names.len();
    // Goals differ from wanted positions for all joints or for none.
    let has_cmd = cmd.iter().any(|name| table.has(name));
    if has_cmd {
        names.extend_from_slice(&cmd[..joints]);
    }
    table.choose(&names)?;
    let (mut times_s, mut samples, mut values) = (Vec::new(), Vec::new(), Vec::new());
    while table.read(&mut values)? {
        if samples.len() == SAMPLES_MAX {
            return Err(table.content(table.line(), format!("at most {SAMPLES_MAX} samples"), "more"));
        }
        let (time_s, poses) = (values[0], &values[1..]);
        let mut sample = Sample::default();
        sample.reference_deg[..joints].copy_from_slice(&poses[..joints]);
        sample.cmd_deg[..joints].copy_from_slice(&poses[poses.len() - joints..]);
        times_s.push(time_s);
        samples.push(sample);
    }
    let rate_hz = rate_hz(&times_s).map_err(|found| {
        let expected = format!(
            "a plan of at least two rows at equal distances in time, {} to {} per second",
            RATES_HZ.start(),
            RATES_HZ.end()
        );
        table.content(table.line(), expected, found)
    })?;
    Ok(Plan { rate_hz, joints, cubic: false, samples })
}

/// The rate of rising times, a whole number; or what is wrong with them.
fn rate_hz(times_s: &[f64]) -> Result<u16, String> {
    let [first_s, .., last_s] = *times_s else { return Err(format!("{} rows", times_s.len())) };
    let period_s = (last_s - first_s) / (times_s.len() - 1) as f64;
    let rate_hz = (1.0 / period_s).round();
    if !RATES_HZ.contains(&rate_hz) || (rate_hz * period_s - 1.0).abs() > RATE_OFF_MAX {
        return Err(format!("{:.3} rows per second", 1.0 / period_s));
    }
    let grid_s = |k: usize| first_s + k as f64 * period_s;
    match (0..times_s.len()).find(|&k| (times_s[k] - grid_s(k)).abs() > period_s) {
        Some(k) => Err(format!("{} s, where row {} belongs at {:.3} s", times_s[k], k + 1, grid_s(k))),
        None => Ok(rate_hz as u16),
    }
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
    fn a_plan_is_read_back_and_what_is_wrong_is_named() {
        let mut sample = Sample::default();
        (sample.reference_deg[2], sample.cmd_deg[2]) = (12.5, 13.25);
        let plan = Plan { rate_hz: 250, joints: 6, cubic: false, samples: vec![sample; 5] };
        let mut bytes = Vec::new();
        write(&mut bytes, &plan).expect("memory");
        let text = String::from_utf8(bytes).expect("ASCII");
        let parse = |text: &str| parse(text.as_bytes(), Path::new("p.csv"));
        assert_eq!(parse(&text).expect("a plan"), plan);
        let refusal =
            |from: &str, to: &str| parse(&text.replacen(from, to, 1)).expect_err("no plan").to_string();
        assert_eq!(
            refusal("13.2500", "x"),
            "p.csv:2: expected a finite number in column 10 (`q_cmd_3`), found `x`"
        );
        assert_eq!(
            refusal("\n0.008,", "\n0.003,"),
            "p.csv:4: expected a time in column `t` above 0.004 of the row before, found 0.003"
        );
        assert_eq!(refusal("q_cmd_6", "cmd_6"), "p.csv:1: expected a column `q_cmd_6`, found none");
        assert_eq!(refusal("q_plan_6", "plan_6"), "p.csv:1: expected a column `q_plan_6`, found none");
    }

    #[test]
    fn the_rate_is_that_of_times_at_equal_distances() {
        let at = |rate_hz: f64| (0..100).map(|k| 3.0 + f64::from(k) / rate_hz).collect::<Vec<_>>();
        assert_eq!(rate_hz(&at(250.0)), Ok(250));
        assert_eq!(rate_hz(&at(119.05)), Ok(119));
        let jittering: Vec<f64> =
            at(500.0).iter().zip(0..).map(|(t_s, k)| t_s + f64::from(k % 3) * 5e-4).collect();
        assert_eq!(rate_hz(&jittering), Ok(500));
        assert_eq!(rate_hz(&[0.0]), Err("1 rows".to_owned()));
        assert_eq!(rate_hz(&at(1.5)), Err("1.500 rows per second".to_owned()));
        assert_eq!(rate_hz(&at(2_000.0)), Err("2000.000 rows per second".to_owned()));
        // Played evenly, this would be another motion.
        assert_eq!(rate_hz(&[0.0, 0.1, 0.2, 4.0]), Err("0.750 rows per second".to_owned()));
        let mut with_a_hole = at(250.0);
        with_a_hole.drain(40..60);
        assert!(rate_hz(&with_a_hole).is_err());
    }
}
