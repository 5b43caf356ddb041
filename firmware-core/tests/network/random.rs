//! Any sequence of messages, ticks and answers of the control side: nothing panics, and the rules that hold
//! at every moment hold.

use firmware_core::platform::ClientId;
use firmware_core::protocol::reply::{Ack, Done};
use firmware_core::protocol::telemetry::Sample;
use firmware_core::protocol::{ApiLevel, Reply, codes};
use firmware_core::shared::{Request, State};
use firmware_core::telemetry_ring::TelemetrySample;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::side::*;

const CLIENTS: [ClientId; 4] = [UDP, UDP_2, WEB, WEB_2];
const STATES: [State; 8] = [
    State::Booting,
    State::Holding,
    State::Playing,
    State::Error,
    State::Ota,
    State::Moving,
    State::Jogging,
    State::Tracking,
];

#[derive(Debug, Clone)]
enum Step {
    Send(ClientId, Vec<u8>),
    Tick {
        ms: u64,
    },
    Skip {
        ms: u64,
    },
    Close(ClientId),
    Button,
    OtaBegin,
    OtaFailed,
    /// The control side takes what is pending and is then in this state.
    Serve(State),
    /// The control side shows this state, with this many joints.
    Show(State, u8),
    /// The control side publishes something up to 5 ms ahead.
    Publish {
        to: ClientId,
        ahead_us: u64,
        samples: u8,
        ends_run: bool,
    },
}

fn likely_message() -> impl Strategy<Value = Vec<u8>> {
    let good = select(vec![
        vec![codes::PING],
        vec![codes::STATE],
        vec![codes::HOLD],
        vec![codes::STOP],
        vec![codes::PLAN_BEGIN, 2, 0, 0, 0, 250, 0],
        plan_data(0, 2, &[8; 48]),
        plan_end(&[8; 48]),
        PLAY.to_vec(),
        play_signal(),
        vec![codes::REG_READ, 1, 62, 2],
        vec![codes::REG_WRITE, 1, 21, 1, 5],
        vec![codes::SUBSCRIBE, 100, 0],
        vec![codes::SUBSCRIBE, 0, 0],
        vec![codes::CONTROL, 0],
        vec![codes::CONTROL, 1],
        vec![codes::CONTROL, 2],
        move_to(6),
        move_to(7),
        jog(6),
        jog(7),
        jog_twist(1, 5),
        track(6),
        vec![codes::GRIPPER, 0, 1],
    ]);
    let garbage = (0_u8..0x14, vec(any::<u8>(), 0..60)).prop_map(|(code, mut bytes)| {
        bytes.insert(0, code);
        bytes
    });
    prop_oneof![4 => good, 1 => garbage, 1 => vec(any::<u8>(), 0..8)]
}

fn step() -> impl Strategy<Value = Step> {
    let client = || select(&CLIENTS[..]);
    prop_oneof![
        8 => (client(), likely_message()).prop_map(|(client, bytes)| Step::Send(client, bytes)),
        3 => (1_u64..60).prop_map(|ms| Step::Tick { ms }),
        1 => (1_u64..5_000).prop_map(|ms| Step::Skip { ms }),
        1 => client().prop_map(Step::Close),
        1 => Just(Step::Button),
        1 => prop_oneof![Just(Step::OtaBegin), Just(Step::OtaFailed)],
        3 => select(&STATES[..]).prop_map(Step::Serve),
        1 => (select(&STATES[..]), 6_u8..=7).prop_map(|(state, n)| Step::Show(state, n)),
        2 => (client(), 0_u64..5_000, 0_u8..40, any::<bool>())
            .prop_map(|(to, ahead_us, samples, ends_run)| Step::Publish { to, ahead_us, samples, ends_run }),
    ]
}

