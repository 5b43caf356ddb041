//! How much faster than real time a whole ATOM runs: simulated seconds, bus bytes and all.

use atom_sim::atom::{Atom, ClientId, Options, Transport};
use divan::Bencher;
use divan::counter::ItemsCount;
use firmware_core::protocol::request::build;

fn main() {
    divan::main();
}

/// Simulated seconds per iteration.
const SECONDS: u64 = 10;

fn atom() -> Atom {
    Atom::new(&Options::default()).expect("the defaults are valid")
}

fn drain(atom: &mut Atom) -> usize {
    std::iter::from_fn(|| atom.poll_output()).count()
}

/// Sends `message` every 50 ms while the simulated time passes.
fn stream(mut atom: Atom, client: ClientId, messages: impl Fn(u64) -> Vec<u8>) -> usize {
    let mut outputs = 0;
    for k in 0..SECONDS * 20 {
        atom.receive(client, &messages(k));
        atom.advance_to(atom.now_us() + 50_000);
        outputs += drain(&mut atom);
    }
    outputs
}

#[divan::bench]
fn track(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(SECONDS)).with_inputs(atom).bench_values(|mut atom| {
        let client = atom.connect(Transport::WebSocket);
        let goals =
            [[40.0, 20.0, -60.0, 10.0, 30.0, -50.0, -10.0], [-40.0, -20.0, -20.0, 50.0, -30.0, 50.0, -40.0]];
        stream(atom, client, |k| build::track(&goals[(k / 20 % 2) as usize], 60.0).to_vec())
    });
}

#[divan::bench]
fn idle(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(SECONDS)).with_inputs(atom).bench_values(|mut atom| {
        atom.advance_to(atom.now_us() + SECONDS * 1_000_000);
        drain(&mut atom)
    });
}
