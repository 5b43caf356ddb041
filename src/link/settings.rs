//! What one direction of a link does to what passes, and the named profiles.

use serde::{Deserialize, Serialize};

/// Bytes a stream (TCP) direction holds: the send buffer of the ESP32's TCP stack.
pub const STREAM_BUFFER_BYTES: usize = 5_760;
/// Bytes a datagram (UDP) direction holds while it is delayed or stalled: the queue of an access point.
pub const DATAGRAM_BUFFER_BYTES: usize = 32 * 1024;
/// A stream sends a lost segment again after this long (µs), the shortest retransmission time-out of TCP
/// stacks.
pub const RETRANSMISSION_US: u64 = 200_000;

/// Stalls that come by themselves: nothing passes for a while, then everything that waited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// Mean time from the end of one to the start of the next (µs).
    pub mean_interval_us: u64,
    /// Shortest (µs).
    pub min_us: u64,
    /// Longest (µs).
    pub max_us: u64,
}

/// What one direction does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Delay of every message (µs).
    pub base_us: u64,
    /// Further delay, uniform between 0 and this (µs). Order is kept.
    pub jitter_us: u64,
    /// Stalls that come by themselves.
    pub stalls: Option<Stalls>,
    /// Probability that a datagram is lost; on a stream, that it comes a retransmission later.
    pub loss: f64,
    /// Probability that a datagram comes twice. No effect on a stream.
    pub duplicate: f64,
    /// Probability that a datagram is held back by `reorder_us`, so that later ones overtake it. No effect
    /// on a stream.
    pub reorder: f64,
    /// How long a reordered datagram is held back (µs).
    pub reorder_us: u64,
    /// Bytes per second, `None` = unlimited.
    pub bandwidth_bytes_s: Option<u32>,
    /// Bytes that can wait; a message that does not fit is lost, or refused on a stream.
    pub buffer_bytes: usize,
}

impl Settings {
    /// Passes everything at once.
    pub const IDEAL: Self = Self {
        base_us: 0,
        jitter_us: 0,
        stalls: None,
        loss: 0.0,
        duplicate: 0.0,
        reorder: 0.0,
        reorder_us: 0,
        bandwidth_bytes_s: None,
        buffer_bytes: usize::MAX,
    };

    /// Passes everything at once: there is nothing to compute.
    pub fn is_transparent(&self) -> bool {
        *self == Self::IDEAL
    }
}

/// A named quality of WiFi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Profile {
    /// No delay, nothing lost.
    #[default]
    Ideal,
    /// A laboratory's own access point: round trips of 12–23 ms, a stall of 200–300 ms about every 20 s.
    Lab,
    /// A phone's hotspot: round trips of 16–84 ms, the 99th percentile of gaps in a stream above 100 ms.
    Hotspot,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 3] = [Self::Ideal, Self::Lab, Self::Hotspot];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ideal => "ideal",
            Self::Lab => "lab",
            Self::Hotspot => "hotspot",
        }
    }

    /// The profile of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// What each direction does; `stream` for TCP.
    pub fn settings(self, stream: bool) -> Settings {
        let buffer_bytes = if stream { STREAM_BUFFER_BYTES } else { DATAGRAM_BUFFER_BYTES };
        match self {
            Self::Ideal => Settings::IDEAL,
            Self::Lab => Settings {
                base_us: 6_000,
                jitter_us: 5_500,
                stalls: Some(Stalls { mean_interval_us: 20_000_000, min_us: 200_000, max_us: 300_000 }),
                buffer_bytes,
                ..Settings::IDEAL
            },
            Self::Hotspot => Settings {
                base_us: 8_000,
                jitter_us: 34_000,
                stalls: Some(Stalls { mean_interval_us: 900_000, min_us: 110_000, max_us: 200_000 }),
                buffer_bytes,
                ..Settings::IDEAL
            },
        }
    }
}
