//! A plan as a client uploads it: PLAN_BEGIN, PLAN_DATA and PLAN_END, each sent again until its ACK comes.

use std::path::{Component, Path, PathBuf};

use firmware_core::joints::{ARM_JOINTS, JOINTS};
use firmware_core::protocol::codes;

use super::format::PlanUpload;
use crate::client::plan::Messages;
use crate::client::plan_csv::{self, SAMPLES_MAX};
use crate::client::{Plan, Sample};

/// Largest file of a plan (bytes): the longest plan, with every column of a recording.
const CSV_BYTES_MAX: u64 = 100_000_000;

/// The messages of an upload, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Each message, and the code and value of the ACK it gets when all is well.
    pub messages: Vec<(Vec<u8>, u8, u32)>,
}

impl Upload {
    /// Makes the messages of a plan, whose file lies in `folder` or below; without a folder it may have none.
    ///
    /// # Errors
    /// What is wrong with the plan, in words.
    pub fn new(upload: &PlanUpload, folder: Option<&Path>) -> Result<Self, String> {
        let (joints, samples) = match (&upload.csv, upload.points.as_slice()) {
            (Some(csv), []) => from_file(&beside(folder, csv)?)?,
            (None, points @ [_, ..]) => between_points(points, upload.rate_hz)?,
            (Some(_), [_, ..]) | (None, []) => return Err("expected either points or csv".to_owned()),
        };
        let plan = Plan { rate_hz: upload.rate_hz, joints, cubic: upload.cubic, samples };
        let Messages { begin, data, mut end } = plan.messages();
        if upload.wrong_crc {
            // The code comes first, then the CRC.
            end[1] ^= 1;
        }
        let data = data.into_iter().map(|(offset, bytes)| (bytes, codes::PLAN_DATA, offset));
        let messages = [(begin, codes::PLAN_BEGIN, 0)].into_iter().chain(data);
        Ok(Self { messages: messages.chain([(end, codes::PLAN_END, 0)]).collect() })
    }
}

/// Joints and samples of a plan between points: time (s), then 6 or 7 angles (°).
fn between_points(points: &[Vec<f64>], rate_hz: u16) -> Result<(usize, Vec<Sample>), String> {
    let (first, last) = (&points[0], &points[points.len() - 1]);
    let joints = first.len().saturating_sub(1);
    let same = points.iter().all(|point| point.len() == first.len() && point.iter().all(|x| x.is_finite()));
    let rising = points.is_sorted_by(|a, b| a.first() < b.first());
    if points.len() < 2 || !(ARM_JOINTS..=JOINTS).contains(&joints) || !same || !rising {
        return Err("expected at least two points [time, 6 or 7 angles], with rising times".to_owned());
    }
    let count = libm::round((last[0] - first[0]) * f64::from(rate_hz)) + 1.0;
    if count > SAMPLES_MAX as f64 {
        return Err(format!(
            "expected at most {SAMPLES_MAX} samples, found {:e} s at {rate_hz} Hz",
            last[0] - first[0]
        ));
    }
    let rate = f64::from(rate_hz.max(1));
    Ok((joints, (0..count as usize).map(|i| sample_at(points, first[0] + i as f64 / rate)).collect()))
}

fn sample_at(points: &[Vec<f64>], t_s: f64) -> Sample {
    let next = points.partition_point(|point| point[0] <= t_s).clamp(1, points.len() - 1);
    let (a, b) = (&points[next - 1], &points[next]);
    let part = ((t_s - a[0]) / (b[0] - a[0])).clamp(0.0, 1.0);
    let mut pose_deg = [0.0; JOINTS];
    for (deg, (from, to)) in pose_deg.iter_mut().zip(a[1..].iter().zip(&b[1..])) {
        *deg = from + part * (to - from);
    }
    Sample { cmd_deg: pose_deg, reference_deg: pose_deg }
}

/// The path of a plan's file: a scenario reaches nothing but its own folder and what is below it.
fn beside(folder: Option<&Path>, csv: &str) -> Result<PathBuf, String> {
    let Some(folder) = folder else {
        return Err("a scenario that is no file has no plan beside it; write the plan as points".to_owned());
    };
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(csv).components().all(inside) {
        return Err(format!(
            "expected csv to be a file beside the scenario or in a folder there, found \"{csv}\""
        ));
    }
    Ok(folder.join(csv))
}

