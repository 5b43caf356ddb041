//! The MPU6886 on the link between J5 and J6: gravity and motion of that link, bias, noise, faults.
//!
//! A sample is a pure function of the joints' motion and of its number, so it is made when somebody reads it.

use firmware_core::platform::{ACC_PER_G, GYRO_PER_DPS, ImuSample};

use super::chain::{self, LinkMotion};
use super::drive::Motion;
use super::noise::{Noise, Stream};
use super::space::{Matrix, apply, apply_transposed, product, scaled, sum};

/// Joints that move the sensor: J1–J5.
pub(crate) const JOINTS_BEFORE: usize = 5;
/// The sampler's period (µs).
pub(crate) const PERIOD_US: u64 = 2_000;
/// Delay of the sensor's low-pass filters, 218 Hz (acceleration) and 176 Hz (rate), about the same for both (µs).
/// What passes them is far slower than they are, so they act as a delay.
pub(crate) const FILTER_DELAY_US: u64 = 800;

/// The sensor's place in the frame of J5: where J6 is (mm).
const PLACE_MM: [f64; 3] = [0.0, 43.2, 0.0];
/// The sensor's x, y and z axes in the frame of J5: y points down J5's axis, z away from the flange.
const AXES: [[f64; 3]; 3] = [[-1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, -1.0, 0.0]];
/// How far the sensor is turned from there about its own x and z (rad): at rest in the zero pose it reads
/// (−0.017, −1.02, 0.008) g.
const TILT_X_RAD: f64 = -0.008;
const TILT_Z_RAD: f64 = -0.017;

/// Standard gravity (mm/s²).
const GRAVITY_MM_S2: f64 = 9_806.65;
/// Bias of acceleration (g); bias and noise are those of the robot's sensor.
const ACC_BIAS_G: [f64; 3] = [0.0, -0.021, 0.0];
/// Bias of angular rate (°/s).
const GYRO_BIAS_DPS: [f64; 3] = [0.13, 0.23, 0.33];
/// White noise of acceleration (g).
const ACC_NOISE_G: f64 = 0.004;
/// White noise of angular rate (°/s).
const GYRO_NOISE_DPS: f64 = 0.2;

/// What is wrong with the IMU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ImuFaults {
    /// It does not answer.
    pub(crate) silent: bool,
    /// It repeats this sample.
    pub(crate) stuck: Option<ImuSample>,
    /// Further bias of acceleration (g).
    pub(crate) acc_bias_g: [f64; 3],
    /// Further bias of angular rate (°/s).
    pub(crate) gyro_bias_dps: [f64; 3],
    /// Noise is multiplied by this.
    pub(crate) noise_factor: f64,
    /// Every axis reads its positive full scale.
    pub(crate) saturated: bool,
}

impl Default for ImuFaults {
    fn default() -> Self {
        Self {
            silent: false,
            stuck: None,
            acc_bias_g: [0.0; 3],
            gyro_bias_dps: [0.0; 3],
            noise_factor: 1.0,
            saturated: false,
        }
    }
}

/// The sensor.
#[derive(Debug, Clone)]
pub(crate) struct Imu {
    axes: Matrix,
    noise: [Noise; 6],
    vibration: [Noise; 3],
    /// The ATOM found it at its last power-up.
    pub(crate) found: bool,
    /// What is wrong with it.
    pub(crate) faults: ImuFaults,
}

impl Imu {
    /// A sensor that was found; its noise comes from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let (sin_x, cos_x) = libm::sincos(TILT_X_RAD);
        let (sin_z, cos_z) = libm::sincos(TILT_Z_RAD);
        let about_x = [[1.0, 0.0, 0.0], [0.0, cos_x, -sin_x], [0.0, sin_x, cos_x]];
        let about_z = [[cos_z, -sin_z, 0.0], [sin_z, cos_z, 0.0], [0.0, 0.0, 1.0]];
        Self {
            axes: product(&about_x, &product(&about_z, &AXES)),
            noise: core::array::from_fn(|axis| Noise::new(seed, Stream::Imu, axis)),
            vibration: core::array::from_fn(|axis| Noise::new(seed, Stream::Vibration, axis)),
            found: true,
            faults: ImuFaults::default(),
        }
    }

    /// Sample `number` of the 2 ms grid; the joints J1–J5 move as `joints` say, the link vibrates with
    /// `vibration_g` (RMS of each axis). `None`: it does not answer.
    pub(crate) fn sample(
        &self,
        number: u64,
        joints: &[Motion; JOINTS_BEFORE],
        vibration_g: f64,
    ) -> Option<ImuSample> {
        if !self.found || self.faults.silent {
            return None;
        }
        if let Some(sample) = self.faults.stuck {
            return Some(sample);
        }
        if self.faults.saturated {
            return Some(ImuSample { acc: [i16::MAX; 3], gyro: [i16::MAX; 3] });
        }
        let LinkMotion { rotation, rate, acceleration_mm_s2 } = chain::link_motion(joints, PLACE_MM);
        let to_sensor = |v| apply(&self.axes, apply_transposed(&rotation, v));
        let force_g = to_sensor(sum(scaled(acceleration_mm_s2, 1.0 / GRAVITY_MM_S2), [0.0, 0.0, 1.0]));
        let rate_dps = to_sensor(rate.map(f64::to_degrees));
        let factor = self.faults.noise_factor;
        let acc = core::array::from_fn(|axis| {
            let noise_g = factor * ACC_NOISE_G * self.noise[axis].normal(number)
                + vibration_g * self.vibration[axis].normal(number);
            raw((force_g[axis] + ACC_BIAS_G[axis] + self.faults.acc_bias_g[axis] + noise_g) * ACC_PER_G)
        });
        let gyro = core::array::from_fn(|axis| {
            let noise_dps = factor * GYRO_NOISE_DPS * self.noise[3 + axis].normal(number);
            let bias_dps = GYRO_BIAS_DPS[axis] + self.faults.gyro_bias_dps[axis];
            raw((rate_dps[axis] + bias_dps + noise_dps) * GYRO_PER_DPS)
        });
        Some(ImuSample { acc, gyro })
    }
}

