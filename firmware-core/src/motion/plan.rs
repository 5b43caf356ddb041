//! Plans: uploaded samples, their checks and their interpolation.

use alloc::vec::Vec;
use core::fmt;

use crc::{CRC_32_ISCSI, Crc, Table};

use crate::joints::{ARM_JOINTS, J6, JOINTS, JointTable};
use crate::units::{STEPS_PER_TURN, steps_to_deg};

/// CRC-32C (Castagnoli) with one table of 256 words: a whole plan in a few milliseconds on the
/// ESP32, for 1 KB.
static CRC32C: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISCSI);
/// Rate that PONG shows before any plan (Hz).
const RATE_HZ_DEFAULT: u16 = 250;

/// Bytes of a plan that are digested in one go: some ten microseconds on the ESP32.
const DIGEST_BYTES: usize = 256;

/// CRC-32C of bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    CRC32C.checksum(bytes)
}

/// CRC-32C of the bytes whose CRC-32C is `crc`, and then `bytes`.
fn crc32c_on(crc: u32, bytes: &[u8]) -> u32 {
    // The algorithm's register is the inverted CRC; its initial value is given with the bits in reverse.
    let mut digest = CRC32C.digest_with_initial((!crc).reverse_bits());
    digest.update(bytes);
    digest.finalize()
}

/// Highest position of J6 (steps): a multi-turn servo gives the sign in bit 15.
const J6_STEPS_MAX: f32 = 32_767.0;

/// Why a part of an upload is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanError {
    /// Fewer than two samples, rate 0, or joints other than 6 or 7.
    Shape,
    /// The samples need more memory than there is.
    OutOfMemory,
    /// No plan was begun.
    NotBegun,
    /// Samples past the end of the plan.
    Range,
    /// Bytes other than the samples need.
    Length,
    /// Not all samples were received.
    Incomplete,
    /// The CRC-32C differs.
    Crc,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => {
                "expected at least 2 samples, a rate above 0 and 6 or 7 joints: correct what begins the plan"
            }
            Self::OutOfMemory => {
                "expected a plan that fits into the plan memory: send fewer samples, at a lower plan rate"
            }
            Self::NotBegun => "expected a begun plan, found none: begin one first",
            Self::Range => "found samples past the declared end: begin the plan with all its samples",
            Self::Length => "expected 4 bytes per joint and sample: make the data agree with its count",
            Self::Incomplete => "not all samples were received: send those that are missing, then end again",
            Self::Crc => "the CRC-32C of the samples received is another: send them again, then end again",
        })
    }
}

impl core::error::Error for PlanError {}

/// An uploaded plan: samples of cmd and ref (steps) at a fixed rate.
#[derive(Debug)]
pub struct Plan {
    samples: u32,
    rate_hz: u16,
    cubic: bool,
    joints: usize,
    /// Sample bytes as they came: u16 cmd[joints], u16 ref[joints], little-endian.
    bytes: Vec<u8>,
    /// One bit per sample received.
    received: Vec<u8>,
    /// The CRC-32C of so many of the first bytes.
    digested: usize,
    digest: u32,
    valid: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self::new()
    }
}

impl Plan {
    /// No plan.
    pub const fn new() -> Self {
        Self {
            samples: 0,
            rate_hz: RATE_HZ_DEFAULT,
            cubic: false,
            joints: ARM_JOINTS,
            bytes: Vec::new(),
            received: Vec::new(),
            digested: 0,
            digest: 0,
            valid: false,
        }
    }

