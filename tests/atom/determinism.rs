//! The same seed and inputs give the same bytes, however time is advanced.

use atom_sim::atom::{Atom, Options, Output, Transport};
use atom_sim::hardware::HardwareOptions;
use firmware_core::protocol::codes;
use firmware_core::protocol::request::build;

/// A script of inputs at fixed times; time is advanced to each of `stops` on the way.
fn outputs(seed: u64, stops_us: impl Fn(u64) -> Vec<u64>) -> Vec<Output> {
    let hardware = HardwareOptions { seed, ..HardwareOptions::default() };
    let mut atom = Atom::new(&Options { hardware, ..Options::default() }).expect("valid options");
    let begin_us = atom.now_us();
    let page = atom.connect(Transport::WebSocket);
    let tool = atom.connect(Transport::Udp);
    let mut inputs: Vec<(u64, _, Vec<u8>)> = vec![
        (1_000, page, build::subscribe(100).to_vec()),
        (1_500, tool, build::subscribe(37).to_vec()),
        (2_300, tool, build::move_to(&[20.0, -10.0, -30.0, 5.0, 10.0, -150.0, -30.0], 0).to_vec()),
        (2_310, page, vec![codes::STATE]),
        (800_000, page, vec![codes::HOLD]),
        (1_000_000, tool, build::reg_read(3, 56, 15).to_vec()),
        (1_004_200, page, vec![codes::STATE]),
    ];
    inputs.extend(
        (0..40).map(|k| (3_200_000 + k * 37_777, page, build::jog(&[(k % 7) as f32 * 4.0; 7]).to_vec())),
    );
    let mut outputs = Vec::new();
    let mut advance = |atom: &mut Atom, t_us: u64| {
        let from_us = atom.now_us() - begin_us;
        for stop_us in stops_us(t_us).into_iter().filter(|stop_us| (from_us..t_us).contains(stop_us)) {
            atom.advance_to(begin_us + stop_us);
        }
        atom.advance_to(begin_us + t_us);
        outputs.extend(std::iter::from_fn(|| atom.poll_output()));
    };
    for (t_us, client, bytes) in &inputs {
        advance(&mut atom, *t_us);
        atom.receive(*client, bytes);
    }
    advance(&mut atom, 6_000_000);
    outputs
}

#[test]
fn two_runs_with_one_seed_give_the_same_bytes() {
    let first = outputs(7, |_| Vec::new());
    assert!(first.len() > 300, "{}", first.len());
    assert_eq!(first, outputs(7, |_| Vec::new()));
    assert_ne!(first, outputs(8, |_| Vec::new()), "the seed matters");
}

#[test]
fn the_sizes_of_the_steps_of_time_do_not_matter() {
    let at_once = outputs(7, |_| Vec::new());
    let each_137_us = outputs(7, |t_us| (0..t_us).step_by(137).collect());
    assert_eq!(at_once, each_137_us);
}

#[test]
fn looking_at_the_truth_changes_nothing() {
    let mut looked = Atom::new(&Options::default()).expect("valid options");
    let mut left_alone = Atom::new(&Options::default()).expect("valid options");
    for atom in [&mut looked, &mut left_alone] {
        let client = atom.connect(Transport::Udp);
        atom.receive(client, &build::move_to(&[20.0; 6], 0));
    }
    for _ in 0..2_000 {
        looked.advance_to(looked.now_us() + 1_234);
        let _ = looked.truth();
    }
    left_alone.advance_to(looked.now_us());
    let of = |atom: &mut Atom| std::iter::from_fn(|| atom.poll_output()).collect::<Vec<Output>>();
    assert_eq!(of(&mut looked), of(&mut left_alone));
}
