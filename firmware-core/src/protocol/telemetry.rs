//! TELEM: packets of a run's telemetry samples.

use heapless::Vec;

use super::codes;
use super::layout::{Fields, Layout, Reader, Writer, WrongLength};
use super::stream::imu_fields;
use crate::joints::{ARM_JOINTS, JOINTS};
use crate::platform::ImuSample;
use crate::shared::TelemetrySample;

/// Largest TELEM packet (bytes).
pub const PACKET_BYTES: usize = 1472;
/// Most samples of one packet.
pub const SAMPLES_MAX: usize = 18;
const HEADER_BYTES: usize = 6;

/// Samples of `n` joints that one packet holds: 18 of six joints, 16 of seven.
pub const fn samples_per_packet(n: usize) -> usize {
    if n == JOINTS { 16 } else { SAMPLES_MAX }
}

/// Bytes of one sample of `n` joints.
pub const fn sample_bytes(n: usize) -> usize {
    17 + 10 * n
}

/// One sample as it goes over the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Joints, 6 or 7: of the run's command, not of the robot.
    pub n: usize,
    /// Time since the run began (µs).
    pub t_us: u32,
    /// Goals sent (steps).
    pub cmd: [u16; JOINTS],
    /// Wanted positions (steps).
    pub reference: [u16; JOINTS],
    /// Measured positions (steps).
    pub position: [u16; JOINTS],
    /// Speeds (steps/s, sign in bit 15).
    pub speed: [u16; JOINTS],
    /// Loads (0.1 %, sign in bit 10).
    pub load: [u16; JOINTS],
    /// IMU sample.
    pub imu: ImuSample,
    /// J1–J6 all answered.
    pub ok: bool,
}

impl Layout for Sample {
    fn fields(&mut self, fields: &mut impl Fields) {
        let n = self.n.min(JOINTS);
        fields.u32(&mut self.t_us);
        fields.u16s(&mut self.cmd[..n]);
        fields.u16s(&mut self.reference[..n]);
        fields.u16s(&mut self.position[..n]);
        fields.u16s(&mut self.speed[..n]);
        fields.u16s(&mut self.load[..n]);
        imu_fields(&mut self.imu, fields);
        fields.bool(&mut self.ok);
    }
}

impl From<&TelemetrySample> for Sample {
    fn from(sample: &TelemetrySample) -> Self {
        Self {
            n: usize::from(sample.n),
            t_us: sample.t_us,
            cmd: sample.cmd,
            reference: sample.reference,
            position: sample.position,
            speed: sample.speed,
            load: sample.load,
            imu: sample.imu,
            ok: sample.ok,
        }
    }
}

/// Puts samples with consecutive numbers into one packet.
pub fn encode_packet<'s>(
    first_sequence: u32,
    samples: impl ExactSizeIterator<Item = &'s TelemetrySample>,
) -> Vec<u8, PACKET_BYTES> {
    let mut writer = Writer::default();
    writer.code(codes::TELEM);
    writer.u32(&mut { first_sequence });
    writer.u8(&mut (samples.len() as u8));
    for sample in samples {
        Sample::from(sample).fields(&mut writer);
    }
    writer.into_bytes()
}

/// A decoded packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Number of its first sample.
    pub first_sequence: u32,
    /// Its samples.
    pub samples: Vec<Sample, SAMPLES_MAX>,
}

impl Packet {
    /// Decodes a packet; the joints follow from its length.
    ///
    /// # Errors
    /// A length that neither six nor seven joints give.
    pub fn decode(bytes: &[u8]) -> Result<Self, WrongLength> {
        let mut reader = Reader::new(bytes);
        let (mut first_sequence, mut count) = (0, 0);
        reader.code(codes::TELEM);
        reader.u32(&mut first_sequence);
        reader.u8(&mut count);
        let count = usize::from(count);
        let body = bytes.get(HEADER_BYTES..).ok_or(WrongLength)?;
        let n = [ARM_JOINTS, JOINTS]
            .into_iter()
            .find(|n| count > 0 && count <= SAMPLES_MAX && body.len() == count * sample_bytes(*n))
            .ok_or(WrongLength)?;
        let empty = Sample { n, ..Sample::default() };
        let samples = body.chunks(sample_bytes(n)).map(|chunk| Layout::decode(empty, chunk));
        Ok(Self { first_sequence, samples: samples.collect::<Result<_, _>>()? })
    }
}
