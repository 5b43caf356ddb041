//! Plans and test signals on a whole ATOM: uploads over bad links, PLAY and PLAY_SIGNAL to their DONE, refusals,
//! late cycles, seven joints, power cycles, two clients.

use crate::support::{Bench, ack, done_of, replies_to};
use atom_sim::atom::fault::{Fault, FaultKind, PowerFault, Scope, WifiFault};
use atom_sim::atom::{ClientId, Options};
use atom_sim::client::{Plan, Sample, Upload};
use atom_sim::hardware::HardwareOptions;
use atom_sim::link::Direction;
use atom_sim::recording::Collector;
use atom_sim::recording::{Reader, Row, Writer};
use firmware_core::motion::signal::{Kind, Params};
use firmware_core::protocol::plan::SIGNAL_BYTES;
use firmware_core::protocol::reply::{Ack, Done, Reply};
use firmware_core::protocol::{build, codes};
use firmware_core::shared::{PlayParams, State};

/// What a client that knows its arm asks for.
const PLAY: PlayParams =
    PlayParams { rate_hz: 500, speed_cap_sps: 2000, max_error_steps: 400, start_tolerance_steps: 34 };

fn six_joints() -> Options {
    Options {
        hardware: HardwareOptions { gripper: false, ..HardwareOptions::default() },
        ..Options::default()
    }
}

/// From the zero pose, J1 swings out by `swing_deg` and back once, at 250 Hz.
fn swing(samples: usize, joints: usize, swing_deg: f64) -> Plan {
    let last = (samples - 1) as f64;
    let sample = |k: usize| {
        let mut pose_deg = [0.0; 7];
        let s = libm::sin(core::f64::consts::PI * k as f64 / last);
        pose_deg[0] = swing_deg * s * s;
        pose_deg[6] = if joints == 7 { -20.0 - 0.2 * pose_deg[0] } else { 0.0 };
        Sample { cmd_deg: pose_deg, reference_deg: pose_deg }
    };
    Plan { rate_hz: 250, joints, cubic: false, samples: (0..samples).map(sample).collect() }
}

/// Uploads as a client does, for at most `seconds`.
fn upload(bench: &mut Bench, client: ClientId, plan: &Plan, seconds: u64) -> Upload {
    let mut upload = Upload::new(plan);
    for _ in 0..seconds * 1000 {
        while let Some(bytes) = upload.poll(bench.atom.now_us()).expect("the link is not that bad") {
            let bytes = bytes.to_vec();
            bench.send(client, &bytes);
        }
        for reply in replies_to(client, &bench.run_ms(1)) {
            if let Reply::Ack(ack) = reply {
                upload.take(&ack).expect("nothing is wrong with the plan");
            }
        }
        if upload.is_done() {
            break;
        }
    }
    upload
}

fn uploaded(options: &Options, plan: &Plan) -> (Bench, ClientId) {
    let mut bench = Bench::new(options);
    let client = bench.udp();
    assert!(upload(&mut bench, client, plan, 5).is_done());
    assert_eq!(bench.atom.state(), State::Ready);
    (bench, client)
}

/// Replies to one message, those to an earlier one not counted.
fn answers(bench: &mut Bench, client: ClientId, message: &[u8], ms: u64) -> Vec<Reply> {
    bench.run_ms(2);
    bench.ask_ms(client, message, ms)
}

/// Runs until DONE, and gives the telemetry with it.
fn until_done(bench: &mut Bench, client: ClientId, seconds: u64) -> (Done, Collector) {
    let mut collector = Collector::default();
    for _ in 0..seconds * 10 {
        for reply in replies_to(client, &bench.run_ms(100)) {
            match reply {
                Reply::Telemetry(packet) => collector.take(&packet),
                Reply::Done(done) => return (done, collector),
                _ => {}
            }
        }
    }
    panic!("no DONE within {seconds} s");
}

