//! The last seconds: what is printed around a failure.

use std::collections::VecDeque;

use firmware_core::shared::State;

use super::judge::rounded;
use super::words;
use crate::atom::Truth;

/// How far back a report looks (µs).
const BACK_US: u64 = 2_000_000;
/// Lines of events kept.
const EVENTS_MAX: usize = 400;
/// Lines of events printed.
const PRINTED_MAX: usize = 24;
/// Poses are kept at this interval (µs).
const POSE_US: u64 = 250_000;

/// What happened lately.
#[derive(Debug, Default)]
pub(super) struct Tail {
    events: VecDeque<(u64, String)>,
    poses: VecDeque<(u64, Truth)>,
    state: Option<State>,
}

impl Tail {
    /// Something happened.
    pub(super) fn event(&mut self, t_us: u64, words: String) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back((t_us, words));
    }

    /// A look at the ATOM.
    pub(super) fn look(&mut self, t_us: u64, truth: &Truth) {
        if self.state != Some(truth.state) {
            self.state = Some(truth.state);
            let state = truth.state;
            self.event(t_us, format!("state {}", state.name()));
        }
        if self.poses.back().is_none_or(|(last_us, _)| t_us >= last_us + POSE_US) {
            self.poses.push_back((t_us, *truth));
            while self.poses.front().is_some_and(|(first_us, _)| first_us + BACK_US + POSE_US < t_us) {
                self.poses.pop_front();
            }
        }
    }

    /// The lines around a failure at `t_us`: events, then poses.
    pub(super) fn lines(&self, t_us: u64, now: &Truth) -> Vec<String> {
        let from_us = t_us.saturating_sub(BACK_US);
        let recent: Vec<&(u64, String)> = self.events.iter().filter(|(at_us, _)| *at_us >= from_us).collect();
        let skipped = recent.len().saturating_sub(PRINTED_MAX);
        let mut lines = Vec::new();
        if skipped > 0 {
            lines.push(format!("… {skipped} earlier events"));
        }
        lines.extend(
            recent[skipped..].iter().map(|(at_us, what)| format!("{:>10}  {what}", words::seconds(*at_us))),
        );
        let poses = self.poses.iter().map(|(at_us, truth)| (*at_us, truth)).chain([(t_us, now)]);
        for (at_us, truth) in poses {
            lines.push(format!("{:>10}  {}", words::seconds(at_us), pose_line(truth)));
        }
        lines
    }
}

fn pose_line(truth: &Truth) -> String {
    let list = |values: &[f64; 7]| {
        values.iter().map(|value| format!("{:.1}", rounded(*value))).collect::<Vec<_>>().join(" ")
    };
    format!("{:<8} goals {} | angles {}", truth.state.name(), list(&truth.goal_deg), list(&truth.angle_deg))
}
