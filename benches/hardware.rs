//! What the simulated hardware costs: one control cycle's bus bytes, and a look at the IMU.

use atom_sim::hardware::{Hardware, HardwareOptions};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

const JOINTS: u8 = 7;
/// Cycles per iteration: one second at 500 Hz.
const CYCLES: u64 = 500;

fn packet(instruction: u8, params: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xFF, 0xFF, 0xFE, params.len() as u8 + 2, instruction];
    bytes.extend_from_slice(params);
    let sum = bytes[2..].iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.push(!sum);
    bytes
}

/// SYNC WRITE of goals that swing by ±500 steps.
fn goals(cycle: u64) -> Vec<u8> {
    let mut params = vec![42, 2];
    for id in 1..=JOINTS {
        let swing = (cycle * 3 % 1_000).abs_diff(500) as u16;
        params.push(id);
        params.extend_from_slice(&(1_600 + swing).to_le_bytes());
    }
    packet(0x83, &params)
}

/// Hardware whose servos follow goals at up to 90 °/s.
fn moving() -> Hardware {
    let mut hardware = Hardware::new(&HardwareOptions::default()).expect("the defaults are possible");
    for id in 1..=JOINTS {
        let mut params = vec![46, 2, id];
        params.extend_from_slice(&2_000u16.to_le_bytes());
        hardware.transmit(0, &packet(0x83, &params));
    }
    hardware
}

#[divan::bench]
fn second_of_sync_write_and_sync_read_of_seven(bencher: Bencher<'_, '_>) {
    let writes: Vec<Vec<u8>> = (0..CYCLES).map(goals).collect();
    let read = packet(0x82, &[56, 6, 1, 2, 3, 4, 5, 6, 7]);
    bencher.counter(ItemsCount::new(CYCLES)).with_inputs(moving).bench_values(|mut hardware| {
        let mut buffer = [0; 84];
        let mut heard = 0;
        for (cycle, write) in (0..).zip(&writes) {
            let now_us = hardware.transmit(cycle * 2_000, write);
            hardware.discard_input(now_us);
            let now_us = hardware.transmit(now_us, &read);
            heard += hardware.receive(now_us, &mut buffer, 3_000).0;
        }
        assert_eq!(heard, 84 * writes.len());
        hardware
    });
}

#[divan::bench]
fn imu_sample(bencher: Bencher<'_, '_>) {
    let hardware = moving();
    let mut t_us = 0;
    bencher.bench_local(|| {
        t_us += 2_000;
        hardware.imu(t_us)
    });
}
