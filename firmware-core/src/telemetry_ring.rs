//! The telemetry ring: samples of runs in the order they were made, each packed as its differences from the sample
//! before it.
//!
//! A sample is 112 bytes in the open, of which little changes from one to the next: packed, a sample of seven joints in
//! motion takes about 50 bytes. On the ESP32 that leaves room for a plan of 90 KB beside WiFi.

use heapless::{Deque, Vec};

use crate::joints::{ARM_JOINTS, JOINTS};
use crate::platform::{ClientId, ImuSample, Transport};
use crate::protocol::telemetry::Sample;

/// Most samples the ring holds.
pub const TELEMETRY_CAPACITY: usize = 512;
/// Memory of the ring (bytes): 60 for each sample. Samples that leap take up to 144; then fewer fit.
const RING_BYTES: usize = 60 * TELEMETRY_CAPACITY;
/// 16-bit fields of the joints: cmd, ref, position, speed and load of each.
const JOINT_WORDS: usize = 5 * JOINTS;
/// With the six of the IMU.
const WORDS: usize = JOINT_WORDS + 6;
/// Longest packed sample (bytes): length, flags, client, two times, and three bytes per word.
const PACKED_BYTES_MAX: usize = 1 + 1 + 4 + 10 + 5 + 3 * WORDS;

/// All joints of the arm answered.
const FLAG_OK: u8 = 1;
/// Seven joints, not six.
const FLAG_SEVEN: u8 = 1 << 1;
/// The sample is sent, not only counted.
const FLAG_SENT: u8 = 1 << 2;
/// The client is a WebSocket, not a UDP source.
const FLAG_WEB_SOCKET: u8 = 1 << 3;
/// The client differs from that of the sample before: its number follows.
const FLAG_CLIENT: u8 = 1 << 4;

/// One sample of a run's telemetry, and what the network side needs to send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TelemetrySample {
    /// Visible from this time on (µs).
    pub at_us: u64,
    /// Who started the run.
    pub client: ClientId,
    /// The run's telemetry is sent. False for a MOVE_TO of a WebSocket client: such samples only count.
    pub sent: bool,
    /// The sample as clients get it.
    pub sample: Sample,
}

/// What all samples of one packet have in common, and when the sample is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Visible from this time on (µs).
    pub at_us: u64,
    /// Who started the run.
    pub client: ClientId,
    /// The sample is sent, not only counted.
    pub sent: bool,
    /// Joints of the sample, 6 or 7.
    pub n: usize,
}

/// Samples waiting for the network side.
#[derive(Debug)]
pub struct TelemetryRing {
    bytes: Deque<u8, RING_BYTES>,
    /// Samples in the ring.
    length: usize,
    /// Samples that entered since power-up: the number of the next one.
    sequence: u32,
    /// The sample that left last: the first in the ring is packed relative to it.
    taken: Unpacked,
    /// The sample that came last.
    last: Unpacked,
}

impl Default for TelemetryRing {
    fn default() -> Self {
        Self::new()
    }
}

impl TelemetryRing {
    /// An empty ring.
    pub const fn new() -> Self {
        let nothing = Unpacked::NOTHING;
        Self { bytes: Deque::new(), length: 0, sequence: 0, taken: nothing, last: nothing }
    }

    /// Samples in the ring.
    pub fn len(&self) -> usize {
        self.length
    }

    /// No sample waits.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The number of the first sample in the ring: samples are counted from power-up on.
    pub fn first_sequence(&self) -> u32 {
        self.sequence.wrapping_sub(self.length as u32)
    }

    /// Puts a sample in and numbers it. False: the ring is full, and the sample is dropped and takes no number.
    pub fn push(&mut self, sample: &TelemetrySample) -> bool {
        let new = Unpacked::from(sample);
        let packed = new.packed(&self.last);
        if self.length == TELEMETRY_CAPACITY || packed.len() > RING_BYTES - self.bytes.len() {
            return false;
        }
        for byte in packed {
            // There is room: see above.
            let _taken = self.bytes.push_back(byte);
        }
        self.last = new;
        self.length += 1;
        self.sequence = self.sequence.wrapping_add(1);
        true
    }

    /// Takes the first sample out.
    pub fn take(&mut self) -> Option<Sample> {
        let length = usize::from(*self.bytes.front()?);
        let mut reader = Reader { bytes: &self.bytes, at: 1 };
        let mut sample = self.taken;
        reader.head(&mut sample);
        reader.words(&mut sample);
        for _ in 0..length {
            self.bytes.pop_front();
        }
        self.taken = sample;
        self.length -= 1;
        Some(sample.sample())
    }

    /// The heads of the samples, first to last. Cheaper than the samples.
    pub fn heads(&self) -> impl Iterator<Item = Head> {
        let mut sample = self.taken;
        let mut at = 0;
        core::iter::from_fn(move || {
            let length = usize::from(*self.bytes.get(at)?);
            Reader { bytes: &self.bytes, at: at + 1 }.head(&mut sample);
            at += length;
            let (client, sent) = (sample.client, sample.flags & FLAG_SENT != 0);
            Some(Head { at_us: sample.at_us, client, sent, n: sample.joints() })
        })
    }
}

