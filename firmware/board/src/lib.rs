//! What the ATOM's firmware needs besides the controller and that does not depend on the chip. No sockets, no
//! registers, no clock: all of it runs in tests on the host.
//!
//! | Module | Is |
//! | --- | --- |
//! | [`websocket`] | one WebSocket connection on the server's side: upgrade and frames |
//! | [`clients`] | numbers for UDP sources |
//! | [`queue`] | messages that wait |
//! | [`envelope`] | who they are from or for |
//! | [`inbox`] | what waits for the network side, a share for each client |
//! | [`button`] | presses of the button |
//! | [`mdns`] | answers for `mycobot.local` |
//! | [`store`] | the saved WiFi network in flash |
//! | [`update`] | a firmware update over the network: authentication, size, digest |
//! | [`watch`] | when each hardware watchdog is fed |
//! | [`led_strip`] | pulses of the 25 pixels |
//! | [`mpu6886`] | the IMU on I²C |
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod button;
pub mod clients;
pub mod envelope;
pub mod inbox;
pub mod led_strip;
pub mod mdns;
pub mod mpu6886;
pub mod queue;
pub mod store;
pub mod update;
pub mod watch;
pub mod websocket;
