//! Ground truth: what really is, beside the protocol. Reading it changes nothing.

use firmware_core::joints::JOINTS;
use firmware_core::platform::ClientId;
use firmware_core::shared::State;

/// What goes over the servo bus, counted since the ATOM was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BusCounters {
    /// Bytes the controller sent.
    pub bytes_sent: u64,
    /// Bytes the servos sent.
    pub bytes_received: u64,
    /// Requests that the servos took.
    pub requests: u64,
    /// Requests with a wrong checksum.
    pub bad_checksums: u64,
}

/// What really is, at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// Virtual time (µs).
    pub t_us: u64,
    /// The controller's state.
    pub state: State,
    /// Joints in use, 6 or 7.
    pub n: u8,
    /// True joint angles (°).
    pub angle_deg: [f64; JOINTS],
    /// True joint speeds (°/s).
    pub speed_dps: [f64; JOINTS],
    /// Goal registers as angles (°), with the whole turns of J6 that the controller adds.
    pub goal_deg: [f64; JOINTS],
    /// Goal-speed registers (steps/s).
    pub goal_speed_sps: [u16; JOINTS],
    /// Torque enable registers.
    pub torque_on: [bool; JOINTS],
    /// Loads (% of full torque, signed).
    pub load_percent: [f64; JOINTS],
    /// Temperatures of the servos (°C).
    pub temperature_c: [f64; JOINTS],
    /// Voltages at the servos (V).
    pub voltage_v: [f64; JOINTS],
    /// LED pixels (red, green, blue), row by row.
    pub led: [[u8; 3]; 25],
    /// Who has control.
    pub holder: Option<ClientId>,
    /// A valid plan is there.
    pub plan_valid: bool,
    /// The bus.
    pub bus: BusCounters,
    /// Writes that had to be repeated since power-up.
    pub write_retries: u32,
    /// Messages from clients that were lost because one sent too much at once.
    pub messages_lost: u64,
}
