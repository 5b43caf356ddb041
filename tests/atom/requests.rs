//! The request table on a whole ATOM, over both transports: what each request answers, and each refusal in
//! the order of its checks.

use crate::support::{Bench, ack, done_of, replies_to};
use atom_sim::atom::{ClientId, Options, Transport};
use atom_sim::hardware::HardwareOptions;
use firmware_core::protocol::codes;
use firmware_core::protocol::reply::{RegisterValues, RegisterWritten, Reply};
use firmware_core::protocol::request::build;
use firmware_core::shared::State;

const ZERO: [f32; 6] = [0.0; 6];

/// Runs a test once per transport, on a fresh ATOM with the gripper.
fn on_both(test: impl Fn(&mut Bench, ClientId)) {
    for transport in [Transport::Udp, Transport::WebSocket] {
        let mut bench = Bench::new(&Options::default());
        let client = bench.atom.connect(transport);
        test(&mut bench, client);
    }
}

fn without_gripper() -> Options {
    Options {
        hardware: HardwareOptions { gripper: false, ..HardwareOptions::default() },
        ..Options::default()
    }
}

#[test]
fn ping_answers_with_version_and_state() {
    on_both(|bench, client| {
        let replies = bench.ask_ms(client, &[codes::PING], 5);
        let [Reply::Pong(pong)] = replies.as_slice() else { panic!("{replies:?}") };
        assert_eq!((pong.major, pong.minor, pong.patch, pong.state), (5, 1, 0, State::Holding as u8));
        assert_eq!((pong.plan_samples, pong.plan_rate_hz, pong.imu_ok, pong.gains_ok), (0, 250, true, true));
    });
}

#[test]
fn state_is_a_fresh_reading_and_makes_nothing_busy() {
    on_both(|bench, client| {
        bench.send(client, &[codes::STATE]);
        let replies = bench.ask_ms(client, &build::move_to(&[5.0; 6], 0), 30);
        let [Reply::State(state), accepted] = replies.as_slice() else { panic!("{replies:?}") };
        assert_eq!((state.n, state.joints.ok), (7, true));
        assert_eq!(state.joints.position[..6], [2048; 6]);
        assert_eq!(*accepted, ack(codes::MOVE_TO, 0));
        // While it moves, the run's own reads answer.
        let replies = bench.ask_ms(client, &[codes::STATE], 5);
        let [Reply::State(state)] = replies.as_slice() else { panic!("{replies:?}") };
        assert!(state.joints.ok);
    });
}

