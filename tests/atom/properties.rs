//! Arbitrary bytes and arbitrary requests: a whole ATOM never panics and never breaks a limit.

use atom_sim::atom::{Options, Truth};
use firmware_core::joints::{ARM_JOINTS, TABLE};
use firmware_core::protocol::codes;
use firmware_core::protocol::request::build;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::Bench;

/// A few cases a run: each is seconds of simulated time.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() }
}

/// Any bytes, mostly with a code that exists.
fn any_message() -> impl Strategy<Value = Vec<u8>> {
    (0..=0x12_u8, vec(any::<u8>(), 0..64)).prop_map(|(code, rest)| [vec![code], rest].concat())
}

/// A request that moves the arm, with values also outside the limits.
fn motion() -> impl Strategy<Value = Vec<u8>> {
    let values = || vec(-300.0..300.0_f32, 6..=7);
    prop_oneof![
        (values(), 0..3_000_u16).prop_map(|(goal, ms)| build::move_to(&goal, ms).to_vec()),
        values().prop_map(|velocity| build::jog(&velocity).to_vec()),
        (values(), 0.0..200.0_f32).prop_map(|(goal, vmax)| build::track(&goal, vmax).to_vec()),
        (1..=2_u8, vec(-150.0..150.0_f32, 7), 0.0..120.0_f32).prop_map(|(frame, v, cap)| {
            build::jog_tcp(frame, [v[0], v[1], v[2]], [v[3], v[4], v[5]], v[6], cap).to_vec()
        }),
        Just(vec![codes::STOP]),
        Just(vec![codes::HOLD]),
    ]
}

fn assert_inside_limits(truth: &Truth) {
    for (joint, limits) in TABLE.iter().enumerate() {
        let goal = truth.goal_deg[joint];
        let range = f64::from(limits.min_deg) - 0.05..=f64::from(limits.max_deg) + 0.05;
        assert!(range.contains(&goal), "goal of J{} at {goal}°", joint + 1);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arbitrary_bytes_never_panic(messages in vec((any_message(), 0..40_u64, any::<bool>()), 1..80)) {
        let mut bench = Bench::new(&Options::default());
        let clients = [bench.udp(), bench.web()];
        for (message, ms, web) in messages {
            bench.send(clients[usize::from(web)], &message);
            bench.run_ms(ms);
        }
    }

    #[test]
    fn arbitrary_motion_stays_inside_limits_and_speeds(requests in vec((motion(), 1..6_u32), 1..40)) {
        let mut bench = Bench::new(&Options::default());
        let client = bench.web();
        for (message, times) in requests {
            for _ in 0..times {
                bench.send(client, &message);
                for _ in 0..20 {
                    bench.run_ms(2);
                    let truth = bench.atom.truth();
                    assert_inside_limits(&truth);
                    for joint in 0..ARM_JOINTS {
                        prop_assert!(truth.speed_dps[joint].abs() <= 90.1, "J{}: {}", joint + 1, truth.speed_dps[joint]);
                    }
                }
            }
        }
    }
}
