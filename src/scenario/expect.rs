//! Expectations while they count: each is watched in its window and settled once.

use super::book::Book;
use super::judge;
use super::plan::{ExpectPlan, Window};
use super::words;

/// Where an expectation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Open,
    Settled,
}

/// What was not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// Index of the expectation.
    pub index: usize,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// When (µs).
    pub t_us: u64,
}

/// All expectations of a run.
#[derive(Debug)]
pub struct Watch {
    windows: Vec<Option<Window>>,
    standing: Vec<Standing>,
}

impl Watch {
    /// Those without a step to count from have their windows at once.
    pub fn new(expects: &[ExpectPlan]) -> Self {
        let window = |expect: &ExpectPlan| expect.after.is_none().then_some(expect.window);
        Self { windows: expects.iter().map(window).collect(), standing: vec![Standing::Open; expects.len()] }
    }

    /// A step began: windows that count from it are known.
    pub fn step_began(&mut self, expects: &[ExpectPlan], step: usize, now_us: u64) {
        for (window, expect) in self.windows.iter_mut().zip(expects) {
            if expect.after == Some(step) && window.is_none() {
                *window = Some(expect.window.later(now_us));
            }
        }
    }

    /// When the next window begins or ends after `now_us` (µs).
    pub fn next_edge_us(&self, now_us: u64) -> u64 {
        let open =
            self.windows.iter().zip(&self.standing).filter(|(_, standing)| **standing == Standing::Open);
        let edges = open.filter_map(|(window, _)| *window).flat_map(|window| {
            let (from_us, to_us) = window.range_us();
            [from_us, to_us]
        });
        edges.filter(|edge_us| *edge_us > now_us).min().unwrap_or(u64::MAX)
    }

    /// Looks at every open expectation whose window has begun.
    pub fn look(&mut self, expects: &[ExpectPlan], book: &Book) -> Vec<Miss> {
        let now_us = book.now_us();
        let mut misses = Vec::new();
        for (index, expect) in expects.iter().enumerate() {
            let (Standing::Open, Some(window)) = (self.standing[index], self.windows[index]) else {
                continue;
            };
            let (from_us, to_us) = window.range_us();
            if now_us < from_us {
                continue;
            }
            let wanted = match window {
                Window::Never(..) => false,
                Window::At(_) | Window::Within(..) | Window::Always(..) => true,
            };
            let settles_good = match window {
                Window::At(_) | Window::Within(..) => true,
                Window::Always(..) | Window::Never(..) => false,
            };
            let late = now_us > to_us;
            // Past the end nothing counts any more, unless no look fell into the window.
            let good = if late && from_us != to_us {
                !settles_good
            } else {
                judge::holds(&expect.that, book) == wanted
            };
            if good {
                if settles_good || now_us >= to_us {
                    self.standing[index] = Standing::Settled;
                }
                continue;
            }
            let wrong_now = !settles_good || matches!(window, Window::At(_));
            if wrong_now || now_us >= to_us {
                self.standing[index] = Standing::Settled;
                misses.push(miss(index, expect, window, book));
            }
        }
        misses
    }

    /// The run is over: what is still open was never settled.
    pub fn finish(&mut self, expects: &[ExpectPlan], book: &Book) -> Vec<Miss> {
        let mut misses = Vec::new();
        for (index, expect) in expects.iter().enumerate() {
            if self.standing[index] == Standing::Settled {
                continue;
            }
            self.standing[index] = Standing::Settled;
            match self.windows[index] {
                // What was not seen to the end was not seen: its window counts from a step that came late.
                Some(window @ (Window::Always(..) | Window::Never(..))) => misses.push(Miss {
                    seen: "the scenario ended before that".to_owned(),
                    ..miss(index, expect, window, book)
                }),
                Some(window @ (Window::At(_) | Window::Within(..))) => {
                    misses.push(miss(index, expect, window, book));
                }
                None => misses.push(Miss {
                    index,
                    expected: format!("{}, after a step", words::condition(&expect.that)),
                    seen: "the step never began".to_owned(),
                    t_us: book.now_us(),
                }),
            }
        }
        misses
    }
}

fn miss(index: usize, expect: &ExpectPlan, window: Window, book: &Book) -> Miss {
    Miss {
        index,
        expected: format!("{}, {}", words::condition(&expect.that), words::window(window)),
        seen: judge::look(&expect.that, book).1.to_string(),
        t_us: book.now_us(),
    }
}
