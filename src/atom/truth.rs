//! Ground truth: what really is, beside the protocol. Reading it changes nothing.

use firmware_core::bus::registers::{GOAL_POSITION, GOAL_SPEED, PRESENT, TORQUE_ENABLE};
use firmware_core::joints::{J6, JOINTS, TABLE};
use firmware_core::led::Frame;
use firmware_core::platform::{ClientId, ImuSample};
use firmware_core::shared::State;
use firmware_core::units::{DEG_PER_STEP, ZERO_STEPS, from_sign_magnitude};

use super::simulated::Atom;
use crate::hardware::BusCounters;

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
    /// Present-position registers as angles (°), what the encoders say; J6 in the turn of its range.
    pub measured_deg: [f64; JOINTS],
    /// True joint speeds (°/s).
    pub speed_dps: [f64; JOINTS],
    /// Goal registers as angles (°); J6 in the turn of its range.
    pub goal_deg: [f64; JOINTS],
    /// Goal-speed registers (steps/s).
    pub goal_speed_sps: [u16; JOINTS],
    /// Torque is on: the servo has power, and its torque enable register is set.
    pub torque_on: [bool; JOINTS],
    /// Loads (% of full torque, positive toward positive angles).
    pub load_percent: [f64; JOINTS],
    /// Temperatures of the servos (°C).
    pub temperature_c: [f64; JOINTS],
    /// Voltages at the servos (V).
    pub voltage_v: [f64; JOINTS],
    /// The picture on the LED matrix (red, green, blue), row by row.
    pub led: Frame,
    /// Who has control.
    pub holder: Option<ClientId>,
    /// A valid plan is there.
    pub plan_valid: bool,
    /// What travelled on the bus.
    pub bus: BusCounters,
    /// Writes that had to be repeated since power-up.
    pub write_retries: u32,
}

impl Atom {
    /// What really is, now.
    pub fn truth(&self) -> Truth {
        let now_us = self.now_us;
        let hardware = &self.hardware;
        let joints = hardware.joints(now_us);
        let registers: [_; JOINTS] = core::array::from_fn(|joint| hardware.registers(joint, now_us));
        let word = |joint: usize, address: u8| {
            let at = usize::from(address);
            u16::from_le_bytes([registers[joint][at], registers[joint][at + 1]])
        };
        let state = self.state();
        let mailbox = self.mailbox.borrow();
        let view = mailbox.view.latest();
        Truth {
            t_us: now_us,
            state,
            n: view.n,
            angle_deg: joints.map(|joint| joint.deg),
            measured_deg: core::array::from_fn(|joint| register_deg(joint, word(joint, PRESENT))),
            speed_dps: joints.map(|joint| joint.dps),
            goal_deg: core::array::from_fn(|joint| register_deg(joint, word(joint, GOAL_POSITION))),
            goal_speed_sps: core::array::from_fn(|joint| word(joint, GOAL_SPEED) & 0x7FFF),
            torque_on: core::array::from_fn(|joint| {
                joints[joint].connected && registers[joint][usize::from(TORQUE_ENABLE)] != 0
            }),
            load_percent: joints.map(|joint| joint.load_percent),
            temperature_c: joints.map(|joint| joint.celsius),
            voltage_v: joints.map(|joint| joint.volts),
            led: *self.network.led_frame(),
            holder: self.network.holder(self.firmware_us(now_us)),
            plan_valid: mailbox.plan.is_valid(),
            bus: hardware.bus_counters(),
            write_retries: view.write_retries,
        }
    }

    /// The IMU's latest sample; `None` while it does not answer.
    pub fn imu(&self) -> Option<ImuSample> {
        self.hardware.imu(self.now_us)
    }

    /// A register of joint `joint` (index); 0 where there is none.
    pub fn register(&self, joint: usize, address: u8) -> u8 {
        if joint >= JOINTS {
            return 0;
        }
        self.hardware.registers(joint, self.now_us).get(usize::from(address)).copied().unwrap_or(0)
    }
}

/// Angle (°) of a position register, which counts sign-magnitude steps.
fn register_deg(joint: usize, raw: u16) -> f64 {
    let mut deg =
        f64::from(TABLE[joint].sign * (from_sign_magnitude(raw) - ZERO_STEPS)) * f64::from(DEG_PER_STEP);
    if joint == J6 {
        // The servo may count whole turns off; the middle of the gap is at the upper limit.
        let top_deg = f64::from(TABLE[J6].max_deg);
        deg -= 360.0 * libm::ceil((deg - top_deg) / 360.0);
    }
    deg
}
