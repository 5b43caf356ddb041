//! Faults: what can go wrong, by name, with parameters and a scope.
//!
//! | File | Is |
//! | --- | --- |
//! | [`kind`] | what a fault does, as types |
//! | [`entry`] | what the table says of each fault: name, parameters, ranges, defaults, what clients see |
//! | `body`, `world` | the table, in two halves |
//! | [`catalogue`] | all faults by name |
//! | [`page`] | the published page, made from the table |
//! | [`mod@parse`] | a name and a table of parameters → a fault, or what is wrong with them |
//! | [`schedule`] | when faults start and end |
//! | `words` | faults in words |

mod body;
pub mod catalogue;
pub mod entry;
pub mod kind;
pub mod page;
pub mod parse;
pub mod schedule;
mod words;
mod world;

pub use kind::{
    ArmFault, BusFault, ClientFault, CpuFault, Fault, FaultKind, GripperFault, ImuFault, ObjectSize,
    OtaEvent, PowerFault, Scope, ServoFault, WifiFault,
};
pub use parse::{FaultError, Value, make, parse};
pub use schedule::{Change, FaultId, Schedule};
