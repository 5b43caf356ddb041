//! What one step of the end-effector JOG costs: nanoseconds per step, over the recorded sequences (singular
//! poses, limits and braking among them). Instructions are counted by `benches/instructions.sh`.

#[path = "../examples/twist_steps/sequences.rs"]
mod sequences;

use divan::Bencher;
use sequences::{Walk, read, steps};

fn main() {
    divan::main();
}

/// One step; the samples together pass over a whole file.
#[divan::bench(args = ["tests/data/twist.csv", "tests/data/twist2.csv"], sample_count = 1_200, sample_size = 50)]
fn step(bencher: Bencher<'_, '_>, file: &str) {
    let rows = read(file).expect("cargo runs benches in the package's folder");
    assert_eq!(steps(&rows), 6_000);
    let mut walk = Walk::new(&rows);
    bencher.bench_local(|| walk.step());
}
