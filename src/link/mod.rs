//! The WiFi between a client and the network side, as a value: bytes and times in, bytes and times out.
//!
//! | File | Is |
//! | --- | --- |
//! | [`settings`] | what a direction does to what passes; the named profiles |
//! | [`lane`] | one direction of one client |
//! | [`links`] | all clients of one ATOM, both directions |
//! | [`association`] | the ATOM's association with the access point: drops and rejoins |
//! | [`random`] | the generator of every lane |

pub mod association;
pub mod lane;
pub mod links;
pub mod random;
pub mod settings;

pub use association::Association;
pub use lane::{Gate, Lane, Parcel, Pushed};
pub use links::{Direction, Links, is_stream};
pub use settings::{Profile, Settings, Stalls};
