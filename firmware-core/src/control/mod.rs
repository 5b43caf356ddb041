//! The control side: owns the servo bus and moves the arm. One [`Control::step`] per control period.
//!
//! | File | Is |
//! | --- | --- |
//! | `controller` | the phases (booting, idle, run, OTA) and the step |
//! | `context` | what a step works with: the bus, the mailbox, replies |
//! | `arm` | positions, goals, reads, holds of J1–J7 |
//! | `multi_turn` | the turns of J6 |
//! | `gripper` | J7: find, lose, hold, derate |
//! | `boot` | power-up |
//! | `idle` | between runs: requests, reads, probes |
//! | `timed_run` | PLAY, PLAY_SIGNAL and MOVE_TO |
//! | `start` | the checks that let a run begin |
//! | `stream_run` | JOG and TRACK |
//! | `pacing` | cycles of a run: periods, late and silent ones, how it ends |

mod arm;
mod boot;
mod context;
mod controller;
mod gripper;
mod idle;
mod multi_turn;
mod pacing;
mod start;
mod stream_run;
mod timed_run;

pub use controller::Control;
pub use timed_run::SETTLE_US;
