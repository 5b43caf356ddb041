//! The saved WiFi network in flash, kept by sequential-storage: a power cut leaves the old or the new one.

use core::ops::Range;

use embedded_storage_async::nor_flash::NorFlash;
use firmware_core::improv::Credentials;
use heapless::{String, Vec};
use sequential_storage::cache::{Cache, Uncached};
use sequential_storage::map::{MapConfig, MapStorage};

/// Key of the network.
const NETWORK: u8 = 1;
/// Bytes of a record: two strings with their lengths.
const RECORD_BYTES: usize = 1 + 32 + 1 + 64;
/// Working memory of the map: an item with its key.
const BUFFER_BYTES: usize = 128;

/// Why nothing was saved or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreError {
    /// The part of the flash is too small or not at sector boundaries: flash the partition table again.
    Partition,
    /// The flash failed.
    Flash,
}

/// The store in one part of the flash, at least two sectors.
#[derive(Debug)]
pub struct Store<F: NorFlash> {
    flash: Option<F>,
    range: Range<u32>,
}

impl<F: NorFlash> Store<F> {
    /// The store in `range` (bytes) of `flash`.
    ///
    /// # Errors
    /// [`StoreError::Partition`].
    pub fn new(flash: F, range: Range<u32>) -> Result<Self, StoreError> {
        match MapConfig::<F>::try_new(range.clone()) {
            Ok(_) => Ok(Self { flash: Some(flash), range }),
            Err(_) => Err(StoreError::Partition),
        }
    }

    /// The saved network; `None` without one, also when the flash holds something else.
    pub async fn network(&mut self) -> Option<Credentials> {
        let mut buffer = [0; BUFFER_BYTES];
        self.with_map(async |map| match map.fetch_item::<&[u8]>(&mut buffer, &NETWORK).await {
            Ok(Some(record)) => credentials(record),
            Ok(None) | Err(_) => None,
        })
        .await
        .flatten()
    }

    /// Saves a network in place of the old one.
    ///
    /// # Errors
    /// [`StoreError::Flash`].
    pub async fn save_network(&mut self, network: &Credentials) -> Result<(), StoreError> {
        let mut buffer = [0; BUFFER_BYTES];
        let record = record(network);
        let saved = self
            .with_map(async |map| {
                if map.store_item(&mut buffer, &NETWORK, &record.as_slice()).await.is_ok() {
                    return true;
                }
                // Other data, or what is left of it: nothing in it is a network.
                map.erase_all().await.is_ok()
                    && map.store_item(&mut buffer, &NETWORK, &record.as_slice()).await.is_ok()
            })
            .await;
        if saved == Some(true) { Ok(()) } else { Err(StoreError::Flash) }
    }

    /// Lends the flash to a map for one access.
    async fn with_map<R>(&mut self, access: impl AsyncFnOnce(&mut Map<F>) -> R) -> Option<R> {
        let flash = self.flash.take()?;
        let mut map = MapStorage::new(flash, MapConfig::new(self.range.clone()), Cache::new_uncached());
        let result = access(&mut map).await;
        self.flash = Some(map.destroy().0);
        Some(result)
    }
}

type Map<F> = MapStorage<u8, F, Cache<Uncached, Uncached, Uncached, u8>>;

fn record(network: &Credentials) -> Vec<u8, RECORD_BYTES> {
    let strings = [network.ssid.as_bytes(), network.password.as_bytes()];
    strings.into_iter().flat_map(|text| [text.len() as u8].into_iter().chain(text.iter().copied())).collect()
}

fn credentials(record: &[u8]) -> Option<Credentials> {
    let (ssid, rest) = text(record)?;
    let (password, _) = text(rest)?;
    Some(Credentials { ssid, password })
}