fn signal(change: impl FnOnce(&mut Params)) -> [u8; SIGNAL_BYTES] {
    let mut params = Params {
        joint: 1,
        kind: 1,
        amp_deg: 10.0,
        f0_hz: 0.2,
        f1_hz: 1.0,
        duration_s: 8.0,
        vmax_dps: 60.0,
        amax_dps2: 300.0,
        base_cdeg: [0; 6],
    };
    change(&mut params);
    params.to_bytes().into_array().expect("a signal has 38 bytes")
}

fn not_at_start(joint: u8, error_steps: i16) -> Reply {
    Reply::Done(Done { result: 3, joint, error_steps, ..Done::default() })
}

#[test]
fn a_plan_of_3751_samples_goes_over_a_bad_link_and_plays_without_a_gap() {
    let mut bench = Bench::new(&six_joints());
    let client = bench.udp();
    for fault in [WifiFault::Loss(0.1), WifiFault::Duplicate(0.1)] {
        let kind = FaultKind::Wifi { client: None, direction: Some(Direction::ToAtom), fault };
        bench.atom.inject(Fault { kind, scope: Scope::NOW }).expect("a fault of the table");
    }
    let plan = swing(3751, 6, 90.0);
    assert!(upload(&mut bench, client, &plan, 60).is_done());
    assert!(bench.atom.messages_lost() > 0, "the link lost nothing");
    while bench.atom.state() != State::Playing {
        bench.ask_ms(client, &build::play(PLAY), 100);
    }
    let from = bench.outputs.len() - 1;
    let (done, mut collector) = until_done(&mut bench, client, 20);
    // Samples that came while PLAY was still being sent.
    for reply in replies_to(client, &bench.outputs[..=from]) {
        if let Reply::Telemetry(packet) = reply {
            collector.take(&packet);
        }
    }
    assert_eq!((done.result, done.cycles, done.telemetry_dropped, done.late_cycles), (0, 7750, 0, 0));
    assert_eq!((collector.len(), collector.missing(&done)), (7750, 0));
    assert_eq!(bench.atom.state(), State::Ready);
    assert!((collector.latest_s() - 15.498).abs() < 1e-9, "{}", collector.latest_s());
}

#[test]
fn the_csv_of_a_run_equals_its_telemetry() {
    let (mut bench, client) = uploaded(&six_joints(), &swing(251, 6, 10.0));
    bench.send(client, &build::play(PLAY));
    let (_, collector) = until_done(&mut bench, client, 3);
    let rows: Vec<Row> = collector.samples().map(Row::from_sample).collect();
    let mut writer = Writer::new(Vec::new(), 6).expect("memory");
    for row in &rows {
        writer.write(row).expect("memory");
    }
    let bytes = writer.finish().expect("memory");
    let mut reader = Reader::new(bytes.as_slice(), std::path::Path::new("run.csv")).expect("a header");
    for sample in collector.samples() {
        let raw = reader.read().expect("a row").expect("as many rows as samples").to_raw();
        assert_eq!(raw.position[..6], sample.position[..6]);
        assert_eq!(raw.speed[..6], sample.speed[..6]);
        assert_eq!(raw.load[..6], sample.load[..6]);
        assert_eq!(raw.imu, sample.imu);
    }
    assert!(reader.read().expect("the end").is_none());
}

#[test]
fn the_goals_sent_are_those_of_the_plan() {
    let plan = swing(251, 6, 10.0);
    let (mut bench, client) = uploaded(&six_joints(), &plan);
    bench.send(client, &build::play(PlayParams { rate_hz: 250, ..PLAY }));
    let (_, collector) = until_done(&mut bench, client, 3);
    for (row, wanted) in collector.samples().map(Row::from_sample).zip(&plan.samples) {
        let off_deg = (row.cmd_deg[0] - wanted.cmd_deg[0]).abs();
        assert!(off_deg <= 0.0440, "{off_deg}° off at {} s", row.t_s);
    }
}