    /// Begins an upload of `samples` samples at `rate_hz`, played with linear or cubic interpolation, for 6
    /// or 7 joints. The old plan is gone, whatever the outcome; after a refusal the rate stays that of the
    /// old plan.
    ///
    /// # Errors
    /// [`PlanError::Shape`], [`PlanError::OutOfMemory`] when the samples need more than `bytes_max` bytes (24
    /// each with six joints, 28 with seven) or the heap has less.
    pub fn begin(
        &mut self,
        samples: u32,
        rate_hz: u16,
        cubic: bool,
        joints: u8,
        bytes_max: usize,
    ) -> Result<(), PlanError> {
        *self = Self { rate_hz: self.rate_hz, ..Self::default() };
        let joints = usize::from(joints);
        if samples < 2 || rate_hz == 0 || !(ARM_JOINTS..=JOINTS).contains(&joints) {
            return Err(PlanError::Shape);
        }
        let size = u64::from(samples) * sample_bytes(joints) as u64;
        let size =
            usize::try_from(size).ok().filter(|size| *size <= bytes_max).ok_or(PlanError::OutOfMemory)?;
        let bytes = zeroed(size)?;
        let received = zeroed((samples as usize).div_ceil(8))?;
        *self = Self { samples, rate_hz, cubic, joints, bytes, received, ..Self::default() };
        Ok(())
    }

    /// Takes `count` samples from sample `offset` on: u16 cmd of each joint, then u16 ref of each joint,
    /// little-endian. Samples taken twice replace. The plan becomes invalid until the next [`Plan::end`].
    ///
    /// # Errors
    /// [`PlanError::NotBegun`], [`PlanError::Range`], [`PlanError::Length`]; then nothing changes.
    pub fn write(&mut self, offset: u32, count: u16, samples: &[u8]) -> Result<(), PlanError> {
        if self.samples == 0 {
            return Err(PlanError::NotBegun);
        }
        let end = u64::from(offset) + u64::from(count);
        if end > u64::from(self.samples) {
            return Err(PlanError::Range);
        }
        let size = sample_bytes(self.joints);
        if samples.len() != usize::from(count) * size {
            return Err(PlanError::Length);
        }
        let first = offset as usize;
        if first * size < self.digested {
            (self.digested, self.digest) = (0, 0);
        }
        self.bytes[first * size..][..samples.len()].copy_from_slice(samples);
        for sample in first..first + usize::from(count) {
            self.received[sample / 8] |= 1 << (sample % 8);
        }
        self.valid = false;
        Ok(())
    }

    /// Ends an upload: with all samples and the right CRC-32C of all their bytes the plan is valid, otherwise
    /// it is not.
    ///
    /// # Errors
    /// [`PlanError::NotBegun`], [`PlanError::Incomplete`], [`PlanError::Crc`].
    pub fn end(&mut self, crc: u32) -> Result<(), PlanError> {
        self.valid = false;
        if self.samples == 0 {
            return Err(PlanError::NotBegun);
        }
        let received: u32 = self.received.iter().map(|bits| bits.count_ones()).sum();
        if received != self.samples {
            return Err(PlanError::Incomplete);
        }
        while self.digest_piece() {}
        if self.digest != crc {
            return Err(PlanError::Crc);
        }
        self.valid = true;
        Ok(())
    }

    /// Adds the next piece of the samples to their CRC-32C. False: nothing is left. [`Plan::end`] does what is left; who
    /// may not hold up others for the whole of a plan does it piece by piece before.
    pub fn digest_piece(&mut self) -> bool {
        let rest = &self.bytes[self.digested..];
        let piece = &rest[..rest.len().min(DIGEST_BYTES)];
        self.digest = crc32c_on(self.digest, piece);
        self.digested += piece.len();
        !piece.is_empty()
    }

    /// The plan may not be played until the next [`Plan::end`].
    pub fn invalidate(&mut self) {
        self.valid = false;
    }

    /// All samples are there and the CRC-32C agreed.
    pub fn is_valid(&self) -> bool {
        self.valid
    }

    /// Samples as declared, valid or not; 0 without a plan.
    pub fn declared_samples(&self) -> u32 {
        self.samples
    }

    /// Rate (Hz); 250 before any plan.
    pub fn rate_hz(&self) -> u16 {
        self.rate_hz
    }

    /// Joints, 6 or 7.
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// Memory its samples take (bytes).
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Time of the last sample (µs).
    pub fn duration_us(&self) -> u64 {
        u64::from(self.samples.saturating_sub(1)) * 1_000_000 / u64::from(self.rate_hz)
    }

