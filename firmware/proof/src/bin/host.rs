//! The proof on the host: prints the lines that the emulated chips must print too.
#![forbid(unsafe_code)]

use proof::probe::Probe;

struct Host;

impl Probe for Host {
    fn line(&mut self, text: &str) {
        println!("{text}");
    }

    fn counter(&mut self) -> Option<u32> {
        None
    }
}

fn main() {
    proof::run(&mut Host);
}
