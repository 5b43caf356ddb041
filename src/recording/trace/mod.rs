//! Traces: every input of an ATOM with its virtual time, and what came out, as JSON lines.
//!
//! | File | Is |
//! | --- | --- |
//! | [`mod@format`] | the lines |
//! | [`mod@write`] | a running ATOM → lines |
//! | [`read`] | lines → what they say, or what is wrong with them |
//! | [`mod@replay`] | gives the inputs again and compares the outputs |
//! | [`words`] | lines in words |

pub mod format;
pub mod read;
pub mod replay;
pub mod words;
pub mod write;

pub use format::{FORMAT_VERSION, Header, Line, is_stream};
pub use read::{Reader, TraceError};
pub use replay::{Difference, ReplayError, Verdict, replay, replay_kept};
pub use write::Writer;
