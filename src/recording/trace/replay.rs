//! Gives the inputs of a trace to a new ATOM and compares what comes out, byte for byte.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use super::format::Line;
use super::read::{Reader, TraceError};
use crate::atom::{ApplyError, Atom};
use crate::hardware::HardwareError;
use crate::recording::keeper::Keeper;

/// What a replay showed.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Every output came again, byte for byte, at its time.
    Same {
        /// Inputs given.
        inputs: u64,
        /// Outputs compared.
        outputs: u64,
        /// Virtual time that passed (µs).
        virtual_us: u64,
    },
    /// Something else came out.
    Different(Box<Difference>),
}

/// The first difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Line of the trace, from 1; of its end when the ATOM sent more than the trace has.
    pub line: usize,
    /// What the trace has there.
    pub expected: Option<Line>,
    /// What came out.
    pub found: Option<Line>,
}

/// Why a replay cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// An ATOM with these options cannot be.
    #[error("the trace's options: {0}")]
    Options(#[from] HardwareError),
    /// The ATOM starts at another virtual time.
    #[error(
        "line {line}: expected the ATOM to start at {expected} µs, found {found} µs; another version wrote the trace"
    )]
    Start {
        /// Line of the trace.
        line: usize,
        /// Virtual time in the trace (µs).
        expected: u64,
        /// Virtual time here (µs).
        found: u64,
    },
    /// An input cannot be given.
    #[error("line {line}: {source}")]
    Input {
        /// Line of the trace.
        line: usize,
        /// Why.
        source: ApplyError,
    },
    /// What is kept of it cannot be written.
    #[error("{name}: {source}")]
    Keep {
        /// What is kept.
        name: String,
        /// Why.
        source: io::Error,
    },
}

/// Time is gone in slices of this (virtual µs).
const SLICE_US: u64 = 10_000_000;

/// A replay on its way.
struct Replay<'a> {
    atom: Atom,
    /// Told all that happens, if somebody wants it.
    keeper: Option<&'a mut dyn Keeper>,
    /// What came out and was not compared yet.
    found: VecDeque<Line>,
    inputs: u64,
    outputs: u64,
    /// Virtual time of the ATOMs before this one (µs).
    before_us: u64,
    start_us: u64,
}

/// Replays a trace.
///
/// # Errors
/// [`ReplayError`]. A difference is no error but a verdict.
pub fn replay<R: BufRead>(reader: &mut Reader<R>) -> Result<Verdict, ReplayError> {
    replay_for(reader, None)
}

/// Replays a trace and keeps of it what `make` makes of its first ATOM: the same as if it had been kept live,
/// but for what a trace does not say: how long an ATOM went on after its last output before it was made anew.
///
/// # Errors
/// [`ReplayError`]. A difference is no error but a verdict; what is kept then ends there.
pub fn replay_kept<R: BufRead, K: Keeper>(
    reader: &mut Reader<R>,
    make: impl FnOnce(&Atom) -> io::Result<K>,
) -> Result<Verdict, ReplayError> {
    let header = reader.header();
    let atom = start(&header.options, header.start_us, 1)?;
    let mut keeper =
        make(&atom).map_err(|source| ReplayError::Keep { name: "what is kept".to_owned(), source })?;
    replay_for(reader, Some(&mut keeper))
}

fn replay_for<R: BufRead>(
    reader: &mut Reader<R>,
    keeper: Option<&mut dyn Keeper>,
) -> Result<Verdict, ReplayError> {
    let header = reader.header().clone();
    let mut replay = Replay {
        atom: start(&header.options, header.start_us, 1)?,
        keeper,
        found: VecDeque::new(),
        inputs: 0,
        outputs: 0,
        before_us: 0,
        start_us: header.start_us,
    };
    let mut ended = false;
    while let Some(line) = reader.read()? {
        let number = reader.line_number();
        ended = matches!(line, Line::End { .. });
        if let Some(difference) = replay.step(&line, number)? {
            replay.tell(|keeper, atom| keeper.end(atom))?;
            return Ok(Verdict::Different(Box::new(difference)));
        }
    }
    replay.tell(|keeper, atom| keeper.end(atom))?;
    // A trace that was cut off may lack outputs of its last moment.
    if let Some(found) = replay.found.pop_front().filter(|_| ended) {
        let line = reader.line_number();
        let difference = Difference { line, expected: None, found: Some(found) };
        return Ok(Verdict::Different(Box::new(difference)));
    }
    let virtual_us = replay.before_us + replay.atom.now_us() - replay.start_us;
    Ok(Verdict::Same { inputs: replay.inputs, outputs: replay.outputs, virtual_us })
}

