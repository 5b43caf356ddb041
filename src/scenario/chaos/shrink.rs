//! A story that fails → a shorter one that fails: parts are left out, halves first, then ever smaller ones.

use super::play::{Violation, play};
use super::story::Story;

/// Plays until the search gives up and takes the shortest it has.
const PLAYS_MAX: usize = 150;

/// The events that are enough to break an invariant, and what they break. `None` when the story holds.
pub fn shrink(story: &Story, keep: Option<&[usize]>) -> Option<(Vec<usize>, Violation)> {
    let all: Vec<usize> = (0..story.events.len()).collect();
    let mut kept = keep.map_or(all, <[usize]>::to_vec);
    let mut violation = play(story, Some(&kept)).err()?;
    let mut plays = 0;
    let mut part = kept.len().div_ceil(2);
    while part > 0 && plays < PLAYS_MAX {
        let mut start = 0;
        while start < kept.len() && plays < PLAYS_MAX {
            let end = (start + part).min(kept.len());
            let fewer: Vec<usize> = kept[..start].iter().chain(&kept[end..]).copied().collect();
            plays += 1;
            match play(story, Some(&fewer)) {
                Err(found) => {
                    violation = found;
                    kept = fewer;
                }
                Ok(()) => start = end,
            }
        }
        part /= 2;
    }
    Some((kept, violation))
}
