//! A client of any ATOM, simulated or real.
//!
//! | File | Is |
//! | --- | --- |
//! | [`plan`] | a plan and its bytes |
//! | [`upload`] | its upload with retries, without socket or clock |
//! | [`plan_csv`] | plans as CSV |
//! | [`compensate`] | goals that make up for the servos' lag |
//! | [`circle`] | the circle that the lab measures its arm with |
//! | [`link`] | the way to an ATOM: UDP or WebSocket |
//! | [`run`] | a run from its start to its DONE, without socket or clock |
//! | [`robot`] | an ATOM as a client uses it |

pub mod circle;
pub mod compensate;
pub mod link;
pub mod plan;
pub mod plan_csv;
pub mod robot;
pub mod run;
pub mod upload;

pub use link::{Link, Target};
pub use plan::{Plan, Sample};
pub use robot::{Robot, RobotError};
pub use upload::{Upload, UploadError};
