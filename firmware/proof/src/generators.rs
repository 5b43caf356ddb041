//! The pure functions of the core: elementary functions, kinematics, profiles, signals, plans, end-effector JOG.

use firmware_core::joints::{ARM_JOINTS, JOINTS, TABLE};
use firmware_core::kinematics::{Pose, Posture, Tcp, forward};
use firmware_core::math;
use firmware_core::motion::joint::{JointMotion, jog_step, track_step};
use firmware_core::motion::min_jerk;
use firmware_core::motion::plan::{Plan, crc32c};
use firmware_core::motion::signal::{Params, Signal};
use firmware_core::motion::twist::{
    Twist, TwistCommand, TwistController, TwistReport, smallest_singular_value,
};
use firmware_core::protocol::plan::SIGNAL_BYTES;
use firmware_core::units::{deg_to_steps, steps_to_deg};

use crate::hash::Hash;
use crate::probe::{Counts, Probe, counted, line};
use crate::vectors;

/// Runs the cases of this module.
pub fn run(probe: &mut impl Probe) {
    elementary(probe);
    units(probe);
    kinematics(probe);
    min_jerk_moves(probe);
    jog(probe);
    track(probe);
    signals(probe);
    plans(probe);
    twist_sequences(probe);
    twist_single(probe);
}

/// The first `N` values from `at` on.
fn take<const N: usize>(row: &[f32], at: usize) -> [f32; N] {
    core::array::from_fn(|k| row.get(at + k).copied().unwrap_or(f32::NAN))
}

fn finish(name: &str, cases: usize, hash: Hash, probe: &mut impl Probe) {
    line(probe, format_args!("{name} cases {cases} hash {:016x}", hash.value()));
}

/// Sine, cosine, exponential, logarithm, power and square root on a grid that reaches far outside the joints'
/// ranges.
fn elementary(probe: &mut impl Probe) {
    const POINTS: i32 = 4_000;
    let mut hash = Hash::default();
    let mut counts = Counts::default();
    for point in -POINTS..=POINTS {
        let x = point as f32 * 0.0125;
        let (sin, cos) = counted(probe, &mut counts, || math::sin_cos(core::hint::black_box(x)));
        hash.floats(&[sin, cos, math::exp(x * 0.1), math::ln(x.abs() + 1e-3), math::sqrt(x.abs())]);
        hash.floats(&[math::powf(x.abs() + 0.01, -8.0), math::powf(x.abs() + 0.01, -0.125)]);
    }
    finish("elementary", 2 * POINTS as usize + 1, hash, probe);
    counts.report("sine and cosine", probe);
}

fn units(probe: &mut impl Probe) {
    let mut hash = Hash::default();
    for joint in 0..JOINTS {
        for steps in 0..4096 {
            let deg = steps_to_deg(joint, steps);
            hash.floats(&[deg]);
            hash.word(deg_to_steps(joint, deg + 0.03) as u32);
        }
    }
    finish("units", JOINTS * 4096, hash, probe);
}

fn tcp_of(column: f32) -> Tcp {
    if column > 0.5 { Tcp::Gripper } else { Tcp::Flange }
}

fn kinematics(probe: &mut impl Probe) {
    let (mut hash, mut cases, mut counts) = (Hash::default(), 0, Counts::default());
    for row in vectors::FORWARD.rows() {
        let (tcp, q) = (tcp_of(row[0]), take(&row, 1));
        let pose = counted(probe, &mut counts, || forward(core::hint::black_box(&q), tcp));
        hash.floats(&pose.position_mm);
        hash.floats(pose.rotation.as_flattened());
        cases += 1;
    }
    finish("forward kinematics", cases, hash, probe);
    counts.report("forward kinematics", probe);

    let (mut hash, mut cases, mut counts) = (Hash::default(), 0, Counts::default());
    for row in vectors::JACOBIAN.rows() {
        let posture = Posture::new(&take(&row, 1), tcp_of(row[0]));
        let jacobian = core::hint::black_box(posture.plane_jacobian());
        let sigma = counted(probe, &mut counts, || smallest_singular_value(jacobian));
        hash.floats(posture.jacobian().as_flattened());
        hash.floats(&[sigma]);
        cases += 1;
    }
    finish("jacobian and smallest singular value", cases, hash, probe);
    counts.report("smallest singular value", probe);
}

