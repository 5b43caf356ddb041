//! The arm at one moment, of a running ATOM or of a recording, in the messages of an MCAP file.

use firmware_core::joints::{ARM_JOINTS, JOINTS};
use firmware_core::kinematics::{self, Tcp};

use super::messages::{
    FrameTransform, FrameTransforms, Imu, Joint, JointState, JointStates, Joints, Pose, PoseInFrame,
    Quaternion, Time, Vector3,
};
use crate::atom::{Atom, Truth};
use crate::recording::row::{Row, acc_g, gyro_dps};

/// Names of the joints.
const JOINT_NAMES: [&str; JOINTS] = ["J1", "J2", "J3", "J4", "J5", "J6", "J7"];
/// The frame all others stand in.
const BASE: &str = "base";
/// Frames of the links after J1–J6, and the TCP.
const LINK_NAMES: [&str; ARM_JOINTS] = ["link1", "link2", "link3", "link4", "link5", "flange"];
const TCP_NAME: &str = "tcp";
/// The IMU sits on this link.
const IMU_LINK: &str = LINK_NAMES[4];

/// What only a simulated arm knows of its joints.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Inside {
    true_deg: [f64; JOINTS],
    temperature_c: [f64; JOINTS],
    voltage_v: [f64; JOINTS],
}

/// The arm at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Time in the file (µs).
    pub t_us: u64,
    n: usize,
    tcp: Tcp,
    wanted_deg: Option<[f64; JOINTS]>,
    goal_deg: [f64; JOINTS],
    measured_deg: [f64; JOINTS],
    speed_dps: [f64; JOINTS],
    load_percent: [f64; JOINTS],
    inside: Option<Inside>,
    /// Acceleration (g) and angular rate (°/s).
    imu: Option<([f64; 3], [f64; 3])>,
}

impl Moment {
    /// A running ATOM now; the caller has its truth, and says which time the file gives it (µs).
    pub fn of_atom(t_us: u64, atom: &Atom, truth: &Truth) -> Self {
        let n = usize::from(truth.n).min(JOINTS);
        Self {
            t_us,
            n,
            tcp: tcp_of(n),
            wanted_deg: None,
            goal_deg: truth.goal_deg,
            measured_deg: truth.measured_deg,
            speed_dps: truth.speed_dps,
            load_percent: truth.load_percent,
            inside: Some(Inside {
                true_deg: truth.angle_deg,
                temperature_c: truth.temperature_c,
                voltage_v: truth.voltage_v,
            }),
            imu: atom.imu().map(|sample| (acc_g(&sample), gyro_dps(&sample))),
        }
    }

    /// A row of a recording of `n` joints with this TCP.
    pub fn of_row(row: &Row, n: usize, tcp: Tcp) -> Self {
        Self {
            t_us: (row.t_s.max(0.0) * 1e6).round() as u64,
            n,
            tcp,
            wanted_deg: Some(row.reference_deg),
            goal_deg: row.cmd_deg,
            measured_deg: row.position_deg,
            speed_dps: row.speed_dps,
            load_percent: row.load_percent,
            inside: None,
            imu: Some((row.acc_g, row.gyro_dps)),
        }
    }

    fn time(&self) -> Time {
        Time::from_us(self.t_us)
    }

    /// The joints in degrees.
    pub fn joints(&self) -> Joints {
        let joint = |j: usize| Joint {
            name: JOINT_NAMES[j],
            wanted_deg: self.wanted_deg.map(|deg| brief(deg[j])),
            goal_deg: brief(self.goal_deg[j]),
            measured_deg: brief(self.measured_deg[j]),
            true_deg: self.inside.map(|inside| brief(inside.true_deg[j])),
            speed_dps: brief(self.speed_dps[j]),
            load_percent: brief(self.load_percent[j]),
            temperature_c: self.inside.map(|inside| brief(inside.temperature_c[j])),
            voltage_v: self.inside.map(|inside| brief(inside.voltage_v[j])),
        };
        Joints { timestamp: self.time(), joints: (0..self.n).map(joint).collect() }
    }

    /// Measured joints in radians.
    pub fn measured(&self) -> JointStates {
        self.joint_states(&self.measured_deg, &self.speed_dps)
    }

    /// Goals in radians.
    pub fn goals(&self) -> JointStates {
        self.joint_states(&self.goal_deg, &[0.0; JOINTS])
    }

    fn joint_states(&self, angles_deg: &[f64; JOINTS], speeds_dps: &[f64; JOINTS]) -> JointStates {
        let joint = |j: usize| JointState {
            name: JOINT_NAMES[j],
            position: short(angles_deg[j].to_radians()),
            velocity: short(speeds_dps[j].to_radians()),
        };
        JointStates { timestamp: self.time(), joints: (0..self.n).map(joint).collect() }
    }

    /// The angles that links and TCP follow: the true ones, or else the measured ones (°).
    fn link_angles_deg(&self) -> [f32; ARM_JOINTS] {
        let deg = self.inside.map_or(self.measured_deg, |inside| inside.true_deg);
        core::array::from_fn(|j| deg[j] as f32)
    }

    /// The TCP in the base frame.
    pub fn tcp(&self) -> PoseInFrame {
        let pose = pose(&kinematics::forward(&self.link_angles_deg(), self.tcp));
        PoseInFrame { timestamp: self.time(), frame_id: BASE, pose }
    }

