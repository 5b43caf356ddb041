//! Uploads a plan over a link that loses, doubles and delays: which message to send when, without a socket or a
//! clock.

use firmware_core::protocol::codes;
use firmware_core::protocol::reply::Ack;

use super::plan::{Messages, Plan};

/// A message without an ACK is sent again after this long (µs).
pub(crate) const RETRY_US: u64 = 200_000;
/// Tries of one message before the upload fails.
pub(crate) const TRIES_MAX: u32 = 30;
/// PLAN_DATA on their way at once.
const WINDOW: usize = 4;
/// A late double of PLAN_BEGIN begins the plan again; the upload then starts over, at most this often.
const STARTS_MAX: u32 = 5;

/// Why an upload fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// No ACK came.
    #[error("no answer to {tries} tries of a part of the plan; is the ATOM still there?")]
    NoAnswer {
        /// Tries of the message.
        tries: u32,
    },
    /// Another client has control.
    #[error("another client has control; wait until it ends, or take over with --take-over")]
    NoControl,
    /// The plan's shape is impossible.
    #[error(
        "the ATOM refuses the plan's shape; expected at least 2 samples, a rate above 0 and 6 or 7 joints"
    )]
    Shape,
    /// Not enough memory.
    #[error(
        "the plan does not fit into the ATOM's memory; play a part of it, or a plan with fewer samples per second"
    )]
    NoMemory,
    /// Refused otherwise, again and again.
    #[error("the ATOM refuses the upload (status {status}); is a plan playing, or another client uploading?")]
    Refused {
        /// The status.
        status: i8,
    },
}

/// A message and how its delivery stands.
#[derive(Debug, Clone)]
struct Item {
    bytes: Vec<u8>,
    code: u8,
    value: u32,
    tries: u32,
    sent_us: u64,
    done: bool,
}

impl Item {
    fn new(bytes: Vec<u8>, code: u8, value: u32) -> Self {
        Self { bytes, code, value, tries: 0, sent_us: 0, done: false }
    }
}

/// One upload.
#[derive(Debug, Clone)]
pub struct Upload {
    items: Vec<Item>,
    starts: u32,
}

impl Upload {
    /// The upload of a plan.
    pub fn new(plan: &Plan) -> Self {
        let Messages { begin, data, end } = plan.messages();
        let mut items = vec![Item::new(begin, codes::PLAN_BEGIN, 0)];
        items.extend(data.into_iter().map(|(offset, bytes)| Item::new(bytes, codes::PLAN_DATA, offset)));
        items.push(Item::new(end, codes::PLAN_END, 0));
        Self { items, starts: 1 }
    }

    /// Every part has arrived and the plan is valid.
    pub fn is_done(&self) -> bool {
        self.items.iter().all(|item| item.done)
    }

    /// Messages acknowledged, and all of them.
    pub fn progress(&self) -> (usize, usize) {
        (self.items.iter().filter(|item| item.done).count(), self.items.len())
    }

    /// The next message to send at `now_us`, `None` when nothing is due.
    ///
    /// # Errors
    /// [`UploadError::NoAnswer`] after 30 tries of one message.
    pub fn poll(&mut self, now_us: u64) -> Result<Option<&[u8]>, UploadError> {
        for index in self.window() {
            let item = &mut self.items[index];
            if item.tries > 0 && now_us < item.sent_us + RETRY_US {
                continue;
            }
            if item.tries == TRIES_MAX {
                return Err(UploadError::NoAnswer { tries: TRIES_MAX });
            }
            item.tries += 1;
            item.sent_us = now_us;
            return Ok(Some(&self.items[index].bytes));
        }
        Ok(None)
    }

    /// When [`Upload::poll`] has something to send next (µs); `u64::MAX` when done.
    pub fn next_due_us(&self) -> u64 {
        let due_us = |index: usize| {
            let item = &self.items[index];
            if item.tries == 0 { 0 } else { item.sent_us + RETRY_US }
        };
        self.window().into_iter().map(due_us).min().unwrap_or(u64::MAX)
    }