fn publish(side: &mut Side, to: ClientId, ahead_us: u64, samples: u8, ends_run: bool) {
    let at_us = side.now_us + ahead_us;
    for k in 0..samples {
        let n = 6 + usize::from(samples % 2 == 1);
        let sample = Sample { n, t_us: u32::from(k) * 2_000, ok: true, ..Sample::default() };
        let made = TelemetrySample { at_us, client: to, sent: k % 7 != 6, sample };
        // A full ring drops it, as in a run.
        let _ = side.shared.borrow_mut().telemetry.push(&made);
    }
    if ends_run {
        side.post(at_us, to, &Done::default(), true);
    } else {
        side.post(at_us, to, &Ack { code: codes::HOLD, status: 0, value: 0 }, false);
    }
}

fn is_hold(request: Option<&Request>) -> bool {
    matches!(request, Some(Request::Hold(_)))
}

/// Hands a message in and checks what no message may do.
fn send(side: &mut Side, client: ClientId, bytes: &[u8]) {
    let (before, stopped) = (side.pending(), side.stopped());
    let code = bytes.first().copied();
    let replies = side.send(client, bytes);
    assert!(replies.len() <= 1, "{bytes:02x?} was answered {} times", replies.len());
    let after = side.pending();
    if before.is_some() && code != Some(codes::HOLD) {
        assert_eq!(after, before, "{bytes:02x?} replaced a pending request");
    }
    if code == Some(codes::HOLD) && before != after {
        assert!(is_hold(after.as_ref()), "a HOLD put {after:?} in place of {before:?}");
    }
    if stopped && !side.stopped() {
        let starts_run = matches!(
            after,
            Some(
                Request::MoveTo { .. }
                    | Request::Play { .. }
                    | Request::PlaySignal { .. }
                    | Request::Stream(_)
            )
        );
        assert!(before.is_none() && starts_run, "{bytes:02x?} cleared the stop without a new run");
    }
}

/// Does one step and checks what must hold at every moment.
fn do_step(side: &mut Side, step: Step) {
    let before = side.pending();
    match step {
        Step::Send(client, bytes) => send(side, client, &bytes),
        Step::Tick { ms } => drop(side.tick_ms(ms)),
        Step::Skip { ms } => {
            side.now_us += ms * 1_000;
            side.tick_ms(1);
        }
        Step::Close(client) => {
            side.close(client);
            assert_ne!(side.holder(), Some(client));
            assert_eq!(side.network.subscribed_hz(client), None);
        }
        Step::Button => {
            side.network.button(side.now_us, &side.shared, &mut side.port);
            let after = side.pending();
            assert!(after == before || is_hold(after.as_ref()));
        }
        Step::OtaBegin => {
            let begins = side.network.ota_begin(side.now_us, &side.shared);
            assert!(!begins || before.is_none(), "an update replaced {before:?}");
        }
        Step::OtaFailed => {
            let on = side.network.state(side.now_us, &side.shared) == State::Ota;
            side.network.ota_failed(side.now_us, &side.shared);
            assert!(
                on || before == Some(Request::OtaBegin) || side.pending() == before,
                "it replaced {before:?}"
            );
        }
        Step::Serve(state) => {
            if before.is_some() {
                side.take();
            }
            side.finish(state);
        }
        Step::Show(state, n) => side.show(|view| {
            view.state = state;
            view.n = n;
        }),
        Step::Publish { to, ahead_us, samples, ends_run } => publish(side, to, ahead_us, samples, ends_run),
    }
    assert!(side.network.subscribers() <= 4);
    assert!(side.network.next_wake_us(&side.shared) <= side.now_us + 1_000_000, "at least the status log");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_keeps_the_rules(level in select(&ApiLevel::ALL[..]), steps in vec(step(), 1..120)) {
        let mut side = Side::at_level(level);
        for step in steps {
            do_step(&mut side, step);
        }
        // What is sent decodes, and once all is quiet nothing is left behind.
        side.tick_ms(3_000);
        for (_, bytes) in &side.port.sent {
            prop_assert!(Reply::decode(bytes).is_ok(), "{:02x?}", bytes);
        }
        let shared = side.shared.borrow();
        prop_assert!(shared.outbox.is_empty() && shared.telemetry.is_empty());
        drop(shared);
        prop_assert_eq!(side.network.subscribers(), 0);
    }
}
