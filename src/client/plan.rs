//! A plan as a client has it: poses at a fixed rate, and their bytes for the upload.

use firmware_core::joints::JOINTS;
use firmware_core::motion::plan::crc32c;
use firmware_core::protocol::build;
use firmware_core::units::deg_to_steps;

/// Samples of one PLAN_DATA: with seven joints 1,407 bytes, below the limit of a datagram.
const CHUNK: usize = 50;

/// One sample. A plan of six joints leaves the seventh place at 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sample {
    /// Goals to send (°).
    pub cmd_deg: [f64; JOINTS],
    /// Wanted positions (°): the tracking check and the recording refer to them.
    pub reference_deg: [f64; JOINTS],
}

/// Poses at a fixed rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Samples per second.
    pub rate_hz: u16,
    /// Joints, 6 or 7.
    pub joints: usize,
    /// The ATOM interpolates with Catmull-Rom curves rather than lines.
    pub cubic: bool,
    /// The samples.
    pub samples: Vec<Sample>,
}

/// The messages of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Messages {
    /// PLAN_BEGIN.
    pub begin: Vec<u8>,
    /// Each PLAN_DATA with its offset.
    pub data: Vec<(u32, Vec<u8>)>,
    /// PLAN_END.
    pub end: Vec<u8>,
}

impl Plan {
    /// Time of the last sample (s).
    pub fn duration_s(&self) -> f64 {
        self.samples.len().saturating_sub(1) as f64 / f64::from(self.rate_hz)
    }

    /// Largest speed of each joint's cmd (°/s).
    pub fn top_speeds_dps(&self) -> [f64; JOINTS] {
        let mut top_dps = [0.0_f64; JOINTS];
        for pair in self.samples.windows(2) {
            for joint in 0..JOINTS {
                let step_deg = (pair[1].cmd_deg[joint] - pair[0].cmd_deg[joint]).abs();
                top_dps[joint] = top_dps[joint].max(step_deg * f64::from(self.rate_hz));
            }
        }
        top_dps
    }

    /// The messages of an upload in order, for a link that loses nothing; [`Upload`](super::Upload) is for others.
    pub fn upload_messages(&self) -> impl Iterator<Item = Vec<u8>> {
        let Messages { begin, data, end } = self.messages();
        [begin].into_iter().chain(data.into_iter().map(|(_, bytes)| bytes)).chain([end])
    }

    /// The samples as the ATOM keeps them: cmd of every joint, then ref, in steps.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.samples.len() * 4 * self.joints);
        for sample in &self.samples {
            for pose_deg in [&sample.cmd_deg, &sample.reference_deg] {
                for joint in 0..self.joints {
                    let steps = deg_to_steps(joint, pose_deg[joint] as f32).clamp(0, i32::from(u16::MAX));
                    bytes.extend((steps as u16).to_le_bytes());
                }
            }
        }
        bytes
    }

    /// PLAN_BEGIN, the PLAN_DATA with their offsets, and PLAN_END.
    pub fn messages(&self) -> Messages {
        let bytes = self.bytes();
        let begin = build::plan_begin(self.samples.len() as u32, self.rate_hz, self.cubic, self.joints as u8);
        let sample = 4 * self.joints;
        let data = bytes.chunks(CHUNK * sample).enumerate().map(|(i, chunk)| {
            let offset = (i * CHUNK) as u32;
            let mut message = build::plan_data_head(offset, (chunk.len() / sample) as u16).to_vec();
            message.extend(chunk);
            (offset, message)
        });
        let (begin, data) = (begin.to_vec(), data.collect());
        Messages { begin, data, end: build::plan_end(crc32c(&bytes)).to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_cut_into_datagrams_with_seven_joints_too() {
        let plan = Plan { rate_hz: 250, joints: 7, cubic: true, samples: vec![Sample::default(); 120] };
        let Messages { begin, data, end } = plan.messages();
        assert_eq!(begin, [4, 120, 0, 0, 0, 250, 0, 1, 7]);
        let shape: Vec<(u32, usize)> = data.iter().map(|(offset, bytes)| (*offset, bytes.len())).collect();
        assert_eq!(shape, [(0, 1407), (50, 1407), (100, 7 + 20 * 28)]);
        assert_eq!(end.len(), 5);
    }

    #[test]
    fn bytes_are_cmd_then_ref_in_steps_with_the_joints_signs() {
        let mut sample = Sample::default();
        sample.cmd_deg[0] = 90.0;
        sample.reference_deg[2] = 90.0;
        let plan = Plan { rate_hz: 250, joints: 6, cubic: false, samples: vec![sample; 2] };
        let words: Vec<u16> =
            plan.bytes()[..24].chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        assert_eq!(words, [1024, 2048, 2048, 2048, 2048, 2048, 2048, 2048, 3072, 2048, 2048, 2048]);
    }
}
