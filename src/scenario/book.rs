//! What the runner has seen: replies of every client, the last status line, past goals and poses.

use std::collections::{BTreeMap, VecDeque};

use firmware_core::joints::JOINTS;
use firmware_core::protocol::codes;
use firmware_core::protocol::reply::{Done, Reply};
use firmware_core::protocol::stream::Stream;

use super::condition::ReplyName;
use crate::atom::{ClientId, Truth};

/// Replies of one client that are kept, STREAM and TELEM aside. What comes beyond is only counted.
const BRIEFS_MAX: usize = 200_000;
/// Goals are kept this long, for speeds and accelerations (µs).
pub const GOAL_WINDOW_US: u64 = 50_000;

/// One reply in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brief {
    /// When it came (µs).
    pub t_us: u64,
    /// What it is.
    pub name: ReplyName,
    /// ACK: the request's code.
    pub to: u8,
    /// ACK and register replies: status.
    pub status: i8,
    /// ACK: value.
    pub value: u32,
    /// DONE: all of it.
    pub done: Done,
}

/// Telemetry of one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TelemetryLog {
    /// Samples that came.
    pub samples: u64,
    /// Samples missing between the first and the last.
    pub missing: u64,
    /// Joints of the last sample.
    pub n: usize,
    next: Option<u32>,
}

/// What one client saw.
#[derive(Debug, Clone, Default)]
pub struct ClientLog {
    /// Who it is, while it is connected.
    pub id: Option<ClientId>,
    /// Its replies.
    pub briefs: Vec<Brief>,
    /// Times of STREAM packets (µs).
    pub stream_us: Vec<u64>,
    /// The last STREAM packet.
    pub stream: Option<Stream>,
    /// Telemetry.
    pub telemetry: TelemetryLog,
    /// Messages that are no reply.
    pub undecodable: u64,
}

impl ClientLog {
    /// Takes a message. `Some`: something worth a line in a report.
    pub fn take(&mut self, t_us: u64, bytes: &[u8]) -> Option<Brief> {
        let brief = |name| Brief { t_us, name, to: 0, status: 0, value: 0, done: Done::default() };
        let brief = match Reply::decode(bytes) {
            Err(_) => {
                self.undecodable += 1;
                return None;
            }
            Ok(Reply::Stream(stream)) => {
                self.stream_us.push(t_us);
                self.stream = Some(stream);
                return None;
            }
            Ok(Reply::Telemetry(packet)) => {
                self.take_telemetry(packet.first_sequence, packet.samples.len(), packet.samples[0].n);
                return None;
            }
            Ok(Reply::Pong(_)) => brief(ReplyName::Pong),
            Ok(Reply::State(_)) => brief(ReplyName::State),
            Ok(Reply::Ack(ack)) => {
                Brief { to: ack.code, status: ack.status, value: ack.value, ..brief(ReplyName::Ack) }
            }
            Ok(Reply::Done(done)) => {
                // Another client's run may count samples that are not sent here.
                self.telemetry.next = None;
                Brief { done, ..brief(ReplyName::Done) }
            }
            Ok(Reply::RegisterValues(values)) => {
                Brief { to: codes::REG_READ, status: values.status, ..brief(ReplyName::Register) }
            }
            Ok(Reply::RegisterWritten(written)) => {
                Brief { to: codes::REG_WRITE, status: written.status, ..brief(ReplyName::Written) }
            }
        };
        if self.briefs.len() < BRIEFS_MAX {
            self.briefs.push(brief);
        }
        Some(brief)
    }

    fn take_telemetry(&mut self, first: u32, count: usize, n: usize) {
        let log = &mut self.telemetry;
        if let Some(next) = log.next {
            // A number behind the expected one is a duplicate or came late: nothing is missing for it.
            log.missing +=
                u64::from(first.wrapping_sub(next)).min(u64::from(u32::MAX / 2)) * u64::from(first > next);
        }
        log.samples += count as u64;
        log.n = n;
        let after = first.wrapping_add(count as u32);
        log.next = Some(log.next.map_or(after, |next| next.max(after)));
    }
}

/// Goals and true angles at a moment (°).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoseAt {
    /// Goals.
    pub goal_deg: [f64; JOINTS],
    /// True angles.
    pub angle_deg: [f64; JOINTS],
    /// Joints in use.
    pub n: u8,
}

