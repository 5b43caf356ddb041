//! Where the two cores meet: the core's mailbox and the IMU's latest sample, behind a critical section.
//!
//! A critical section on the ESP32 is a spin lock with interrupts off, so each access is short: none waits for anything,
//! sends anything or computes a trajectory. The longest one while the arm moves packs 18 telemetry samples into a packet.

use core::cell::{Cell, RefCell};

use critical_section::Mutex;
use firmware_core::platform::ImuSample;
use firmware_core::shared::{Mailbox, Shared};

/// The mailbox of the firmware.
pub(crate) struct SharedMailbox(Mutex<RefCell<Shared>>);

/// The one mailbox.
pub(crate) static MAILBOX: SharedMailbox = SharedMailbox(Mutex::new(RefCell::new(Shared::new())));
/// The IMU's latest sample; `None` while it does not answer.
pub(crate) static IMU: Mutex<Cell<Option<ImuSample>>> = Mutex::new(Cell::new(None));

impl Mailbox for SharedMailbox {
    fn with<R>(&self, access: impl FnOnce(&mut Shared) -> R) -> R {
        critical_section::with(|section| access(&mut self.0.borrow_ref_mut(section)))
    }
}

/// The IMU's latest sample.
pub(crate) fn imu() -> Option<ImuSample> {
    critical_section::with(|section| IMU.borrow(section).get())
}

/// Microseconds since power-up.
pub(crate) fn now_us() -> u64 {
    esp_hal::time::Instant::now().duration_since_epoch().as_micros()
}