#[test]
fn cubic_interpolation_rounds_the_corners_that_linear_keeps() {
    let goal_between = |cubic: bool| {
        let mut plan = swing(251, 6, 0.0);
        plan.cubic = cubic;
        plan.rate_hz = 10;
        for (k, sample) in plan.samples.iter_mut().enumerate().take(60) {
            let deg = [0.0, 0.0, 2.0, 2.0][(k / 5) % 4];
            (sample.cmd_deg[0], sample.reference_deg[0]) = (deg, deg);
        }
        plan.samples.truncate(60);
        let (mut bench, client) = uploaded(&six_joints(), &plan);
        bench.send(client, &build::play(PlayParams { rate_hz: 100, ..PLAY }));
        let (done, collector) = until_done(&mut bench, client, 9);
        assert_eq!(done.result, 0);
        let highest = collector.samples().map(Row::from_sample).map(|row| row.cmd_deg[0]);
        highest.fold(0.0, f64::max)
    };
    assert!((goal_between(false) - 2.0).abs() < 0.05);
    // Catmull-Rom swings past a corner by 1/16 to 2/27 of the step.
    let cubic_deg = goal_between(true);
    assert!((2.1..2.2).contains(&cubic_deg), "{cubic_deg}°");
}

#[test]
fn seven_joints_play_and_report_seven() {
    let (mut bench, client) = uploaded(&Options::default(), &swing(501, 7, 30.0));
    bench.send(client, &build::play(PlayParams { rate_hz: 250, ..PLAY }));
    let (done, collector) = until_done(&mut bench, client, 4);
    assert_eq!((done.result, done.late_cycles, done.cycles), (0, 0, 625));
    assert_eq!((collector.joints(), collector.len(), collector.missing(&done)), (7, 625, 0));
    let lowest = collector.samples().map(Row::from_sample).map(|row| row.position_deg[6]).fold(0.0, f64::min);
    assert!((-26.5..-25.0).contains(&lowest), "J7 closed to {lowest}°");
}

#[test]
fn a_play_at_800_hz_is_late_in_every_cycle_and_says_so() {
    let (mut bench, client) = uploaded(&six_joints(), &swing(501, 6, 10.0));
    bench.send(client, &build::play(PlayParams { rate_hz: 800, ..PLAY }));
    let (done, collector) = until_done(&mut bench, client, 4);
    assert_eq!((done.result, done.telemetry_dropped), (0, 0));
    assert_eq!(done.late_cycles, done.cycles);
    // A cycle takes 1.54 ms of bus, and a slow read now and then 0.3 ms more.
    assert!((1500..1650).contains(&done.cycles), "{done:?}");
    assert!((1_500..1_950).contains(&done.longest_period_us), "{done:?}");
    assert_eq!((collector.len(), collector.missing(&done)), (done.cycles as usize, 0));
}

#[test]
fn stop_ends_a_play_where_the_arm_is() {
    let (mut bench, client) = uploaded(&six_joints(), &swing(2001, 6, 60.0));
    bench.ask_ms(client, &build::play(PLAY), 2_000);
    let replies = bench.ask_ms(client, &build::plain(codes::STOP), 50);
    assert_eq!(replies[0], ack(codes::STOP, 0));
    let done = done_of(&replies).expect("it stops at once");
    assert_eq!((done.result, done.joint), (2, 0));
    assert_eq!(bench.atom.state(), State::Ready);
    let there_deg = bench.atom.deg(0);
    bench.run_ms(1_000);
    assert!((bench.atom.deg(0) - there_deg).abs() < 0.1, "it went on to {}", bench.atom.deg(0));
}

