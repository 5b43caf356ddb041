//! A plan as a client uploads it: PLAN_BEGIN, PLAN_DATA and PLAN_END, each sent again until its ACK comes.

use std::path::Path;

use firmware_core::protocol::codes;
use firmware_core::protocol::request::build;
use firmware_core::units::deg_to_steps;

use super::format::PlanUpload;

/// Samples of one PLAN_DATA: with seven joints 1,407 bytes, below the limit of a datagram.
const CHUNK: usize = 50;
/// A message without an ACK is sent again after this long (µs).
pub const RETRY_US: u64 = 200_000;
/// Tries of one message before the upload fails.
pub const TRIES: u32 = 30;
/// Longest plan (samples).
const SAMPLES_MAX: usize = 200_000;

/// The messages of an upload, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Each message, and the code and value of the ACK it gets when all is well.
    pub messages: Vec<(Vec<u8>, u8, u32)>,
}

impl Upload {
    /// Makes the messages of a plan.
    ///
    /// # Errors
    /// What is wrong with the plan, in words.
    pub fn new(plan: &PlanUpload, folder: &Path) -> Result<Self, String> {
        let poses = match (&plan.csv, plan.points.is_empty()) {
            (Some(csv), true) => read_csv(&folder.join(csv))?,
            (None, false) => between_points(&plan.points, plan.rate_hz)?,
            (Some(_), false) | (None, true) => return Err("expected either points or csv".to_owned()),
        };
        let joints = poses.first().map_or(0, Vec::len);
        if !(6..=7).contains(&joints) || poses.iter().any(|pose| pose.len() != joints) {
            return Err("expected 6 or 7 angles in every pose of the plan".to_owned());
        }
        let bytes: Vec<u8> = poses.iter().flat_map(|pose| sample_bytes(pose)).collect();
        Ok(Self::from_bytes(&bytes, joints, plan))
    }

    fn from_bytes(bytes: &[u8], joints: usize, plan: &PlanUpload) -> Self {
        let sample = 4 * joints;
        let count = bytes.len() / sample;
        let begin = build::plan_begin(count as u32, plan.rate_hz, plan.cubic, joints as u8);
        let mut messages = vec![(begin.to_vec(), codes::PLAN_BEGIN, 0)];
        for (i, chunk) in bytes.chunks(CHUNK * sample).enumerate() {
            let offset = (i * CHUNK) as u32;
            let mut message = build::plan_data_head(offset, (chunk.len() / sample) as u16).to_vec();
            message.extend(chunk);
            messages.push((message, codes::PLAN_DATA, offset));
        }
        let crc = crc32c(bytes) ^ u32::from(plan.wrong_crc);
        messages.push((build::plan_end(crc).to_vec(), codes::PLAN_END, 0));
        Self { messages }
    }
}

/// One sample: cmd of every joint, then ref, the same.
fn sample_bytes(pose_deg: &[f64]) -> Vec<u8> {
    let steps: Vec<u8> = pose_deg
        .iter()
        .enumerate()
        .flat_map(|(joint, deg)| (deg_to_steps(joint, *deg as f32) as u16).to_le_bytes())
        .collect();
    [steps.clone(), steps].concat()
}

fn between_points(points: &[Vec<f64>], rate_hz: u16) -> Result<Vec<Vec<f64>>, String> {
    let first = points.first().ok_or("expected at least two points")?;
    let last_s = points.last().and_then(|point| point.first()).copied().unwrap_or(0.0);
    let wrong = points.iter().any(|point| point.len() != first.len() || !(7..=8).contains(&point.len()));
    if wrong || points.windows(2).any(|pair| pair[0][0] >= pair[1][0]) || points.len() < 2 {
        return Err("expected at least two points [time, 6 or 7 angles], with rising times".to_owned());
    }
    let count = libm::round((last_s - first[0]) * f64::from(rate_hz)) as usize + 1;
    if count > SAMPLES_MAX {
        return Err(format!("expected at most {SAMPLES_MAX} samples, found {count}"));
    }
    let rate = f64::from(rate_hz.max(1));
    Ok((0..count).map(|i| pose_at(points, first[0] + i as f64 / rate)).collect())
}

fn pose_at(points: &[Vec<f64>], t_s: f64) -> Vec<f64> {
    let next = points.partition_point(|point| point[0] <= t_s).clamp(1, points.len() - 1);
    let (a, b) = (&points[next - 1], &points[next]);
    let part = ((t_s - a[0]) / (b[0] - a[0])).clamp(0.0, 1.0);
    a[1..].iter().zip(&b[1..]).map(|(from, to)| from + part * (to - from)).collect()
}

fn read_csv(path: &Path) -> Result<Vec<Vec<f64>>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let column = |joint: usize| header.iter().position(|name| *name == format!("q_plan_{joint}"));
    let columns: Vec<usize> = (1..=7).map_while(column).collect();
    if columns.len() < 6 {
        return Err(format!("{}: expected the columns q_plan_1 to q_plan_6", path.display()));
    }
    let row = |(i, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |&c: &usize| cells.get(c).and_then(|cell| cell.trim().parse::<f64>().ok());
        let pose: Option<Vec<f64>> = columns.iter().map(cell).collect();
        pose.ok_or_else(|| format!("{}:{}: expected a number in every q_plan column", path.display(), i + 2))
    };
    lines.enumerate().filter(|(_, line)| !line.trim().is_empty()).map(row).collect()
}

/// CRC-32C (Castagnoli).
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0x82F6_3B78 & (crc & 1).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_is_castagnolis() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn points_become_samples_at_the_rate() {
        let points = vec![vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], vec![1.0, 90.0, 0.0, 0.0, 0.0, 0.0, 0.0]];
        let poses = between_points(&points, 10).expect("two points");
        assert_eq!(poses.len(), 11);
        assert!((poses[5][0] - 45.0).abs() < 1e-9);
    }

    #[test]
    fn an_upload_has_begin_data_in_chunks_and_end() {
        let points = vec![vec![0.0; 7], vec![1.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0]];
        let plan = PlanUpload { rate_hz: 119, cubic: false, points, csv: None, wrong_crc: false };
        let upload = Upload::new(&plan, Path::new(".")).expect("a good plan");
        let heads: Vec<(u8, usize, u32)> =
            upload.messages.iter().map(|(m, _, value)| (m[0], m.len(), *value)).collect();
        assert_eq!(heads, [(4, 9, 0), (5, 1207, 0), (5, 1207, 50), (5, 7 + 20 * 24, 100), (6, 5, 0)]);
    }
}