fn start(options: &crate::atom::Options, start_us: u64, line: usize) -> Result<Atom, ReplayError> {
    let mut atom = Atom::new(options)?;
    atom.keep_journal();
    if atom.now_us() == start_us {
        Ok(atom)
    } else {
        Err(ReplayError::Start { line, expected: start_us, found: atom.now_us() })
    }
}

impl Replay<'_> {
    /// Takes one line; gives the first difference, if it shows here.
    fn step(&mut self, line: &Line, number: usize) -> Result<Option<Difference>, ReplayError> {
        if let Line::Reset { start_us, options } = line {
            self.before_us += self.atom.now_us() - self.start_us;
            self.atom = start(options, *start_us, number)?;
            self.start_us = *start_us;
            self.found.clear();
            self.tell(|keeper, atom| keeper.reset(atom))?;
            self.look()?;
            return Ok(None);
        }
        if let Some(difference) = self.advance_to(line, number)? {
            return Ok(Some(difference));
        }
        if let Some(input) = line.input() {
            self.inputs += 1;
            self.atom.apply(&input).map_err(|source| ReplayError::Input { line: number, source })?;
            self.collect()?;
            return Ok(None);
        }
        if matches!(line, Line::End { .. }) {
            return Ok(None);
        }
        // Faults and outputs come in two orders, each of its own.
        let same_kind = |found: &Line| found.is_output() == line.is_output();
        let at = self.found.iter().position(same_kind);
        let found = at.and_then(|at| self.found.remove(at));
        if found.as_ref() == Some(line) {
            self.outputs += u64::from(line.is_output());
            return Ok(None);
        }
        Ok(Some(Difference { line: number, expected: Some(line.clone()), found }))
    }

    /// Advances to a line's time, with a look whenever the keeper wants one. An output that the trace should have had
    /// long before is the difference: the rest of the way is not gone.
    fn advance_to(&mut self, line: &Line, number: usize) -> Result<Option<Difference>, ReplayError> {
        let t_us = line.t_us();
        self.look()?;
        loop {
            let look_us = self.keeper.as_ref().and_then(|keeper| keeper.next_look_us());
            let slice_us = self.atom.now_us().saturating_add(SLICE_US);
            let to_us = look_us.unwrap_or(u64::MAX).min(slice_us).min(t_us);
            self.atom.advance_to(to_us);
            self.collect()?;
            if look_us.is_some_and(|look_us| look_us <= to_us) {
                self.look()?;
            }
            let late = |found: &Line| found.is_output() && found.t_us() + SLICE_US < to_us;
            if let Some(at) = self.found.iter().position(late) {
                let (found, expected) = (self.found.remove(at), Some(line.clone()));
                return Ok(Some(Difference { line: number, expected, found }));
            }
            if to_us == t_us {
                return Ok(None);
            }
        }
    }

    fn look(&mut self) -> Result<(), ReplayError> {
        self.tell(|keeper, atom| keeper.look(atom))
    }

    fn collect(&mut self) -> Result<(), ReplayError> {
        while let Some(entry) = self.atom.poll_journal() {
            self.tell(|keeper, _| keeper.entry(&entry))?;
            let line = Line::from(entry);
            if matches!(line, Line::Fault { .. }) {
                self.found.push_back(line);
            }
        }
        while let Some(output) = self.atom.poll_output() {
            self.tell(|keeper, _| keeper.output(&output))?;
            self.found.push_back(Line::from(&output));
        }
        Ok(())
    }

    fn tell(
        &mut self,
        what: impl FnOnce(&mut dyn Keeper, &mut Atom) -> io::Result<()>,
    ) -> Result<(), ReplayError> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        what(*keeper, &mut self.atom).map_err(|source| ReplayError::Keep { name: keeper.name(), source })
    }
}
