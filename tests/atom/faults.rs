//! What the controller does when servos, bus and gripper misbehave: refusals, results, recovery.

use atom_sim::atom::Options;
use atom_sim::atom::fault::{BusFault, Fault, FaultKind, GripperFault, PowerFault, Scope, ServoFault};
use firmware_core::protocol::codes;
use firmware_core::protocol::reply::Reply;
use firmware_core::protocol::request::build;
use firmware_core::shared::State;

use crate::support::{Bench, ack, done_of};

fn inject(bench: &mut Bench, kind: FaultKind) -> atom_sim::hardware::FaultId {
    bench.atom.inject(Fault { kind, scope: Scope::NOW }).expect("a fault this version can do")
}

fn servo(joint: usize, fault: ServoFault) -> FaultKind {
    FaultKind::Servo { joint, fault }
}

#[test]
fn a_silent_servo_refuses_runs_with_minus_4_and_hold_recovers_once_it_answers() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    let silent = inject(&mut bench, servo(2, ServoFault::Silent));
    for message in [build::jog(&[5.0; 6]), build::track(&[5.0; 6], 20.0)] {
        assert_eq!(bench.ask_ms(client, &message, 60), [ack(message[0], -4)]);
        assert_eq!(bench.atom.state(), State::Holding);
    }
    let replies = bench.ask_ms(client, &build::move_to(&[5.0; 6], 0), 60);
    assert_eq!(replies[0], ack(codes::MOVE_TO, -4));
    assert_eq!(done_of(&replies).expect("DONE 4").result, 4);
    assert_eq!(bench.atom.state(), State::Error);
    // Only HOLD or the button leaves error.
    assert_eq!(bench.ask_ms(client, &build::move_to(&[5.0; 6], 0), 60), [ack(codes::MOVE_TO, -1)]);
    assert_eq!(bench.ask_ms(client, &build::jog(&[5.0; 6]), 60), [ack(codes::JOG, -1)]);
    assert_eq!(bench.ask_ms(client, &[codes::HOLD], 100), [ack(codes::HOLD, -4)]);
    bench.atom.clear_fault(silent);
    assert_eq!(bench.ask_ms(client, &[codes::HOLD], 100), [ack(codes::HOLD, 0)]);
    assert_eq!(bench.atom.state(), State::Holding);
    let replies = bench.ask_ms(client, &build::move_to(&[5.0; 6], 0), 2_000);
    assert_eq!(done_of(&replies).expect("DONE").result, 0);
}

#[test]
fn fifty_cycles_without_a_servo_end_a_move_and_a_track_with_done_4() {
    for message in [build::move_to(&[40.0, 0.0, 0.0, 0.0, 0.0, 0.0], 4_000), build::track(&[40.0; 6], 10.0)] {
        let mut bench = Bench::new(&Options::default());
        let client = bench.udp();
        bench.repeat_ms(client, &message, 100, 500);
        inject(&mut bench, servo(4, ServoFault::Silent));
        bench.outputs.clear();
        bench.repeat_ms(client, &message, 100, 600);
        let replies = crate::support::replies_to(client, &bench.outputs);
        let done = done_of(&replies).expect("DONE");
        assert_eq!((done.result, done.joint), (4, 0));
        assert_eq!(bench.atom.state(), State::Error);
    }
}

#[test]
fn a_few_missing_replies_do_not_end_a_run() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    bench.ask_ms(client, &build::move_to(&[40.0, 0.0, 0.0, 0.0, 0.0, 0.0], 3_000), 500);
    let silent = inject(&mut bench, servo(4, ServoFault::Silent));
    bench.run_ms(100);
    bench.atom.clear_fault(silent);
    let replies = bench.ask_ms(client, &[codes::PING], 4_000);
    let done = done_of(&replies).expect("DONE");
    assert_eq!(done.result, 0);
    assert!(done.late_cycles > 10, "a missing reply costs 3 ms: {done:?}");
}

