//! Improv over the USB serial port: how a browser gives the ATOM its WiFi network.
//!
//! The public Improv serial protocol, version 1. [`packet`] is the packets, [`session`] what the ATOM answers.
//! Sans-IO: the platform hands in bytes and time, joins networks and scans when asked, and sends what comes out.

pub mod packet;
pub mod session;

pub use session::{Action, Credentials, Device, Improv, Situation};
