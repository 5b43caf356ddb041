//! A client of any ATOM, simulated or real.
//!
//! | File | Is |
//! | --- | --- |
//! | [`plan`] | a plan and its bytes |
//! | [`upload`] | its upload with retries, without socket or clock |
//! | [`telemetry`] | collects the telemetry of a run |

pub mod plan;
pub mod telemetry;
pub mod upload;

pub use plan::{Plan, Sample};
pub use telemetry::Collector;
pub use upload::{Upload, UploadError};
