//! The generator of the link model: PCG64 (XSL-RR), whose algorithm is fixed by name, one stream per part.

use rand_core::Rng;
use rand_pcg::Pcg64;

use crate::mix::mix;

/// A seeded stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(Pcg64);

impl Random {
    /// The stream of part `stream` under `seed`. Streams of one seed are independent of each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        // Streams of a PCG that start from one state resemble each other: mix both numbers into the state.
        let state = u128::from(mix(seed)) << 64 | u128::from(mix(mix(seed) ^ stream));
        Self(Pcg64::new(state, u128::from(stream)))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0…1, 1 excluded.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform in 0…`count` − 1; 0 when `count` is 0.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64
    }

    /// Uniform in `low`…`high`, both included.
    ///
    /// # Panics
    /// When `high` is below `low`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "an empty range: {low} to {high}");
        low + self.below((high - low).saturating_add(1))
    }

    /// True with probability `p` (0…1).
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Exponentially distributed with mean `mean`: the time to the next event of a Poisson process.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut random = Random::new(7, 3);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(
            first,
            [12_823_020_826_204_301_865, 12_446_483_237_011_457_339, 15_713_796_998_932_146_889]
        );
    }

    #[test]
    fn streams_and_seeds_differ() {
        let first = |seed, stream| Random::new(seed, stream).bits();
        assert_ne!(first(1, 1), first(1, 2));
        assert_ne!(first(1, 1), first(2, 1));
    }

    #[test]
    fn an_exponential_has_its_mean() {
        let mut random = Random::new(1, 1);
        let mean = (0..20_000).map(|_| random.exponential(5.0)).sum::<f64>() / 20_000.0;
        assert!((mean - 5.0).abs() < 0.15, "mean {mean}");
    }
}
