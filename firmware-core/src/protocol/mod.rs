//! The wire: bytes ↔ messages of the ATOM's API, little-endian.
//!
//! | File | Is |
//! | --- | --- |
//! | [`codes`] | message codes and status values |
//! | [`level`] | API levels and what differs between them |
//! | [`layout`] | one description of a message's fields serves encoding and decoding |
//! | [`request`] | client → ATOM |
//! | [`reply`] | ATOM → client, besides the two below |
//! | [`stream`] | STATE and STREAM: the joints as a client sees them |
//! | [`telemetry`] | TELEM packets |

pub mod codes;
pub mod layout;
pub mod level;
pub mod reply;
pub mod request;
pub mod stream;
pub mod telemetry;

pub use level::ApiLevel;
