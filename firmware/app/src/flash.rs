//! The flash: the saved network in the data partition `atom`, and the slots of updates.
//!
//! While the flash is written neither core can run code from it: the other core is parked for the tens of
//! milliseconds of a sector. So the flash is only written while the robot is at rest.

use core::cell::RefCell;

use atom_board::store::{Store, StoreError};
use critical_section::Mutex;
use embassy_embedded_hal::adapter::BlockingAsync;
use esp_bootloader_esp_idf::partitions::{PARTITION_TABLE_MAX_LEN, read_partition_table};
use esp_storage::FlashStorage;
use firmware_core::improv::Credentials;

/// Label of the partition.
const LABEL: &str = "atom";

/// The flash of the chip, for one at a time.
pub(crate) static FLASH: Mutex<RefCell<Option<FlashStorage<'static>>>> = Mutex::new(RefCell::new(None));

/// Takes the flash; `None` while somebody else has it.
pub(crate) fn take() -> Option<FlashStorage<'static>> {
    critical_section::with(|section| FLASH.borrow_ref_mut(section).take())
}

/// Gives the flash back.
pub(crate) fn give(flash: FlashStorage<'static>) {
    critical_section::with(|section| FLASH.borrow_ref_mut(section).replace(flash));
}

/// The saved network's place.
pub(crate) struct NetworkStore {
    range: core::ops::Range<u32>,
}

impl NetworkStore {
    /// Finds the partition; an empty place without one, in which nothing is found and nothing saved.
    pub(crate) fn find() -> Self {
        let mut table = [0; PARTITION_TABLE_MAX_LEN];
        let range = take().and_then(|mut flash| {
            let found = read_partition_table(&mut flash, &mut table)
                .ok()
                .and_then(|table| table.iter().find(|entry| entry.label_as_str() == LABEL))
                .map(|entry| entry.offset()..entry.offset() + entry.len());
            give(flash);
            found
        });
        Self { range: range.unwrap_or(0..0) }
    }

    /// The saved network.
    pub(crate) async fn network(&mut self) -> Option<Credentials> {
        let mut flash = take()?;
        let network = match Store::new(BlockingAsync::new(&mut flash), self.range.clone()) {
            Ok(mut store) => store.network().await,
            Err(_) => None,
        };
        give(flash);
        network
    }

    /// Saves a network.
    pub(crate) async fn save(&mut self, network: &Credentials) -> Result<(), StoreError> {
        let mut flash = take().ok_or(StoreError::Flash)?;
        let saved = match Store::new(BlockingAsync::new(&mut flash), self.range.clone()) {
            Ok(mut store) => store.save_network(network).await,
            Err(error) => Err(error),
        };
        give(flash);
        saved
    }
}
