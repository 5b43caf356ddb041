//! What reading a recording costs: 7,750 rows, the length of the lab's circle, must take less than 50 ms.

use std::hint::black_box;
use std::path::Path;

use atom_sim::recording::{Reader, Row, Writer};

fn main() {
    divan::main();
}

/// A file of 7,750 rows of seven joints with digits as a run has them, about 3 MB.
fn file() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), 7).expect("memory");
    for k in 0..7_750_u32 {
        let value = |column: u32| f64::from((k * 31 + column * 17) % 4_096) * 360.0 / 4_096.0 - 180.0;
        let joints = |quantity: u32| core::array::from_fn(|joint| value(quantity * 7 + joint as u32));
        let row = Row {
            t_s: f64::from(k) * 0.002,
            reference_deg: joints(0),
            cmd_deg: joints(1),
            position_deg: joints(2),
            speed_dps: joints(3),
            load_percent: joints(4),
            acc_g: core::array::from_fn(|axis| value(axis as u32) / 4_096.0),
            gyro_dps: core::array::from_fn(|axis| value(axis as u32) / 16.4),
        };
        writer.write(&row).expect("memory");
    }
    writer.finish().expect("memory")
}

#[divan::bench]
fn read_7750_rows(bencher: divan::Bencher<'_, '_>) {
    let file = file();
    bencher.counter(divan::counter::BytesCount::new(file.len())).bench_local(|| {
        let mut reader = Reader::new(black_box(file.as_slice()), Path::new("bench.csv")).expect("a header");
        let mut rows = 0;
        while reader.read().expect("whole rows").is_some() {
            rows += 1;
        }
        assert_eq!(rows, 7_750);
    });
}
