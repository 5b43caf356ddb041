//! Runs every step of recorded sequences of the end-effector JOG, as often as asked: something to count
//! instructions of.
//!
//! `twist_steps PASSES FILE…` reads the files once and passes over them PASSES times, each sequence from its
//! first state on. It prints the steps of one pass and a sum of the joint goals, which keeps the work from
//! being optimised away and shows that two builds did the same. Two runs that differ in PASSES alone differ
//! by the passes alone: `benches/instructions.sh` uses that.

mod sequences;

use std::error::Error;

use sequences::{Walk, read, steps};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let passes: usize = arguments.next().ok_or("usage: twist_steps PASSES FILE…")?.parse()?;
    let mut rows = Vec::new();
    for path in arguments {
        rows.extend(read(&path)?);
    }
    let steps = steps(&rows);
    let mut walk = Walk::new(&rows);
    let sum: f64 = (0..passes * steps).map(|_| f64::from(walk.step())).sum();
    println!("{steps} {sum:.3}");
    Ok(())
}
