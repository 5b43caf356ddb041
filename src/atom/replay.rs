//! PLAY and PLAY_SIGNAL as a recording has them: stands in for the control side during those runs.
//!
//! The network side checks the requests as ever. Then the recording's telemetry goes out at its own times, whatever
//! plan or signal was asked for, and the joints are shown as the recording has them. The simulated arm meanwhile holds
//! its pose: after the run the joints are shown where they are.

use std::sync::Arc;

use firmware_core::platform::ClientId;
use firmware_core::protocol::codes;
use firmware_core::protocol::layout::Layout;
use firmware_core::protocol::reply::{Ack, Done};
use firmware_core::protocol::telemetry::Sample;
use firmware_core::shared::{Posted, Request, Shared, State, View};
use firmware_core::telemetry_ring::TelemetrySample;

/// The telemetry that PLAY and PLAY_SIGNAL play: samples of one run, their times rising.
pub type Recording = Arc<[Sample]>;

/// A run of the recording.
#[derive(Debug)]
struct Run {
    client: ClientId,
    /// When it began (µs since power-up).
    begun_us: u64,
    next: usize,
    dropped: u32,
    longest_us: u32,
    /// What was shown before.
    before: View,
}

/// The stand-in.
#[derive(Debug)]
pub(super) struct Replay {
    recording: Option<Recording>,
    run: Option<Run>,
}

impl Replay {
    pub(super) fn new(recording: Option<Recording>) -> Self {
        Self { recording: recording.filter(|samples| !samples.is_empty()), run: None }
    }

    /// Forgets a run that is on: the ATOM lost power.
    pub(super) fn reset(&mut self) {
        self.run = None;
    }

    /// Takes the control side's place at `now_us` (since power-up) if a run of the recording is on or asked for.
    /// Gives the time of the next step (µs), `None` when the control side is to step itself.
    pub(super) fn step(&mut self, now_us: u64, shared: &mut Shared) -> Option<u64> {
        let recording = Arc::clone(self.recording.as_ref()?);
        if self.run.is_none() {
            self.run = Some(begin(now_us, shared)?);
        }
        let run = self.run.as_mut()?;
        let result = loop {
            if shared.stop {
                break 2;
            }
            let Some(sample) = recording.get(run.next) else { break 0 };
            let due_us = run.begun_us + u64::from(sample.t_us);
            if due_us > now_us {
                return Some(due_us);
            }
            run.send(now_us, &recording, shared);
        };
        run.end(result, now_us, shared);
        self.run = None;
        Some(now_us)
    }
}

fn begin(now_us: u64, shared: &mut Shared) -> Option<Run> {
    let (client, code) = match shared.request.as_ref()? {
        Request::Play { client, .. } => (*client, codes::PLAY),
        Request::PlaySignal { client, .. } => (*client, codes::PLAY_SIGNAL),
        Request::Hold(_)
        | Request::MoveTo { .. }
        | Request::Stream(_)
        | Request::RegisterRead { .. }
        | Request::RegisterWrite { .. }
        | Request::OtaBegin
        | Request::OtaFailed => return None,
    };
    shared.request = None;
    shared.doorbell = false;
    let before = *shared.view.latest();
    let view = View { state: State::Playing, working: false, progress_permille: 0, ..before };
    shared.view.show(view);
    post(&Ack { code, status: codes::OK, value: 0 }, client, now_us, false, shared);
    Some(Run { client, begun_us: now_us, next: 0, dropped: 0, longest_us: 0, before })
}

fn post(message: &impl Layout, to: ClientId, at_us: u64, ends_run: bool, shared: &mut Shared) {
    shared.post(Posted { at_us, to, message: message.clone().encode(), ends_run });
}

impl Run {
    /// Sends the next sample.
    fn send(&mut self, now_us: u64, recording: &[Sample], shared: &mut Shared) {
        let sample = &recording[self.next];
        let since_us =
            self.next.checked_sub(1).map_or(0, |last| sample.t_us.saturating_sub(recording[last].t_us));
        self.longest_us = self.longest_us.max(since_us);
        self.next += 1;
        let made = TelemetrySample { at_us: now_us, client: self.client, sent: true, sample: *sample };
        let taken = shared.telemetry.push(&made);
        self.dropped += u32::from(!taken);
        let mut view = *shared.view.latest();
        for joint in 0..sample.n.min(usize::from(view.n)) {
            view.joints.position[joint] = sample.position[joint];
            view.joints.goal[joint] = sample.cmd[joint];
            view.joints.speed[joint] = sample.speed[joint];
            view.joints.load[joint] = sample.load[joint];
        }
        view.joints.ok = sample.ok;
        view.read_at_us = now_us;
        view.progress_permille = (1000 * self.next / recording.len()) as u16;
        shared.view.show(view);
    }

    fn end(&self, result: u8, now_us: u64, shared: &mut Shared) {
        shared.view.show(View { read_at_us: now_us, ..self.before });
        let done = Done {
            result,
            cycles: self.next as u32,
            longest_period_us: self.longest_us,
            telemetry_dropped: self.dropped,
            ..Done::default()
        };
        post(&done, self.client, now_us, true, shared);
    }
}