fn text<const N: usize>(bytes: &[u8]) -> Option<(String<N>, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(*length))?;
    Some((String::try_from(core::str::from_utf8(text).ok()?).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use embassy_futures::block_on;
    use embedded_storage_async::nor_flash::{
        ErrorType, MultiwriteNorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
    };

    use super::*;

    const SECTOR: usize = 4096;

    /// Flash in memory that loses its power after a number of written words.
    #[derive(Debug)]
    struct Memory {
        bytes: std::vec::Vec<u8>,
        words_left: usize,
    }

    #[derive(Debug)]
    struct NoPower;

    impl NorFlashError for NoPower {
        fn kind(&self) -> NorFlashErrorKind {
            NorFlashErrorKind::Other
        }
    }

    impl ErrorType for &mut Memory {
        type Error = NoPower;
    }

    impl ReadNorFlash for &mut Memory {
        const READ_SIZE: usize = 4;

        async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NoPower> {
            bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
            Ok(())
        }

        fn capacity(&self) -> usize {
            self.bytes.len()
        }
    }

    impl NorFlash for &mut Memory {
        const WRITE_SIZE: usize = 4;
        const ERASE_SIZE: usize = SECTOR;

        async fn erase(&mut self, from: u32, to: u32) -> Result<(), NoPower> {
            self.words_left = self.words_left.checked_sub(1).ok_or(NoPower)?;
            self.bytes[from as usize..to as usize].fill(0xFF);
            Ok(())
        }

        async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NoPower> {
            for (index, word) in bytes.chunks(4).enumerate() {
                self.words_left = self.words_left.checked_sub(1).ok_or(NoPower)?;
                let place = &mut self.bytes[offset as usize + 4 * index..];
                place.iter_mut().zip(word).for_each(|(cell, byte)| *cell &= byte);
            }
            Ok(())
        }
    }

    impl MultiwriteNorFlash for &mut Memory {}

    fn memory() -> Memory {
        Memory { bytes: std::vec![0xFF; 4 * SECTOR], words_left: usize::MAX }
    }

    fn network(ssid: &str, password: &str) -> Credentials {
        Credentials {
            ssid: String::try_from(ssid).expect("short"),
            password: String::try_from(password).expect("short"),
        }
    }

    fn saved(memory: &mut Memory) -> Option<Credentials> {
        block_on(Store::new(memory, 0..2 * SECTOR as u32).expect("a partition").network())
    }

    fn save(memory: &mut Memory, network: &Credentials) -> Result<(), StoreError> {
        block_on(Store::new(memory, 0..2 * SECTOR as u32).expect("a partition").save_network(network))
    }

    #[test]
    fn the_last_saved_network_survives_a_power_cycle_after_many_changes() {
        let mut memory = memory();
        assert_eq!(saved(&mut memory), None, "an empty flash");
        let longest = network(&"s".repeat(32), &"p".repeat(64));
        for round in 0..300 {
            save(&mut memory, &longest).expect("saved");
            save(&mut memory, &network("lab", &std::format!("{round}"))).expect("saved");
        }
        assert_eq!(saved(&mut memory), Some(network("lab", "299")));
        save(&mut memory, &longest).expect("saved");
        assert_eq!(saved(&mut memory), Some(longest));
        assert!(memory.bytes[2 * SECTOR..].iter().all(|byte| *byte == 0xFF), "the rest is untouched");
    }

    #[test]
    fn a_power_cut_at_any_word_leaves_the_old_or_the_new_network() {
        let (old, new) = (network("old", "one"), network("new", "two"));
        for words in 0..40 {
            let mut memory = memory();
            save(&mut memory, &old).expect("saved");
            memory.words_left = words;
            let outcome = save(&mut memory, &new);
            memory.words_left = usize::MAX;
            let found = saved(&mut memory);
            let expected = if outcome.is_ok() { [Some(&new), Some(&new)] } else { [Some(&old), Some(&new)] };
            assert!(expected.contains(&found.as_ref()), "{words} words: {found:?}, {outcome:?}");
        }
    }

    #[test]
    fn a_network_is_saved_over_whatever_else_is_there() {
        let noise = |k: usize| (k.wrapping_mul(2_654_435_761) >> 13) as u8;
        for fill in [|_| 0x00, |_| 0x5A, noise] {
            let mut memory = memory();
            memory.bytes.iter_mut().enumerate().for_each(|(k, byte)| *byte = fill(k));
            let wanted = network("lab", "a passphrase");
            assert_eq!(save(&mut memory, &wanted), Ok(()));
            assert_eq!(saved(&mut memory), Some(wanted));
        }
    }

    #[test]
    fn what_is_no_record_is_no_network() {
        let mut memory = memory();
        memory.bytes[..SECTOR].fill(0x5A);
        assert_eq!(saved(&mut memory), None);
        assert_eq!(Store::new(&mut memory, 0..100).err(), Some(StoreError::Partition));
    }
}
