//! Kinematics and end-effector JOG against numbers recorded from the robot's controller; see data/README.md.

use crate::table::{Row, assert_near, for_rows};
use firmware_core::joints::JOINTS;
use firmware_core::kinematics::{Pose, Posture, Tcp, forward, jacobian};
use firmware_core::motion::joint::JointMotion;
use firmware_core::motion::twist::{
    Twist, TwistCommand, TwistController, TwistReport, smallest_singular_value,
};

fn tcp(row: &Row<'_>) -> Tcp {
    if row.text("tcp") == "1" { Tcp::Gripper } else { Tcp::Flange }
}

fn arm(row: &Row<'_>, prefix: &str) -> [f32; 6] {
    row.numbered(prefix)
}

fn motion(row: &Row<'_>, prefix: &str) -> JointMotion {
    let mut motion = JointMotion { q_deg: [0.0; JOINTS], v_dps: [0.0; JOINTS] };
    motion.q_deg[..6].copy_from_slice(&arm(row, &format!("{prefix}q")));
    motion.v_dps[..6].copy_from_slice(&arm(row, &format!("{prefix}qd")));
    motion
}

fn twist(row: &Row<'_>, prefix: &str) -> Twist {
    let [x, y, z, a, b, c] = arm(row, &format!("{prefix}v"));
    Twist { linear_mm_s: [x, y, z], angular_rad_s: [a, b, c] }
}

fn command(row: &Row<'_>) -> TwistCommand {
    let [x, y, z, a, b, c] = arm(row, "want");
    TwistCommand {
        tool: row.text("tool") == "1",
        linear_mm_s: [x, y, z],
        angular_rad_s: [a, b, c],
        speed_cap_dps: row.f32("vmax"),
    }
}

#[test]
fn forward_kinematics_agree() {
    let rows = for_rows(include_str!("../data/fk.csv"), |row| {
        let pose = forward(&arm(row, "q"), tcp(row));
        for (axis, name) in ["px", "py", "pz"].iter().enumerate() {
            assert_near(
                pose.position_mm[axis],
                row.f32(name),
                5e-4,
                &format!("row {} {name}", row.text("id")),
            );
        }
        for k in 0..9 {
            let name = format!("r{}{}", k / 3 + 1, k % 3 + 1);
            assert_near(
                pose.rotation[k / 3][k % 3],
                row.f32(&name),
                1e-6,
                &format!("row {} {name}", row.text("id")),
            );
        }
    });
    assert_eq!(rows, 210);
}

#[test]
fn jacobians_agree() {
    let rows = for_rows(include_str!("../data/jacobian.csv"), |row| {
        let jacobian = jacobian(&arm(row, "q"), tcp(row));
        for (joint, column) in jacobian.iter().enumerate() {
            for (component, value) in column.iter().enumerate() {
                let name = format!("j{}{}", component + 1, joint + 1);
                let tolerance = if component < 3 { 5e-4 } else { 1e-6 };
                assert_near(*value, row.f32(&name), tolerance, &format!("row {} {name}", row.text("id")));
            }
        }
        let posture = Posture::new(&arm(row, "q"), tcp(row));
        assert_near(
            smallest_singular_value(posture.plane_jacobian()),
            row.f32("sigma_min"),
            1e-3,
            row.text("id"),
        );
    });
    assert_eq!(rows, 40);
}

fn assert_flags(report: &TwistReport, row: &Row<'_>, prefix: &str, at: &str) {
    let limit = report.limiting_joint.map_or(-1, |joint| joint as i32);
    let flags = (limit, i32::from(report.damped), i32::from(report.blocked));
    let number = |name: &str| row.number::<i32>(&format!("{prefix}{name}"));
    assert_eq!(flags, (number("limit_joint"), number("singular"), number("blocked")), "{at}: flags");
}

