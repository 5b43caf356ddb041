//! One whole simulated ATOM as a value: both firmware sides, bus, servos, gripper, IMU and ground truth.
//!
//! | File | Is |
//! | --- | --- |
//! | `simulated` | `Atom`: inputs, virtual time, outputs |
//! | `options` | how it starts |
//! | [`client_name`] | the name of a client in files and in the command API |
//! | `inbox` | messages that wait for the next network tick |
//! | `journal` | what came into it, kept for a trace |
//! | `replay` | PLAY and PLAY_SIGNAL as a recording has them |
//! | `ports` | the platform it gives to `firmware-core` |
//! | `wireless` | links, association, and the faults of radio and clients |
//! | `effects` | what faults do to this ATOM |
//! | `body` | faults of the arm → the simulated hardware |
//! | [`fault`] | what can go wrong: names, parameters, scopes |
//! | `state_name` | the name of a controller state in files and in the command API |
//! | [`truth`] | what really is, beside the protocol |

mod body;
pub mod client_name;
mod effects;
pub mod fault;
mod inbox;
mod journal;
mod options;
mod ports;
mod replay;
mod simulated;
mod state_name;
pub mod truth;
mod wireless;

pub use effects::FaultEvent;
pub use firmware_core::platform::{ClientId, Transport};
pub use firmware_core::protocol::ApiLevel;
pub use journal::{ApplyError, AtomInput, JournalEntry};
pub use options::{Options, SUBSCRIBERS_MAX};
pub use ports::CpuModel;
pub use replay::Recording;
pub use simulated::{Atom, Output, TICK_US};
pub use state_name::StateName;
pub use truth::Truth;
