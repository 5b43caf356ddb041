//! Noise as a pure function of seed, stream and sample number: nobody's looking changes it.

/// One stream of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise {
    key: u64,
}

impl Noise {
    /// The stream `stream` of `seed`. Different streams are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { key: mix(seed ^ mix(stream.wrapping_add(0x9E37_79B9_7F4A_7C15))) }
    }

    /// 64 random bits of sample `sample`.
    pub fn bits(self, sample: u64) -> u64 {
        mix(self.key ^ sample.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// A number in 0…1 (1 excluded).
    pub fn uniform(self, sample: u64) -> f64 {
        (self.bits(sample) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal with mean 0 and standard deviation 1: the sum of four uniform numbers, within ±3.46.
    pub fn normal(self, sample: u64) -> f64 {
        let bits = self.bits(sample);
        let sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
        // Each of the four has variance 1/12: the sum has 1/3.
        (sum as f64 / 65_536.0 - 2.0) * 1.732_050_807_568_877_2
    }
}

/// A bijective mixing of 64 bits (multiply and xor-shift).
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_the_same_whoever_asks_and_differs_between_streams() {
        let noise = Noise::new(7, 3);
        assert_eq!(noise.bits(5), Noise::new(7, 3).bits(5));
        assert_ne!(noise.bits(5), noise.bits(6));
        assert_ne!(noise.bits(5), Noise::new(7, 4).bits(5));
        assert_ne!(noise.bits(5), Noise::new(8, 3).bits(5));
    }

    #[test]
    fn normal_noise_has_mean_0_and_deviation_1() {
        let noise = Noise::new(1, 1);
        let samples: Vec<f64> = (0..100_000).map(|k| noise.normal(k)).collect();
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / samples.len() as f64;
        assert!(mean.abs() < 0.01, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.02, "variance {variance}");
    }
}