/// A sample as words; those of a seventh joint that it has not are 0.
#[derive(Debug, Clone, Copy)]
struct Unpacked {
    at_us: u64,
    client: ClientId,
    flags: u8,
    t_us: u32,
    words: [u16; WORDS],
}

impl Unpacked {
    const NOTHING: Self = Self {
        at_us: 0,
        client: ClientId { transport: Transport::Udp, number: 0 },
        flags: 0,
        t_us: 0,
        words: [0; WORDS],
    };

    fn joints(&self) -> usize {
        if self.flags & FLAG_SEVEN == 0 { ARM_JOINTS } else { JOINTS }
    }

    /// The word belongs to the IMU or to a joint that the sample has.
    fn has_word(&self, index: usize) -> bool {
        index >= JOINT_WORDS || index % JOINTS < self.joints()
    }

    fn sample(&self) -> Sample {
        let joints = |field: usize| core::array::from_fn(|joint| self.words[field * JOINTS + joint]);
        let axes = |first: usize| core::array::from_fn(|axis| self.words[JOINT_WORDS + first + axis] as i16);
        Sample {
            n: self.joints(),
            t_us: self.t_us,
            cmd: joints(0),
            reference: joints(1),
            position: joints(2),
            speed: joints(3),
            load: joints(4),
            imu: ImuSample { acc: axes(0), gyro: axes(3) },
            ok: self.flags & FLAG_OK != 0,
        }
    }

    /// The sample's bytes, their number first, relative to the sample before it.
    fn packed(&self, before: &Self) -> Vec<u8, PACKED_BYTES_MAX> {
        let mut packed = Vec::new();
        // The longest sample fits.
        let mut put = |byte: u8| {
            let _room = packed.push(byte);
        };
        put(0);
        if self.client == before.client {
            put(self.flags);
        } else {
            put(self.flags | FLAG_CLIENT);
            self.client.number.to_le_bytes().into_iter().for_each(&mut put);
        }
        put_number(zigzag(self.at_us.wrapping_sub(before.at_us) as i64), &mut put);
        put_number(u64::from(self.t_us.wrapping_sub(before.t_us)), &mut put);
        for (index, (word, old)) in self.words.iter().zip(&before.words).enumerate() {
            if self.has_word(index) {
                put_number(zigzag(i64::from(word.wrapping_sub(*old) as i16)), &mut put);
            }
        }
        packed[0] = packed.len() as u8;
        packed
    }
}

