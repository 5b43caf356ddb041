//! Noise as a pure function of seed, stream and sample number: any sample can be had at any time, in any
//! order, and looking at one changes nothing.

use crate::mix::mix;

/// Uniform 16-bit numbers summed up for one normal sample.
const PARTS: f64 = 4.0;

/// The random streams of the hardware. Each part has its own, so that one more fault does not change others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Stream {
    /// Load of joint 0…6 (add the joint).
    Load = 0x100,
    /// SYNC WRITEs lost to joint 0…6 (add the joint).
    LostWrite = 0x110,
    /// The IMU's six axes (add the axis).
    Imu = 0x120,
    /// Vibration that the IMU feels, three axes (add the axis).
    Vibration = 0x130,
    /// Inverted bits.
    BitErrors = 0x140,
    /// Dropped bytes.
    DroppedBytes = 0x141,
    /// Extra bytes: whether, and which.
    ExtraBytes = 0x142,
    /// Bursts of another talker.
    Talker = 0x143,
}

/// One stream of noise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise(u64);

impl Noise {
    /// The stream `stream` + `part` under `seed`.
    pub(crate) fn new(seed: u64, stream: Stream, part: usize) -> Self {
        Self(mix(mix(seed) ^ (stream as u64 + part as u64)))
    }

    /// 64 bits of sample `number`.
    pub(crate) fn bits(self, number: u64) -> u64 {
        mix(self.0 ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    /// Sample `number`, uniform in 0…1, 1 excluded.
    pub(crate) fn unit(self, number: u64) -> f64 {
        (self.bits(number) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// True with probability `chance` (0…1) in sample `number`.
    pub(crate) fn happens(self, number: u64, chance: f64) -> bool {
        self.unit(number) < chance
    }

    /// Sample `number`, close to normal, with mean 0 and standard deviation 1; never beyond ±3.5.
    ///
    /// A sum of four uniform numbers: one hash instead of a logarithm and a cosine.
    pub(crate) fn normal(self, number: u64) -> f64 {
        const SIGMA: f64 = 37_837.226_4; // of the sum of four uniform 16-bit numbers: 65536·√(4/12)
        let bits = self.bits(number);
        let sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
        (sum as f64 - PARTS * 32_767.5) * (1.0 / SIGMA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_samples_have_mean_0_deviation_1_and_no_memory() {
        let noise = Noise::new(3, Stream::Imu, 2);
        let count = 100_000;
        let samples: Vec<f64> = (0..count).map(|n| noise.normal(n)).collect();
        let mean = samples.iter().sum::<f64>() / count as f64;
        let variance = samples.iter().map(|x| x * x).sum::<f64>() / count as f64;
        let lag_1 = samples.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / count as f64;
        assert!(mean.abs() < 0.01, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.015, "variance {variance}");
        assert!(lag_1.abs() < 0.01, "correlation of neighbours {lag_1}");
        assert!(samples.iter().all(|x| x.abs() < 3.5));
    }

    #[test]
    fn streams_parts_and_seeds_differ() {
        let first = |seed, stream, part| Noise::new(seed, stream, part).bits(0);
        assert_ne!(first(1, Stream::Load, 0), first(2, Stream::Load, 0));
        assert_ne!(first(1, Stream::Load, 0), first(1, Stream::Load, 1));
        assert_ne!(first(1, Stream::Load, 0), first(1, Stream::Imu, 0));
    }

    #[test]
    fn an_event_of_chance_p_happens_p_of_the_time() {
        let noise = Noise::new(9, Stream::LostWrite, 0);
        let count = (0..100_000).filter(|n| noise.happens(*n, 0.1)).count();
        assert!((9_700..10_300).contains(&count), "{count} of 100000");
    }
}
