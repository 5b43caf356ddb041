//! The command API: HTTP under `/api`, beside `/ws`, for tests and tools. It reads the truth and changes what no
//! client of the robot could: faults, time, the arm itself.
//!
//! Handlers run on the socket thread and know no simulation: each makes an `order` and waits for its answer.
//! The `desk` on the simulation thread carries orders out, one by one, between two instants of virtual time.
//!
//! | File | Is |
//! | --- | --- |
//! | [`access`] | who may use it |
//! | `body` | bodies of requests: JSON, bounded |
//! | [`error`] | errors with a stable code |
//! | `routes` | the paths, and the OpenAPI description made from them |
//! | `handlers` | one function per path and method |
//! | `events` | the stream of events, which keeps a session alive |
//! | `scenarios` | text → a scenario to run live; what becomes of it |
//! | `sessions` | sessions and their leases |
//! | `order` | what the desk is asked to do |
//! | `desk` | carries orders out |
//! | `tempo` | speed and pauses, with their owners |
//! | `recordings` | traces and recordings that clients start |
//! | `waits` | waits in virtual time |
//! | [`condition`] | what can be waited for |
//! | [`requests`], [`replies`] | the JSON of requests and replies |

pub mod access;
mod body;
pub mod condition;
mod desk;
pub mod error;
mod events;
mod handlers;
mod order;
mod recordings;
pub mod replies;
pub mod requests;
mod routes;
mod scenarios;
mod sessions;
mod tempo;
mod waits;

pub use access::Access;
pub(super) use desk::{Desk, Present};
pub(super) use error::ApiError;
pub(super) use order::{LiveScenario, Order, SessionNumber};
pub(super) use replies::RunReply;
pub use routes::openapi_json;
pub(super) use routes::router;
pub(super) use scenarios::Stage;
pub(super) use sessions::Sessions;
