//! The hash over results: FNV-1a of 64 bits over the bits of every number.

/// A running hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds an integer.
    pub fn word(&mut self, word: u32) {
        self.bytes(&word.to_le_bytes());
    }

    /// Adds the bits of floats.
    pub fn floats(&mut self, values: &[f32]) {
        for value in values {
            self.word(value.to_bits());
        }
    }

    /// The hash so far.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Hash;

    #[test]
    fn agrees_with_the_published_values_of_fnv_1a() {
        for (text, expected) in [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c)] {
            let mut hash = Hash::default();
            hash.bytes(text.as_bytes());
            assert_eq!(hash.value(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_changed_sign_of_zero_changes_the_hash() {
        let of = |value: f32| {
            let mut hash = Hash::default();
            hash.floats(&[value]);
            hash.value()
        };
        assert_ne!(of(0.0), of(-0.0));
    }
}
