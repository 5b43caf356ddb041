//! What keeps files of a running ATOM: told every input, output and moment, it writes what it wants of them.

use std::fmt::Debug;
use std::io;

use crate::atom::{Atom, JournalEntry, Output};

/// Keeps one file, or several, of a running ATOM.
pub trait Keeper: Debug + Send {
    /// What it keeps, for messages.
    fn name(&self) -> String;

    /// The ATOM was made anew.
    ///
    /// # Errors
    /// The file's.
    fn reset(&mut self, atom: &mut Atom) -> io::Result<()>;

    /// An input, or the start or end of a fault.
    ///
    /// # Errors
    /// The file's.
    fn entry(&mut self, entry: &JournalEntry) -> io::Result<()>;

    /// An output.
    ///
    /// # Errors
    /// The file's.
    fn output(&mut self, output: &Output) -> io::Result<()>;

    /// When it wants [`Keeper::look`] at the very time (virtual µs); `None`: whenever time happens to move on.
    fn next_look_us(&self) -> Option<u64> {
        None
    }

    /// Time has moved on, or an input was taken.
    ///
    /// # Errors
    /// The file's.
    fn look(&mut self, atom: &Atom) -> io::Result<()>;

    /// The session ends in order.
    ///
    /// # Errors
    /// The file's.
    fn end(&mut self, atom: &Atom) -> io::Result<()>;
}

/// The number of a keeper; never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeeperId(u64);

/// All that keeps files of one ATOM. One that fails says so in the log and keeps nothing more; the ATOM runs on.
#[derive(Debug, Default)]
pub struct Keepers {
    on: Vec<(KeeperId, Box<dyn Keeper>)>,
    added: u64,
    failures: Vec<(KeeperId, io::Error)>,
}

impl Keepers {
    /// Keeps one more file of an ATOM.
    ///
    /// # Errors
    /// The file's.
    pub fn add(&mut self, mut keeper: Box<dyn Keeper>, atom: &mut Atom) -> io::Result<KeeperId> {
        // What came before is none of its business.
        self.take_inputs(atom);
        atom.keep_journal();
        keeper.look(atom)?;
        self.added += 1;
        let id = KeeperId(self.added);
        self.on.push((id, keeper));
        Ok(id)
    }

    /// Ends one file.
    ///
    /// # Errors
    /// The file's, also of a keeper that failed before.
    pub fn end_one(&mut self, id: KeeperId, atom: &mut Atom) -> io::Result<()> {
        self.take_inputs(atom);
        if let Some(index) = self.on.iter().position(|(of, _)| *of == id) {
            let (_, mut keeper) = self.on.swap_remove(index);
            return keeper.end(atom);
        }
        match self.failures.iter().position(|(of, _)| *of == id) {
            Some(index) => Err(self.failures.swap_remove(index).1),
            None => Ok(()),
        }
    }

    /// Why a keeper keeps nothing more, if it failed.
    pub fn failure(&self, id: KeeperId) -> Option<&io::Error> {
        self.failures.iter().find(|(of, _)| *of == id).map(|(_, error)| error)
    }

    /// When one of them must be told of the time (virtual µs).
    pub fn next_look_us(&self) -> Option<u64> {
        self.on.iter().filter_map(|(_, keeper)| keeper.next_look_us()).min()
    }

    /// Tells what came in since the last call.
    pub fn take_inputs(&mut self, atom: &mut Atom) {
        if self.on.is_empty() {
            atom.drop_journal();
            return;
        }
        if !atom.keeps_journal() {
            atom.keep_journal();
            self.tell(|keeper| keeper.reset(atom));
        }
        while let Some(entry) = atom.poll_journal() {
            self.tell(|keeper| keeper.entry(&entry));
        }
        self.tell(|keeper| keeper.look(atom));
    }

    /// Tells an output.
    pub fn output(&mut self, output: &Output) {
        self.tell(|keeper| keeper.output(output));
    }

    /// Ends every file.
    ///
    /// # Errors
    /// That of the first keeper that failed, now or before, and that nobody ended.
    pub fn end(&mut self, atom: &mut Atom) -> io::Result<()> {
        self.take_inputs(atom);
        self.tell(|keeper| keeper.end(atom));
        match self.failures.drain(..).next() {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Moves time on with a look whenever a keeper wants one, and tells all that comes of it. Outputs go to the keepers
    /// alone.
    pub fn advance(&mut self, atom: &mut Atom, t_us: u64) {
        loop {
            self.take_inputs(atom);
            let look_us = self.next_look_us().filter(|look_us| *look_us <= t_us);
            atom.advance_to(look_us.unwrap_or(t_us));
            self.take_inputs(atom);
            while let Some(output) = atom.poll_output() {
                self.output(&output);
            }
            if look_us.is_none() {
                return;
            }
        }
    }

    fn tell(&mut self, mut what: impl FnMut(&mut Box<dyn Keeper>) -> io::Result<()>) {
        let failures = &mut self.failures;
        self.on.retain_mut(|(id, keeper)| match what(keeper) {
            Ok(()) => true,
            Err(error) => {
                tracing::error!("{} is kept no longer: {error}", keeper.name());
                failures.push((*id, error));
                false
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atom::{Options, Transport};
    use crate::recording::trace::Writer;

    #[test]
    fn without_a_keeper_the_atom_keeps_no_journal() {
        let mut atom = Atom::new(&Options::default()).expect("the defaults are valid");
        let mut keepers = Keepers::default();
        let writer = Writer::begin(Vec::new(), &mut atom).expect("memory");
        let id = keepers.add(Box::new(writer), &mut atom).expect("memory");
        atom.connect(Transport::Udp);
        keepers.take_inputs(&mut atom);
        assert!(atom.keeps_journal());
        keepers.end_one(id, &mut atom).expect("memory");
        keepers.take_inputs(&mut atom);
        assert!(!atom.keeps_journal());
    }
}