    /// The wanted positions of the first sample (steps).
    pub fn first_reference(&self) -> [u16; JOINTS] {
        self.sample(0).1
    }

    /// The lowest joint (index) with a cmd or ref sample outside its limits of `table`, which count without the margin.
    pub fn first_sample_outside_limits(&self, table: &JointTable) -> Option<usize> {
        // One pass over the samples: a bit per joint found outside.
        let outside = self.bytes.chunks_exact(2).enumerate().fold(0_u8, |outside, (k, pair)| {
            let joint = k % self.joints;
            let limits = &table[joint];
            let deg = steps_to_deg(joint, i32::from(u16::from_le_bytes([pair[0], pair[1]])));
            outside | u8::from(!(limits.min_deg..=limits.max_deg).contains(&deg)) << joint
        });
        (outside != 0).then(|| outside.trailing_zeros() as usize)
    }

    /// cmd and ref (steps) at `t_us` after the first sample: interpolated, rounded to the nearest step
    /// (halves away from zero), clamped to the joint's range of positions; after the last sample its values.
    pub fn at(&self, t_us: u64) -> ([u16; JOINTS], [u16; JOINTS]) {
        let last = (self.samples as usize).saturating_sub(1);
        // The sample before t and the share of the way to the next, exact in integers.
        let scaled = t_us * u64::from(self.rate_hz);
        let index = (scaled / 1_000_000) as usize;
        if index >= last {
            return self.sample(last);
        }
        let share = (scaled % 1_000_000) as f32 * 1e-6;
        let (from, to) = (self.sample(index), self.sample(index + 1));
        if !self.cubic {
            let linear = |a: &[u16; JOINTS], b: &[u16; JOINTS]| {
                core::array::from_fn(|joint| {
                    let (a, b) = (f32::from(a[joint]), f32::from(b[joint]));
                    to_steps(joint, a + share * (b - a))
                })
            };
            return (linear(&from.0, &to.0), linear(&from.1, &to.1));
        }
        let (before, after) = (self.sample(index.saturating_sub(1)), self.sample((index + 2).min(last)));
        let cubic = |p: [&[u16; JOINTS]; 4]| {
            core::array::from_fn(|joint| {
                to_steps(joint, catmull_rom(p.map(|row| f32::from(row[joint])), share))
            })
        };
        (cubic([&before.0, &from.0, &to.0, &after.0]), cubic([&before.1, &from.1, &to.1, &after.1]))
    }

    /// cmd and ref of one sample (steps); zeros without a plan.
    fn sample(&self, index: usize) -> ([u16; JOINTS], [u16; JOINTS]) {
        let size = sample_bytes(self.joints);
        let bytes = self.bytes.get(index * size..(index + 1) * size).unwrap_or(&[]);
        let mut values = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let mut row =
            || core::array::from_fn(|joint| if joint < self.joints { values.next().unwrap_or(0) } else { 0 });
        (row(), row())
    }
}

/// Bytes of one sample: cmd and ref of each joint.
pub const fn sample_bytes(joints: usize) -> usize {
    4 * joints
}

/// `size` zero bytes, or an error instead of the end of the program when the heap has less.
fn zeroed(size: usize) -> Result<Vec<u8>, PlanError> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| PlanError::OutOfMemory)?;
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Catmull-Rom through p1 and p2 at the share `t` of the way.
fn catmull_rom([p0, p1, p2, p3]: [f32; 4], t: f32) -> f32 {
    let a = 3.0 * (p1 - p2) + p3 - p0;
    let b = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3;
    p1 + 0.5 * t * (p2 - p0 + t * (b + t * a))
}

/// The nearest step, halves away from zero, inside the joint's range of positions. A plan's positions are
/// unsigned, so J6's lower end is step 0 here, 45° past its upper limit.
fn to_steps(joint: usize, steps: f32) -> u16 {
    let highest = if joint == J6 { J6_STEPS_MAX } else { (STEPS_PER_TURN - 1) as f32 };
    libm::roundf(steps).clamp(0.0, highest) as u16
}