#[test]
fn plan_begin_refuses_what_cannot_be_a_plan_or_does_not_fit() {
    let mut bench = Bench::new(&six_joints());
    let client = bench.udp();
    for (message, status) in [
        (build::plan_begin(1, 250, false, 6), -2),
        (build::plan_begin(2, 0, false, 6), -2),
        (build::plan_begin(2, 250, false, 5), -2),
        (build::plan_begin(2, 250, false, 8), -2),
        (build::plan_begin(5_002, 250, false, 6), -3),
        (build::plan_begin(u32::MAX, 250, false, 7), -3),
        (build::plan_begin(5_001, 250, false, 6), 0),
    ] {
        assert_eq!(answers(&mut bench, client, &message, 2), [ack(codes::PLAN_BEGIN, status)], "{message:?}");
    }
    assert_eq!(answers(&mut bench, client, &[4, 2, 0, 0, 0, 250], 2), [ack(codes::PLAN_BEGIN, -1)]);
}

#[test]
fn plan_data_and_plan_end_refuse_each_with_the_offset_and_minus_1() {
    let mut bench = Bench::new(&six_joints());
    let client = bench.udp();
    let data = |offset: u32, count: u16, bytes: usize| {
        [build::plan_data_head(offset, count).as_slice(), &vec![0; bytes]].concat()
    };
    let refused = |value| [Reply::Ack(Ack { code: codes::PLAN_DATA, status: -1, value })];
    assert_eq!(answers(&mut bench, client, &data(3, 1, 24), 2), refused(3), "no plan begun");
    assert_eq!(answers(&mut bench, client, &build::plan_end(0), 2), [ack(codes::PLAN_END, -1)]);
    bench.ask_ms(client, &build::plan_begin(4, 250, false, 6), 2);
    assert_eq!(answers(&mut bench, client, &data(3, 2, 48), 2), refused(3), "past the end");
    assert_eq!(answers(&mut bench, client, &data(u32::MAX, 1, 24), 2), refused(u32::MAX), "no wrap");
    assert_eq!(answers(&mut bench, client, &data(1, 2, 47), 2), refused(1), "wrong length");
    assert_eq!(answers(&mut bench, client, &[5, 9, 0, 0, 0], 2), refused(9), "no count");
    assert_eq!(answers(&mut bench, client, &[5, 9, 0, 0], 2), refused(0), "no offset");
    assert_eq!(answers(&mut bench, client, &build::plan_end(0), 2), [ack(codes::PLAN_END, -1)], "incomplete");
    bench.ask_ms(client, &data(0, 4, 96), 2);
    assert_eq!(answers(&mut bench, client, &build::plan_end(1), 2), [ack(codes::PLAN_END, -1)], "wrong CRC");
    assert_eq!(answers(&mut bench, client, &[6, 0, 0, 0], 2), [ack(codes::PLAN_END, -1)], "short");
    let crc = firmware_core::motion::plan::crc32c(&[0; 96]);
    assert_eq!(answers(&mut bench, client, &build::plan_end(crc), 2), [ack(codes::PLAN_END, 0)]);
    assert_eq!(bench.atom.state(), State::Ready);
    assert_eq!(answers(&mut bench, client, &build::plan_end(crc ^ 1), 2), [ack(codes::PLAN_END, -1)]);
    assert_eq!(bench.atom.state(), State::Holding, "no valid plan is left");
}

#[test]
fn nothing_of_a_plan_can_change_while_it_plays() {
    let plan = swing(1001, 6, 20.0);
    let (mut bench, client) = uploaded(&six_joints(), &plan);
    bench.ask_ms(client, &build::play(PLAY), 100);
    let data = [build::plan_data_head(7, 1).as_slice(), &[0; 24]].concat();
    for (message, code, value) in [
        (build::plan_begin(4, 250, false, 6).to_vec(), codes::PLAN_BEGIN, 0),
        (data, codes::PLAN_DATA, 7),
        (build::plan_end(0).to_vec(), codes::PLAN_END, 0),
        (build::play(PLAY).to_vec(), codes::PLAY, 0),
        (build::play_signal(PLAY, &signal(|_| {})).to_vec(), codes::PLAY_SIGNAL, 0),
    ] {
        let refused = Reply::Ack(Ack { code, status: -1, value });
        assert_eq!(answers(&mut bench, client, &message, 2), [refused], "{code:02X}");
    }
    let (done, _) = until_done(&mut bench, client, 6);
    assert_eq!(done.result, 0);
    assert_eq!(bench.atom.state(), State::Ready, "the plan is still there");
}

