//! A seed → a story: how the arm starts, who is connected, what they do, what goes wrong.

use std::collections::BTreeMap;

use super::messages::{self, Deed, within};
use crate::atom::fault::entry::{Entry, ParameterKind};
use crate::atom::fault::{Scope, Value, catalogue};
use crate::atom::{Options, Transport};
use crate::hardware::{HardwareOptions, Object, ObjectSize, READY_DEG};
use crate::link::Profile;
use crate::link::random::Random;

/// Clients of a story.
pub const CLIENTS: usize = 4;
/// Clients and faults act in this time (µs); then all becomes quiet.
pub const BUSY_US: u64 = 8_000_000;
/// A story's length (µs).
pub const STORY_US: u64 = 20_000_000;
/// Random streams of stories lie above all others.
const FORK: u64 = 1 << 42;

/// One thing that happens.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A client sends.
    Client(usize, Deed),
    /// A WebSocket closes, and opens again after 100 ms.
    Reconnect(usize),
    /// Something goes wrong.
    Fault {
        /// Its name.
        name: &'static str,
        /// Its parameters.
        values: BTreeMap<String, Value>,
        /// How long (µs).
        for_us: u64,
    },
}

/// One thing that happens, and when (µs).
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When (µs).
    pub t_us: u64,
    /// What.
    pub what: What,
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} s  ", self.t_us as f64 * 1e-6)?;
        match &self.what {
            What::Client(client, deed) => write!(f, "{}: {}", client_name(*client), deed.words),
            What::Reconnect(client) => write!(f, "{} closes and comes back", client_name(*client)),
            What::Fault { name, values, for_us } => {
                write!(f, "fault {name} {values:?} for {:.3} s", *for_us as f64 * 1e-6)
            }
        }
    }
}

/// A story.
#[derive(Debug, Clone)]
pub struct Story {
    /// Its seed.
    pub seed: u64,
    /// How the ATOM starts.
    pub options: Options,
    /// What happens, in order.
    pub events: Vec<Event>,
}

/// Name of a client.
pub fn client_name(client: usize) -> String {
    format!("client {client}")
}

/// Two clients over WebSocket, two over UDP.
pub fn transport(client: usize) -> Transport {
    if client < CLIENTS / 2 { Transport::WebSocket } else { Transport::Udp }
}

/// The story of a seed.
pub fn story(seed: u64) -> Story {
    let mut random = Random::new(seed, FORK);
    let options = options(seed, &mut random);
    let mut events = Vec::new();
    for _ in 0..random.between(4, 24) {
        let t_us = random.below(BUSY_US);
        let client = random.below(CLIENTS as u64) as usize;
        let what = if transport(client) == Transport::WebSocket && random.chance(0.05) {
            What::Reconnect(client)
        } else {
            What::Client(client, messages::deed(&mut random))
        };
        events.push(Event { t_us, what });
    }
    for _ in 0..random.below(4) {
        events.push(fault(&mut random));
    }
    events.sort_by_key(|event| event.t_us);
    Story { seed, options, events }
}

fn options(seed: u64, random: &mut Random) -> Options {
    let mut pose_deg = READY_DEG;
    if random.chance(0.5) {
        for deg in &mut pose_deg[..6] {
            *deg += within(random, -40.0, 40.0);
        }
    }
    let object = random.chance(0.3).then(|| Object::of(ObjectSize::AngleDeg(-35.0)));
    let wifi = match random.below(10) {
        0..=6 => Profile::Ideal,
        7 | 8 => Profile::Lab,
        _ => Profile::Hotspot,
    };
    Options {
        hardware: HardwareOptions {
            seed,
            pose_deg,
            gripper: random.chance(0.8),
            object,
            ..HardwareOptions::default()
        },
        wifi,
        boot: random.chance(0.1),
        ..Options::default()
    }
}

fn fault(random: &mut Random) -> Event {
    let all: Vec<&Entry> = catalogue::all().collect();
    let entry = all[random.below(all.len() as u64) as usize];
    let mut values = BTreeMap::new();
    for parameter in entry.parameters {
        let value = match (parameter.kind, parameter.default) {
            (ParameterKind::Number { .. }, Some(default)) if random.chance(0.7) => Value::Number(default),
            (ParameterKind::Number { min, max, integer, .. }, _) => {
                let number = within(random, min, max);
                Value::Number(if integer { libm::round(number) } else { number })
            }
            (ParameterKind::Numbers { count, min, max, .. }, _) => {
                Value::Numbers((0..count).map(|_| within(random, min, max) / 4.0).collect())
            }
            (ParameterKind::Client, _) => Value::Text(client_name(random.below(CLIENTS as u64) as usize)),
            (ParameterKind::Direction, _) => {
                Value::Text(if random.chance(0.5) { "to-atom" } else { "from-atom" }.to_owned())
            }
        };
        values.insert(parameter.name.to_owned(), value);
    }
    let what = What::Fault { name: entry.name, values, for_us: random.between(20_000, 2_000_000) };
    Event { t_us: random.below(BUSY_US), what }
}

/// The scope of a story's fault.
pub(super) fn scope(for_us: u64) -> Scope {
    Scope { for_us: Some(for_us), ..Scope::NOW }
}
