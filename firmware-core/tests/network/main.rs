//! The network side alone: the test plays the platform and the control side.

mod control;
mod held;
mod levels;
mod logs;
mod random;
mod registers;
mod requests;
mod runs;
mod side;
mod streams;
mod telemetry;
mod wakes;
