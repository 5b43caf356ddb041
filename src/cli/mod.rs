//! The command line: one file per group of commands.
//!
//! | File | Is |
//! | --- | --- |
//! | `app` | parses the line and runs the command |
//! | `serve` | `atom-sim serve`, the default command |
//! | `chaos` | `atom-sim chaos`: random stories against invariants |
//! | `run` | `atom-sim run`: scenarios |
//! | `opening` | what `atom-sim serve` plays at its start |
//! | `ctl` | `atom-sim ctl`: commands to a running simulator |
//! | `kinematics` | `atom-sim kinematics`: TCP poses and joint angles for them |
//! | `keep` | options that keep files of what the ATOM does |
//! | `play` | `atom-sim play` and `atom-sim signal` |
//! | `motion` | `atom-sim move`, `atom-sim hold` and `atom-sim watch` |
//! | `new_file` | files that commands make |
//! | `files` | `atom-sim plan` and `atom-sim recording` |
//! | `robot` | what commands to an ATOM share |
//! | `trace` | `atom-sim replay` and `atom-sim trace`: show, mcap |
//! | `values` | values of options with a form of their own: poses, speeds |
//! | `ready` | what a started server tells the program that started it |
//! | `output` | prints results and notes |
//! | `exit` | exit codes, and the error that carries one |
//! | `logging` | the log on standard error |

mod app;
mod chaos;
mod ctl;
pub mod exit;
mod files;
mod keep;
mod kinematics;
mod logging;
mod motion;
mod new_file;
mod opening;
mod output;
mod play;
mod ready;
mod robot;
mod run;
mod serve;
mod trace;
mod values;

pub use app::main;
