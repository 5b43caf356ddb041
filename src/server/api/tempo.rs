//! Speed and pauses of virtual time, with their owners.

use std::collections::BTreeSet;

use super::order::{Owner, SessionNumber};
use crate::server::Speed;

/// Who wants which speed.
#[derive(Debug)]
pub(super) struct Tempo {
    /// The speed that nobody's session set: [`Speed::Factor`] or [`Speed::Max`].
    base: Speed,
    /// Speeds of sessions, the latest last: it counts.
    speeds: Vec<(SessionNumber, Speed)>,
    pauses: BTreeSet<Owner>,
}

impl Tempo {
    /// Starts at the speed of the options.
    pub(super) fn new(speed: Speed) -> Self {
        match speed {
            Speed::Factor(_) | Speed::Max => {
                Self { base: speed, speeds: Vec::new(), pauses: BTreeSet::new() }
            }
            Speed::Paused => {
                Self { base: Speed::Factor(1.0), speeds: Vec::new(), pauses: BTreeSet::from([None]) }
            }
        }
    }

    /// The speed while nothing pauses.
    pub(super) fn running(&self) -> Speed {
        self.speeds.last().map_or(self.base, |(_, speed)| *speed)
    }

    /// The speed now.
    pub(super) fn speed(&self) -> Speed {
        if self.is_paused() { Speed::Paused } else { self.running() }
    }

    pub(super) fn is_paused(&self) -> bool {
        !self.pauses.is_empty()
    }

    pub(super) fn paused_by(&self) -> impl Iterator<Item = Owner> + '_ {
        self.pauses.iter().copied()
    }

    pub(super) fn set_speed(&mut self, owner: Owner, speed: Speed) {
        let Some(session) = owner else {
            self.base = speed;
            return;
        };
        self.speeds.retain(|(of, _)| *of != session);
        self.speeds.push((session, speed));
    }

    pub(super) fn pause(&mut self, owner: Owner) {
        self.pauses.insert(owner);
    }

    pub(super) fn resume(&mut self, owner: Owner) {
        self.pauses.remove(&owner);
    }

    /// A session ends, and with it what it wanted.
    pub(super) fn end(&mut self, session: SessionNumber) {
        self.speeds.retain(|(of, _)| *of != session);
        self.pauses.remove(&Some(session));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionNumber = SessionNumber(1);
    const B: SessionNumber = SessionNumber(2);

    #[test]
    fn time_goes_on_when_the_last_pause_ends() {
        let mut tempo = Tempo::new(Speed::Max);
        tempo.pause(Some(A));
        tempo.pause(None);
        tempo.resume(Some(B));
        tempo.end(A);
        assert_eq!(tempo.speed(), Speed::Paused);
        tempo.resume(None);
        assert_eq!(tempo.speed(), Speed::Max);
    }

    #[test]
    fn the_speed_of_a_session_ends_with_it() {
        let mut tempo = Tempo::new(Speed::Paused);
        tempo.set_speed(Some(A), Speed::Factor(3.0));
        tempo.set_speed(Some(B), Speed::Max);
        tempo.set_speed(None, Speed::Factor(2.0));
        tempo.resume(None);
        assert_eq!(tempo.speed(), Speed::Max);
        tempo.end(B);
        assert_eq!(tempo.speed(), Speed::Factor(3.0));
        tempo.end(A);
        assert_eq!(tempo.speed(), Speed::Factor(2.0));
    }
}
