//! The arm's kinematic chain in double precision: where the links truly are and how they move.

use firmware_core::joints::ARM_JOINTS;
use firmware_core::kinematics::chain::{GRIPPER_TCP_MM, LINKS};

use super::drive::Motion;
use super::space::{IDENTITY, Matrix, Vector, apply, cross, product, scaled, sum, turned_about_z, z_axis};

/// Where a link is, in base axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Origin (mm).
    pub position_mm: [f64; 3],
    /// Rotation, row by row: its columns are the link's axes.
    pub rotation: [[f64; 3]; 3],
}

/// How a link moves, in base axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkMotion {
    /// Rotation of the link.
    pub(crate) rotation: Matrix,
    /// Angular rate (rad/s).
    pub(crate) rate: Vector,
    /// Acceleration of the point asked for (mm/s²).
    pub(crate) acceleration_mm_s2: Vector,
}

/// From the frame before a joint to the joint: translation (mm) and rotation.
fn fixed(joint: usize) -> (Vector, Matrix) {
    let link = &LINKS[joint];
    (link.translation_mm.map(f64::from), link.rotation.map(|row| row.map(f64::from)))
}

/// The frames of J1–J6, each after its rotation, and the tool point, at joint angles `deg`. The last one's frame
/// is the flange.
pub(crate) fn poses(deg: &[f64; ARM_JOINTS], gripper: bool) -> ([Pose; ARM_JOINTS], Pose) {
    let mut pose = Pose { position_mm: [0.0; 3], rotation: IDENTITY };
    let links = core::array::from_fn(|joint| {
        let (translation, rotation) = fixed(joint);
        pose.position_mm = sum(pose.position_mm, apply(&pose.rotation, translation));
        pose.rotation = turned_about_z(&product(&pose.rotation, &rotation), deg[joint]);
        pose
    });
    let tool_mm = if gripper { GRIPPER_TCP_MM.map(f64::from) } else { [0.0; 3] };
    let position_mm = sum(pose.position_mm, apply(&pose.rotation, tool_mm));
    (links, Pose { position_mm, ..pose })
}

/// How much higher the tool point gets per radian of J2 and J3 (mm/rad).
pub(crate) fn lift_mm_rad(deg: &[f64; ARM_JOINTS]) -> [f64; 2] {
    let (links, tool) = poses(deg, true);
    [1, 2].map(|joint| {
        let link = &links[joint];
        let lever = sum(tool.position_mm, scaled(link.position_mm, -1.0));
        cross(z_axis(&link.rotation), lever)[2]
    })
}

/// How the link after joint `COUNT` moves at its point `point_mm` (in its own frame), J1 and on moving as
/// `joints` say.
pub(crate) fn link_motion<const COUNT: usize>(joints: &[Motion; COUNT], point_mm: Vector) -> LinkMotion {
    const { assert!(COUNT <= ARM_JOINTS) }
    let mut rotation = IDENTITY;
    let mut rate = [0.0; 3];
    let mut rate_change = [0.0; 3];
    let mut acceleration = [0.0; 3];
    let at = |rate, rate_change, lever| sum(cross(rate_change, lever), cross(rate, cross(rate, lever)));
    for (joint, motion) in joints.iter().enumerate() {
        let (translation, fixed_rotation) = fixed(joint);
        acceleration = sum(acceleration, at(rate, rate_change, apply(&rotation, translation)));
        rotation = product(&rotation, &fixed_rotation);
        let axis = z_axis(&rotation);
        let turn = scaled(axis, motion.dps.to_radians());
        rate_change = sum(rate_change, sum(scaled(axis, motion.dps2.to_radians()), cross(rate, turn)));
        rate = sum(rate, turn);
        rotation = turned_about_z(&rotation, motion.deg);
    }
    let acceleration_mm_s2 = sum(acceleration, at(rate, rate_change, apply(&rotation, point_mm)));
    LinkMotion { rotation, rate, acceleration_mm_s2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_point_is_where_the_robot_has_it() {
        // The zero pose and (10, −20, 30, −40, 50, −60)°, flange and gripper, recorded from the controller.
        let cases = [
            ([0.0; 6], false, [43.200_03, -64.621_03, 411.139_74]),
            ([0.0; 6], true, [143.199_997, -58.398_197, 405.765_503]),
            ([10.0, -20.0, 30.0, -40.0, 50.0, -60.0], false, [85.960_136, -16.857_273, 379.334_961]),
            ([10.0, -20.0, 30.0, -40.0, 50.0, -60.0], true, [124.682_457, 66.750_107, 339.611_053]),
        ];
        for (deg, gripper, expected) in cases {
            let (_, tool) = poses(&deg, gripper);
            for (found, expected) in tool.position_mm.iter().zip(expected) {
                assert!((found - expected).abs() < 0.000_5, "{found} instead of {expected} at {deg:?}");
            }
        }
    }

    #[test]
    fn lift_is_the_height_row_of_the_jacobian() {
        let [j2, j3] = lift_mm_rad(&[10.0, -20.0, 30.0, -40.0, 50.0, -60.0]);
        assert!((j2 - 134.379_12).abs() < 0.000_5, "J2 {j2}");
        assert!((j3 - 96.620_094).abs() < 0.000_5, "J3 {j3}");
    }

    #[test]
    fn acceleration_is_the_second_difference_of_position() {
        let start = [20.0, -35.0, 50.0, 15.0, -25.0];
        let speed = [40.0, -60.0, 30.0, 80.0, -70.0];
        let change = [100.0, 200.0, -150.0, 50.0, 300.0];
        let position = |t: f64| {
            let deg = core::array::from_fn(|j| {
                start.get(j).map_or(0.0, |q: &f64| q + speed[j] * t + 0.5 * change[j] * t * t)
            });
            // J6's origin is a point of the link after J5.
            poses(&deg, false).0[5].position_mm
        };
        let h = 1e-4;
        let (before, now, after) = (position(-h), position(0.0), position(h));
        let expected: Vector =
            core::array::from_fn(|axis| (after[axis] - 2.0 * now[axis] + before[axis]) / (h * h));
        let joints =
            core::array::from_fn::<_, 5, _>(|j| Motion { deg: start[j], dps: speed[j], dps2: change[j] });
        let found = link_motion(&joints, [0.0, 43.2, 0.0]).acceleration_mm_s2;
        let norm = |v: Vector| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let error = norm(sum(found, scaled(expected, -1.0)));
        assert!(error < 1e-3 * norm(expected), "{found:?} instead of {expected:?}");
    }
}
