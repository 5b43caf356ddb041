//! One sample of a run in degrees, °/s, %, g: what a recording keeps of a telemetry sample.

use firmware_core::joints::{JOINTS, TABLE};
use firmware_core::platform::{ACC_PER_G, GYRO_PER_DPS, ImuSample};
use firmware_core::protocol::telemetry::Sample;
use firmware_core::units::ZERO_STEPS;

/// Degrees of one step.
const DEG_PER_STEP: f64 = firmware_core::units::DEG_PER_STEP as f64;

/// One sample of a run. Arrays over joints have seven places; a run of six joints leaves the last at 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Row {
    /// Time since the run began (s).
    pub t_s: f64,
    /// Wanted positions, columns `q_plan` (°).
    pub reference_deg: [f64; JOINTS],
    /// Goals sent, columns `q_cmd` (°).
    pub cmd_deg: [f64; JOINTS],
    /// Measured positions, columns `q` (°).
    pub position_deg: [f64; JOINTS],
    /// Measured speeds, columns `dq` (°/s).
    pub speed_dps: [f64; JOINTS],
    /// Measured loads, columns `load` (%).
    pub load_percent: [f64; JOINTS],
    /// Acceleration (g).
    pub acc_g: [f64; 3],
    /// Angular rate (°/s).
    pub gyro_dps: [f64; 3],
}

impl Row {
    /// The sample in units.
    pub fn from_sample(sample: &Sample) -> Self {
        let n = sample.n;
        let per_joint =
            |value: &dyn Fn(usize) -> f64| core::array::from_fn(|j| if j < n { value(j) } else { 0.0 });
        Self {
            t_s: f64::from(sample.t_us) / 1e6,
            reference_deg: per_joint(&|j| angle_deg(j, sample.reference[j])),
            cmd_deg: per_joint(&|j| angle_deg(j, sample.cmd[j])),
            position_deg: per_joint(&|j| angle_deg(j, sample.position[j])),
            speed_dps: per_joint(&|j| speed_dps(j, sample.speed[j])),
            load_percent: per_joint(&|j| load_percent(j, sample.load[j])),
            acc_g: acc_g(&sample.imu),
            gyro_dps: gyro_dps(&sample.imu),
        }
    }

    /// The sample as a run of `n` joints would send it.
    pub fn to_sample(&self, n: usize) -> Sample {
        let raw = self.to_raw();
        let of_run = |values: [u16; JOINTS]| core::array::from_fn(|j| if j < n { values[j] } else { 0 });
        Sample {
            n,
            t_us: (self.t_s * 1e6).round() as u32,
            cmd: of_run(core::array::from_fn(|j| steps(j, self.cmd_deg[j]))),
            reference: of_run(core::array::from_fn(|j| steps(j, self.reference_deg[j]))),
            position: of_run(raw.position),
            speed: of_run(raw.speed),
            load: of_run(raw.load),
            imu: raw.imu,
            ok: true,
        }
    }

    /// Raw positions, speeds and loads as the servos would report them, and the raw IMU sample.
    pub fn to_raw(&self) -> RawRow {
        RawRow {
            position: core::array::from_fn(|j| steps(j, self.position_deg[j])),
            speed: core::array::from_fn(|j| {
                sign_magnitude(f64::from(TABLE[j].sign) * self.speed_dps[j] / DEG_PER_STEP, 15)
            }),
            load: core::array::from_fn(|j| {
                sign_magnitude(f64::from(TABLE[j].sign) * self.load_percent[j] * 10.0, 10)
            }),
            imu: ImuSample {
                acc: self.acc_g.map(|g| (g * ACC_PER_G).round() as i16),
                gyro: self.gyro_dps.map(|dps| (dps * GYRO_PER_DPS).round() as i16),
            },
        }
    }
}

/// What the servos and the IMU would have shown at a [`Row`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawRow {
    /// Positions (steps).
    pub position: [u16; JOINTS],
    /// Speeds (steps/s, sign in bit 15).
    pub speed: [u16; JOINTS],
    /// Loads (0.1 %, sign in bit 10).
    pub load: [u16; JOINTS],
    /// IMU sample.
    pub imu: ImuSample,
}

/// Acceleration (g) of a raw IMU sample.
pub fn acc_g(sample: &ImuSample) -> [f64; 3] {
    sample.acc.map(|raw| f64::from(raw) / ACC_PER_G)
}

/// Angular rate (°/s) of a raw IMU sample.
pub fn gyro_dps(sample: &ImuSample) -> [f64; 3] {
    sample.gyro.map(|raw| f64::from(raw) / GYRO_PER_DPS)
}

/// Angle (°) of joint `joint` (index) at raw `steps`.
pub fn angle_deg(joint: usize, steps: u16) -> f64 {
    f64::from(TABLE[joint].sign * (i32::from(steps) - ZERO_STEPS)) * DEG_PER_STEP
}

/// Speed (°/s) of joint `joint` (index) from its raw value, sign in bit 15.
pub fn speed_dps(joint: usize, raw: u16) -> f64 {
    f64::from(TABLE[joint].sign) * signed(raw, 15) * DEG_PER_STEP
}

/// Load (%) of joint `joint` (index) from its raw value, sign in bit 10.
pub fn load_percent(joint: usize, raw: u16) -> f64 {
    f64::from(TABLE[joint].sign) * signed(raw, 10) / 10.0
}

fn signed(raw: u16, sign_bit: u32) -> f64 {
    let magnitude = f64::from(raw & ((1 << sign_bit) - 1));
    if raw >> sign_bit & 1 == 0 { magnitude } else { -magnitude }
}

fn sign_magnitude(value: f64, sign_bit: u32) -> u16 {
    let largest = f64::from((1_u16 << sign_bit) - 1);
    let magnitude = value.abs().round().min(largest) as u16;
    if value < 0.0 && magnitude > 0 { magnitude | 1 << sign_bit } else { magnitude }
}

fn steps(joint: usize, deg: f64) -> u16 {
    let steps = f64::from(ZERO_STEPS) + (f64::from(TABLE[joint].sign) * deg / DEG_PER_STEP).round();
    steps.clamp(0.0, f64::from(u16::MAX)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_survives_the_way_through_units() {
        let sample = Sample {
            n: 7,
            t_us: 1_234_000,
            cmd: [0, 1, 2047, 2048, 2049, 4608, 4095],
            reference: [4095, 2, 2048, 5, 6, 512, 1462],
            position: [100, 200, 300, 400, 500, 4600, 1500],
            speed: [0, 50, 0x8032, 100, 0x8064, 0x8C00, 32_767],
            load: [0, 250, 0x400 | 0xFA, 1, 0x401, 1000, 1023],
            imu: ImuSample { acc: [-70, -4178, 33], gyro: [2, -4, 32_767] },
            ok: true,
        };
        let raw = Row::from_sample(&sample).to_raw();
        assert_eq!(
            raw,
            RawRow { position: sample.position, speed: sample.speed, load: sample.load, imu: sample.imu }
        );
    }

    #[test]
    fn units_have_the_known_values() {
        assert_eq!(angle_deg(0, 2176), -11.25);
        assert_eq!(angle_deg(2, 2176), 11.25);
        assert_eq!(speed_dps(0, 0x8000 | 0x400), 90.0);
        assert_eq!(load_percent(1, 0x400 | 0xFA), 25.0);
    }
}
