//! The network side: one handler for UDP and WebSocket, in ticks of 1 ms.
//!
//! | File | Is |
//! | --- | --- |
//! | [`side`] | [`Network`]: tick, streams, replies, wake-up time |
//! | [`handler`] | what each request does, in the order of its checks |
//! | [`plans`] | PLAN_BEGIN, PLAN_DATA, PLAN_END |
//! | [`activity`] | what the controller is doing, as requests see it |
//! | [`lease`] | who has control |
//! | [`subscriptions`] | who gets the STREAM, and when |
//! | [`packets`] | telemetry samples into TELEM packets |
//! | [`status_line`] | the status log line |

mod activity;
mod handler;
mod lease;
mod packets;
mod plans;
mod side;
mod status_line;
mod subscriptions;

pub use side::{Network, NetworkOptions};
pub use status_line::Banner;
