//! The status log line.

use core::fmt::{self, Display, Formatter, Write};

use heapless::String;

use crate::platform::Health;
use crate::protocol::ApiLevel;
use crate::shared::{State, View};

/// Period of the status log (µs).
pub(super) const PERIOD_US: u64 = 1_000_000;
/// Longest line (bytes), with every number at its longest.
const LINE_BYTES: usize = 448;
/// Bytes of the build's name that are shown, so that the line has a longest length.
const BUILD_BYTES: usize = 40;

/// Who the status log says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Banner {
    /// The simulator: clients take `atom-sim` as "not the real robot".
    Simulator,
    /// A lab build on the ATOM.
    Lab,
    /// A public build on the ATOM.
    Public,
}

/// What one line says.
#[derive(Debug)]
pub(super) struct StatusLine<'a> {
    pub(super) banner: Banner,
    pub(super) level: ApiLevel,
    pub(super) build: &'a str,
    pub(super) health: Health,
    pub(super) state: State,
    pub(super) plan_samples: u32,
    pub(super) plan_rate_hz: u16,
    pub(super) plan_valid: bool,
    pub(super) imu_ok: bool,
    pub(super) view: View,
    pub(super) now_us: u64,
    /// Longest end-effector step of the last second (µs). Not shown before API level 5.1.
    pub(super) twist_us: u32,
}

impl StatusLine<'_> {
    /// The line, without line end.
    pub(super) fn text(&self) -> String<LINE_BYTES> {
        let mut text = String::new();
        let written = write!(text, "{self}");
        debug_assert!(written.is_ok(), "the longest line has at most {LINE_BYTES} bytes");
        text
    }
}

impl Display for StatusLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, kind) = match self.banner {
            Banner::Simulator => ("atom-sim", "sim"),
            Banner::Lab => ("atom_controller", "lab"),
            Banner::Public => ("atom_controller", "public"),
        };
        let [major, minor, patch] = self.level.version();
        let ip = core::net::Ipv4Addr::from(self.health.ip);
        write!(f, "{name} v{major}.{minor}.{patch} ({}, {kind}) ip={ip}", short(self.build))?;
        write!(f, " rssi={} state={}", self.health.rssi_dbm, self.state as u8)?;
        write!(f, " plan={}@{}Hz valid={}", self.plan_samples, self.plan_rate_hz, u8::from(self.plan_valid))?;
        write!(f, " imu={} write_retries={}", u8::from(self.imu_ok), self.view.write_retries)?;
        write!(f, " heap={} up={}s", self.health.heap_free, self.now_us / 1_000_000)?;
        write!(
            f,
            " wifi_drops={} joints={}",
            self.health.wifi_drops,
            self.level.joints(usize::from(self.view.n))
        )?;
        if self.level >= ApiLevel::V5_1 {
            write!(f, " twist_us={}", self.twist_us)?;
        }
        if self.view.j7_derated {
            f.write_str(" j7_derated")?;
        }
        if self.view.turn_unknown {
            f.write_str(" TURN UNKNOWN: move J6 away from ±135° by hand, then HOLD")?;
        }
        Ok(())
    }
}

/// At most [`BUILD_BYTES`] of the build's name, cut between characters.
fn short(build: &str) -> &str {
    let mut end = build.len().min(BUILD_BYTES);
    while !build.is_char_boundary(end) {
        end -= 1;
    }
    &build[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_line_fits_its_buffer() {
        let view =
            View { n: 7, write_retries: u32::MAX, j7_derated: true, turn_unknown: true, ..View::default() };
        let health = Health { ip: [255; 4], rssi_dbm: -128, heap_free: u32::MAX, wifi_drops: u32::MAX };
        let line = StatusLine {
            banner: Banner::Public,
            level: ApiLevel::V5_1,
            build: "0123456789012345678901234567890123456789-and-more",
            health,
            state: State::Tracking,
            plan_samples: u32::MAX,
            plan_rate_hz: u16::MAX,
            plan_valid: true,
            imu_ok: true,
            view,
            now_us: u64::MAX,
            twist_us: u32::MAX,
        };
        let text = line.text();
        assert!(text.ends_with("by hand, then HOLD"), "cut off: {text}");
        assert!(text.contains("(0123456789012345678901234567890123456789, public)"), "{text}");
    }

    #[test]
    fn a_build_name_is_cut_between_characters() {
        assert_eq!(
            short("0123456789012345678901234567890123456789x"),
            "0123456789012345678901234567890123456789"
        );
        assert_eq!(
            short("012345678901234567890123456789012345678°"),
            "012345678901234567890123456789012345678"
        );
        assert_eq!(short("abc"), "abc");
    }
}
