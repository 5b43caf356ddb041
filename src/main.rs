//! The `atom-sim` binary: the command line of the simulator.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    atom_sim::cli::main()
}
