//! Keeps the MCAP file of a running ATOM: its joints on a grid of virtual time, its state, and every event in words.

use std::io::{self, Write};

use firmware_core::protocol::codes;

use super::file::File;
use super::messages::{Log, Severity, State, Time};
use super::moment::Moment;
use crate::atom::{ApiLevel, Atom, JournalEntry, Output, Truth, client_name};
use crate::recording::keeper::Keeper;
use crate::recording::trace::{Line, is_stream, words};

/// Moments per second unless an option says otherwise.
pub const RATE_HZ: u16 = 50;
/// A state that does not change is written this often (µs).
const STATE_US: u64 = 1_000_000;

/// What waits until all that was before it is known.
#[derive(Debug)]
enum Item {
    Log(Severity, String),
    State(State),
    Moment(Box<Moment>),
}

impl Item {
    /// Order at one instant: it must not depend on who is told first, the events or the time.
    fn rank(&self) -> u8 {
        match self {
            Self::Log(..) => 0,
            Self::State(_) => 1,
            Self::Moment(_) => 2,
        }
    }
}

/// Keeps one file.
#[derive(Debug)]
pub struct Live<W: Write> {
    file: File<W>,
    period_us: u64,
    level: ApiLevel,
    /// In time's order only once sorted: inputs come at once, outputs after they were taken.
    waiting: Vec<(u64, Item)>,
    /// Time in the file, and virtual time of the ATOM, at this ATOM's start (µs): the file's time never runs back.
    start_us: (u64, u64),
    looked_us: u64,
    /// Time of what was written last (µs, file's time).
    written_us: u64,
    /// The next moment on the grid (virtual µs).
    due_us: u64,
    state: Option<State>,
    state_due_us: u64,
}

impl<W: Write> Live<W> {
    /// Begins the file of an ATOM, with `rate_hz` moments per second (1–1000).
    ///
    /// # Errors
    /// The writer's.
    pub fn begin(out: W, rate_hz: u16, atom: &Atom) -> io::Result<Self> {
        let now_us = atom.now_us();
        Ok(Self {
            file: File::new(out)?,
            period_us: 1_000_000 / u64::from(rate_hz.clamp(1, 1000)),
            level: atom.options().level,
            waiting: Vec::new(),
            start_us: (now_us, now_us),
            looked_us: now_us,
            written_us: now_us,
            due_us: now_us,
            state: None,
            state_due_us: 0,
        })
    }

    fn file_us(&self, t_us: u64) -> u64 {
        self.start_us.0 + t_us.saturating_sub(self.start_us.1)
    }

    fn wait(&mut self, t_us: u64, item: Item) {
        self.waiting.push((self.file_us(t_us), item));
    }

    /// Writes what happened up to `until_us` (file's time), in time's order.
    fn write_until(&mut self, until_us: u64) -> io::Result<()> {
        self.waiting.sort_by_key(|(t_us, item)| (*t_us, item.rank()));
        let count = self.waiting.partition_point(|(t_us, _)| *t_us <= until_us);
        for (t_us, item) in self.waiting.drain(..count) {
            self.written_us = t_us;
            match item {
                Item::Log(severity, text) => self.file.log(t_us, &Log::new(t_us, severity, text))?,
                Item::State(state) => self.file.state(t_us, &state)?,
                Item::Moment(moment) => self.file.moment(&moment)?,
            }
        }
        Ok(())
    }

    fn take_moment(&mut self, atom: &Atom) {
        let (now_us, truth) = (atom.now_us(), atom.truth());
        let file_us = self.file_us(now_us);
        let state = state_of(file_us, &truth);
        // Its time apart, it is the same.
        let same = |last: &State| State { timestamp: state.timestamp, ..last.clone() } == state;
        if file_us >= self.state_due_us || !self.state.as_ref().is_some_and(same) {
            self.state = Some(state.clone());
            self.state_due_us = file_us + STATE_US;
            self.wait(now_us, Item::State(state));
        }
        let moment = Moment::of_atom(file_us, atom, &truth);
        self.wait(now_us, Item::Moment(Box::new(moment)));
    }

