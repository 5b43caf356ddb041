//! End-effector JOG over the wire: the TCP computed from the goals that the STREAM shows.

use atom_sim::atom::{ClientId, Options};
use atom_sim::hardware::HardwareOptions;
use firmware_core::kinematics::{Pose, Tcp, forward};
use firmware_core::protocol::codes;
use firmware_core::protocol::request::build;
use firmware_core::shared::State;
use firmware_core::units::steps_to_deg;

use crate::support::{Bench, ack};

/// The ready pose, with a page that streams its state.
fn ready() -> (Bench, ClientId) {
    let pose_deg = [0.0, 0.0, -90.0, 0.0, 0.0, 0.0, -20.0];
    let hardware = HardwareOptions { pose_deg, ..HardwareOptions::default() };
    let mut bench = Bench::new(&Options { hardware, ..Options::default() });
    let page = bench.web();
    bench.subscribe(page, 100);
    bench.run_ms(100);
    (bench, page)
}

/// Pose of the gripper TCP at the goals of the latest STREAM.
fn tcp(bench: &mut Bench, page: ClientId) -> Pose {
    bench.subscribe(page, 100);
    bench.run_ms(100);
    let goal = bench.stream(page).seen.joints.goal;
    let q_deg = core::array::from_fn(|joint| steps_to_deg(joint, i32::from(goal[joint])));
    forward(&q_deg, Tcp::Gripper)
}

/// Sends a twist every 20 ms for `ms`, then the zero twist until the TCP rests, then lets the run end.
fn jog(bench: &mut Bench, page: ClientId, frame: u8, linear_mm_s: [f32; 3], angular_dps: [f32; 3], ms: u64) {
    bench.repeat_ms(page, &build::jog_tcp(frame, linear_mm_s, angular_dps, 0.0, 45.0), 20, ms);
    bench.repeat_ms(page, &build::jog_tcp(frame, [0.0; 3], [0.0; 3], 0.0, 45.0), 20, 400);
    bench.run_ms(700);
    assert_eq!(bench.atom.state(), State::Holding, "the deadman ended the run");
}

fn moved_mm(from: &Pose, to: &Pose) -> [f32; 3] {
    core::array::from_fn(|axis| to.position_mm[axis] - from.position_mm[axis])
}

