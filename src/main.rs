//! The `atom-sim` binary.
#![forbid(unsafe_code)]

fn main() {}
