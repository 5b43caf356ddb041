//! Whole-system tests of `atom-sim serve`: the real binary, real sockets on free ports, real clients.
//! Every wait has a bound of its own.

mod api;
mod clients;
mod commands;
mod ctl;
mod end_effector;
mod events;
mod examples;
mod hostile;
mod live;
mod lost_runs;
mod many;
mod mdns;
mod process;
mod recordings;
mod sessions;
mod simulator;
mod soak;
mod transports;
