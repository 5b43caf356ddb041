//! The clients of a scenario at work: which step is due, what it sends, and when it is over.

use std::sync::Arc;

use super::book::Book;
use super::condition::Condition;
use super::plan::{Begin, Deed, Scenario, StepPlan};
use super::upload::Upload;
use super::{judge, words};
use crate::client::upload::{RETRY_US, TRIES_MAX};

/// A subscription is renewed this often (µs), half of what it lasts.
const RENEW_US: u64 = 1_000_000;

/// What an upload waits for.
const ACKS: &str = "an ACK to every message of the plan";

/// Where a step stands.
#[derive(Debug, Clone, PartialEq)]
enum Progress {
    /// Its beginning is not known or not reached.
    Before,
    /// It waits until this time for its condition (µs).
    Waiting(u64),
    /// It repeats: next time, last time (µs).
    Repeating(u64, u64),
    /// It uploads: message, tries, when it was sent (µs), replies seen before.
    Uploading { upload: Arc<Upload>, index: usize, tries: u32, sent_us: u64, seen: usize },
    /// It is over since (µs).
    Over(u64),
}

/// What a client does now.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// The step of this index begins: its wait is over.
    Begin(usize),
    /// Client `0` connects.
    Connect(usize),
    /// It closes.
    Close(usize),
    /// It sends.
    Send {
        /// Index of the client.
        client: usize,
        /// The message.
        bytes: Vec<u8>,
        /// Index of the step, `None` for a renewal of a subscription.
        step: Option<usize>,
    },
    /// A step cannot go on.
    Fail(Stuck),
}

/// A step that cannot go on: its wait or its upload took too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// Index of the step.
    pub step: usize,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub seen: String,
}

/// All clients at work.
#[derive(Debug)]
pub struct Cast {
    steps: Arc<[StepPlan]>,
    progress: Vec<Progress>,
    /// Next renewal of each client's subscription (µs), while it is connected.
    renewals: Vec<Option<(u64, Vec<u8>)>>,
}

