//! MCAP files: joints, TCP, IMU, state and events over time, for a viewer such as Foxglove.
//!
//! | File | Is |
//! | --- | --- |
//! | [`messages`] | what is in the file, as types that give their schemas |
//! | [`moment`] | the arm at one moment, of a running ATOM or of a recording, in those messages |
//! | [`file`](mod@file) | topics, times and chunks |
//! | [`live`] | keeps the file of a running ATOM |
//! | [`convert`](mod@convert) | a recording → a file |

pub mod convert;
pub mod file;
pub mod live;
pub mod messages;
pub mod moment;

pub use convert::convert;
pub use file::File;
pub use live::Live;
pub use moment::Moment;