    /// Takes an ACK; one that belongs to something else changes nothing.
    ///
    /// # Errors
    /// A refusal that sending again does not mend.
    pub fn take(&mut self, ack: &Ack) -> Result<(), UploadError> {
        let matches = |item: &Item| item.code == ack.code && item.value == ack.value && item.tries > 0;
        let Some(index) = self.items.iter().position(matches) else { return Ok(()) };
        match (ack.status, ack.code) {
            (codes::OK, _) => {
                self.items[index].done = true;
                Ok(())
            }
            (codes::PLAN_SHAPE, codes::PLAN_BEGIN) if self.items[0].done => Ok(()),
            (codes::NO_CONTROL, codes::PLAN_DATA | codes::PLAN_END) => Err(UploadError::NoControl),
            // The same number says "no control" and "impossible shape"; a shape that this side can check is known.
            (codes::PLAN_SHAPE, codes::PLAN_BEGIN) if self.shape_is_possible() => Err(UploadError::NoControl),
            (codes::PLAN_SHAPE, codes::PLAN_BEGIN) => Err(UploadError::Shape),
            (codes::NO_MEMORY, codes::PLAN_BEGIN) => Err(UploadError::NoMemory),
            // The answer to a double of a message that was taken.
            _ if self.items[index].done && ack.code != codes::PLAN_DATA => Ok(()),
            (status, _) => self.start_over(status),
        }
    }

    fn shape_is_possible(&self) -> bool {
        let begin = &self.items[0].bytes;
        let samples = u32::from_le_bytes([begin[1], begin[2], begin[3], begin[4]]);
        samples >= 2 && (begin[5], begin[6]) != (0, 0) && (6..=7).contains(&begin[8])
    }

    fn start_over(&mut self, status: i8) -> Result<(), UploadError> {
        if self.starts == STARTS_MAX {
            return Err(UploadError::Refused { status });
        }
        self.starts += 1;
        for item in &mut self.items {
            (item.tries, item.done) = (0, false);
        }
        Ok(())
    }

    /// Messages that may be on their way now: PLAN_BEGIN alone, then a few PLAN_DATA, then PLAN_END alone.
    fn window(&self) -> Vec<usize> {
        let last = self.items.len() - 1;
        let Some(first) = self.items.iter().position(|item| !item.done) else { return Vec::new() };
        if first == 0 || first == last {
            return vec![first];
        }
        (first..last).filter(|&index| !self.items[index].done).take(WINDOW).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Sample;
    use super::*;

    fn upload(samples: usize) -> Upload {
        let samples = vec![Sample::default(); samples];
        Upload::new(&Plan { rate_hz: 250, joints: 6, cubic: false, samples })
    }

    fn ack(code: u8, status: i8, value: u32) -> Ack {
        Ack { code, status, value }
    }

    fn sent(upload: &mut Upload, now_us: u64) -> Vec<u8> {
        let mut sent = Vec::new();
        while let Some(bytes) = upload.poll(now_us).expect("tries are left") {
            sent.push(bytes[0]);
        }
        sent
    }

    #[test]
    fn begin_goes_alone_then_a_window_of_data_then_end_alone() {
        let mut upload = upload(300);
        assert_eq!(sent(&mut upload, 0), [4]);
        assert!(sent(&mut upload, 199_999).is_empty());
        upload.take(&ack(4, 0, 0)).expect("taken");
        assert_eq!(sent(&mut upload, 200_000), [5; 4]);
        for offset in [150, 0, 50, 100, 200, 250] {
            upload.take(&ack(5, 0, offset)).expect("taken");
            sent(&mut upload, 200_000);
        }
        assert_eq!(upload.progress(), (7, 8));
        assert!(!upload.is_done());
        upload.take(&ack(6, 0, 0)).expect("taken");
        assert!(upload.is_done());
        assert_eq!(upload.next_due_us(), u64::MAX);
    }

    #[test]
    fn a_message_without_ack_is_sent_again_30_times_in_all() {
        let mut upload = upload(10);
        for k in 0..30 {
            assert_eq!(sent(&mut upload, k * RETRY_US), [4]);
        }
        assert_eq!(upload.poll(30 * RETRY_US), Err(UploadError::NoAnswer { tries: 30 }));
    }

    #[test]
    fn a_plan_that_was_begun_again_by_a_late_double_is_sent_from_the_start() {
        let mut upload = upload(10);
        sent(&mut upload, 0);
        upload.take(&ack(4, 0, 0)).expect("taken");
        sent(&mut upload, 0);
        upload.take(&ack(5, 0, 0)).expect("taken");
        assert_eq!(sent(&mut upload, 0), [6]);
        upload.take(&ack(6, -1, 0)).expect("it starts over");
        assert_eq!(sent(&mut upload, 1), [4]);
    }

    #[test]
    fn refusals_that_do_not_mend_end_it() {
        let begun = || {
            let mut upload = upload(10);
            sent(&mut upload, 0);
            upload
        };
        assert_eq!(begun().take(&ack(4, -3, 0)), Err(UploadError::NoMemory));
        assert_eq!(begun().take(&ack(4, -2, 0)), Err(UploadError::NoControl));
        let mut one = upload(1);
        sent(&mut one, 0);
        assert_eq!(one.take(&ack(4, -2, 0)), Err(UploadError::Shape));
        assert_eq!(begun().take(&ack(7, -3, 0)), Ok(()));
    }
}
