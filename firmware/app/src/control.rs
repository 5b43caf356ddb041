//! The control side: the servo bus on UART1, the loop, its watchdog. Alone on core 1 of the ESP32; allocates nothing.

use atom_board::watch::{self, Feeder};
use esp_hal::Blocking;
use esp_hal::peripherals::TIMG1;
use esp_hal::timer::timg::Wdt;
use esp_hal::uart::Uart;
use firmware_core::control::Control;
use firmware_core::platform::{ControlPort, ImuSample};
use firmware_core::shared::Mailbox;

use crate::LEVEL;
use crate::mailbox::{MAILBOX, imu, now_us};

/// Baud rate of the servo bus.
pub(crate) const BUS_BAUD: u32 = 1_000_000;

/// The echo of a packet is over this long after its last bit (µs): a byte's time and a half. No servo answers so soon.
const ECHO_US: u64 = 15;

/// The doorbell is listened for so often (µs).
const DOORBELL_US: u64 = 20;

/// The servo bus and the time.
pub(crate) struct Board {
    uart: Uart<'static, Blocking>,
}

impl Board {
    /// The bus on a UART of 1 Mbaud.
    pub(crate) fn new(uart: Uart<'static, Blocking>) -> Self {
        Self { uart }
    }
}

impl ControlPort for Board {
    fn now_us(&mut self) -> u64 {
        now_us()
    }

    fn send(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            // An error leaves the packet incomplete: the servos do not answer, and the core tries again.
            let Ok(sent) = self.uart.write(rest) else { break };
            rest = &rest[sent..];
        }
        let _sent = self.uart.flush();
        // One wire carries both ways: what comes in until the last byte is through is this packet's echo.
        let sent_us = now_us();
        while now_us() - sent_us <= ECHO_US {
            self.discard_input();
        }
    }

    fn receive(&mut self, buffer: &mut [u8], timeout_us: u32) -> usize {
        let mut filled = 0;
        let mut heard_us = now_us();
        while filled < buffer.len() {
            // A broken byte is left out: the packet's checksum shows it.
            match self.uart.read_buffered(&mut buffer[filled..]) {
                Ok(count) if count > 0 => {
                    filled += count;
                    heard_us = now_us();
                }
                Ok(_) | Err(_) if now_us() - heard_us > u64::from(timeout_us) => break,
                Ok(_) | Err(_) => {}
            }
        }
        filled
    }

    fn discard_input(&mut self) {
        let mut dropped = [0; 32];
        while matches!(self.uart.read_buffered(&mut dropped), Ok(1..)) {}
    }

    fn imu(&mut self) -> Option<ImuSample> {
        imu()
    }
}

/// The control side as it runs: the core's state machine and when it is due.
pub(crate) struct ControlSide {
    board: Board,
    control: Control,
    watchdog: Wdt<TIMG1<'static>>,
    feeder: Feeder,
    wake_us: u64,
    /// When it last listened for the doorbell (µs).
    listened_us: u64,
}

impl ControlSide {
    /// The control side at power-up. The watchdog is fed by this side alone.
    pub(crate) fn new(board: Board, watchdog: Wdt<TIMG1<'static>>) -> Self {
        Self {
            board,
            control: Control::new(LEVEL),
            watchdog,
            feeder: Feeder::default(),
            wake_us: 0,
            listened_us: 0,
        }
    }

    /// Steps if something is due. Returns when to look again (µs).
    pub(crate) fn look(&mut self) -> u64 {
        let now = now_us();
        if now >= self.wake_us || self.rings(now) {
            self.wake_us = self.control.step(&mut self.board, &MAILBOX);
        }
        let now = now_us();
        if self.feeder.stepped(now) {
            self.watchdog.feed();
        }
        watch::look_again_us(now, self.wake_us)
    }

    /// The doorbell rings. Its lock is the other core's too: it is not asked all the time.
    fn rings(&mut self, now_us: u64) -> bool {
        let due = now_us >= self.listened_us + DOORBELL_US;
        if due {
            self.listened_us = now_us;
        }
        due && MAILBOX.with(|shared| shared.doorbell)
    }

    /// Runs for ever on a core of its own. It polls: nothing else wants this core, and a sleep would add jitter.
    #[cfg(feature = "esp32")]
    pub(crate) fn run(mut self) -> ! {
        loop {
            self.look();
        }
    }
}

/// On a chip with one core the control side shares it with the network: enough to build and to look at, not for a
/// robot.
#[cfg(feature = "esp32c3")]
#[embassy_executor::task]
pub(crate) async fn run(mut side: ControlSide) -> ! {
    loop {
        let again_us = side.look();
        embassy_time::Timer::after_micros(again_us.saturating_sub(now_us())).await;
    }
}
