//! The controller of the ATOM: the whole firmware but the board.
//!
//! The platform hands in time and bytes and takes bytes out (sans-IO). It runs two sides that meet only in
//! [`shared::Shared`]: [`network`] (messages, control lease, subscriptions, status log) and [`control`]
//! (owns the servo bus, one step per control period). [`platform`] has the traits that a platform implements.
//!
//! | Room | Knows |
//! | --- | --- |
//! | [`protocol`] | bytes ↔ messages, API levels |
//! | [`network`] | handler, control lease, subscriptions, telemetry packets, status line |
//! | [`shared`], [`telemetry_ring`] | the mailbox between the two sides |
//! | [`control`] | power-up, holds, runs, idle, gripper, multi-turn |
//! | [`motion`], [`kinematics`] | pure functions of state and dt |
//! | [`math`] | elementary functions in f32, the same bits on every target |
//! | [`bus`] | Feetech packets, registers, verified writes, over a byte port |
//! | [`joints`], [`units`], [`led`], [`improv`] | tables and codecs |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod bus;
pub mod control;
pub mod improv;
pub mod joints;
pub mod kinematics;
pub mod led;
pub mod math;
pub mod motion;
pub mod network;
pub mod platform;
pub mod protocol;
pub mod shared;
pub mod telemetry_ring;
pub mod units;
