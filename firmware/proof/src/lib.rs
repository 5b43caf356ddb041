//! One program that runs `firmware-core` on fixed inputs and prints a line per case, with a hash over the bits of
//! every result.
//!
//! It is compiled for the host, for the ESP32's instruction set (Xtensa LX6) and for riscv32; the lines must be
//! the same, byte for byte. Where instructions can be counted, lines that begin with `#` give the counts; they
//! are not compared.
//!
//! | Module | Is |
//! | --- | --- |
//! | [`probe`] | what a platform gives: a place for lines, a counter of instructions |
//! | [`vectors`] | the recorded inputs, packed into the program |
//! | [`hash`] | the hash over results |
//! | [`generators`] | elementary functions, kinematics, profiles, signals, plans, end-effector JOG |
//! | [`wire`] | messages and CRC |
//! | [`session`] | a scripted session of the whole controller |
//! | [`servos`] | the servos of the session: registers behind the bus protocol |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod generators;
pub mod hash;
pub mod probe;
pub mod servos;
pub mod session;
pub mod vectors;
pub mod wire;

/// Runs every case.
pub fn run(probe: &mut impl probe::Probe) {
    generators::run(probe);
    wire::run(probe);
    session::run(probe);
}