/// When a labelled step was carried out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepLog {
    /// Index of its client.
    pub client: usize,
    /// It began (µs): its wait was over.
    pub began_us: Option<u64>,
    /// Code of its message.
    pub code: u8,
}

/// Everything the runner has seen.
#[derive(Debug)]
pub struct Book {
    /// Start of the scenario in the ATOM's time (µs). All other times count from here.
    pub start_us: u64,
    /// Ground truth at the last look.
    pub truth: Truth,
    /// Clients, in the order of the file.
    pub clients: Vec<ClientLog>,
    /// Their names.
    pub names: Vec<String>,
    /// The last status log line.
    pub status_line: String,
    /// Labelled steps.
    pub steps: BTreeMap<String, StepLog>,
    /// Poses at the times that conditions compare with (µs).
    pub poses: BTreeMap<u64, Option<PoseAt>>,
    /// Registers that conditions ask for: joint index, address.
    pub registers: BTreeMap<(usize, u8), u8>,
    goals: VecDeque<(u64, [f64; JOINTS])>,
}

impl Book {
    /// An empty book at the start.
    pub fn new(start_us: u64, truth: Truth, names: Vec<String>) -> Self {
        Self {
            start_us,
            truth,
            clients: vec![ClientLog::default(); names.len()],
            names,
            status_line: String::new(),
            steps: BTreeMap::new(),
            poses: BTreeMap::new(),
            registers: BTreeMap::new(),
            goals: VecDeque::new(),
        }
    }

    /// Time of the last look, from the start (µs).
    pub fn now_us(&self) -> u64 {
        self.truth.t_us - self.start_us
    }

    /// A look at the ATOM.
    pub fn look(&mut self, truth: Truth) {
        self.truth = truth;
        let now_us = self.now_us();
        self.goals.push_back((now_us, truth.goal_deg));
        while self.goals.get(1).is_some_and(|(t_us, _)| t_us + 2 * GOAL_WINDOW_US <= now_us) {
            self.goals.pop_front();
        }
        for (_, pose) in self.poses.range_mut(..=now_us).filter(|(_, pose)| pose.is_none()) {
            *pose = Some(PoseAt { goal_deg: truth.goal_deg, angle_deg: truth.angle_deg, n: truth.n });
        }
    }

    /// The client of a name.
    pub fn client(&self, name: &str) -> Option<&ClientLog> {
        self.names.iter().position(|known| known == name).map(|index| &self.clients[index])
    }

    /// Speed of a joint's goal, absolute value (°/s), over the last window.
    pub fn goal_speed_dps(&self, joint: usize) -> f64 {
        let (now_us, old_us) = (self.now_us(), self.now_us().saturating_sub(GOAL_WINDOW_US));
        let (then_us, then_deg) = self.goal_at(old_us, joint);
        let dt_s = (now_us - then_us) as f64 * 1e-6;
        if dt_s > 0.0 { (self.truth.goal_deg[joint] - then_deg).abs() / dt_s } else { 0.0 }
    }

    /// Change of the speed of a joint's goal, absolute value (°/s²), between the last two windows.
    pub fn goal_accel_dps2(&self, joint: usize) -> f64 {
        let now_us = self.now_us();
        let (mid_us, mid_deg) = self.goal_at(now_us.saturating_sub(GOAL_WINDOW_US), joint);
        let (old_us, old_deg) = self.goal_at(now_us.saturating_sub(2 * GOAL_WINDOW_US), joint);
        let (late_s, early_s) = ((now_us - mid_us) as f64 * 1e-6, (mid_us - old_us) as f64 * 1e-6);
        if late_s <= 0.0 || early_s <= 0.0 {
            return 0.0;
        }
        let change = (self.truth.goal_deg[joint] - mid_deg) / late_s - (mid_deg - old_deg) / early_s;
        change.abs() / f64::midpoint(late_s, early_s)
    }

    fn goal_at(&self, t_us: u64, joint: usize) -> (u64, f64) {
        let after = self.goals.partition_point(|(at_us, _)| *at_us <= t_us);
        let index = after.saturating_sub(1);
        self.goals
            .get(index)
            .map_or((self.now_us(), self.truth.goal_deg[joint]), |(at_us, goal)| (*at_us, goal[joint]))
    }
}
