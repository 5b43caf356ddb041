//! What the end-effector JOG must do, figure by figure: straight lines, turns, limits, keep-outs, reversals,
//! random twists, the hand-over from another mode.

use firmware_core::joints::{ARM_JOINTS, JOINTS, TABLE};
use firmware_core::kinematics::{Pose, Tcp, forward};
use firmware_core::motion::joint::{JointMotion, at_rest};
use firmware_core::motion::twist::{TwistCommand, TwistController, TwistReport};

/// The control period (s).
const DT_S: f32 = 0.002;
/// The tool points straight down.
const TOOL_DOWN_DEG: [f32; ARM_JOINTS] = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0];
/// Most of a joint's change of speed that rounding of its goal may add (°/s per step).
const ROUNDING_DPS: f32 = 0.02;

const REST: TwistCommand =
    TwistCommand { tool: false, linear_mm_s: [0.0; 3], angular_rad_s: [0.0; 3], speed_cap_dps: 36.0 };

fn linear(x: f32, y: f32, z: f32) -> TwistCommand {
    TwistCommand { linear_mm_s: [x, y, z], ..REST }
}

fn angular(x: f32, y: f32, z: f32) -> TwistCommand {
    TwistCommand { angular_rad_s: [x, y, z], ..REST }
}

/// An arm under the controller that checks every step against the limits of speed, acceleration and angle.
struct Arm {
    motion: JointMotion,
    controller: TwistController,
}

impl Arm {
    fn at(q_deg: [f32; ARM_JOINTS], tcp: Tcp) -> Self {
        Self::moving(q_deg, [0.0; ARM_JOINTS], tcp)
    }

    fn moving(q_deg: [f32; ARM_JOINTS], v_dps: [f32; ARM_JOINTS], tcp: Tcp) -> Self {
        let mut motion = JointMotion { q_deg: [0.0; JOINTS], v_dps: [0.0; JOINTS] };
        motion.q_deg[..ARM_JOINTS].copy_from_slice(&q_deg);
        motion.v_dps[..ARM_JOINTS].copy_from_slice(&v_dps);
        Self { motion, controller: TwistController::enter(&motion, tcp) }
    }

    fn tool_down() -> Self {
        Self::at(TOOL_DOWN_DEG, Tcp::Gripper)
    }

    fn q_deg(&self) -> [f32; ARM_JOINTS] {
        core::array::from_fn(|joint| self.motion.q_deg[joint])
    }

    fn pose(&self) -> Pose {
        forward(&self.q_deg(), self.controller.tcp)
    }

    fn step_of(&mut self, command: &TwistCommand, dt_s: f32) -> TwistReport {
        let before = self.motion;
        let report = self.controller.step(&mut self.motion, command, dt_s);
        for (joint, limits) in TABLE.iter().enumerate().take(ARM_JOINTS) {
            let (q_deg, v_dps, v_before_dps) =
                (self.motion.q_deg[joint], self.motion.v_dps[joint], before.v_dps[joint]);
            assert!(
                (v_dps - v_before_dps).abs() <= limits.accel_limit_dps2 * dt_s + ROUNDING_DPS,
                "J{} goes from {v_before_dps} to {v_dps} °/s in a step",
                joint + 1
            );
            assert!(
                v_dps.abs() <= command.speed_cap_dps.max(v_before_dps.abs()) + ROUNDING_DPS,
                "J{} goes at {v_dps} °/s, faster than {}",
                joint + 1,
                command.speed_cap_dps
            );
            assert!(
                q_deg >= limits.min_goal_deg() + 0.5 && q_deg <= limits.max_goal_deg() - 0.5,
                "J{} is at {q_deg}°",
                joint + 1
            );
        }
        report
    }

    fn step(&mut self, command: &TwistCommand) -> TwistReport {
        self.step_of(command, DT_S)
    }