    /// The links and the TCP in the base frame.
    pub fn links(&self) -> FrameTransforms {
        let angles_deg = self.link_angles_deg();
        let links = kinematics::joint_frames(&angles_deg).into_iter().zip(LINK_NAMES);
        let tcp = (kinematics::forward(&angles_deg, self.tcp), TCP_NAME);
        let transform = |(frame, child_frame_id): (kinematics::Pose, &'static str)| {
            let Pose { position, orientation } = pose(&frame);
            FrameTransform {
                timestamp: self.time(),
                parent_frame_id: BASE,
                child_frame_id,
                translation: position,
                rotation: orientation,
            }
        };
        FrameTransforms { transforms: links.chain([tcp]).map(transform).collect() }
    }

    /// The IMU; `None` while it does not answer.
    pub fn imu(&self) -> Option<Imu> {
        let (acc_g, gyro_dps) = self.imu?;
        Some(Imu {
            timestamp: self.time(),
            frame_id: IMU_LINK,
            acceleration_g: vector(acc_g),
            angular_rate_dps: vector(gyro_dps),
        })
    }
}

/// The tool point of an arm of `n` joints: the gripper's with seven, the flange with six.
pub fn tcp_of(n: usize) -> Tcp {
    if n == JOINTS { Tcp::Gripper } else { Tcp::Flange }
}

/// Four decimals keep a file of text small: degrees and the like.
fn brief(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}

/// Six decimals: µm, µrad.
fn short(value: f64) -> f64 {
    // Adding zero turns −0 into 0.
    (value * 1e6).round() / 1e6 + 0.0
}

fn vector([x, y, z]: [f64; 3]) -> Vector3 {
    Vector3 { x: short(x), y: short(y), z: short(z) }
}

fn pose(pose: &kinematics::Pose) -> Pose {
    Pose {
        position: vector(pose.position_mm.map(|mm| f64::from(mm) / 1e3)),
        orientation: quaternion(&pose.rotation.map(|row| row.map(f64::from))),
    }
}

/// A rotation matrix as a quaternion, by the largest of its four parts.
fn quaternion(r: &[[f64; 3]; 3]) -> Quaternion {
    let (xx, yy, zz) = (r[0][0], r[1][1], r[2][2]);
    let squares = [1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz, 1.0 + xx + yy + zz];
    let largest = (1..4).fold(0, |best, k| if squares[k] > squares[best] { k } else { best });
    let twice = squares[largest].max(0.0).sqrt();
    let (a, b, c) = (r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]);
    let (xy, xz, yz) = (r[0][1] + r[1][0], r[0][2] + r[2][0], r[1][2] + r[2][1]);
    let parts = match largest {
        0 => [twice * twice, xy, xz, a],
        1 => [xy, twice * twice, yz, b],
        2 => [xz, yz, twice * twice, c],
        _w => [a, b, c, twice * twice],
    };
    let [x, y, z, w] = parts.map(|part| short(part / (2.0 * twice)));
    Quaternion { x, y, z, w }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(angles_deg: [f64; JOINTS]) -> Row {
        Row { t_s: 1.5, position_deg: angles_deg, ..Row::default() }
    }

    /// Rotates a vector by a quaternion.
    fn turned(q: Quaternion, v: [f64; 3]) -> [f64; 3] {
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let u = [q.x, q.y, q.z];
        let t = cross(u, v).map(|part| 2.0 * part);
        let s = cross(u, t);
        core::array::from_fn(|k| v[k] + q.w * t[k] + s[k])
    }

    #[test]
    fn quaternions_turn_as_their_matrices_do() {
        for angles_deg in
            [[0.0; 7], [90.0, 0.0, -90.0, 10.0, 0.0, 0.0, 0.0], [-170.0, 30.0, -60.0, 80.0, 45.0, 120.0, 0.0]]
        {
            let moment = Moment::of_row(&row(angles_deg), 6, Tcp::Flange);
            let frames = kinematics::joint_frames(&core::array::from_fn(|j| angles_deg[j] as f32));
            for (frame, transform) in frames.iter().zip(moment.links().transforms) {
                for axis in 0..3 {
                    let unit = core::array::from_fn(|k| if k == axis { 1.0 } else { 0.0 });
                    let found = turned(transform.rotation, unit);
                    for k in 0..3 {
                        assert!((found[k] - f64::from(frame.rotation[k][axis])).abs() < 5e-6, "{frame:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_tcp_is_in_metres_and_the_joints_in_radians() {
        let moment = Moment::of_row(&row([0.0, 0.0, -90.0, 0.0, 0.0, 0.0, -20.0]), 7, tcp_of(7));
        let pose = moment.tcp();
        let expected = kinematics::forward(&[0.0, 0.0, -90.0, 0.0, 0.0, 0.0], Tcp::Gripper).position_mm;
        assert!((pose.pose.position.z - f64::from(expected[2]) / 1e3).abs() < 1e-6);
        assert!((moment.measured().joints[2].position + std::f64::consts::FRAC_PI_2).abs() < 1e-6);
        assert_eq!(moment.measured().joints[6].name, "J7");
        assert_eq!(moment.joints().joints[6].measured_deg, -20.0);
        assert_eq!((pose.timestamp.sec, pose.timestamp.nsec), (1, 500_000_000));
    }
}
