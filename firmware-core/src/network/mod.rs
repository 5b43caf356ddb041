//! The network side: one handler for UDP and WebSocket, in ticks of 1 ms.
//!
//! | File | Is |
//! | --- | --- |
//! | `side` | `Network`: tick, streams, replies, wake-up time |
//! | `handler` | what each request does, in the order of its checks |
//! | `motion` | requests that start a run or go on with one |
//! | `plans` | PLAN_BEGIN, PLAN_DATA, PLAN_END |
//! | `stops` | what ends a run: STOP, HOLD, the button, a firmware update, a client that is gone |
//! | `message` | one message being handled, and how it is answered |
//! | `activity` | what the controller is doing, as requests see it |
//! | `lease` | who has control |
//! | `subscriptions` | who gets the STREAM, and when |
//! | `packets` | telemetry samples into TELEM packets |
//! | `status_line` | the status log line |
//! | `leds` | the picture on the LED matrix |

mod activity;
mod handler;
mod lease;
mod leds;
mod message;
mod motion;
mod packets;
mod plans;
mod side;
mod status_line;
mod stops;
mod subscriptions;

pub use side::{Network, NetworkOptions};
pub use status_line::Banner;