    /// Steps for `time_s`; `each` sees the pose after every step.
    fn run(&mut self, command: &TwistCommand, time_s: f32, mut each: impl FnMut(&Pose)) -> TwistReport {
        let steps = (time_s / DT_S).round() as usize;
        let mut report = self.step(command);
        each(&self.pose());
        for _ in 1..steps {
            report = self.step(command);
            each(&self.pose());
        }
        report
    }

    fn rest(&mut self) {
        self.run(&TwistCommand { speed_cap_dps: 90.0, ..REST }, 1.0, |_| {});
        assert!(at_rest(&self.motion, ARM_JOINTS), "{:?}", self.motion.v_dps);
    }
}

fn way(from: &Pose, to: &Pose) -> [f64; 3] {
    core::array::from_fn(|axis| f64::from(to.position_mm[axis]) - f64::from(from.position_mm[axis]))
}

fn length(v: &[f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Angle between two orientations (°), from the rotation vector, which is exact for small angles too.
fn turn_deg(from: &Pose, to: &Pose) -> f64 {
    let entry = |row: usize, column: usize| -> f64 {
        (0..3).map(|k| f64::from(to.rotation[row][k]) * f64::from(from.rotation[column][k])).sum()
    };
    let sine = [entry(2, 1) - entry(1, 2), entry(0, 2) - entry(2, 0), entry(1, 0) - entry(0, 1)];
    let cosine = (entry(0, 0) + entry(1, 1) + entry(2, 2) - 1.0) / 2.0;
    libm::atan2(length(&sine) / 2.0, cosine).to_degrees()
}

/// Seeded, portable random numbers (SplitMix64).
struct Random(u64);

impl Random {
    /// Uniform in −`size`…`size`.
    fn within(&mut self, size: f32) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        size * ((z >> 40) as f32 / 8_388_608.0 - 1.0)
    }

    fn vector(&mut self, size: f32) -> [f32; 3] {
        core::array::from_fn(|_| self.within(size))
    }
}

#[test]
fn two_seconds_along_x_are_a_straight_line_without_a_turn() {
    let mut arm = Arm::tool_down();
    let start = arm.pose();
    let (mut off_mm, mut turned_deg) = (0.0_f64, 0.0_f64);
    let mut watch = |pose: &Pose| {
        let [_x, y, z] = way(&start, pose);
        off_mm = off_mm.max(libm::hypot(y, z));
        turned_deg = turned_deg.max(turn_deg(&start, pose));
    };
    arm.run(&linear(30.0, 0.0, 0.0), 2.0, &mut watch);
    arm.run(&REST, 1.0, &mut watch);
    assert!(at_rest(&arm.motion, ARM_JOINTS));
    let made_mm = way(&start, &arm.pose())[0];
    assert!((made_mm - 60.1).abs() <= 0.05, "{made_mm} mm");
    assert!(off_mm <= 0.03, "{off_mm} mm off the line");
    assert!(turned_deg <= 0.001, "{turned_deg}° turned");
}

#[test]
fn late_cycles_do_not_shorten_the_way() {
    let mut arm = Arm::tool_down();
    let start = arm.pose();
    let mut random = Random(7);
    for command in [linear(30.0, 0.0, 0.0), REST] {
        let mut left_s = 2.0_f32;
        while left_s > 0.0 {
            let dt_s = (0.004 + random.within(0.002)).min(left_s);
            arm.step_of(&command, dt_s);
            left_s -= dt_s;
        }
    }
    let [x, y, z] = way(&start, &arm.pose());
    assert!((x - 60.1).abs() <= 0.2, "{x} mm");
    assert!(libm::hypot(y, z) <= 0.03, "{y}, {z} mm off the line");
}

#[test]
fn a_turn_about_the_vertical_leaves_the_tcp_where_it_is() {
    let mut arm = Arm::tool_down();
    let start = arm.pose();
    let mut moved_mm = 0.0_f64;
    let mut watch = |pose: &Pose| moved_mm = moved_mm.max(length(&way(&start, pose)));
    arm.run(&angular(0.0, 0.0, 0.5), 2.0, &mut watch);
    arm.run(&REST, 1.0, &mut watch);
    let turned_deg = turn_deg(&start, &arm.pose());
    assert!(moved_mm <= 0.001, "{moved_mm} mm");
    assert!((turned_deg - 57.3).abs() <= 0.1, "{turned_deg}°");
}

#[test]
fn the_tool_frame_goes_along_the_approach() {
    let mut arm = Arm::tool_down();
    let start = arm.pose();
    arm.run(&TwistCommand { tool: true, ..linear(0.0, 0.0, 30.0) }, 1.0, |_| {});
    arm.run(&TwistCommand { tool: true, ..REST }, 1.0, |_| {});
    let [x, y, z] = way(&start, &arm.pose());
    assert!((z + 30.0).abs() <= 0.1, "{z} mm");
    assert!(libm::hypot(x, y) <= 0.03, "{x}, {y} mm off the approach");
}

#[test]
fn the_zero_pose_is_left_straight_ahead() {
    let mut arm = Arm::at([0.0; ARM_JOINTS], Tcp::Gripper);
    let start = arm.pose();
    let report = arm.step(&linear(25.0, 0.0, 0.0));
    assert!(report.damped && !report.blocked);
    arm.run(&linear(25.0, 0.0, 0.0), 2.0 - DT_S, |_| {});
    arm.run(&REST, 1.0, |_| {});
    let made_mm = way(&start, &arm.pose())[0];
    assert!((made_mm - 49.2).abs() <= 0.1, "{made_mm} mm");
}

#[test]
fn down_at_the_zero_pose_is_blocked_and_nothing_moves() {
    let mut arm = Arm::at([0.0; ARM_JOINTS], Tcp::Gripper);
    let start = arm.pose();
    let mut moved_mm = 0.0_f64;
    let report =
        arm.run(&linear(0.0, 0.0, -25.0), 2.0, |pose| moved_mm = moved_mm.max(length(&way(&start, pose))));
    assert!(report.blocked);
    assert!(report.factor.abs() < f32::EPSILON, "{}", report.factor);
    assert!(moved_mm <= 0.005, "{moved_mm} mm");
}

#[test]
fn out_at_full_speed_stops_with_j3_at_its_keep_out() {
    let mut arm = Arm::tool_down();
    let report = arm.run(&linear(100.0, 0.0, 0.0), 4.0, |_| {});
    assert_eq!(report.limiting_joint, Some(2));
    let q3_deg = arm.motion.q_deg[2];
    assert!((q3_deg + 10.0).abs() <= 0.005 && q3_deg <= -10.0, "{q3_deg}°");
}

#[test]
fn turning_the_tool_stops_with_j5_at_its_keep_out() {
    for sense in [1.0, -1.0] {
        let mut furthest_deg = 0.0_f32;
        for (axis, direction) in [(0, 0.5), (0, -0.5), (1, 0.5), (1, -0.5), (2, 0.5), (2, -0.5)] {
            let mut arm = Arm::at([0.0, 0.0, -90.0, 0.0, 70.0 * sense, 0.0], Tcp::Flange);
            let mut command = REST;
            command.angular_rad_s[axis] = direction;
            for _ in 0..1_000 {
                arm.step(&command);
                furthest_deg = furthest_deg.max(arm.motion.q_deg[4] * sense);
            }
        }
        assert!(furthest_deg <= 80.0, "{furthest_deg}°");
        assert!(furthest_deg > 79.99, "{furthest_deg}°: the keep-out was never reached");
    }
}

#[test]
fn a_full_reversal_stays_inside_the_limits() {
    let mut arm = Arm::tool_down();
    let ahead = TwistCommand {
        linear_mm_s: [0.0, 100.0, 0.0],
        angular_rad_s: [0.0, 0.0, 1.0],
        speed_cap_dps: 90.0,
        ..REST
    };
    let back = TwistCommand {
        linear_mm_s: ahead.linear_mm_s.map(|v| -v),
        angular_rad_s: ahead.angular_rad_s.map(|v| -v),
        ..ahead
    };
    let start = arm.pose();
    arm.run(&ahead, 0.6, |_| {});
    let there = arm.pose();
    let reached = arm.controller.twist.linear_mm_s[1];
    assert!((reached - 100.0).abs() < 0.01, "{reached} mm/s before the reversal");
    // Two thirds of a second from one end to the other, at 300 mm/s².
    arm.run(&back, 0.7, |_| {});
    let reached = arm.controller.twist.linear_mm_s[1];
    assert!((reached + 100.0).abs() < 0.01, "{reached} mm/s after it");
    assert!(length(&way(&start, &there)) > 35.0);
}

/// Without a restart the arm spends most of the ten minutes at limits; restarts every 20 s keep it moving.
#[test]
fn ten_minutes_of_random_twists_never_leave_the_limits() {
    for (tcp, restart_s) in [(Tcp::Gripper, 600), (Tcp::Gripper, 20), (Tcp::Flange, 20)] {
        let mut arm = Arm::at(TOOL_DOWN_DEG, tcp);
        let mut random = Random(2026);
        let (mut moving, mut limited) = (0, 0);
        for second in 0..600 {
            if second % restart_s == 0 {
                arm = Arm::at(TOOL_DOWN_DEG, tcp);
            }
            let command = TwistCommand {
                tool: second % 2 == 1,
                linear_mm_s: random.vector(100.0),
                angular_rad_s: random.vector(1.0),
                speed_cap_dps: 60.0,
            };
            for _ in 0..500 {
                // The limits are checked in every step.
                let report = arm.step(&command);
                limited += u32::from(report.limiting_joint.is_some());
                moving += u32::from(!at_rest(&arm.motion, ARM_JOINTS));
            }
        }
        let moving_min = if restart_s == 600 { 10_000 } else { 75_000 };
        assert!(moving > moving_min, "{moving} steps with motion");
        assert!(limited > 1_000, "{limited} steps at a limit");
    }
}

/// A joint that arrives at its bound while others brake turns the tool a little, and the target follows. The
/// turns of many stops add up like a random walk.
#[test]
fn five_minutes_of_random_translations_turn_the_tool_little() {
    let mut turns_deg = Vec::new();
    for seed in 0..20 {
        let mut arm = Arm::tool_down();
        let start = arm.pose();
        let mut random = Random(seed);
        let mut most_deg = 0.0_f64;
        for second in 0..300 {
            let before = arm.pose();
            let command = TwistCommand { linear_mm_s: random.vector(60.0), speed_cap_dps: 60.0, ..REST };
            for _ in 0..500 {
                arm.step(&command);
            }
            let turned_deg = turn_deg(&before, &arm.pose());
            assert!(turned_deg <= 5.0, "seed {seed} second {second}: {turned_deg}° in one command");
            most_deg = most_deg.max(turn_deg(&start, &arm.pose()));
        }
        turns_deg.push(most_deg);
    }
    turns_deg.sort_by(f64::total_cmp);
    assert!(turns_deg[turns_deg.len() * 3 / 4] <= 15.0, "{turns_deg:.1?}");
    assert!(turns_deg[turns_deg.len() - 1] <= 45.0, "{turns_deg:.1?}");
}

#[test]
fn a_hand_over_at_speed_brakes_to_rest_within_the_acceleration_limits() {
    let v_dps = [20.0, -15.0, 10.0, 30.0, 0.0, -20.0];
    let mut arm = Arm::moving(TOOL_DOWN_DEG, v_dps, Tcp::Gripper);
    let linear_mm_s = arm.controller.twist.linear_mm_s;
    assert!(linear_mm_s.iter().any(|v| v.abs() > 20.0), "the twist is that of the joints: {linear_mm_s:?}");
    let command = TwistCommand { speed_cap_dps: 60.0, ..REST };
    let before = arm.motion;
    arm.step(&command);
    for joint in 0..ARM_JOINTS {
        let change_dps = (arm.motion.v_dps[joint] - before.v_dps[joint]).abs();
        assert!(change_dps <= 2.0, "J{} goes on: {change_dps} °/s", joint + 1);
    }
    // Most of the way is made in a few steps; the rest is the return to the target, at 4/s.
    arm.run(&command, 2.0, |_| {});
    assert!(at_rest(&arm.motion, ARM_JOINTS), "{:?}", arm.motion.v_dps);
}

#[test]
fn sideways_with_the_tcp_over_the_axis_of_j1_the_arm_brakes_and_stays() {
    // The one place over the axis where the arm has no sideways motion to give.
    let over_the_axis = [0.0, 44.481, -47.012, -85.064, 24.309, 0.0];
    let [x, y, _z] = Arm::at(over_the_axis, Tcp::Gripper).pose().position_mm;
    assert!(libm::hypotf(x, y) < 0.05, "{x}, {y} mm from the axis");
    for sideways in [30.0, -30.0] {
        // Handed over in motion: it brakes within its limits, and stays.
        let mut arm = Arm::moving(over_the_axis, [0.0, 8.0, 5.0, -8.0, 0.0, 10.0], Tcp::Gripper);
        arm.rest();
        let mut arm = Arm::at(over_the_axis, Tcp::Gripper);
        let start = arm.pose();
        let mut moved_mm = 0.0_f64;
        let report = arm.run(&linear(0.0, sideways, 0.0), 2.0, |pose| {
            moved_mm = moved_mm.max(length(&way(&start, pose)));
        });
        assert!(report.blocked && report.damped);
        assert!(at_rest(&arm.motion, ARM_JOINTS), "{:?}", arm.motion.v_dps);
        assert!(moved_mm < 0.5, "{moved_mm} mm");
    }
}

#[test]
fn the_speed_cap_slows_the_path_and_keeps_it() {
    let mut arm = Arm::tool_down();
    let start = arm.pose();
    let mut off_mm = 0.0_f64;
    let mut fastest_dps = 0.0_f32;
    let command = TwistCommand { speed_cap_dps: 5.0, ..linear(30.0, 0.0, 0.0) };
    for _ in 0..1_000 {
        let report = arm.step(&command);
        assert_eq!(report.limiting_joint, None, "the cap is no joint's bound");
        fastest_dps = arm.motion.v_dps.iter().fold(fastest_dps, |most, v| most.max(v.abs()));
        let [_x, y, z] = way(&start, &arm.pose());
        off_mm = off_mm.max(libm::hypot(y, z));
    }
    let made_mm = way(&start, &arm.pose())[0];
    assert!((fastest_dps - 5.0).abs() < 0.02, "{fastest_dps} °/s");
    assert!(made_mm > 10.0 && made_mm < 40.0, "{made_mm} mm");
    assert!(off_mm <= 0.05, "{off_mm} mm off the line");
}

#[test]
fn inputs_that_are_no_numbers_move_nothing_and_leave_no_trace() {
    let mut arm = Arm::tool_down();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for command in [linear(bad, 0.0, 0.0), angular(0.0, bad, 0.0)] {
            arm.run(&command, 0.1, |_| {});
        }
        arm.run(&TwistCommand { speed_cap_dps: -bad.abs(), ..linear(10.0, 0.0, 0.0) }, 0.1, |_| {});
        let before = arm.motion;
        for dt_s in [bad, 0.0, -0.002, 2.0] {
            arm.controller.step(&mut arm.motion, &linear(30.0, 0.0, 0.0), dt_s);
            assert_eq!(arm.motion, before, "a step of {dt_s} s");
        }
    }
    arm.rest();
    let start = arm.pose();
    arm.run(&linear(30.0, 0.0, 0.0), 1.0, |_| {});
    arm.rest();
    assert!((way(&start, &arm.pose())[0] - 30.0).abs() < 0.3, "the arm moves as ever");
}