fn from_file(path: &Path) -> Result<(usize, Vec<Sample>), String> {
    // Looked at before it is opened: opening a pipe would wait for its writer.
    let meta = std::fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if !meta.is_file() || meta.len() > CSV_BYTES_MAX {
        return Err(format!("{}: expected a file of at most {CSV_BYTES_MAX} bytes", path.display()));
    }
    let Plan { joints, samples, .. } = plan_csv::read(path).map_err(|error| error.to_string())?;
    Ok((joints, samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(points: Vec<Vec<f64>>, csv: Option<&str>) -> PlanUpload {
        PlanUpload { rate_hz: 119, cubic: false, points, csv: csv.map(str::to_owned), wrong_crc: false }
    }

    fn points() -> Vec<Vec<f64>> {
        vec![vec![0.0; 7], vec![1.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    }

    #[test]
    fn points_become_samples_at_the_rate() {
        let points = [vec![0.0; 7], vec![1.0, 90.0, 0.0, 0.0, 0.0, 0.0, 0.0]];
        let (joints, samples) = between_points(&points, 10).expect("two points");
        assert_eq!((joints, samples.len()), (6, 11));
        assert!((samples[5].cmd_deg[0] - 45.0).abs() < 1e-9);
    }

    #[test]
    fn an_upload_has_begin_data_in_chunks_and_end() {
        let good = Upload::new(&plan(points(), None), None).expect("a good plan");
        let heads: Vec<(u8, usize, u32)> =
            good.messages.iter().map(|(m, _, value)| (m[0], m.len(), *value)).collect();
        assert_eq!(heads, [(4, 9, 0), (5, 1207, 0), (5, 1207, 50), (5, 7 + 20 * 24, 100), (6, 5, 0)]);
        let wrong = PlanUpload { wrong_crc: true, ..plan(points(), None) };
        let wrong = Upload::new(&wrong, None).expect("a plan with a wrong CRC");
        assert_eq!(wrong.messages[..4], good.messages[..4]);
        assert_ne!(wrong.messages[4].0, good.messages[4].0);
    }

    #[test]
    fn points_that_are_none_are_refused() {
        let pose = |t_s: f64, deg: f64| vec![t_s, deg, 0.0, 0.0, 0.0, 0.0, 0.0];
        for points in [
            vec![pose(0.0, 0.0)],
            vec![pose(1.0, 0.0), pose(1.0, 0.0)],
            vec![pose(0.0, 0.0), pose(f64::INFINITY, 0.0)],
            vec![pose(0.0, f64::NAN), pose(1.0, 0.0)],
            vec![vec![], vec![]],
            vec![vec![0.0; 6], vec![1.0; 6]],
        ] {
            let error = Upload::new(&plan(points.clone(), None), None).expect_err("no plan");
            assert!(error.starts_with("expected at least two points"), "{points:?}: {error}");
        }
        let long = Upload::new(&plan(vec![pose(0.0, 0.0), pose(1e300, 0.0)], None), None);
        assert!(long.is_err_and(|error| error.starts_with("expected at most 200000 samples")));
    }

    #[test]
    fn a_plan_is_read_from_the_scenarios_folder_and_from_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let text =
            "t,q_plan_1,q_plan_2,q_plan_3,q_plan_4,q_plan_5,q_plan_6\n0,0,0,0,0,0,0\n0.01,0,0,0,0,0,0\n";
        std::fs::write(folder.path().join("p.csv"), text).expect("a file");
        let upload = |csv: &str, folder: Option<&Path>| Upload::new(&plan(Vec::new(), Some(csv)), folder);
        let here = Some(folder.path());
        assert_eq!(upload("p.csv", here).map(|upload| upload.messages.len()), Ok(3));
        assert!(upload("p.csv", None).is_err_and(|error| error.contains("write the plan as points")));
        let absolute = folder.path().join("p.csv");
        for csv in ["../p.csv", "a/../../p.csv", absolute.to_str().expect("UTF-8")] {
            assert!(upload(csv, here).is_err_and(|error| error.contains("beside the scenario")), "{csv}");
        }
        assert!(upload(".", here).is_err_and(|error| error.contains("expected a file of at most")));
        assert!(upload("none.csv", here).is_err_and(|error| error.contains("none.csv")));
    }
}
