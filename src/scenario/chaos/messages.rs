//! Random messages of a client: mostly sensible, sometimes at a limit, sometimes nonsense.

use firmware_core::joints::{ARM_JOINTS, JOINTS, TABLE};
use firmware_core::protocol::codes;
use firmware_core::protocol::request::build;
use firmware_core::shared::PlayParams;

use crate::link::random::Random;
use crate::scenario::action::signal_bytes;
use crate::scenario::format::{PlanUpload, PlaySignal, SignalName};
use crate::scenario::upload::Upload;

/// What one client does at one time: messages, each so long after the first (µs).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// What it is, in words.
    pub words: String,
    /// The messages.
    pub sends: Vec<(u64, Vec<u8>)>,
}

impl Deed {
    fn one(words: &str, bytes: &[u8]) -> Self {
        Self { words: words.to_owned(), sends: vec![(0, bytes.to_vec())] }
    }
}

/// Uniform in `low`…`high`.
pub(super) fn within(random: &mut Random, low: f64, high: f64) -> f64 {
    low + random.unit() * (high - low)
}

/// Something a client does.
pub fn deed(random: &mut Random) -> Deed {
    match random.below(17) {
        0 | 1 => move_to(random),
        2 | 3 => {
            let dps: Vec<f32> = (0..joints(random)).map(|_| within(random, -40.0, 40.0) as f32).collect();
            burst(random, "JOG", &build::jog(&dps))
        }
        4 | 5 => {
            let vmax_dps = within(random, 1.0, 100.0) as f32;
            let goal = goal_deg(random);
            burst(random, "TRACK", &build::track(&goal, vmax_dps))
        }
        6 | 7 => jog_tcp(random),
        8 => Deed::one("HOLD", &build::plain(codes::HOLD)),
        9 => Deed::one("STOP", &build::plain(codes::STOP)),
        10 => Deed::one("CONTROL", &build::control(random.below(3) as u8)),
        11 => Deed::one("STATE", &build::plain(codes::STATE)),
        12 => Deed::one("SUBSCRIBE", &build::subscribe(random.below(120) as u16)),
        13 => Deed::one("REG_READ", &build::reg_read(1 + random.below(7) as u8, random.below(80) as u8, 2)),
        14 => Deed::one(
            "REG_WRITE",
            &build::reg_write(1 + random.below(6) as u8, 21, &[20 + random.below(30) as u8]),
        ),
        15 => plan(random),
        _ => {
            if random.chance(0.5) {
                signal(random)
            } else {
                let length = random.below(48);
                let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
                Deed::one("random bytes", &bytes)
            }
        }
    }
}

fn joints(random: &mut Random) -> usize {
    if random.chance(0.5) { ARM_JOINTS } else { JOINTS }
}

/// A goal inside the limits, now and then at their edge or outside.
fn goal_deg(random: &mut Random) -> Vec<f32> {
    let outside = random.chance(0.1);
    (0..joints(random))
        .map(|joint| {
            let (low, high) =
                (f64::from(TABLE[joint].min_goal_deg()), f64::from(TABLE[joint].max_goal_deg()));
            let room = if outside { 5.0 } else { 0.0 };
            within(random, low - room, high + room) as f32
        })
        .collect()
}

fn burst(random: &mut Random, words: &str, bytes: &[u8]) -> Deed {
    let period_us = random.between(10_000, 120_000);
    let count = random.between(1, 40);
    let sends = (0..count).map(|i| (i * period_us, bytes.to_vec())).collect();
    Deed { words: format!("{words} {count} times every {} ms", period_us / 1_000), sends }
}

fn move_to(random: &mut Random) -> Deed {
    let duration_ms = if random.chance(0.5) { 0 } else { random.between(200, 6_000) as u16 };
    Deed::one("MOVE_TO", &build::move_to(&goal_deg(random), duration_ms))
}

fn jog_tcp(random: &mut Random) -> Deed {
    let frame = 1 + random.below(2) as u8;
    let linear = core::array::from_fn(|_| within(random, -100.0, 100.0) as f32);
    let angular = core::array::from_fn(|_| within(random, -60.0, 60.0) as f32);
    let j7_dps = if random.chance(0.7) { 0.0 } else { within(random, -30.0, 30.0) as f32 };
    let cap_dps = within(random, 10.0, 90.0) as f32;
    burst(random, "JOG TCP", &build::jog_tcp(frame, linear, angular, j7_dps, cap_dps))
}

/// A short plan from the ready pose, uploaded in one go, and a PLAY.
fn plan(random: &mut Random) -> Deed {
    let pose = |random: &mut Random, t_s: f64| {
        let mut point = vec![t_s, 0.0, 0.0, -90.0, 0.0, 0.0, 0.0];
        point[1] = within(random, -10.0, 10.0);
        point
    };
    let points = vec![pose(random, 0.0), pose(random, 1.0)];
    let plan = PlanUpload {
        rate_hz: 100,
        cubic: random.chance(0.5),
        points,
        csv: None,
        wrong_crc: random.chance(0.1),
    };
    let play = PlayParams {
        rate_hz: random.between(40, 820) as u16,
        speed_cap_sps: 2_000,
        max_error_steps: 227,
        start_tolerance_steps: 4_000,
    };
    let messages = Upload::new(&plan, None).map(|upload| upload.messages).unwrap_or_default();
    let mut sends: Vec<(u64, Vec<u8>)> =
        messages.into_iter().enumerate().map(|(i, (bytes, _, _))| (i as u64 * 5_000, bytes)).collect();
    sends.push((100_000, build::play(play).to_vec()));
    Deed { words: "plan and PLAY".to_owned(), sends }
}

fn signal(random: &mut Random) -> Deed {
    let signal = PlaySignal {
        joint: 1 + random.below(6) as u8,
        kind: if random.chance(0.5) { SignalName::Chirp } else { SignalName::Steps },
        amp_deg: within(random, 1.0, 20.0) as f32,
        f0_hz: 0.2,
        f1_hz: 2.0,
        duration_s: 4.0,
        vmax_dps: within(random, 30.0, 90.0) as f32,
        amax_dps2: 400.0,
        base_deg: [0.0, 0.0, -90.0, 0.0, 0.0, 0.0],
        play: None,
    };
    let play =
        PlayParams { rate_hz: 500, speed_cap_sps: 2_000, max_error_steps: 227, start_tolerance_steps: 50 };
    Deed::one("PLAY_SIGNAL", &build::play_signal(play, &signal_bytes(&signal)))
}
