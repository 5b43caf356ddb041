//! Files of a run: what went wrong, what went in and out, and what the joints did.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use super::outcome::Outcome;
use super::report;

/// Writes the files of a run into `folder`: `NAME.log` (what went wrong), `NAME.trace` (every input and output,
/// for `atom-sim replay`) and `NAME.csv` (goals and true angles, 50 rows per second). Returns their paths.
///
/// # Errors
/// A file cannot be written.
pub fn write(folder: &Path, outcome: &Outcome) -> io::Result<[PathBuf; 3]> {
    let name: String =
        outcome.name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let log = folder.join(format!("{name}.log"));
    let trace = folder.join(format!("{name}.trace"));
    let csv = folder.join(format!("{name}.csv"));
    std::fs::write(&log, format!("{}\n{}", report::line(outcome), report::details(outcome)))?;
    std::fs::write(&trace, &outcome.trace)?;
    std::fs::write(&csv, csv_text(outcome))?;
    Ok([log, trace, csv])
}

fn csv_text(outcome: &Outcome) -> String {
    let columns = |what: &str| {
        (1..=7).fold(String::new(), |mut names, joint| {
            let _ = write!(names, ",{what}_{joint}");
            names
        })
    };
    let mut text = format!("t{}{}{}{}\n", columns("q_cmd"), columns("q"), columns("dq"), columns("load"));
    let first_us = outcome.samples.first().map_or(0, |sample| sample.t_us);
    for sample in &outcome.samples {
        let _ = write!(text, "{}", (sample.t_us - first_us) as f64 * 1e-6);
        for values in [&sample.goal_deg, &sample.angle_deg, &sample.speed_dps, &sample.load_percent] {
            for value in values {
                let _ = write!(text, ",{value:.4}");
            }
        }
        text.push('\n');
    }
    text
}