#[test]
fn play_refuses_each_case_by_its_value() {
    let mut bench = Bench::new(&six_joints());
    let client = bench.udp();
    assert_eq!(answers(&mut bench, client, &build::play(PLAY), 5), [ack(codes::PLAY, -1)], "no plan");

    let (mut bench, client) = uploaded(&six_joints(), &swing(251, 6, 10.0));
    assert_eq!(answers(&mut bench, client, &build::play(PLAY)[..8], 5), [ack(codes::PLAY, -1)], "short");
    for rate_hz in [0, 49, 801, u16::MAX] {
        let play = build::play(PlayParams { rate_hz, ..PLAY });
        assert_eq!(answers(&mut bench, client, &play, 10), [ack(codes::PLAY, -2)], "{rate_hz} Hz");
    }

    let (mut bench, client) = uploaded(&six_joints(), &swing(251, 7, 10.0));
    assert_eq!(answers(&mut bench, client, &build::play(PLAY), 10), [ack(codes::PLAY, -7)], "no gripper");
}

#[test]
fn a_play_far_from_its_start_says_which_joint_and_how_far() {
    let mut plan = swing(251, 6, 0.0);
    plan.samples.iter_mut().for_each(|sample| sample.reference_deg[3] = 10.0);
    let (mut bench, client) = uploaded(&six_joints(), &plan);
    // J4 counts against its angle: 10° are 114 steps below the middle.
    let replies = answers(&mut bench, client, &build::play(PLAY), 10);
    assert_eq!(replies, [ack(codes::PLAY, -3), not_at_start(4, 114)]);
    assert_eq!(bench.atom.state(), State::Ready, "no run began");
    let play = build::play(PlayParams { start_tolerance_steps: 114, ..PLAY });
    assert_eq!(answers(&mut bench, client, &play, 10)[0], ack(codes::PLAY, 0));
}

#[test]
fn a_sample_outside_the_limits_is_refused_with_its_joint() {
    for (joint, deg, status) in [(0, 166.0, -11), (1, -141.0, -12), (4, 161.0, -15), (5, 136.0, -16)] {
        for in_cmd in [true, false] {
            let mut plan = swing(251, 6, 10.0);
            let sample = &mut plan.samples[100];
            let pose_deg = if in_cmd { &mut sample.cmd_deg } else { &mut sample.reference_deg };
            pose_deg[joint] = deg;
            let (mut bench, client) = uploaded(&six_joints(), &plan);
            assert_eq!(answers(&mut bench, client, &build::play(PLAY), 10), [ack(codes::PLAY, status)]);
            assert_eq!(bench.atom.state(), State::Ready);
        }
    }
}

#[test]
fn a_plan_too_fast_for_the_arm_ends_with_its_joint_and_error() {
    let (mut bench, client) = uploaded(&six_joints(), &swing(501, 6, 90.0));
    bench.send(client, &build::play(PlayParams { max_error_steps: 100, ..PLAY }));
    let (done, collector) = until_done(&mut bench, client, 4);
    assert_eq!((done.result, done.joint), (1, 1));
    assert!((101..=110).contains(&done.error_steps.abs()), "{done:?}");
    assert_eq!(collector.len(), done.cycles as usize, "the sample of the error is there too");
    assert_eq!(bench.atom.state(), State::Error);
}

/// A change that makes the parameters wrong, and the status that refuses it.
type Change = (fn(&mut Params), i8);