impl Cast {
    /// The cast of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            steps: Arc::clone(&scenario.steps),
            progress: vec![Progress::Before; scenario.steps.len()],
            renewals: vec![None; scenario.clients.len()],
        }
    }

    /// A client is connected: its subscription starts.
    pub fn connected(&mut self, now_us: u64, client: usize, subscribe: Option<Vec<u8>>) {
        self.renewals[client] = subscribe.map(|message| (now_us, message));
    }

    /// A client is not connected any more. One that is not of the file has no subscription to end.
    pub fn disconnected(&mut self, client: usize) {
        if let Some(renewal) = self.renewals.get_mut(client) {
            *renewal = None;
        }
    }

    /// When something has to be done at a time that is known now (µs); waits are besides.
    pub fn next_due_us(&self) -> u64 {
        let step_us = |(index, progress): (usize, &Progress)| match progress {
            Progress::Before => self.begin_us(index).unwrap_or(u64::MAX),
            Progress::Waiting(until_us) => *until_us,
            Progress::Repeating(next_us, _) => *next_us,
            Progress::Uploading { sent_us, .. } => sent_us + RETRY_US,
            Progress::Over(_) => u64::MAX,
        };
        let steps_us = self.progress.iter().enumerate().map(step_us).min().unwrap_or(u64::MAX);
        let renewals_us = self.renewals.iter().flatten().map(|(at_us, _)| *at_us).min().unwrap_or(u64::MAX);
        steps_us.min(renewals_us)
    }

    /// Something waits for a condition or for an ACK: it must be asked again after every look.
    pub fn is_watching(&self) -> bool {
        self.progress.iter().any(|progress| match progress {
            Progress::Waiting(_) | Progress::Uploading { .. } => true,
            Progress::Before | Progress::Repeating(..) | Progress::Over(_) => false,
        })
    }

    /// What is to be done at `now_us`.
    pub fn acts(&mut self, now_us: u64, book: &mut Book) -> Vec<Act> {
        let mut acts = Vec::new();
        for (client, renewal) in self.renewals.iter_mut().enumerate() {
            if let Some((at_us, message)) = renewal.as_mut().filter(|(at_us, _)| *at_us <= now_us) {
                acts.push(Act::Send { client, bytes: message.clone(), step: None });
                *at_us += RENEW_US;
            }
        }
        for index in 0..self.steps.len() {
            self.advance(index, now_us, book, &mut acts);
        }
        acts
    }

    /// The steps that the end of the scenario found unfinished, but for those that only wait for one of them. A
    /// repetition may go on to the end.
    pub fn unfinished(&self, book: &Book) -> Vec<Stuck> {
        let has_not_begun = |index: usize| match &self.progress[index] {
            Progress::Before | Progress::Waiting(_) | Progress::Uploading { .. } => true,
            Progress::Repeating(..) | Progress::Over(_) => false,
        };
        let mut stuck = Vec::new();
        for (step, plan) in self.steps.iter().enumerate() {
            let (expected, seen) = match (&self.progress[step], &plan.when) {
                (Progress::Before, _) => match plan.begin {
                    Begin::AfterStep(previous, _) if has_not_begun(previous) => continue,
                    Begin::AfterStep(..) | Begin::At(_) | Begin::AfterStart(_) => (
                        format!("the step \"{}\" to begin", plan.words),
                        "the scenario ended before it was due".to_owned(),
                    ),
                },
                (Progress::Waiting(_), Some(when)) => waited_for(plan, when, book),
                (Progress::Uploading { upload, index, .. }, _) => {
                    (ACKS.to_owned(), format!("{index} of {} when the scenario ended", upload.messages.len()))
                }
                (Progress::Waiting(_), None) | (Progress::Repeating(..) | Progress::Over(_), _) => continue,
            };
            stuck.push(Stuck { step, expected, seen });
        }
        stuck
    }

    fn begin_us(&self, index: usize) -> Option<u64> {
        match self.steps[index].begin {
            Begin::At(at_us) => Some(at_us),
            Begin::AfterStart(after_us) => Some(after_us),
            Begin::AfterStep(previous, after_us) => match self.progress[previous] {
                Progress::Over(over_us) => Some(over_us + after_us),
                Progress::Before
                | Progress::Waiting(_)
                | Progress::Repeating(..)
                | Progress::Uploading { .. } => None,
            },
        }
    }

    fn advance(&mut self, index: usize, now_us: u64, book: &mut Book, acts: &mut Vec<Act>) {
        if self.progress[index] == Progress::Before {
            match self.begin_us(index) {
                Some(begin_us) if begin_us <= now_us => {
                    self.progress[index] = Progress::Waiting(now_us + self.steps[index].wait_us);
                }
                Some(_) | None => return,
            }
        }
        if let Progress::Waiting(until_us) = self.progress[index] {
            self.wait(index, until_us, now_us, book, acts);
        }
        if let Progress::Repeating(next_us, last_us) = self.progress[index] {
            self.repeat(index, next_us, last_us, now_us, acts);
        }
        if matches!(self.progress[index], Progress::Uploading { .. }) {
            self.upload(index, now_us, book, acts);
        }
    }

    fn wait(&mut self, index: usize, until_us: u64, now_us: u64, book: &mut Book, acts: &mut Vec<Act>) {
        let steps = Arc::clone(&self.steps);
        let step = &steps[index];
        if let Some(when) = &step.when
            && !judge::holds(when, book)
        {
            if now_us >= until_us {
                let (expected, seen) = waited_for(step, when, book);
                acts.push(Act::Fail(Stuck { step: index, expected, seen }));
                self.progress[index] = Progress::Over(now_us);
            }
            return;
        }
        if let Some(log) = step.label.as_ref().and_then(|label| book.steps.get_mut(label)) {
            log.began_us = Some(now_us);
        }
        acts.push(Act::Begin(index));
        self.progress[index] = match (&step.deed, step.repeat_us) {
            (Deed::Upload(upload), _) => {
                let seen = book.clients[step.client].briefs.len();
                let message = upload.messages[0].0.clone();
                acts.push(Act::Send { client: step.client, bytes: message, step: Some(index) });
                Progress::Uploading { upload: Arc::clone(upload), index: 0, tries: 1, sent_us: now_us, seen }
            }
            (_, Some((_, for_us))) => Progress::Repeating(now_us, now_us + for_us),
            (_, None) => {
                acts.extend(act(step, index));
                Progress::Over(now_us)
            }
        };
    }

    fn repeat(&mut self, index: usize, next_us: u64, last_us: u64, now_us: u64, acts: &mut Vec<Act>) {
        let step = &self.steps[index];
        let period_us = step.repeat_us.map_or(u64::MAX, |(period_us, _)| period_us);
        let mut next_us = next_us;
        while next_us <= now_us && next_us < last_us {
            acts.extend(act(step, index));
            next_us = next_us.saturating_add(period_us);
        }
        let over = next_us >= last_us && now_us >= last_us;
        self.progress[index] =
            if over { Progress::Over(now_us) } else { Progress::Repeating(next_us.min(last_us), last_us) };
    }

    fn upload(&mut self, step: usize, now_us: u64, book: &Book, acts: &mut Vec<Act>) {
        let client = self.steps[step].client;
        let Progress::Uploading { upload, index, tries, sent_us, seen } = &mut self.progress[step] else {
            return;
        };
        let (_, code, value) = upload.messages[*index];
        let briefs = &book.clients[client].briefs;
        let answer = briefs[*seen..].iter().find(|brief| brief.to == code && brief.value == value);
        match answer {
            Some(brief) => {
                // A refusal ends the upload; whether it was to come the expectations say.
                *index = if brief.status == 0 { *index + 1 } else { upload.messages.len() };
                *tries = 0;
                *seen = briefs.len();
            }
            None if now_us < *sent_us + RETRY_US => return,
            None if *tries >= TRIES_MAX => {
                let seen = format!("none after {TRIES_MAX} tries");
                acts.push(Act::Fail(Stuck { step, expected: ACKS.to_owned(), seen }));
                *index = upload.messages.len();
            }
            None => {}
        }
        if *index == upload.messages.len() {
            self.progress[step] = Progress::Over(now_us);
            return;
        }
        *tries += 1;
        *sent_us = now_us;
        let bytes = upload.messages[*index].0.clone();
        acts.push(Act::Send { client, bytes, step: Some(step) });
    }
}

/// What a step waited for, and what there is instead.
fn waited_for(step: &StepPlan, when: &Condition, book: &Book) -> (String, String) {
    let expected = format!("{} before the step \"{}\"", words::condition(when), step.words);
    (expected, judge::look(when, book).1.to_string())
}

fn act(step: &StepPlan, index: usize) -> Option<Act> {
    match &step.deed {
        Deed::Wait | Deed::Upload(_) => None,
        Deed::Connect => Some(Act::Connect(step.client)),
        Deed::Close => Some(Act::Close(step.client)),
        Deed::Send(bytes) => Some(Act::Send { client: step.client, bytes: bytes.clone(), step: Some(index) }),
    }
}
