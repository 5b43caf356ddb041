//! The servo bus: Feetech packets, registers and verified writes over the platform's byte port.
//!
//! | File | Is |
//! | --- | --- |
//! | [`packet`] | request packets built, reply packets found among the bytes received |
//! | [`registers`] | addresses of the registers the controller uses |
//! | [`driver`] | transactions: read, write, SYNC READ, SYNC WRITE, verified writes |

pub mod driver;
pub mod packet;
pub mod registers;

pub use driver::{Bus, BusError};
