//! Chaos: random clients and random faults against invariants that must always hold.
//!
//! | File | Is |
//! | --- | --- |
//! | [`mod@story`] | a seed → clients, messages and faults |
//! | [`messages`] | random messages of a client |
//! | [`mod@play`] | a story on an ATOM |
//! | [`invariants`] | what must always hold |
//! | [`motion`] | the invariants of motion: ranges, speeds, accelerations |
//! | [`shrink`] | a story that fails → a shorter one that fails |

pub mod invariants;
pub mod messages;
pub mod motion;
pub mod play;
pub mod shrink;
pub mod story;

pub use play::{Violation, play};
pub use story::{Story, story};