#[test]
fn a_blocked_joint_stops_a_track_with_done_1_and_its_joint() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.web();
    let track = build::track(&[0.0, 0.0, 0.0, 90.0, 0.0, 0.0], 60.0);
    inject(&mut bench, servo(3, ServoFault::Blocked(0.5)));
    bench.repeat_ms(client, &track, 50, 2_000);
    let replies = crate::support::replies_to(client, &bench.outputs);
    let done = done_of(&replies).expect("DONE");
    assert_eq!((done.result, done.joint), (1, 4));
    // 20° and 0.15 s of 60 °/s: between 227 and 330 steps; J4's sign is −1.
    assert!((228..=332).contains(&done.error_steps), "{}", done.error_steps);
    assert_eq!(bench.atom.state(), State::Error);
    assert!(bench.atom.deg(3).abs() < 1.0);
}

#[test]
fn a_blocked_joint_stops_a_move_with_done_1() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    inject(&mut bench, servo(0, ServoFault::Blocked(0.5)));
    let replies = bench.ask_ms(client, &build::move_to(&[60.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0), 3_000);
    let done = done_of(&replies).expect("DONE");
    assert_eq!((done.result, done.joint), (1, 1));
    assert!(done.error_steps.abs() > 227, "{}", done.error_steps);
}

#[test]
fn j7_is_lost_after_five_missed_reads_and_found_again_within_a_second() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.web();
    bench.subscribe(client, 50);
    bench.run_ms(100);
    assert_eq!(bench.stream(client).seen.n, 7);
    let gone = inject(&mut bench, FaultKind::Gripper(GripperFault::Unplug));
    bench.run_ms(60);
    assert_eq!(bench.stream(client).seen.n, 7, "a few misses keep the last values");
    bench.run_ms(200);
    assert_eq!(bench.stream(client).seen.n, 6);
    assert_eq!(bench.ask_ms(client, &build::move_to(&[0.0; 7], 0), 20), [ack(codes::MOVE_TO, -7)]);
    bench.atom.clear_fault(gone);
    bench.subscribe(client, 50);
    bench.run_ms(1_200);
    assert_eq!(bench.stream(client).seen.n, 7);
    let word = u16::from_le_bytes([bench.atom.register(6, 48), bench.atom.register(6, 49)]);
    assert_eq!(word, 1000, "set up again");
}

#[test]
fn a_seven_joint_run_goes_on_without_j7_and_its_telemetry_keeps_seven() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    bench.ask_ms(client, &build::move_to(&[40.0, 0.0, 0.0, 0.0, 0.0, 0.0, -40.0], 3_000), 500);
    inject(&mut bench, FaultKind::Gripper(GripperFault::Unplug));
    let replies = bench.ask_ms(client, &[codes::PING], 4_000);
    assert_eq!(done_of(&replies).expect("DONE").result, 0);
    assert!((bench.atom.deg(0) - 40.0).abs() < 0.2);
    let all = crate::support::replies_to(client, &bench.outputs);
    assert!(all.iter().all(|reply| match reply {
        Reply::Telemetry(packet) => packet.samples.iter().all(|sample| sample.n == 7),
        _other => true,
    }));
}

#[test]
fn heat_derates_j7_and_cooling_gives_its_torque_back() {
    let mut bench = Bench::new(&Options::default());
    let torque = |bench: &Bench| u16::from_le_bytes([bench.atom.register(6, 48), bench.atom.register(6, 49)]);
    let hot = inject(&mut bench, FaultKind::Gripper(GripperFault::Hot(71.0)));
    bench.run_ms(1_200);
    assert_eq!(torque(&bench), 500);
    let lines = crate::support::status_lines(&bench.run_ms(1_100));
    assert!(lines[0].ends_with(" j7_derated"), "{}", lines[0]);
    bench.atom.clear_fault(hot);
    let warm = inject(&mut bench, FaultKind::Gripper(GripperFault::Hot(61.0)));
    bench.run_ms(1_200);
    assert_eq!(torque(&bench), 500, "61 °C is not cool enough");
    bench.atom.clear_fault(warm);
    inject(&mut bench, FaultKind::Gripper(GripperFault::Hot(60.0)));
    bench.run_ms(1_200);
    assert_eq!(torque(&bench), 1000);
}

