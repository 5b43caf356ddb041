//! What a platform gives the proof: a place for lines, a counter of instructions, a measure of the stack.

use core::fmt::{Arguments, Write};

/// The platform under proof.
pub trait Probe {
    /// Writes one line.
    fn line(&mut self, text: &str);

    /// A counter that grows with the instructions run, and wraps; `None` where they cannot be counted.
    fn counter(&mut self) -> Option<u32>;

    /// Paints the stack below the caller, so that [`Probe::stack_used`] finds how deep it went since.
    fn paint_stack(&mut self) {}

    /// Bytes of stack used below the caller of [`Probe::paint_stack`] since; `None` where that cannot be measured.
    fn stack_used(&mut self) -> Option<usize> {
        None
    }

    /// Instructions that a difference of two counter values stands for.
    fn instructions(&self, counted: u64) -> u64 {
        counted
    }
}

/// Writes one formatted line of at most 160 bytes.
pub fn line(probe: &mut impl Probe, text: Arguments<'_>) {
    let mut buffer = heapless::String::<160>::new();
    if buffer.write_fmt(text).is_err() {
        // The hash would be missing from the output: say so where the comparison sees it.
        probe.line("a line of the proof is longer than 160 bytes: shorten it");
        return;
    }
    probe.line(&buffer);
}

/// Counts of instructions of many runs of one piece of work.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    runs: u64,
    sum: u64,
    most: u32,
}

impl Counts {
    /// Adds one run of so many counts of the platform's counter.
    pub fn add(&mut self, counted: u32) {
        self.runs += 1;
        self.sum += u64::from(counted);
        self.most = self.most.max(counted);
    }

    /// Writes `# <what> runs <n> mean <instructions> worst <instructions>`, if there were counted runs.
    pub fn report(&self, what: &str, probe: &mut impl Probe) {
        let Some(mean) = probe.instructions(self.sum).checked_div(self.runs) else { return };
        let worst = probe.instructions(u64::from(self.most));
        line(probe, format_args!("# {what} runs {} mean {mean} worst {worst}", self.runs));
    }
}

/// The deepest stack of many runs of one piece of work.
#[derive(Debug, Default, Clone, Copy)]
pub struct Depth {
    most: Option<usize>,
}

impl Depth {
    /// Adds the run since the last [`Probe::paint_stack`].
    pub fn add(&mut self, probe: &mut impl Probe) {
        self.most = self.most.max(probe.stack_used());
    }

    /// Writes `# stack of <what>: <bytes>`, where it could be measured.
    pub fn report(self, what: &str, probe: &mut impl Probe) {
        if let Some(bytes) = self.most {
            line(probe, format_args!("# stack of {what}: {bytes}"));
        }
    }
}

/// Runs `work` and adds its instructions to `counts`.
pub fn counted<P: Probe, R>(probe: &mut P, counts: &mut Counts, work: impl FnOnce() -> R) -> R {
    let before = probe.counter();
    let result = work();
    if let (Some(before), Some(after)) = (before, probe.counter()) {
        counts.add(after.wrapping_sub(before));
    }
    result
}
