//! A control cycle allocates nothing: neither the controller nor the simulated hardware.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use atom_sim::atom::{Atom, Options, Transport};
use firmware_core::protocol::request::build;
use firmware_core::shared::State;

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[expect(unsafe_code, reason = "an allocator can be counted only by being one")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations while `act` runs.
fn allocations(act: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    act();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn cycles_of_track_and_end_effector_jog_allocate_nothing() {
    // Alone in this file, so that no other thread allocates; and the count counts:
    assert!(allocations(|| drop(std::hint::black_box(vec![1_u8; 100]))) >= 1);
    let mut atom = Atom::new(&Options::default()).expect("valid options");
    let client = atom.connect(Transport::WebSocket);
    for message in [
        build::track(&[30.0, 20.0, -40.0, 10.0, 5.0, -60.0, -40.0], 60.0),
        build::jog_tcp(2, [10.0, 5.0, 5.0], [3.0, 2.0, 1.0], 5.0, 45.0),
    ] {
        for _ in 0..5 {
            atom.receive(client, &message);
            atom.advance_to(atom.now_us() + 100_000);
        }
        assert!(matches!(atom.state(), State::Tracking | State::Jogging));
        while atom.poll_output().is_some() {}
        // 180 ms between two lines of the status log: 90 cycles.
        let to_next_line_us = 1_000_000 - atom.now_us() % 1_000_000;
        if to_next_line_us < 200_000 {
            atom.receive(client, &message);
            atom.advance_to(atom.now_us() + to_next_line_us + 1_000);
        }
        atom.receive(client, &message);
        atom.advance_to(atom.now_us() + 2_000);
        let count = allocations(|| atom.advance_to(atom.now_us() + 180_000));
        assert_eq!(count, 0);
        assert!(atom.truth().speed_dps.iter().any(|speed| speed.abs() > 0.1), "it moved");
    }
}