/// The nearest raw value, at full scale where it does not fit.
fn raw(value: f64) -> i16 {
    value.round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(imu: &Imu, joints: &[Motion; 5]) -> ([f64; 3], [f64; 3]) {
        let count = 4_000;
        let mut sums = ([0.0; 3], [0.0; 3]);
        for number in 0..count {
            let sample = imu.sample(number, joints, 0.0).expect("it answers");
            for axis in 0..3 {
                sums.0[axis] += f64::from(sample.acc[axis]) / ACC_PER_G / count as f64;
                sums.1[axis] += f64::from(sample.gyro[axis]) / GYRO_PER_DPS / count as f64;
            }
        }
        sums
    }

    fn assert_near(found: [f64; 3], expected: [f64; 3], tolerance: f64) {
        for (found_axis, expected_axis) in found.iter().zip(expected) {
            assert!((found_axis - expected_axis).abs() < tolerance, "{found:?} instead of {expected:?}");
        }
    }

    #[test]
    fn at_rest_in_the_zero_pose_up_is_minus_y() {
        let (acc_g, gyro_dps) = mean(&Imu::new(1), &[Motion::default(); 5]);
        assert_near(acc_g, [-0.017, -1.02, 0.008], 0.001);
        assert_near(gyro_dps, GYRO_BIAS_DPS, 0.02);
    }

    #[test]
    fn leaning_forward_turns_gravity_in_the_sensor() {
        let mut joints = [Motion::default(); 5];
        joints[1].deg = 90.0;
        let (acc_g, _) = mean(&Imu::new(1), &joints);
        assert!((acc_g[1] + 0.021).abs() < 0.03, "up is no longer along y: {acc_g:?}");
        assert!((libm::hypot(acc_g[0], acc_g[2]) - 1.0).abs() < 0.01, "up lies across: {acc_g:?}");
    }

    #[test]
    fn turning_about_the_vertical_shows_in_the_gyro_alone_and_as_centripetal_acceleration() {
        let mut joints = [Motion::default(); 5];
        joints[0].dps = 90.0;
        let (acc_g, gyro_dps) = mean(&Imu::new(1), &joints);
        assert!((gyro_dps[1] - 0.23 + 90.0).abs() < 0.1, "{gyro_dps:?}");
        // 77.7 mm from the axis at (π/2)² /s²: 0.0196 g.
        let (rest_g, _) = mean(&Imu::new(1), &[Motion::default(); 5]);
        let across = libm::hypot(acc_g[0] - rest_g[0], acc_g[2] - rest_g[2]);
        assert!((across - 0.0196).abs() < 0.0005, "{across}");
    }

    #[test]
    fn noise_has_its_deviation_and_depends_on_nothing_but_seed_and_number() {
        let imu = Imu::new(5);
        let joints = [Motion::default(); 5];
        let x: Vec<f64> = (0..4_000)
            .map(|n| f64::from(imu.sample(n, &joints, 0.0).expect("it answers").acc[0]) / ACC_PER_G)
            .collect();
        let mean = x.iter().sum::<f64>() / 4_000.0;
        let deviation = (x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 4_000.0).sqrt();
        assert!((deviation - 0.004).abs() < 0.000_3, "{deviation}");
        assert_eq!(imu.sample(17, &joints, 0.0), Imu::new(5).sample(17, &joints, 0.0));
        assert_ne!(imu.sample(17, &joints, 0.0), Imu::new(6).sample(17, &joints, 0.0));
    }
}