fn min_jerk_moves(probe: &mut impl Probe) {
    let (mut hash, mut cases) = (Hash::default(), 0);
    for [x] in vectors::MIN_JERK.rows() {
        hash.floats(&[min_jerk::position(x)]);
        cases += 1;
    }
    for row in vectors::MOVES.rows() {
        let n = row[0] as usize;
        let (start, goal): ([f32; JOINTS], [f32; JOINTS]) = (take(&row, 1), take(&row, 8));
        hash.floats(&[min_jerk::shortest_duration_s(&start[..n], &goal[..n])]);
        cases += 1;
    }
    finish("minimum jerk", cases, hash, probe);
}

fn add_motion(hash: &mut Hash, motion: &JointMotion) {
    hash.floats(&motion.q_deg);
    hash.floats(&motion.v_dps);
}

fn jog(probe: &mut impl Probe) {
    let (mut hash, mut cases, mut counts) = (Hash::default(), 0, Counts::default());
    let mut motion = JointMotion { q_deg: [0.0; JOINTS], v_dps: [0.0; JOINTS] };
    for row in vectors::JOG.rows() {
        let [step, dt_s, n] = take(&row, 0);
        if step < 0.5 {
            motion = JointMotion { q_deg: take(&row, 10), v_dps: take(&row, 17) };
        } else {
            let target_dps = take(&row, 3);
            counted(probe, &mut counts, || jog_step(&mut motion, &target_dps, n as usize, &TABLE, dt_s));
        }
        add_motion(&mut hash, &motion);
        cases += 1;
    }
    finish("JOG", cases, hash, probe);
    counts.report("JOG step", probe);
}

fn track(probe: &mut impl Probe) {
    let (mut hash, mut cases, mut counts) = (Hash::default(), 0, Counts::default());
    let mut motion = JointMotion { q_deg: [0.0; JOINTS], v_dps: [0.0; JOINTS] };
    for row in vectors::TRACK.rows() {
        let [step, dt_s, n, vmax_dps, stop] = take(&row, 0);
        if step < 0.5 {
            motion = JointMotion { q_deg: take(&row, 12), v_dps: take(&row, 19) };
        } else {
            let goal_deg = take(&row, 5);
            counted(probe, &mut counts, || {
                track_step(&mut motion, &goal_deg, n as usize, &TABLE, vmax_dps, stop > 0.5, dt_s);
            });
        }
        add_motion(&mut hash, &motion);
        cases += 1;
    }
    finish("TRACK", cases, hash, probe);
    counts.report("TRACK step", probe);
}

fn signals(probe: &mut impl Probe) {
    let params =
        |bytes: &[u8]| bytes.try_into().ok().map(|bytes: &[u8; SIGNAL_BYTES]| Params::from_bytes(bytes));
    let mut signals = heapless::Vec::<Signal, 16>::new();
    for (bytes, start_deg) in vectors::SIGNAL_PARAMS.iter().zip(vectors::SIGNAL_STARTS.rows()) {
        let Some(params) = params(bytes) else { continue };
        if signals.push(Signal::new(&params, &start_deg)).is_err() {
            line(probe, format_args!("signals: more sets than places"));
        }
    }
    let (mut hash, mut cases, mut counts) = (Hash::default(), 0, Counts::default());
    for [set, t_s] in vectors::SIGNAL_TIMES.rows() {
        let Some(signal) = signals.get(set as usize) else { continue };
        let pose_deg = counted(probe, &mut counts, || signal.pose_deg(core::hint::black_box(t_s)));
        hash.floats(&pose_deg);
        cases += 1;
    }
    for bytes in vectors::SIGNAL_VALIDATE.iter() {
        let code =
            params(bytes).map(|params| params.validate(&TABLE).map_or_else(|refusal| refusal as u32, |()| 0));
        hash.word(code.unwrap_or(u32::MAX));
        cases += 1;
    }
    finish("signals", cases, hash, probe);
    counts.report("signal pose", probe);
}

/// Steps of the plan's joints: smooth, different for each joint.
fn plan_step(sample: u16, joint: u16, shift: f32) -> u16 {
    let phase = f32::from(sample) * 0.11 + f32::from(joint);
    (2048.0 + shift + 400.0 * math::sin(phase)) as u16
}