#[test]
fn single_steps_agree() {
    let rows = for_rows(include_str!("../data/twist_single.csv"), |row| {
        let at = format!("row {}", row.text("id"));
        let tr: [f32; 9] = row.numbered("tr");
        let mut controller = TwistController {
            tcp: tcp(row),
            twist: twist(row, ""),
            target: Pose {
                rotation: core::array::from_fn(|r| core::array::from_fn(|c| tr[3 * r + c])),
                position_mm: row.numbered("tp"),
            },
            sigma_min: row.f32("sigma"),
            sigma_age: row.number("sigma_age"),
        };
        let mut motion = motion(row, "");
        let report = controller.step(&mut motion, &command(row), row.f32("dt"));
        let (q, qd): ([f32; 6], [f32; 6]) = (arm(row, "out_q"), arm(row, "out_qd"));
        assert_flags(&report, row, "out_", &at);
        for joint in 0..6 {
            assert_near(motion.q_deg[joint], q[joint], 5e-5, &format!("{at} q{}", joint + 1));
            assert_near(motion.v_dps[joint], qd[joint], 0.025, &format!("{at} qd{}", joint + 1));
        }
        let out = twist(row, "out_");
        for axis in 0..3 {
            assert_near(
                controller.twist.linear_mm_s[axis],
                out.linear_mm_s[axis],
                0.05,
                &format!("{at} v{axis}"),
            );
            assert_near(
                controller.twist.angular_rad_s[axis],
                out.angular_rad_s[axis],
                3e-4,
                &format!("{at} w{axis}"),
            );
        }
        let (out_tr, out_tp): ([f32; 9], [f32; 3]) = (row.numbered("out_tr"), row.numbered("out_tp"));
        for (k, expected) in out_tr.iter().enumerate() {
            let found = controller.target.rotation[k / 3][k % 3];
            assert_near(found, *expected, 5e-5, &format!("{at} target rotation {k}"));
        }
        for (axis, expected) in out_tp.iter().enumerate() {
            let found = controller.target.position_mm[axis];
            assert_near(found, *expected, 5e-4, &format!("{at} target position {axis}"));
        }
        assert_eq!(controller.sigma_age, row.number::<u32>("out_sigma_age"), "{at}: age of sigma");
        assert_near(report.factor, row.f32("out_scale"), 1e-3, &format!("{at} scale"));
        if row.f32("out_sigma_min") > 0.002 {
            assert_near(report.sigma_min, row.f32("out_sigma_min"), 2e-3, &format!("{at} sigma"));
        }
    });
    assert_eq!(rows, 806);
}

/// Runs the sequences of a file from their first states, without ever correcting them.
fn check_sequences(csv: &str) {
    let mut state = None;
    let mut flags_that_differ = 0;
    let rows = for_rows(csv, |row| {
        if row.text("step") == "0" {
            let motion = motion(row, "");
            state = Some((motion, TwistController::enter(&motion, tcp(row))));
            return;
        }
        let (motion, controller) = state.as_mut().expect("a sequence begins with step 0");
        let report = controller.step(motion, &command(row), row.f32("dt"));
        let at = format!("sequence {} step {}", row.text("seq"), row.text("step"));
        let (q, qd): ([f32; 6], [f32; 6]) = (arm(row, "q"), arm(row, "qd"));
        for joint in 0..6 {
            assert_near(motion.q_deg[joint], q[joint], 0.03, &format!("{at} q{}", joint + 1));
            assert_near(motion.v_dps[joint], qd[joint], 1.0, &format!("{at} qd{}", joint + 1));
        }
        let out = twist(row, "");
        for axis in 0..3 {
            assert_near(
                controller.twist.linear_mm_s[axis],
                out.linear_mm_s[axis],
                1.5,
                &format!("{at} v{axis}"),
            );
            assert_near(
                controller.twist.angular_rad_s[axis],
                out.angular_rad_s[axis],
                0.02,
                &format!("{at} w{axis}"),
            );
        }
        let limit = report.limiting_joint.map_or(-1, |joint| joint as i32);
        let same = limit == row.number::<i32>("limit_joint")
            && i32::from(report.damped) == row.number::<i32>("singular")
            && i32::from(report.blocked) == row.number::<i32>("blocked");
        flags_that_differ += i32::from(!same);
    });
    assert_eq!(rows, 4 * 1501);
    assert!(flags_that_differ <= 12, "{flags_that_differ} rows have other flags; a few near a change may");
}

#[test]
fn sequences_0_to_3_agree() {
    check_sequences(include_str!("../data/twist.csv"));
}

#[test]
fn sequences_4_to_7_agree() {
    check_sequences(include_str!("../data/twist2.csv"));
}
