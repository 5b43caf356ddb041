//! Waits in virtual time. They block nobody: the simulation looks at them once per network tick.

use tokio::sync::oneshot;

use super::condition::Condition;
use super::error::{ApiError, Code};
use super::order::Owner;
use super::replies::Reply;

/// Waits at once.
const WAITS_MAX: usize = 64;
/// Virtual time between two looks at the conditions (µs): one network tick.
const LOOK_US: u64 = 1_000;

/// What a wait waits for.
#[derive(Debug)]
pub(super) enum Until {
    /// Its end.
    Time,
    /// A condition.
    Condition(Condition),
}

/// One wait.
#[derive(Debug)]
pub(super) struct Wait {
    pub(super) until: Until,
    /// Its end (virtual µs).
    pub(super) end_us: u64,
    /// It lets time go on while time is paused.
    pub(super) drives: bool,
    pub(super) owner: Owner,
    pub(super) reply: oneshot::Sender<Result<Reply, ApiError>>,
}

/// All waits.
#[derive(Debug, Default)]
pub(super) struct Waits(Vec<Wait>);

impl Waits {
    pub(super) fn add(&mut self, wait: Wait) {
        self.forget_those_left();
        if self.0.len() >= WAITS_MAX {
            let error = ApiError::new(
                Code::TooMany,
                format!("{WAITS_MAX} waits are on already; let one of them end first"),
            );
            let _ = wait.reply.send(Err(error));
            return;
        }
        self.0.push(wait);
    }

    /// Time must go on for a wait although it is paused.
    pub(super) fn drive(&mut self) -> bool {
        self.forget_those_left();
        self.0.iter().any(|wait| wait.drives)
    }

    /// When to look at them next (virtual µs), after `now_us`.
    pub(super) fn next_look_us(&self, now_us: u64) -> Option<u64> {
        let tick_us = (now_us / LOOK_US + 1) * LOOK_US;
        let look_us = |wait: &Wait| match wait.until {
            Until::Time => wait.end_us,
            Until::Condition(_) => wait.end_us.min(tick_us),
        };
        self.0.iter().map(look_us).min()
    }

    /// A condition must be judged at a look.
    pub(super) fn need_truth(&self) -> bool {
        self.0.iter().any(|wait| matches!(wait.until, Until::Condition(_)))
    }

    /// Ends the waits that are over at `now_us`. `holds` judges a condition, `answer` is what a wait that came to
    /// its end gets.
    pub(super) fn look(
        &mut self,
        now_us: u64,
        holds: impl Fn(&Condition) -> bool,
        answer: impl Fn() -> Reply,
    ) {
        for wait in std::mem::take(&mut self.0) {
            let result = match &wait.until {
                Until::Time if now_us >= wait.end_us => Ok(answer()),
                Until::Condition(condition) if holds(condition) => Ok(answer()),
                Until::Condition(condition) if now_us >= wait.end_us => Err(timed_out(condition, now_us)),
                Until::Time | Until::Condition(_) => {
                    self.0.push(wait);
                    continue;
                }
            };
            // A client that left wants no answer.
            let _ = wait.reply.send(result);
        }
    }

    /// Ends the waits of an owner, or all.
    pub(super) fn interrupt(&mut self, owner: Option<Owner>, why: &str) {
        let (over, on) = std::mem::take(&mut self.0)
            .into_iter()
            .partition::<Vec<Wait>, _>(|wait| owner.is_none_or(|owner| wait.owner == owner));
        self.0 = on;
        for wait in over {
            let _ = wait.reply.send(Err(ApiError::new(Code::Interrupted, why)));
        }
    }

    fn forget_those_left(&mut self) {
        self.0.retain(|wait| !wait.reply.is_closed());
    }
}

fn timed_out(condition: &Condition, now_us: u64) -> ApiError {
    let condition = serde_json::to_string(condition).unwrap_or_default();
    ApiError::new(
        Code::WaitTimeout,
        format!(
            "{condition} did not become true by {:.3} s; GET /api/truth shows what is, timeout_s gives it longer",
            now_us as f64 / 1e6
        ),
    )
}