impl From<&TelemetrySample> for Unpacked {
    fn from(from: &TelemetrySample) -> Self {
        let TelemetrySample { at_us, client, sent, sample } = from;
        let flags = [
            (sample.ok, FLAG_OK),
            (sample.n == JOINTS, FLAG_SEVEN),
            (*sent, FLAG_SENT),
            (client.transport == Transport::WebSocket, FLAG_WEB_SOCKET),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum();
        let mut unpacked = Self { at_us: *at_us, client: *client, flags, t_us: sample.t_us, ..Self::NOTHING };
        let joints = [&sample.cmd, &sample.reference, &sample.position, &sample.speed, &sample.load];
        let axes = sample.imu.acc.iter().chain(&sample.imu.gyro).map(|axis| *axis as u16);
        for (index, word) in joints.into_iter().flatten().copied().chain(axes).enumerate() {
            if unpacked.has_word(index) {
                unpacked.words[index] = word;
            }
        }
        unpacked
    }
}

/// Small numbers of both signs as small numbers: 0, −1, 1, −2, … become 0, 1, 2, 3, …
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// Puts a number in groups of seven bits, the lowest first; all but the last have the highest bit set.
fn put_number(mut number: u64, put: &mut impl FnMut(u8)) {
    while number > 0x7F {
        put(number as u8 | 0x80);
        number >>= 7;
    }
    put(number as u8);
}

/// Reads what [`Unpacked::packed`] wrote.
struct Reader<'r> {
    bytes: &'r Deque<u8, RING_BYTES>,
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return number;
            }
            shift += 7;
        }
    }

    fn signed(&mut self) -> i64 {
        let zigzag = self.number();
        (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)
    }

    /// All before the words; `sample` is the sample before.
    fn head(&mut self, sample: &mut Unpacked) {
        let flags = self.byte();
        sample.flags = flags & !FLAG_CLIENT;
        if flags & FLAG_CLIENT != 0 {
            sample.client.number = u32::from_le_bytes(core::array::from_fn(|_| self.byte()));
        }
        sample.client.transport =
            if flags & FLAG_WEB_SOCKET == 0 { Transport::Udp } else { Transport::WebSocket };
        sample.at_us = sample.at_us.wrapping_add_signed(self.signed());
        sample.t_us = sample.t_us.wrapping_add(self.number() as u32);
    }

    fn words(&mut self, sample: &mut Unpacked) {
        for index in 0..WORDS {
            sample.words[index] = if sample.has_word(index) {
                sample.words[index].wrapping_add(self.signed() as u16)
            } else {
                0
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: ClientId = ClientId { transport: Transport::WebSocket, number: 70_000 };
    const SCRIPT: ClientId = ClientId { transport: Transport::Udp, number: 1 };

    /// Sample `k` of a run in which every field moves as far per cycle as a fast arm's does, with noise.
    fn moving(k: u32, n: usize) -> TelemetrySample {
        let noise = |field: u32, span: u32| (k * 7_919 + field * 104_729) % 1_009 % span;
        let joints = |field: u32, step: u32, span: u32| {
            core::array::from_fn(|joint| {
                let seen = (joint < n).then(|| 1_000 + k * step + noise(field + joint as u32, span));
                seen.unwrap_or(0) as u16
            })
        };
        let axes = |field: u32| core::array::from_fn(|axis| noise(field + axis as u32, 100) as i16 - 50);
        let sample = Sample {
            n,
            t_us: k * 2_000,
            cmd: joints(0, 4, 1),
            reference: joints(7, 4, 1),
            position: joints(14, 4, 3),
            speed: joints(21, 0, 60),
            load: joints(28, 0, 60),
            imu: ImuSample { acc: axes(35), gyro: axes(38) },
            ok: true,
        };
        let at_us = 5_000_000 + u64::from(k * 2_000 + noise(50, 300));
        TelemetrySample { at_us, client: PAGE, sent: true, sample }
    }

    /// A sample of which every field is as far as can be from that of an empty ring, or from the other one.
    fn leaping(k: u16) -> TelemetrySample {
        let far = |base: u16| base.wrapping_add(k.wrapping_mul(0x8000));
        let sample = Sample {
            n: JOINTS,
            t_us: u32::MAX - u32::from(k),
            cmd: [far(0x7FFF); JOINTS],
            reference: [far(0x8000); JOINTS],
            position: [far(0x4321); JOINTS],
            speed: [far(0x7FFF); JOINTS],
            load: [far(0x8001); JOINTS],
            imu: ImuSample { acc: [far(0x7FFF) as i16; 3], gyro: [far(0x8000) as i16; 3] },
            ok: k.is_multiple_of(3),
        };
        let client = if k.is_multiple_of(2) { PAGE } else { SCRIPT };
        let at_us = if k.is_multiple_of(2) { u64::MAX } else { 0 };
        TelemetrySample { at_us, client, sent: k.is_multiple_of(5), sample }
    }

    /// Takes everything out and compares it with what went in.
    fn all_come_out(ring: &mut TelemetryRing, pushed: &[TelemetrySample]) {
        assert_eq!(ring.len(), pushed.len());
        let heads: Vec<Head, TELEMETRY_CAPACITY> = ring.heads().collect();
        assert_eq!(heads.len(), pushed.len());
        for (TelemetrySample { at_us, client, sent, sample }, head) in pushed.iter().zip(heads) {
            assert_eq!(head, Head { at_us: *at_us, client: *client, sent: *sent, n: sample.n });
            assert_eq!(ring.take(), Some(*sample));
        }
        assert_eq!(ring.take(), None);
    }

    #[test]
    fn a_full_ring_of_seven_moving_joints_holds_512_samples_and_gives_them_back() {
        let mut ring = TelemetryRing::new();
        let pushed: Vec<_, TELEMETRY_CAPACITY> = (0..512).map(|k| moving(k, 7)).collect();
        for sample in &pushed {
            assert!(ring.push(sample), "sample {} of 512", ring.len());
        }
        assert!(!ring.push(&moving(512, 7)));
        assert_eq!(ring.first_sequence(), 0);
        all_come_out(&mut ring, &pushed);
        assert!(ring.push(&moving(513, 7)));
        assert_eq!(ring.first_sequence(), 512, "the dropped sample took no number");
    }

    #[test]
    fn samples_that_leap_come_out_as_they_went_in_though_fewer_fit() {
        let mut ring = TelemetryRing::new();
        let mut pushed = Vec::<_, TELEMETRY_CAPACITY>::new();
        for k in 0.. {
            let sample = leaping(k);
            if !ring.push(&sample) {
                break;
            }
            pushed.push(sample).expect("room");
        }
        assert!(pushed.len() >= RING_BYTES / PACKED_BYTES_MAX, "{} samples", pushed.len());
        all_come_out(&mut ring, &pushed);
    }

    #[test]
    fn runs_of_six_and_of_seven_joints_follow_each_other_in_a_ring_that_goes_round() {
        let mut ring = TelemetryRing::new();
        for round in 0..40 {
            let n = if round % 2 == 0 { 6 } else { 7 };
            let mut pushed: Vec<_, 100> = (0..100).map(|k| moving(k + round, n)).collect();
            for sample in &mut pushed {
                (sample.client, sample.sent) = if n == 6 { (SCRIPT, true) } else { (PAGE, false) };
                assert!(ring.push(sample));
            }
            all_come_out(&mut ring, &pushed);
        }
        assert_eq!(ring.first_sequence(), 4_000);
    }
}