#[test]
fn hold_while_idle_answers_after_the_hold_and_during_a_run_at_once() {
    on_both(|bench, client| {
        assert_eq!(bench.ask_ms(client, &[codes::HOLD], 50), [ack(codes::HOLD, 0)]);
        bench.ask_ms(client, &build::move_to(&[30.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0), 300);
        let replies = bench.ask_ms(client, &[codes::HOLD], 50);
        assert_eq!(replies[0], ack(codes::HOLD, 0));
        assert_eq!(done_of(&replies).expect("the run ended").result, 2);
        assert_eq!(bench.atom.state(), State::Holding);
        let stopped_at = bench.atom.deg(0);
        bench.run_ms(500);
        assert!((bench.atom.deg(0) - stopped_at).abs() < 0.5, "it holds where it was stopped");
        assert!((1.0..29.0).contains(&stopped_at), "{stopped_at}");
    });
}

#[test]
fn stop_always_answers_and_ends_a_run() {
    on_both(|bench, client| {
        assert_eq!(bench.ask_ms(client, &[codes::STOP], 5), [ack(codes::STOP, 0)]);
        bench.ask_ms(client, &build::move_to(&[30.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0), 300);
        let replies = bench.ask_ms(client, &[codes::STOP], 50);
        assert_eq!(replies[0], ack(codes::STOP, 0));
        assert_eq!(done_of(&replies).expect("the run ended").result, 2);
    });
}

#[test]
fn a_stop_before_the_first_cycle_ends_the_run_without_motion() {
    on_both(|bench, client| {
        bench.send(client, &build::move_to(&[30.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0));
        let replies = bench.ask_ms(client, &[codes::STOP], 100);
        assert!(
            replies.contains(&ack(codes::STOP, 0)) && replies.contains(&ack(codes::MOVE_TO, 0)),
            "{replies:?}"
        );
        let done = done_of(&replies).expect("DONE");
        assert_eq!((done.result, done.cycles), (2, 0));
        assert!(bench.atom.deg(0).abs() < 0.1);
    });
}

#[test]
fn a_hold_replaces_a_pending_request_and_refuses_it() {
    on_both(|bench, client| {
        bench.send(client, &build::move_to(&[30.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0));
        let replies = bench.ask_ms(client, &[codes::HOLD], 100);
        assert_eq!(replies, [ack(codes::MOVE_TO, -1), ack(codes::HOLD, 0)]);
        assert_eq!(bench.atom.state(), State::Holding);
    });
}

#[test]
fn move_to_is_refused_in_the_order_of_its_checks() {
    on_both(|bench, client| {
        let mut ask = |message: &[u8]| bench.ask_ms(client, message, 30);
        let long: Vec<u8> = build::move_to(&ZERO, 0).iter().copied().chain([0]).collect();
        assert_eq!(ask(&long), [ack(codes::MOVE_TO, -1)], "16 bytes");
        assert_eq!(ask(&[codes::MOVE_TO]), [ack(codes::MOVE_TO, -1)], "1 byte");
        for (joint, degrees) in
            [(1, 163.01), (2, 138.01), (3, -148.01), (4, 148.01), (5, -158.01), (6, 133.01)]
        {
            let mut goal = ZERO;
            goal[joint - 1] = degrees;
            assert_eq!(ask(&build::move_to(&goal, 0)), [ack(codes::MOVE_TO, -10 - joint as i8)], "J{joint}");
        }
        let below_closed = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -51.51];
        assert_eq!(ask(&build::move_to(&below_closed, 0)), [ack(codes::MOVE_TO, -17)]);
        // 30° need 0.658 s.
        let goal = [30.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(ask(&build::move_to(&goal, 600)), [ack(codes::MOVE_TO, -1)], "too short, and no DONE");
        assert_eq!(ask(&build::move_to(&goal, 659)), [ack(codes::MOVE_TO, 0)]);
        assert_eq!(ask(&build::move_to(&goal, 0)), [ack(codes::MOVE_TO, -1)], "it moves");
        let outside = [170.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(
            ask(&build::move_to(&outside, 0)),
            [ack(codes::MOVE_TO, -1)],
            "busy comes before the limits"
        );
    });
}

#[test]
fn seven_values_without_the_gripper_are_refused_before_busy_and_limits() {
    for message in [build::move_to(&[200.0; 7], 0), build::jog(&[1.0; 7]), build::track(&[200.0; 7], 10.0)] {
        let mut bench = Bench::new(&without_gripper());
        let client = bench.udp();
        assert_eq!(bench.ask_ms(client, &message, 10), [ack(message[0], -7)]);
        bench.ask_ms(client, &build::move_to(&[20.0; 6], 0), 100);
        assert_eq!(bench.ask_ms(client, &message, 10), [ack(message[0], -7)], "also while it moves");
    }
    let mut bench = Bench::new(&without_gripper());
    let client = bench.udp();
    let tcp = build::jog_tcp(1, [1.0, 0.0, 0.0], [0.0; 3], 0.1, 30.0);
    assert_eq!(bench.ask_ms(client, &tcp, 10), [ack(codes::JOG, -7)]);
}

#[test]
fn jog_and_track_answer_only_when_refused() {
    on_both(|bench, client| {
        for message in [
            &[codes::JOG][..],
            &[codes::JOG, 0, 1, 2],
            &[codes::JOG, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[codes::JOG, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert_eq!(bench.ask_ms(client, message, 5), [ack(codes::JOG, -1)], "{message:?}");
        }
        assert_eq!(bench.ask_ms(client, &[codes::TRACK, 0], 5), [ack(codes::TRACK, -1)]);
        let outside = [0.0, 138.5, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(bench.ask_ms(client, &build::track(&outside, 10.0), 5), [ack(codes::TRACK, -12)]);
        assert_eq!(bench.ask_ms(client, &build::jog(&[5.0; 6]), 50), []);
        assert_eq!(bench.atom.state(), State::Jogging);
        assert_eq!(bench.ask_ms(client, &build::track(&[5.0; 6], 20.0), 50), [], "switches without a stop");
        assert_eq!(bench.atom.state(), State::Tracking);
        assert_eq!(bench.ask_ms(client, &build::move_to(&ZERO, 0), 5), [ack(codes::MOVE_TO, -1)], "busy");
        bench.run_ms(1_500);
        bench.ask_ms(client, &build::move_to(&[20.0; 6], 0), 100);
        assert_eq!(bench.ask_ms(client, &build::jog(&[5.0; 6]), 5), [ack(codes::JOG, -1)], "MOVE_TO runs");
    });
}

#[test]
fn registers_are_read_raw() {
    on_both(|bench, client| {
        assert_eq!(bench.ask_ms(client, &build::reg_read(1, 62, 1), 10), [values(1, 62, 1, 0, &[76])]);
        assert_eq!(bench.ask_ms(client, &build::reg_read(7, 3, 2), 10), [values(7, 3, 2, 0, &[0x0A, 0x07])]);
        assert_eq!(
            bench.ask_ms(client, &build::reg_read(2, 21, 7), 10),
            [values(2, 21, 7, 0, &[32, 4, 16, 20, 0, 1, 1])]
        );
        for (id, length) in [(0, 1), (8, 1), (1, 0), (1, 33)] {
            assert_eq!(
                bench.ask_ms(client, &build::reg_read(id, 62, length), 10),
                [values(id, 62, 0, -1, &[])]
            );
        }
        assert_eq!(bench.ask_ms(client, &[codes::REG_READ, 3], 10), [values(3, 0, 0, -1, &[])], "too short");
        bench.ask_ms(client, &build::move_to(&[20.0; 6], 0), 100);
        assert_eq!(
            bench.ask_ms(client, &build::reg_read(1, 62, 2), 10),
            [values(1, 62, 0, -1, &[])],
            "it moves"
        );
    });
}

/// A REG_READ reply.
fn values(id: u8, address: u8, length: u8, status: i8, data: &[u8]) -> Reply {
    Reply::RegisterValues(RegisterValues {
        id,
        address,
        length,
        status,
        data: data.iter().copied().collect(),
    })
}

#[test]
fn a_silent_id_answers_minus_4() {
    let mut bench = Bench::new(&without_gripper());
    let client = bench.udp();
    let replies = bench.ask_ms(client, &build::reg_read(7, 62, 2), 50);
    assert_eq!(replies, [values(7, 62, 2, -4, &[])]);
    let replies = bench.ask_ms(client, &build::reg_write(7, 21, &[1]), 50);
    assert_eq!(
        replies,
        [Reply::RegisterWritten(RegisterWritten { id: 7, address: 21, status: -4, servo_error: 0 })]
    );
}

#[test]
fn registers_are_written_and_read_back() {
    on_both(|bench, client| {
        let written = |id, address, status| {
            Reply::RegisterWritten(RegisterWritten { id, address, status, servo_error: 0 })
        };
        assert_eq!(bench.ask_ms(client, &build::reg_write(2, 21, &[30, 5, 1]), 10), [written(2, 21, 0)]);
        let replies = bench.ask_ms(client, &build::reg_read(2, 21, 3), 10);
        assert!(
            matches!(&replies[..], [Reply::RegisterValues(values)] if values.data == [30, 5, 1]),
            "{replies:?}"
        );
        // Acceleration is clamped to register 85: the read-back differs.
        assert_eq!(bench.ask_ms(client, &build::reg_write(1, 41, &[200]), 10), [written(1, 41, -6)]);
        for (address, data) in
            [(0, &[0][..]), (8, &[0, 0]), (55, &[0]), (54, &[0, 0]), (80, &[0]), (79, &[0, 0])]
        {
            assert_eq!(
                bench.ask_ms(client, &build::reg_write(1, address, data), 10),
                [written(1, address, -5)],
                "{address}"
            );
        }
        for (id, address) in [(0, 21), (8, 0)] {
            assert_eq!(
                bench.ask_ms(client, &build::reg_write(id, address, &[0]), 10),
                [written(id, address, -1)]
            );
        }
        assert_eq!(
            bench.ask_ms(client, &[codes::REG_WRITE, 1, 21, 2, 9], 10),
            [written(1, 21, -1)],
            "length disagrees"
        );
        let empty = build::reg_write(1, 21, &[]);
        assert_eq!(bench.ask_ms(client, &empty, 10), [written(1, 21, -1)], "length 0");
    });
}

#[test]
fn nonsense_is_ignored() {
    on_both(|bench, client| {
        for message in
            [&[][..], &[0x00], &[0x11, 0, 0], &[0x7F; 40], &[0x81], &[0xFF; 1500], &[codes::SUBSCRIBE, 50]]
        {
            assert_eq!(bench.ask_ms(client, message, 5), [], "{message:?}");
        }
    });
}

#[test]
fn while_booting_only_questions_are_answered() {
    let mut bench = Bench::new(&Options { boot: true, ..Options::default() });
    let client = bench.udp();
    let replies = bench.ask_ms(client, &[codes::PING], 5);
    assert!(matches!(&replies[..], [Reply::Pong(pong)] if pong.state == 0), "{replies:?}");
    let replies = bench.ask_ms(client, &[codes::STATE], 5);
    assert!(
        matches!(&replies[..], [Reply::State(s)] if !s.joints.ok && s.n == 6 && s.joints.position == [0; 7]),
        "{replies:?}"
    );
    assert_eq!(bench.ask_ms(client, &[codes::STOP], 5), [ack(codes::STOP, 0)]);
    assert_eq!(bench.ask_ms(client, &build::control(1), 5), [ack(codes::CONTROL, 0)]);
    for message in
        [build::plain(codes::HOLD), build::move_to(&[0.0; 7], 0), build::jog(&ZERO), build::track(&ZERO, 1.0)]
    {
        assert_eq!(bench.ask_ms(client, &message, 5), [ack(message[0], -1)]);
    }
    bench.subscribe(client, 100);
    bench.run_ms(100);
    let stream = bench.stream(client);
    assert_eq!((stream.state, stream.seen.joints.ok, stream.seen.n), (0, false, 6));
    bench.run_ms(2_000);
    assert_eq!(bench.atom.state(), State::Holding);
    assert!(replies_to(client, &bench.outputs).len() > 10);
}

#[test]
fn sixty_four_clients_that_ask_for_the_state_at_once_are_all_answered() {
    let mut bench = Bench::new(&Options::default());
    let clients: Vec<ClientId> =
        (0..64).map(|k| if k % 2 == 0 { bench.udp() } else { bench.web() }).collect();
    for moving in [false, true] {
        if moving {
            bench.ask_ms(clients[0], &build::move_to(&[20.0; 6], 0), 100);
        }
        for client in &clients {
            bench.send(*client, &[codes::STATE]);
        }
        let outputs = bench.run_ms(60);
        for client in &clients {
            let states =
                replies_to(*client, &outputs).iter().filter(|reply| matches!(reply, Reply::State(_))).count();
            assert_eq!(states, 1, "moving: {moving}");
        }
    }
}
