//! TELEM: packets of a run's telemetry samples.

use heapless::Vec;

use super::codes;
use super::layout::{Fields, Layout, Writer, WrongLength};
use super::stream::imu_fields;
use crate::joints::{ARM_JOINTS, JOINTS};
use crate::platform::ImuSample;

/// Largest TELEM packet (bytes).
pub const PACKET_BYTES_MAX: usize = 1472;
/// Most samples of one packet.
pub const SAMPLES_MAX: usize = 18;
/// Bytes before the first sample.
const HEAD_BYTES: usize = 6;

/// Bytes of one sample of `n` joints.
pub const fn sample_bytes(n: usize) -> usize {
    17 + 10 * n
}

/// Samples of `n` joints that one packet holds: 18 of six joints, 16 of seven.
pub const fn samples_per_packet(n: usize) -> usize {
    if n == JOINTS { 16 } else { SAMPLES_MAX }
}

#[derive(Debug, Clone, Copy, Default)]
struct Head {
    first_sequence: u32,
    count: u8,
}

impl Layout for Head {
    fn fields(&mut self, fields: &mut impl Fields) {
        fields.code(codes::TELEM);
        fields.u32(&mut self.first_sequence);
        fields.u8(&mut self.count);
    }
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

/// Puts `count` samples with consecutive numbers into one packet; `count` is at most
/// [`samples_per_packet`] of their number of joints.
pub fn encode_packet(
    first_sequence: u32,
    count: usize,
    samples: impl Iterator<Item = Sample>,
) -> Vec<u8, PACKET_BYTES_MAX> {
    let mut writer = Writer::default();
    Head { first_sequence, count: count as u8 }.fields(&mut writer);
    for mut sample in samples.take(count) {
        sample.fields(&mut writer);
    }
    debug_assert!(writer.fits(), "{count} samples are more than a packet holds");
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
    /// The packet's bytes.
    pub fn encode(&self) -> Vec<u8, PACKET_BYTES_MAX> {
        encode_packet(self.first_sequence, self.samples.len(), self.samples.iter().copied())
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, WrongLength> {
        let (head, body) = Head::default().decode_prefix(bytes)?;
        let count = usize::from(head.count);
        let n = [ARM_JOINTS, JOINTS]
            .into_iter()
            .find(|&n| body.len() == count * sample_bytes(n) && (1..=samples_per_packet(n)).contains(&count))
            .ok_or(WrongLength)?;
        let empty = Sample { n, ..Sample::default() };
        let samples = body.chunks(sample_bytes(n)).map(|chunk| empty.decode(chunk));
        Ok(Self { first_sequence: head.first_sequence, samples: samples.collect::<Result<_, _>>()? })
    }
}

const _: () = assert!(HEAD_BYTES + SAMPLES_MAX * sample_bytes(ARM_JOINTS) <= PACKET_BYTES_MAX);
const _: () = assert!(HEAD_BYTES + samples_per_packet(JOINTS) * sample_bytes(JOINTS) <= PACKET_BYTES_MAX);
