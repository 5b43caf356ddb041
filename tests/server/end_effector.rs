//! End-effector JOG in real time over a real WebSocket: the TCP from the goals that the STREAM shows.

use std::thread;
use std::time::Duration;

use firmware_core::kinematics::{Pose, Tcp, forward};
use firmware_core::protocol::reply::Reply;
use firmware_core::protocol::request::build;
use firmware_core::units::steps_to_deg;

use crate::clients::{Client, WebClient, subscribe};
use crate::simulator::{Simulator, now};

const STREAM: u8 = 0x88;
/// As the page sends it.
const PERIOD: Duration = Duration::from_millis(20);
/// A host that pauses the client longer than this trips the deadman: the run proves nothing then.
const PAUSE_MAX: Duration = Duration::from_millis(150);

/// Pose of the gripper TCP at the goals of the next STREAM.
fn tcp(page: &mut WebClient) -> Pose {
    page.send(&subscribe(0));
    thread::sleep(Duration::from_millis(50));
    while page.receive_within(Duration::from_millis(20)).is_some() {}
    page.send(&subscribe(50));
    let Ok(Reply::Stream(stream)) = Reply::decode(&page.receive_code(STREAM)) else { panic!("a STREAM") };
    let goal = stream.seen.joints.goal;
    forward(&core::array::from_fn(|joint| steps_to_deg(joint, i32::from(goal[joint]))), Tcp::Gripper)
}

/// Sends a twist for two seconds and then the zero twist; returns how long the twist was in force (s), or
/// `None` when the host paused this client.
fn jog(page: &mut WebClient, linear_mm_s: [f32; 3]) -> Option<f32> {
    let zero = build::jog_tcp(1, [0.0; 3], [0.0; 3], 0.0, 45.0);
    let twist = build::jog_tcp(1, linear_mm_s, [0.0; 3], 0.0, 45.0);
    // The run begins at rest, so that its start takes no time of the motion.
    for _ in 0..5 {
        page.send(&zero);
        thread::sleep(PERIOD);
    }
    let began = now();
    let mut last = began;
    let mut steady = true;
    for step in 0..100 {
        page.send(&twist);
        thread::sleep((PERIOD * (step + 1)).saturating_sub(now() - began));
        steady &= (now() - last) < PAUSE_MAX;
        last = now();
    }
    let moved_s = (now() - began).as_secs_f32();
    for _ in 0..20 {
        page.send(&zero);
        thread::sleep(PERIOD);
    }
    thread::sleep(Duration::from_millis(1_500));
    steady.then_some(moved_s)
}

#[test]
fn base_x_at_20_mm_s_for_2_s_moves_40_mm_in_real_time() {
    let simulator = Simulator::start(&["--pose", "ready"]);
    let mut page = WebClient::new(&simulator);
    for attempt in 1.. {
        let before = tcp(&mut page);
        let moved_s = jog(&mut page, [20.0, 0.0, 0.0]);
        let after = tcp(&mut page);
        let Some(moved_s) = moved_s else {
            assert!(attempt < 5, "the host paused this client for {PAUSE_MAX:?} in every attempt");
            jog(&mut page, [-20.0, 0.0, 0.0]);
            continue;
        };
        let [x, y, z]: [f32; 3] =
            core::array::from_fn(|axis| after.position_mm[axis] - before.position_mm[axis]);
        assert!((x - 20.0 * moved_s).abs() < 1.5, "{x} mm in {moved_s} s");
        assert!(y * y + z * z < 0.25, "{y} and {z} mm off the line");
        break;
    }
}