    fn finish_all(&mut self) -> io::Result<()> {
        self.write_until(u64::MAX)
    }

    /// Ends the file and gives the writer back.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self) -> io::Result<W> {
        self.finish_all()?;
        self.file.finish()
    }
}

impl<W: Write + Send + std::fmt::Debug> Keeper for Live<W> {
    fn name(&self) -> String {
        "the MCAP file".to_owned()
    }

    fn next_look_us(&self) -> Option<u64> {
        Some(self.due_us)
    }

    fn reset(&mut self, atom: &mut Atom) -> io::Result<()> {
        self.finish_all()?;
        let now_us = atom.now_us();
        self.start_us = (self.file_us(self.looked_us).max(self.written_us), now_us);
        (self.looked_us, self.due_us) = (now_us, now_us);
        self.level = atom.options().level;
        let line = Line::Reset { start_us: now_us, options: Box::new(atom.options().clone()) };
        self.wait(now_us, Item::Log(Severity::Info, words::event(&line, self.level)));
        Ok(())
    }

    fn entry(&mut self, entry: &JournalEntry) -> io::Result<()> {
        self.take_line(&Line::from(entry.clone()));
        Ok(())
    }

    fn output(&mut self, output: &Output) -> io::Result<()> {
        // Joints have topics of their own.
        if !matches!(output, Output::Message { bytes, .. } if is_stream(bytes)) {
            self.take_line(&Line::from(output));
        }
        Ok(())
    }

    fn look(&mut self, atom: &Atom) -> io::Result<()> {
        let now_us = atom.now_us();
        if now_us < self.due_us {
            return Ok(());
        }
        // All that happened up to the look before this one has been told since.
        self.write_until(self.file_us(self.looked_us))?;
        self.take_moment(atom);
        self.looked_us = now_us;
        self.due_us = (now_us / self.period_us + 1) * self.period_us;
        Ok(())
    }

    fn end(&mut self, _atom: &Atom) -> io::Result<()> {
        self.finish_all()?;
        self.file.end()
    }
}

impl<W: Write> Live<W> {
    fn take_line(&mut self, line: &Line) {
        let text = words::event(line, self.level);
        self.wait(line.t_us(), Item::Log(severity(line), text));
    }
}

fn state_of(t_us: u64, truth: &Truth) -> State {
    State {
        timestamp: Time::from_us(t_us),
        state: truth.state.name(),
        number: truth.state as u8,
        control: truth.holder.map(client_name::name).unwrap_or_default(),
        joints: truth.n,
        plan_valid: truth.plan_valid,
    }
}

/// How much a line matters.
fn severity(line: &Line) -> Severity {
    const ROUTINE: [u8; 7] = [
        codes::PING,
        codes::STATE,
        codes::SUBSCRIBE,
        codes::PLAN_DATA,
        codes::JOG,
        codes::TRACK,
        codes::REG_READ,
    ];
    match line {
        Line::Received { bytes, .. } if bytes.first().is_some_and(|code| ROUTINE.contains(code)) => {
            Severity::Debug
        }
        Line::Sent { bytes, .. } => match **bytes {
            [codes::PONG | codes::STATE_REPLY, ..] | [codes::ACK, codes::PLAN_DATA, 0, ..] => Severity::Debug,
            [codes::ACK, _, status, ..] if status != 0 => Severity::Warning,
            [codes::DONE, result, ..] if !matches!(result, 0 | 2) => Severity::Warning,
            [..] => Severity::Info,
        },
        Line::StatusLine { .. } => Severity::Debug,
        Line::Fault { .. } | Line::Closed { .. } => Severity::Warning,
        Line::Received { .. }
        | Line::Connect { .. }
        | Line::Close { .. }
        | Line::Wifi { .. }
        | Line::Inject { .. }
        | Line::Clear { .. }
        | Line::Reset { .. }
        | Line::End { .. } => Severity::Info,
    }
}
