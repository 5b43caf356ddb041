//! All faults by name.

use super::entry::Entry;
use super::parse::FaultError;
use super::{body, world};

/// Every fault, group by group.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    body::TABLE.iter().chain(world::TABLE)
}

/// The entry of a name.
///
/// # Errors
/// [`FaultError::UnknownFault`] with the nearest name.
pub fn find(name: &str) -> Result<&'static Entry, FaultError> {
    all().find(|entry| entry.name == name).ok_or_else(|| FaultError::UnknownFault {
        name: name.to_owned(),
        nearest: nearest(name, all().map(|entry| entry.name)),
    })
}

/// The candidate that is most like `name`; an empty text without candidates.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> &'a str {
    let mut best = ("", -1.0);
    for candidate in candidates {
        // A name without its group ("silent") is nearest to the one that ends like it ("servo.silent").
        let tail = candidate.rsplit('.').next().unwrap_or(candidate);
        let likeness = strsim::jaro_winkler(name, candidate).max(strsim::jaro_winkler(name, tail) - 0.01);
        if likeness > best.1 {
            best = (candidate, likeness);
        }
    }
    best.0
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
