//! The status log line.

use core::fmt::{self, Display, Formatter};

use crate::platform::Health;
use crate::shared::{State, View};

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
    pub(super) version: [u8; 3],
    pub(super) build: &'a str,
    pub(super) health: Health,
    pub(super) state: State,
    pub(super) plan_samples: u32,
    pub(super) plan_rate_hz: u16,
    pub(super) plan_valid: bool,
    pub(super) imu_ok: bool,
    pub(super) view: &'a View,
    pub(super) now_us: u64,
    /// Longest end-effector step of the last second (µs); `None` before API level 5.1.
    pub(super) twist_us: Option<u32>,
}

impl Display for StatusLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, kind) = match self.banner {
            Banner::Simulator => ("atom-sim", "sim"),
            Banner::Lab => ("atom_controller", "lab"),
            Banner::Public => ("atom_controller", "public"),
        };
        let [major, minor, patch] = self.version;
        let [a, b, c, d] = self.health.ip;
        write!(f, "{name} v{major}.{minor}.{patch} ({}, {kind}) ip={a}.{b}.{c}.{d}", self.build)?;
        write!(f, " rssi={} state={}", self.health.rssi_dbm, self.state as u8)?;
        write!(f, " plan={}@{}Hz valid={}", self.plan_samples, self.plan_rate_hz, u8::from(self.plan_valid))?;
        write!(f, " imu={} write_retries={}", u8::from(self.imu_ok), self.view.write_retries)?;
        write!(f, " heap={} up={}s", self.health.heap_free, self.now_us / 1_000_000)?;
        write!(f, " wifi_drops={} joints={}", self.health.wifi_drops, self.view.n.max(6))?;
        if let Some(twist_us) = self.twist_us {
            write!(f, " twist_us={twist_us}")?;
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