#[test]
fn play_signal_refuses_each_parameter_by_its_number() {
    let mut bench = Bench::new(&six_joints());
    let client = bench.udp();
    let changes: [Change; 9] = [
        (|p| p.joint = 0, -11),
        (|p| p.kind = 3, -12),
        (|p| p.amp_deg = f32::NAN, -13),
        (|p| p.duration_s = 121.0, -14),
        (|p| p.vmax_dps = 151.0, -15),
        (|p| (p.kind, p.amp_deg, p.vmax_dps) = (2, 50.0, 60.0), -15),
        (|p| p.amax_dps2 = 401.0, -16),
        (|p| p.f1_hz = p.f0_hz, -17),
        (|p| p.base_cdeg[0] = 15_000, -18),
    ];
    for (change, status) in changes {
        let message = build::play_signal(PLAY, &signal(change));
        assert_eq!(answers(&mut bench, client, &message, 10), [ack(codes::PLAY_SIGNAL, status)]);
    }
    let slow = build::play_signal(PlayParams { rate_hz: 49, ..PLAY }, &signal(|_| {}));
    assert_eq!(answers(&mut bench, client, &slow, 10), [ack(codes::PLAY_SIGNAL, -2)]);
    let message = build::play_signal(PLAY, &signal(|_| {}));
    assert_eq!(answers(&mut bench, client, &message[..46], 10), [ack(codes::PLAY_SIGNAL, -1)]);
    let long = [message.as_slice(), &[0]].concat();
    assert_eq!(answers(&mut bench, client, &long, 10), [ack(codes::PLAY_SIGNAL, -1)]);
}

#[test]
fn play_signal_refuses_a_start_pose_that_it_cannot_leave() {
    let start = |joint: usize, deg: f64| {
        let mut options = six_joints();
        options.hardware.pose_deg[joint] = deg;
        let mut bench = Bench::new(&options);
        let client = bench.udp();
        answers(&mut bench, client, &build::play_signal(PLAY, &signal(|_| {})), 10)
    };
    assert_eq!(start(1, 135.0), [ack(codes::PLAY_SIGNAL, -29), not_at_start(2, 0)]);
    assert_eq!(start(2, 100.0), [ack(codes::PLAY_SIGNAL, -30), not_at_start(3, 0)]);
}

#[test]
fn both_kinds_of_signal_play_to_done_0() {
    for kind in [Kind::Chirp, Kind::Steps] {
        let mut bench = Bench::new(&six_joints());
        let client = bench.udp();
        let number = match kind {
            Kind::Chirp => 1,
            Kind::Steps => 2,
        };
        bench.send(client, &build::play_signal(PLAY, &signal(|p| p.kind = number)));
        let (done, collector) = until_done(&mut bench, client, 16);
        // 2 + 1 + 8 + 1 + 2 s and 0.5 s to settle.
        assert_eq!((done.result, done.cycles), (0, 7_250), "{kind:?}");
        assert_eq!((collector.len(), collector.missing(&done)), (7_250, 0));
        let rows = collector.samples().map(Row::from_sample);
        let (low, high) = rows
            .fold((0.0_f64, 0.0_f64), |(low, high), row| (low.min(row.cmd_deg[0]), high.max(row.cmd_deg[0])));
        assert!((-10.1..-9.0).contains(&low) && (9.0..10.1).contains(&high), "{kind:?}: {low} to {high}");
        assert_eq!(bench.atom.state(), State::Holding);
    }
}