fn plans(probe: &mut impl Probe) {
    const SAMPLES: u16 = 64;
    const RATE_HZ: u16 = 250;
    let (mut hash, mut cases, mut counts) = (Hash::default(), 0, Counts::default());
    for (joints, cubic) in [(6, false), (6, true), (7, false), (7, true)] {
        let mut bytes = alloc::vec::Vec::new();
        for sample in 0..SAMPLES {
            for shift in [0.0, 25.0] {
                for joint in 0..u16::from(joints) {
                    bytes.extend(plan_step(sample, joint, shift).to_le_bytes());
                }
            }
        }
        let mut plan = Plan::default();
        let taken = plan
            .begin(u32::from(SAMPLES), RATE_HZ, cubic, joints, bytes.len())
            .and_then(|()| plan.write(0, SAMPLES, &bytes))
            .and_then(|()| plan.end(crc32c(&bytes)));
        hash.word(u32::from(taken.is_ok()));
        for t_us in (0..plan.duration_us() + 10_000).step_by(777) {
            let (cmd, reference) = counted(probe, &mut counts, || plan.at(core::hint::black_box(t_us)));
            for steps in cmd.iter().chain(&reference) {
                hash.word(u32::from(*steps));
            }
            cases += 1;
        }
    }
    finish("plan interpolation", cases, hash, probe);
    counts.report("plan interpolation", probe);
}

fn twist_command(inputs: &[f32; 10]) -> TwistCommand {
    TwistCommand {
        tool: inputs[1] > 0.5,
        linear_mm_s: take(inputs, 4),
        angular_rad_s: take(inputs, 7),
        speed_cap_dps: inputs[2],
    }
}

fn arm_motion(q_deg: [f32; ARM_JOINTS], v_dps: [f32; ARM_JOINTS]) -> JointMotion {
    let with_j7 =
        |arm: [f32; ARM_JOINTS]| core::array::from_fn(|joint| arm.get(joint).copied().unwrap_or(0.0));
    JointMotion { q_deg: with_j7(q_deg), v_dps: with_j7(v_dps) }
}

fn add_twist_step(hash: &mut Hash, motion: &JointMotion, controller: &TwistController, report: &TwistReport) {
    add_motion(hash, motion);
    hash.floats(&controller.twist.linear_mm_s);
    hash.floats(&controller.twist.angular_rad_s);
    hash.floats(&controller.target.position_mm);
    hash.floats(controller.target.rotation.as_flattened());
    hash.floats(&[report.factor, report.sigma_min]);
    hash.word(report.limiting_joint.map_or(u32::MAX, |joint| joint as u32));
    hash.word(u32::from(report.damped) << 1 | u32::from(report.blocked));
}

/// The recorded sequences: each starts from its first row and is then left to itself.
fn twist_sequences(probe: &mut impl Probe) {
    let (mut hash, mut cases, mut counts) = (Hash::default(), 0, Counts::default());
    let mut motion = arm_motion([0.0; ARM_JOINTS], [0.0; ARM_JOINTS]);
    let mut controller = TwistController::enter(&motion, Tcp::Flange);
    for row in vectors::TWIST.rows() {
        let inputs = take::<10>(&row, 1);
        if row[0] < 0.5 {
            motion = arm_motion(take(&row, 11), take(&row, 17));
            controller = TwistController::enter(&motion, tcp_of(inputs[0]));
            continue;
        }
        let command = twist_command(&inputs);
        let report = counted(probe, &mut counts, || controller.step(&mut motion, &command, inputs[3]));
        add_twist_step(&mut hash, &motion, &controller, &report);
        cases += 1;
    }
    finish("end-effector JOG sequences", cases, hash, probe);
    counts.report("end-effector JOG step", probe);
}

/// One step from each of the recorded complete states.
fn twist_single(probe: &mut impl Probe) {
    let (mut hash, mut cases) = (Hash::default(), 0);
    for row in vectors::TWIST_SINGLE.rows() {
        let inputs = take::<10>(&row, 0);
        let rotation: [f32; 9] = take(&row, 28);
        let mut motion = arm_motion(take(&row, 10), take(&row, 16));
        let mut controller = TwistController {
            tcp: tcp_of(inputs[0]),
            twist: Twist { linear_mm_s: take(&row, 22), angular_rad_s: take(&row, 25) },
            target: Pose {
                rotation: core::array::from_fn(|r| take(&rotation, 3 * r)),
                position_mm: take(&row, 37),
            },
            sigma_min: row[40],
            sigma_age: row[41] as u32,
        };
        let report = controller.step(&mut motion, &twist_command(&inputs), inputs[3]);
        add_twist_step(&mut hash, &motion, &controller, &report);
        cases += 1;
    }
    finish("end-effector JOG single steps", cases, hash, probe);
}
