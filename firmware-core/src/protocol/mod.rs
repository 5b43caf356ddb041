//! The wire: bytes ↔ messages of the ATOM's API, little-endian.
//!
//! | File | Is |
//! | --- | --- |
//! | [`codes`] | message codes and status values |
//! | [`level`] | API levels and what differs between them |
//! | [`layout`] | one description of a message's fields serves encoding and decoding |
//! | [`request`] | client → ATOM: any request, decoded and encoded |
//! | [`motion`] | client → ATOM: the requests that move joints |
//! | [`plan`] | client → ATOM: plans, PLAY and PLAY_SIGNAL |
//! | [`build`] | client → ATOM: bytes of requests from values in degrees and mm |
//! | [`reply`] | ATOM → client: any reply, and those of fixed layout |
//! | [`stream`] | ATOM → client: STATE and STREAM, the joints as a client sees them |
//! | [`telemetry`] | ATOM → client: TELEM packets |

pub mod build;
pub mod codes;
pub mod layout;
pub mod level;
pub mod motion;
pub mod plan;
pub mod reply;
pub mod request;
pub mod stream;
pub mod telemetry;

pub use level::ApiLevel;
pub use reply::Reply;
pub use request::{Request, RequestError};
