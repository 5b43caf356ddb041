//! When faults start and end: each start and each end is an event with its virtual time.

use std::collections::BTreeMap;

use super::kind::{Fault, FaultKind};
pub use crate::hardware::FaultId;
use crate::link::random::Random;

/// Random streams of faults lie above those of links (four per client number, which has 32 bits).
const FORK: u64 = 1 << 40;

/// A fault starts or ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It starts now.
    Start(FaultKind),
    /// It ends now.
    End(FaultKind),
}

#[derive(Debug, Clone)]
struct Entry {
    fault: Fault,
    random: Random,
    /// Next start (µs), `None` after the last.
    starts_us: Option<u64>,
    /// It is there, and ends at this time (µs; `u64::MAX` = when cleared).
    ends_us: Option<u64>,
}

/// The faults that were injected and are not over.
#[derive(Debug, Clone)]
pub struct Schedule {
    seed: u64,
    made: u32,
    entries: BTreeMap<FaultId, Entry>,
    /// When the next entry starts or ends (µs), kept so that asking costs nothing.
    next_us: u64,
}

impl Schedule {
    /// No fault; each one's chances come from its own stream under `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, made: 0, entries: BTreeMap::new(), next_us: u64::MAX }
    }

    /// Takes a fault at `now_us`.
    pub fn add(&mut self, now_us: u64, fault: Fault) -> FaultId {
        self.made += 1;
        let id = FaultId(self.made);
        let entry = Entry {
            random: Random::new(self.seed, FORK + u64::from(self.made)),
            starts_us: Some(now_us.saturating_add(fault.scope.after_us)),
            ends_us: None,
            fault,
        };
        self.entries.insert(id, entry);
        self.find_next();
        id
    }

    /// Clears a fault. `Some`: it was there and ends now.
    pub fn clear(&mut self, id: FaultId) -> Option<Change> {
        let entry = self.entries.remove(&id)?;
        self.find_next();
        entry.ends_us.map(|_| Change::End(entry.fault.kind))
    }

    /// Ids of all faults that are there or still to come.
    pub fn ids(&self) -> Vec<FaultId> {
        self.entries.keys().copied().collect()
    }

    /// The faults that are there or still to come, with whether they are there.
    pub fn list(&self) -> impl Iterator<Item = (FaultId, &Fault, bool)> {
        self.entries.iter().map(|(&id, entry)| (id, &entry.fault, entry.ends_us.is_some()))
    }

    /// When the next fault starts or ends (µs), `u64::MAX` without one.
    pub fn next_due_us(&self) -> u64 {
        self.next_us
    }

    /// The next start or end that is due by `now_us`.
    pub fn pop(&mut self, now_us: u64) -> Option<(FaultId, Change)> {
        while self.next_us <= now_us {
            let id = *self.entries.iter().find(|(_, entry)| due_us(entry) == self.next_us)?.0;
            let change = self.step(id);
            self.find_next();
            if let Some(change) = change {
                return Some((id, change));
            }
        }
        None
    }

    /// One start or end of a fault. `None`: a start that chance prevented.
    fn step(&mut self, id: FaultId) -> Option<Change> {
        let entry = self.entries.get_mut(&id)?;
        let kind = entry.fault.kind.clone();
        let scope = entry.fault.scope;
        let ends_first = entry.ends_us.is_some_and(|end| entry.starts_us.is_none_or(|start| end <= start));
        if ends_first {
            entry.ends_us = None;
            if entry.starts_us.is_none() {
                self.entries.remove(&id);
            }
            return Some(Change::End(kind));
        }
        let start_us = entry.starts_us?;
        entry.starts_us = scope.every_us.map(|every_us| start_us.saturating_add(every_us));
        let happens = scope.probability >= 1.0 || entry.random.chance(scope.probability);
        if happens && entry.ends_us.is_none() {
            entry.ends_us = Some(scope.for_us.map_or(u64::MAX, |for_us| start_us.saturating_add(for_us)));
            return Some(Change::Start(kind));
        }
        if entry.starts_us.is_none() && entry.ends_us.is_none() {
            self.entries.remove(&id);
        }
        None
    }

    fn find_next(&mut self) {
        self.next_us = self.entries.values().map(due_us).min().unwrap_or(u64::MAX);
    }
}

fn due_us(entry: &Entry) -> u64 {
    entry.starts_us.unwrap_or(u64::MAX).min(entry.ends_us.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atom::fault::kind::Scope;

    fn events(scope: Scope, until_us: u64) -> Vec<(u64, bool)> {
        let mut schedule = Schedule::new(5);
        schedule.add(1_000, Fault { kind: FaultKind::Button, scope });
        let mut out = Vec::new();
        while schedule.next_due_us() <= until_us {
            let now_us = schedule.next_due_us();
            if let Some((_, change)) = schedule.pop(now_us) {
                out.push((now_us, matches!(change, Change::Start(_))));
            }
        }
        out
    }

    #[test]
    fn a_fault_starts_and_ends_once() {
        let scope = Scope { after_us: 500, for_us: Some(2_000), ..Scope::NOW };
        assert_eq!(events(scope, u64::MAX - 1), [(1_500, true), (3_500, false)]);
    }

    #[test]
    fn a_fault_without_duration_lasts_until_it_is_cleared() {
        let mut schedule = Schedule::new(1);
        let id = schedule.add(0, Fault { kind: FaultKind::Button, scope: Scope::NOW });
        assert_eq!(schedule.pop(0), Some((id, Change::Start(FaultKind::Button))));
        assert_eq!(schedule.next_due_us(), u64::MAX);
        assert_eq!(schedule.clear(id), Some(Change::End(FaultKind::Button)));
        assert_eq!((schedule.clear(id), schedule.ids()), (None, vec![]));
    }

    #[test]
    fn a_fault_cleared_before_its_start_never_happens() {
        let mut schedule = Schedule::new(1);
        let scope = Scope { after_us: 10, ..Scope::NOW };
        let id = schedule.add(0, Fault { kind: FaultKind::Button, scope });
        assert_eq!(schedule.clear(id), None);
        assert_eq!(schedule.pop(u64::MAX - 1), None);
    }

    #[test]
    fn an_intermittent_fault_comes_again_at_its_period() {
        let scope = Scope { for_us: Some(100), every_us: Some(1_000), ..Scope::NOW };
        assert_eq!(
            events(scope, 3_200),
            [(1_000, true), (1_100, false), (2_000, true), (2_100, false), (3_000, true), (3_100, false)]
        );
    }

    #[test]
    fn chance_decides_each_start_of_its_own() {
        let scope = Scope { for_us: Some(1), every_us: Some(10), probability: 0.25, ..Scope::NOW };
        let starts = events(scope, 41_000).iter().filter(|(_, start)| *start).count();
        assert!((900..1_100).contains(&starts), "{starts} of 4000");
    }
}
