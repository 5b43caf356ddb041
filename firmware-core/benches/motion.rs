//! What one step of each generator costs: JOG, TRACK, plans, test signals; and the checks of an upload.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use firmware_core::joints::{JOINTS, TABLE};
use firmware_core::motion::joint::{JointMotion, jog_step, track_step};
use firmware_core::motion::plan::{Plan, crc32c, sample_bytes};
use firmware_core::motion::signal::{Params, Signal};

fn main() {
    divan::main();
}

/// Steps per iteration: two seconds at 500 Hz, so that ramps, cruise and rest all count.
const STEPS: u32 = 1000;
const DT_S: f32 = 0.002;
/// Samples of the plan: 20 s at 250 Hz.
const SAMPLES: u16 = 5001;

fn rest() -> JointMotion {
    JointMotion { q_deg: [0.0, 10.0, -60.0, 20.0, 30.0, -40.0, -20.0], v_dps: [0.0; JOINTS] }
}

#[divan::bench]
fn jog(bencher: Bencher<'_, '_>) {
    let target_dps = [30.0, -20.0, 10.0, -30.0, 25.0, 15.0, 5.0];
    bencher.counter(ItemsCount::new(STEPS)).with_inputs(rest).bench_values(|mut motion| {
        for _ in 0..STEPS {
            jog_step(&mut motion, black_box(&target_dps), JOINTS, &TABLE, DT_S);
        }
        motion
    });
}

#[divan::bench]
fn track(bencher: Bencher<'_, '_>) {
    let goal_deg = [40.0, -30.0, 20.0, -60.0, 90.0, 50.0, -5.0];
    bencher.counter(ItemsCount::new(STEPS)).with_inputs(rest).bench_values(|mut motion| {
        for _ in 0..STEPS {
            track_step(&mut motion, black_box(&goal_deg), JOINTS, &TABLE, 60.0, false, DT_S);
        }
        motion
    });
}

/// Sample bytes of a plan whose joints move to and fro.
fn samples(joints: usize) -> Vec<u8> {
    let values_per_sample = sample_bytes(joints) / 2;
    (0..usize::from(SAMPLES) * values_per_sample)
        .flat_map(|k| (1800 + ((k / values_per_sample * 7 + k) % 400) as u16).to_le_bytes())
        .collect()
}

fn plan(cubic: bool, joints: u8) -> Plan {
    let mut plan = Plan::default();
    let bytes = samples(usize::from(joints));
    plan.begin(u32::from(SAMPLES), 250, cubic, joints, bytes.len()).expect("it fits");
    plan.write(0, SAMPLES, &bytes).expect("all samples at once");
    plan.end(crc32c(&bytes)).expect("the CRC agrees");
    plan
}

/// Interpolation: linear or cubic, six or seven joints.
#[divan::bench(args = [(false, 6), (true, 6), (false, 7), (true, 7)])]
fn plan_at(bencher: Bencher<'_, '_>, (cubic, joints): (bool, u8)) {
    let plan = plan(cubic, joints);
    bencher.counter(ItemsCount::new(STEPS)).bench(|| {
        for step in 0..STEPS {
            black_box(plan.at(black_box(u64::from(step) * 2017)));
        }
    });
}

/// The check of PLAY, of all samples.
#[divan::bench]
fn plan_limits(bencher: Bencher<'_, '_>) {
    let plan = plan(false, 6);
    bencher.counter(ItemsCount::new(SAMPLES)).bench(|| black_box(&plan).first_sample_outside_limits(&TABLE));
}

/// The check of PLAN_END, of all samples.
#[divan::bench]
fn plan_crc32c(bencher: Bencher<'_, '_>) {
    let bytes = samples(6);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| crc32c(black_box(&bytes)));
}

/// Test signals: 1 = chirp, 2 = steps.
#[divan::bench(args = [1, 2])]
fn signal(bencher: Bencher<'_, '_>, kind: u8) {
    let params = Params {
        joint: 4,
        kind,
        amp_deg: 10.0,
        f0_hz: 0.2,
        f1_hz: 8.0,
        duration_s: 20.0,
        vmax_dps: 90.0,
        amax_dps2: 1500.0,
        base_cdeg: [0, 0, -9000, 0, 0, 0],
    };
    assert_eq!(params.validate(&TABLE), Ok(()));
    let signal = Signal::new(&params, &[0.0, 0.0, -80.0, 5.0, 0.0, 0.0]);
    bencher.counter(ItemsCount::new(STEPS)).bench(|| {
        for step in 0..STEPS {
            black_box(signal.pose_deg(black_box(5.0 + step as f32 * DT_S)));
        }
    });
}
