//! The 5 × 5 LED matrix on the RMT: a picture goes out when it changes.

use atom_board::led_strip::{self, BITS};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use esp_hal::Async;
use esp_hal::gpio::Level;
use esp_hal::rmt::{Channel, PulseCode, Tx};
use firmware_core::led::{Frame, PIXELS};

static PICTURE: Signal<CriticalSectionRawMutex, Frame> = Signal::new();

/// Shows a picture soon.
pub(crate) fn show(frame: Frame) {
    PICTURE.signal(frame);
}

/// Runs the matrix for ever.
#[embassy_executor::task]
pub(crate) async fn run(mut channel: Channel<'static, Async, Tx>) -> ! {
    let mut shown = [[u8::MAX; 3]; PIXELS];
    loop {
        let frame = PICTURE.wait().await;
        if frame == shown {
            continue;
        }
        let mut codes = [PulseCode::end_marker(); BITS + 1];
        for (code, pulse) in codes.iter_mut().zip(led_strip::pulses(&frame)) {
            *code = PulseCode::new(Level::High, pulse.high, Level::Low, pulse.low);
        }
        // A picture that was cut short is sent again with the next tick.
        if channel.transmit(&codes).await.is_ok() {
            shown = frame;
        }
    }
}
