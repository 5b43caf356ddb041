//! A whole ATOM in virtual time: clients send, the arm moves, every reply is checked by value.

mod api_levels;
mod control_rights;
mod determinism;
mod end_effector;
mod faults;
mod mcap_files;
mod motion;
mod plays;
mod power_up;
mod properties;
mod requests;
mod streaming;
mod support;
mod traces;
