//! Where the RAM goes. `build.py` reads the numbers of this file, adds up what a build takes, and holds what is left for
//! the main stack and for a plan above floors.

/// Heap among the program's own data (bytes). On the ESP32 it is filled first, so that WiFi's many small pieces leave
/// the largest part of [`GIVEN_BACK`] in one piece, for the plan.
#[cfg(feature = "esp32")]
pub(crate) const HEAP_BYTES: usize = 24 * 1024;
#[cfg(feature = "esp32c3")]
pub(crate) const HEAP_BYTES: usize = 80 * 1024;
/// Stack of the control side (bytes): `make test-xtensa` measures how deep it gets.
#[cfg(feature = "esp32")]
pub(crate) const CONTROL_STACK_BYTES: usize = 8 * 1024;
/// RAM that the ROM and the boot loader used and the ESP32 has to itself once both cores run: all of 0x3FFE_0000 and up
/// but the ROM's data of core 0 (0x440 bytes) and of core 1 (0x430 bytes). ESP-IDF makes heap of it too.
#[cfg(feature = "esp32")]
pub(crate) const GIVEN_BACK: [core::ops::Range<usize>; 2] =
    [0x3FFE_0440..0x3FFE_3F20, 0x3FFE_4350..0x4000_0000];
/// What WiFi takes of the heap at most (bytes), a station, by esp-radio's own measurements.
pub(crate) const WIFI_BYTES_MAX: usize = 57 * 1024;
/// Heap for all else (bytes): lists of networks, the saved one.
pub(crate) const SPARE_BYTES: usize = 4 * 1024;

/// Bytes of a heap that a plan may take; `others_bytes` are in use by all else.
pub(crate) fn plan_room(heap_bytes: usize, others_bytes: usize) -> usize {
    heap_bytes.saturating_sub(others_bytes.max(WIFI_BYTES_MAX) + SPARE_BYTES)
}

/// Gives the allocator the RAM of [`GIVEN_BACK`].
///
/// # Safety
/// Both cores run on stacks of their own, and no `static` is in that RAM.
#[cfg(feature = "esp32")]
pub(crate) unsafe fn take_back() {
    for region in GIVEN_BACK {
        let start = region.start as *mut u8;
        // SAFETY: nobody else uses it, by the caller's word, and it is there for ever.
        unsafe {
            esp_alloc::HEAP.add_region(esp_alloc::HeapRegion::new(
                start,
                region.len(),
                esp_alloc::MemoryCapability::Internal.into(),
            ));
        }
    }
}