#[test]
fn a_power_cycle_during_an_upload_loses_the_plan_cleanly() {
    let mut bench = Bench::new(&six_joints());
    let client = bench.udp();
    bench.ask_ms(client, &build::plan_begin(100, 125, false, 6), 5);
    let data = [build::plan_data_head(0, 50).as_slice(), &[8; 1200]].concat();
    assert_eq!(bench.ask_ms(client, &data, 5), [ack(codes::PLAN_DATA, 0)]);
    let scope = Scope { for_us: Some(100_000), ..Scope::NOW };
    let kind = FaultKind::Power(PowerFault::CycleAtom);
    bench.atom.inject(Fault { kind, scope }).expect("a fault of the table");
    bench.run_ms(5_000);
    let pong = bench.ask_ms(client, &build::plain(codes::PING), 5);
    let Some(Reply::Pong(pong)) = pong.first() else { panic!("{pong:?}") };
    assert_eq!((pong.state, pong.plan_samples, pong.plan_rate_hz), (State::Holding as u8, 0, 250));
    let refused = Reply::Ack(Ack { code: codes::PLAN_DATA, status: -1, value: 50 });
    let data = [build::plan_data_head(50, 50).as_slice(), &[8; 1200]].concat();
    assert_eq!(bench.ask_ms(client, &data, 5), [refused]);
    assert!(upload(&mut bench, client, &swing(251, 6, 10.0), 5).is_done(), "a new upload goes through");
}

#[test]
fn of_two_clients_that_upload_at_once_the_holder_wins() {
    let mut bench = Bench::new(&six_joints());
    let (first, second) = (bench.udp(), bench.web());
    bench.ask_ms(first, &build::plan_begin(100, 125, false, 6), 5);
    let begin = bench.ask_ms(second, &build::plan_begin(50, 250, false, 6), 5);
    assert_eq!(begin, [ack(codes::PLAN_BEGIN, -2)]);
    let data = [build::plan_data_head(7, 1).as_slice(), &[9; 24]].concat();
    let refused = Reply::Ack(Ack { code: codes::PLAN_DATA, status: -2, value: 7 });
    assert_eq!(bench.ask_ms(second, &data, 5), [refused]);
    assert_eq!(bench.ask_ms(second, &build::plan_end(0), 5), [ack(codes::PLAN_END, -2)]);
    let pong = bench.ask_ms(first, &build::plain(codes::PING), 5);
    let Some(Reply::Pong(pong)) = pong.first() else { panic!("{pong:?}") };
    assert_eq!((pong.plan_samples, pong.plan_rate_hz), (100, 125), "the first one's plan is untouched");
    // 2 s after the last message the lease ends, and the second one begins a plan of its own.
    bench.run_ms(2_100);
    assert!(upload(&mut bench, second, &swing(251, 6, 10.0), 5).is_done());
}

#[test]
fn a_recording_plays_for_any_signal_sample_by_sample() {
    let (mut bench, client) = uploaded(&six_joints(), &swing(251, 6, 10.0));
    bench.send(client, &build::play(PLAY));
    let (_, recorded) = until_done(&mut bench, client, 3);
    let samples: Vec<_> = recorded.samples().map(|sample| Row::from_sample(sample).to_sample(6)).collect();

    let mut bench = Bench::new(&Options { recording: Some(samples.clone().into()), ..six_joints() });
    let client = bench.udp();
    let message = build::play_signal(PLAY, &signal(|_| {}));
    assert_eq!(answers(&mut bench, client, &message, 100), [ack(codes::PLAY_SIGNAL, 0)]);
    assert_eq!(bench.atom.state(), State::Playing);
    let from = bench.outputs.len();
    let (done, _) = until_done(&mut bench, client, 3);
    let mut played = Collector::default();
    assert!(from > 0);
    for reply in replies_to(client, &bench.outputs) {
        if let Reply::Telemetry(packet) = reply {
            played.take(&packet);
        }
    }
    assert_eq!((done.result, done.cycles, done.telemetry_dropped), (0, 750, 0));
    assert_eq!(played.samples().copied().collect::<Vec<_>>(), samples);
    assert_eq!(bench.atom.state(), State::Holding);

    bench.ask_ms(client, &message, 500);
    let replies = bench.ask_ms(client, &build::plain(codes::STOP), 50);
    assert_eq!(done_of(&replies).expect("it stops").result, 2);
    let refused = answers(&mut bench, client, &build::play_signal(PLAY, &signal(|p| p.joint = 0)), 10);
    assert_eq!(refused, [ack(codes::PLAY_SIGNAL, -11)]);
}
