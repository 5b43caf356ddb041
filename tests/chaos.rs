//! Chaos, a bounded part: stories hold.

use atom_sim::scenario::chaos::{play, story};

#[test]
fn forty_stories_break_no_invariant() {
    let broken: Vec<String> = (1..=40)
        .filter_map(|seed| {
            play(&story(seed), None).err().map(|violation| format!("seed {seed}: {violation}"))
        })
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn a_seed_is_one_story() {
    assert_eq!(story(7).events, story(7).events);
    assert_ne!(story(7).events, story(8).events);
}