fn length(v: &[f32]) -> f32 {
    v.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// Angle between two orientations (°).
fn turned_deg(from: &Pose, to: &Pose) -> f32 {
    let trace: f32 = (0..3)
        .flat_map(|r| (0..3).map(move |c| (r, c)))
        .map(|(r, c)| from.rotation[r][c] * to.rotation[r][c])
        .sum();
    let cos = f64::from((trace - 1.0) / 2.0).clamp(-1.0, 1.0);
    libm::acos(cos).to_degrees() as f32
}

#[test]
fn base_x_at_20_mm_s_for_2_s_moves_40_mm_on_a_line_without_turning() {
    let (mut bench, page) = ready();
    let before = tcp(&mut bench, page);
    jog(&mut bench, page, 1, [20.0, 0.0, 0.0], [0.0; 3], 2_000);
    let after = tcp(&mut bench, page);
    let [x, y, z] = moved_mm(&before, &after);
    assert!((x - 40.0).abs() < 1.5, "{x} mm");
    assert!(length(&[y, z]) < 0.5, "{y} {z} mm off the line");
    assert!(turned_deg(&before, &after) < 0.2, "{}°", turned_deg(&before, &after));
    jog(&mut bench, page, 1, [-20.0, 0.0, 0.0], [0.0; 3], 2_000);
    let back = tcp(&mut bench, page);
    assert!(length(&moved_mm(&before, &back)) < 1.5 && turned_deg(&before, &back) < 0.3);
}

#[test]
fn tool_z_at_10_mm_s_for_1_s_moves_10_mm_along_the_approach() {
    let (mut bench, page) = ready();
    let before = tcp(&mut bench, page);
    jog(&mut bench, page, 2, [0.0, 0.0, 10.0], [0.0; 3], 1_000);
    let after = tcp(&mut bench, page);
    let moved = moved_mm(&before, &after);
    let along: f32 = (0..3).map(|axis| moved[axis] * before.rotation[axis][2]).sum();
    assert!((along - 10.0).abs() < 1.0, "{along} mm");
    assert!(moved[2] < -9.0, "the tool points down: {moved:?}");
}

#[test]
fn a_turn_of_10_dps_for_1_s_turns_10_degrees_about_the_tcp() {
    let (mut bench, page) = ready();
    let before = tcp(&mut bench, page);
    jog(&mut bench, page, 1, [0.0; 3], [0.0, 0.0, 10.0], 1_000);
    let after = tcp(&mut bench, page);
    assert!((turned_deg(&before, &after) - 10.0).abs() < 0.5, "{}°", turned_deg(&before, &after));
    assert!(length(&moved_mm(&before, &after)) < 1.0);
}

#[test]
fn the_zero_pose_blocks_down_and_the_arm_stays() {
    let mut bench = Bench::new(&Options::default());
    let page = bench.web();
    let before = tcp(&mut bench, page);
    jog(&mut bench, page, 1, [0.0, 0.0, -20.0], [0.0; 3], 1_000);
    assert!(length(&moved_mm(&before, &tcp(&mut bench, page))) < 0.01);
}

#[test]
fn a_stall_of_150_ms_does_not_change_the_path_and_one_of_250_ms_brakes_along_it() {
    let path = |stall_ms: u64| {
        let (mut bench, page) = ready();
        let before = tcp(&mut bench, page);
        let twist = build::jog_tcp(1, [20.0, 0.0, 0.0], [0.0; 3], 0.0, 45.0);
        bench.repeat_ms(page, &twist, 20, 600);
        bench.run_ms(stall_ms);
        bench.repeat_ms(page, &twist, 20, 1_400 - stall_ms);
        bench.run_ms(900);
        let after = tcp(&mut bench, page);
        (moved_mm(&before, &after), turned_deg(&before, &after))
    };
    let (without, _) = path(0);
    assert_eq!(
        path(160).0,
        without,
        "messages 20 ms apart: a stall of 160 ms is the last that nobody notices"
    );
    let (braked, turned) = path(260);
    assert!(without[0] - braked[0] > 0.2 && without[0] - braked[0] < 2.5, "{without:?} {braked:?}");
    assert!(length(&braked[1..]) < 0.5 && turned < 0.2, "{braked:?} {turned}");
}

#[test]
fn track_to_the_ready_pose_and_back_to_the_tcp_without_a_stop() {
    let (mut bench, page) = ready();
    let twist = build::jog_tcp(1, [20.0, 0.0, 0.0], [0.0; 3], 0.0, 45.0);
    bench.repeat_ms(page, &twist, 20, 500);
    assert_eq!(bench.atom.state(), State::Jogging);
    // A goal beyond where the twist goes: the arm need not turn back to reach it.
    let track = build::track(&[0.0, 30.0, -90.0, 0.0, 0.0, 0.0], 45.0);
    assert!(slowest_dps(&mut bench, page, &track, 300) > 0.5);
    assert_eq!(bench.atom.state(), State::Tracking);
    assert!(slowest_dps(&mut bench, page, &twist, 300) > 0.5);
    assert_eq!(bench.atom.state(), State::Jogging);
}

/// Sends `message` every 20 ms for `ms`; the least that the fastest joint had at any time of it (°/s).
fn slowest_dps(bench: &mut Bench, client: ClientId, message: &[u8], ms: u64) -> f64 {
    let mut slowest = f64::INFINITY;
    for t_ms in (0..ms).step_by(2) {
        if t_ms % 20 == 0 {
            bench.send(client, message);
        }
        bench.run_ms(2);
        let fastest = bench.atom.truth().speed_dps[..6].iter().fold(0.0_f64, |top, dps| top.max(dps.abs()));
        slowest = slowest.min(fastest);
    }
    slowest
}

#[test]
fn an_end_effector_jog_of_a_wrong_length_is_refused_while_jogging() {
    let (mut bench, page) = ready();
    bench.repeat_ms(page, &build::jog_tcp(1, [20.0, 0.0, 0.0], [0.0; 3], 0.0, 45.0), 20, 100);
    let wrong_length = [codes::JOG, 1, 0, 0];
    assert_eq!(bench.ask_ms(page, &wrong_length, 5), [ack(codes::JOG, -1)]);
}

#[test]
fn j7_jogs_at_its_own_velocity_beside_the_tcp() {
    let (mut bench, page) = ready();
    bench.repeat_ms(page, &build::jog_tcp(1, [0.0; 3], [0.0; 3], -30.0, 45.0), 20, 1_000);
    assert!(bench.atom.deg(6) < -42.0, "{}", bench.atom.deg(6));
    assert!(bench.atom.deg(0).abs() < 0.1);
}