#[test]
fn bit_errors_on_the_bus_are_answered_by_repeated_writes() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    inject(&mut bench, FaultKind::Bus(BusFault::BitErrors(5e-5)));
    for _ in 0..20 {
        bench.ask_ms(client, &[codes::HOLD], 100);
    }
    assert_eq!(bench.atom.state(), State::Holding);
    assert!(bench.atom.truth().write_retries > 0);
    let replies = bench.ask_ms(client, &build::move_to(&[10.0; 6], 0), 3_000);
    assert_eq!(done_of(&replies).expect("DONE").result, 0);
}

#[test]
fn a_disconnected_bus_is_an_error_and_hold_recovers() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    bench.ask_ms(client, &build::move_to(&[40.0, 0.0, 0.0, 0.0, 0.0, 0.0], 3_000), 500);
    let gone = inject(&mut bench, FaultKind::Bus(BusFault::Disconnected));
    let replies = bench.ask_ms(client, &[codes::PING], 1_500);
    assert_eq!(done_of(&replies).expect("DONE").result, 4);
    assert_eq!(bench.atom.state(), State::Error);
    bench.atom.clear_fault(gone);
    assert_eq!(bench.ask_ms(client, &[codes::HOLD], 100), [ack(codes::HOLD, 0)]);
}

#[test]
fn a_servo_that_forgot_its_turns_moves_nothing_until_hold_found_them() {
    let hardware = atom_sim::hardware::HardwareOptions {
        pose_deg: [0.0, 0.0, 0.0, 0.0, 0.0, -200.0, -20.0],
        ..Default::default()
    };
    let mut bench = Bench::new(&Options { hardware, ..Options::default() });
    let client = bench.udp();
    inject(&mut bench, servo(5, ServoFault::Reset));
    bench.run_ms(20);
    let replies = bench.ask_ms(client, &build::move_to(&[0.0, 0.0, 0.0, 0.0, 0.0, -190.0], 0), 500);
    assert_eq!(replies[0], ack(codes::MOVE_TO, -4));
    assert!((bench.atom.deg(5) + 200.0).abs() < 0.2, "{}", bench.atom.deg(5));
    assert_eq!(bench.ask_ms(client, &[codes::HOLD], 200), [ack(codes::HOLD, 0)]);
    bench.ask_ms(client, &build::move_to(&[0.0, 0.0, 0.0, 0.0, 0.0, -190.0], 0), 2_500);
    assert!((bench.atom.deg(5) + 190.0).abs() < 0.2, "{}", bench.atom.deg(5));
}

#[test]
fn a_power_cycle_boots_again_and_holds() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    bench.ask_ms(client, &build::move_to(&[40.0, 0.0, 0.0, 0.0, 0.0, 0.0], 3_000), 700);
    let scope = Scope { for_us: Some(400_000), ..Scope::NOW };
    bench.atom.inject(Fault { kind: FaultKind::Power(PowerFault::CycleBoth), scope }).expect("possible");
    bench.run_ms(600);
    assert_eq!(bench.atom.state(), State::Booting);
    bench.run_ms(3_000);
    assert_eq!(bench.atom.state(), State::Holding);
    let replies = bench.ask_ms(client, &[codes::PING], 10);
    assert!(matches!(&replies[..], [Reply::Pong(pong)] if pong.gains_ok), "{replies:?}");
}

#[test]
fn the_button_stops_a_move_holds_while_idle_and_does_nothing_while_booting() {
    let mut bench = Bench::new(&Options::default());
    let client = bench.udp();
    bench.ask_ms(client, &build::move_to(&[40.0, 0.0, 0.0, 0.0, 0.0, 0.0], 3_000), 700);
    inject(&mut bench, FaultKind::Button);
    let replies = bench.ask_ms(client, &[codes::PING], 100);
    assert_eq!(done_of(&replies).expect("DONE").result, 2);
    let silent = inject(&mut bench, servo(1, ServoFault::Silent));
    bench.ask_ms(client, &[codes::HOLD], 100);
    assert_eq!(bench.atom.state(), State::Error);
    bench.atom.clear_fault(silent);
    bench.outputs.clear();
    inject(&mut bench, FaultKind::Button);
    bench.run_ms(100);
    assert_eq!(bench.atom.state(), State::Holding);
    assert!(crate::support::replies_to(client, &bench.outputs).is_empty(), "without ACK");
}
