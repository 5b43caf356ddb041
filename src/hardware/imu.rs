//! The MPU6886 on the link between J5 and J6: gravity and motion of that link, bias, noise, on a 2 ms grid.

use firmware_core::kinematics::chain::LINKS;
use firmware_core::platform::ImuSample;

use super::noise::Noise;

/// Time between samples (µs).
pub const PERIOD_US: u64 = 2_000;
/// Joints between the base and the sensor.
const JOINTS_BELOW: usize = 5;
const G_MM_S2: f64 = 9_806.65;
const ACC_PER_G: f64 = 4096.0;
const GYRO_PER_DPS: f64 = 16.4;
/// Bias of the sensor on the lab's arm: acceleration (g), angular rate (°/s).
const ACC_BIAS_G: [f64; 3] = [0.0, -0.021, 0.0];
const GYRO_BIAS_DPS: [f64; 3] = [0.13, 0.23, 0.33];
/// White noise: acceleration (g), angular rate (°/s).
const ACC_NOISE_G: f64 = 0.004;
const GYRO_NOISE_DPS: f64 = 0.2;

/// The sensor's axes x, y, z as axes of J5's frame (index, sign): at rest in the zero pose up is −y, and z is
/// the axis of J6.
const MOUNTING: [(usize, f64); 3] = [(0, 1.0), (2, -1.0), (1, 1.0)];

/// Angles of J1–J5 (°).
type Angles = [f64; JOINTS_BELOW];
type Matrix = [[f64; 3]; 3];

/// Pose of the sensor's link: rotation to the base, and position (mm).
#[derive(Debug, Clone, Copy)]
struct Pose {
    rotation: Matrix,
    position_mm: [f64; 3],
}

/// The sensor.
#[derive(Debug)]
pub struct Imu {
    noise: Noise,
}

impl Imu {
    /// A sensor whose noise is the stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { noise: Noise::new(seed, 100) }
    }

    /// Number of the latest sample at `t_us`.
    pub fn sample_number(t_us: u64) -> u64 {
        t_us / PERIOD_US
    }

    /// Sample `number`; `angles_deg` tells J1–J5 at a time (µs).
    pub fn sample(&self, number: u64, angles_deg: impl Fn(u64) -> Angles) -> ImuSample {
        let t_us = number * PERIOD_US;
        let [now, before, earlier] =
            [0, 1, 2].map(|back| pose(&angles_deg(t_us.saturating_sub(back * PERIOD_US))));
        let dt_s = PERIOD_US as f64 * 1e-6;
        // What an accelerometer feels: its own acceleration less that of free fall.
        let felt: [f64; 3] = core::array::from_fn(|axis| {
            let moved = now.position_mm[axis] - 2.0 * before.position_mm[axis] + earlier.position_mm[axis];
            moved / (dt_s * dt_s) / G_MM_S2 + if axis == 2 { 1.0 } else { 0.0 }
        });
        let rate_dps = angular_rate_dps(&before.rotation, &now.rotation, dt_s);
        let in_sensor = |v: &[f64; 3], axis: usize| {
            let (of_link, sign) = MOUNTING[axis];
            (0..3).map(|k| sign * now.rotation[k][of_link] * v[k]).sum::<f64>()
        };
        let noise = |channel: u64| self.noise.normal(number * 8 + channel);
        ImuSample {
            acc: core::array::from_fn(|axis| {
                let g = in_sensor(&felt, axis) + ACC_BIAS_G[axis] + ACC_NOISE_G * noise(axis as u64);
                raw(g * ACC_PER_G)
            }),
            gyro: core::array::from_fn(|axis| {
                let dps = in_sensor(&rate_dps, axis)
                    + GYRO_BIAS_DPS[axis]
                    + GYRO_NOISE_DPS * noise(axis as u64 + 3);
                raw(dps * GYRO_PER_DPS)
            }),
        }
    }
}

fn raw(value: f64) -> i16 {
    value.round().clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16
}

fn pose(angles_deg: &Angles) -> Pose {
    let mut pose =
        Pose { rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], position_mm: [0.0; 3] };
    for (link, deg) in LINKS.iter().zip(angles_deg) {
        let translation = link.translation_mm.map(f64::from);
        for axis in 0..3 {
            pose.position_mm[axis] += (0..3).map(|k| pose.rotation[axis][k] * translation[k]).sum::<f64>();
        }
        let fixed = link.rotation.map(|row| row.map(f64::from));
        let (sin, cos) = libm::sincos(deg.to_radians());
        let turn = [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]];
        pose.rotation = product(&product(&pose.rotation, &fixed), &turn);
    }
    pose
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    core::array::from_fn(|row| core::array::from_fn(|column| (0..3).map(|k| a[row][k] * b[k][column]).sum()))
}

/// Mean angular rate (°/s, base axes) between two orientations a short time apart.
fn angular_rate_dps(from: &Matrix, to: &Matrix, dt_s: f64) -> [f64; 3] {
    let transposed = core::array::from_fn(|row| core::array::from_fn(|column| from[column][row]));
    let turn = product(to, &transposed);
    let half = [turn[2][1] - turn[1][2], turn[0][2] - turn[2][0], turn[1][0] - turn[0][1]];
    half.map(|component| (component / 2.0 / dt_s).to_degrees())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_rest_in_the_zero_pose_up_is_minus_y() {
        let imu = Imu::new(1);
        let mean: Vec<f64> = (0..6)
            .map(|channel| {
                let sum: f64 = (10..1_010)
                    .map(|number| {
                        let sample = imu.sample(number, |_| [0.0; 5]);
                        f64::from(if channel < 3 { sample.acc[channel] } else { sample.gyro[channel - 3] })
                    })
                    .sum();
                sum / 1000.0
            })
            .collect();
        assert!((mean[0] / ACC_PER_G).abs() < 0.02, "x {}", mean[0] / ACC_PER_G);
        assert!((mean[1] / ACC_PER_G + 1.02).abs() < 0.01, "y {}", mean[1] / ACC_PER_G);
        assert!((mean[2] / ACC_PER_G).abs() < 0.02, "z {}", mean[2] / ACC_PER_G);
        assert!((mean[3] / GYRO_PER_DPS - 0.13).abs() < 0.05);
        assert!((mean[5] / GYRO_PER_DPS - 0.33).abs() < 0.05);
    }

    #[test]
    fn a_turn_of_j1_shows_as_its_rate_about_the_vertical() {
        let imu = Imu::new(1);
        let turning = |t_us: u64| [30.0 * t_us as f64 * 1e-6, 0.0, 0.0, 0.0, 0.0];
        let rates: Vec<f64> =
            (10..1_010).map(|number| f64::from(imu.sample(number, turning).gyro[1]) / GYRO_PER_DPS).collect();
        let mean = rates.iter().sum::<f64>() / 1000.0;
        assert!((mean - (-30.0 + 0.23)).abs() < 0.05, "up is −y: {mean}");
    }
}
