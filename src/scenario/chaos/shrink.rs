//! A story that breaks an invariant, made as short as it can be and still break one.

use super::play::{Violation, play};
use super::story::Story;

/// Plays until the search gives up and takes the shortest it has.
const PLAYS_MAX: usize = 150;

/// The events that are enough to break an invariant, and what they break. `None` when the story holds.
pub fn shrink(story: &Story, keep: Option<&[usize]>) -> Option<(Vec<usize>, Violation)> {
    let all: Vec<usize> = (0..story.events.len()).collect();
    fewest(keep.map_or(all, <[usize]>::to_vec), |events| play(story, Some(events)).err())
}

/// Of `kept`, as few as still fail, and how they do: leaves out halves, quarters, … single ones while `fails`
/// says that the rest fails. `None` when all of them together do not.
fn fewest<F>(mut kept: Vec<usize>, mut fails: impl FnMut(&[usize]) -> Option<F>) -> Option<(Vec<usize>, F)> {
    let mut failure = fails(&kept)?;
    let mut plays = 0;
    let mut part = kept.len().div_ceil(2);
    while part > 0 && plays < PLAYS_MAX {
        let mut start = 0;
        while start < kept.len() && plays < PLAYS_MAX {
            let end = (start + part).min(kept.len());
            let fewer: Vec<usize> = kept[..start].iter().chain(&kept[end..]).copied().collect();
            plays += 1;
            match fails(&fewer) {
                Some(found) => {
                    failure = found;
                    kept = fewer;
                }
                None => start = end,
            }
        }
        part /= 2;
    }
    Some((kept, failure))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails, with the number of events, when every one of `needed` is there.
    fn needs(needed: &[usize]) -> impl Fn(&[usize]) -> Option<usize> {
        move |events| needed.iter().all(|event| events.contains(event)).then_some(events.len())
    }

    #[test]
    fn only_the_events_that_are_needed_remain() {
        for needed in [&[0][..], &[29], &[3, 9], &[3, 14, 15, 27], &[]] {
            let shrunk = fewest((0..30).collect(), needs(needed));
            assert_eq!(shrunk, Some((needed.to_vec(), needed.len())));
        }
    }

    #[test]
    fn what_holds_is_not_shrunk() {
        assert_eq!(fewest((0..30).collect(), needs(&[30])), None);
    }

    #[test]
    fn the_search_ends_after_so_many_plays_with_one_that_fails() {
        let needed: Vec<usize> = (0..1_000).step_by(2).collect();
        let (fails, mut plays) = (needs(&needed), 0);
        let shrunk = fewest((0..1_000).collect(), |events| {
            plays += 1;
            fails(events)
        });
        assert_eq!(plays, 1 + PLAYS_MAX);
        let (kept, _) = shrunk.expect("all together fail");
        assert!(needed.iter().all(|event| kept.contains(event)));
    }
}
