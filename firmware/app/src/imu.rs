//! The IMU sampler: 500 Hz, the latest sample for both sides; looks again every second while there is no IMU.

use atom_board::mpu6886::{Mpu6886, PERIOD_US};
use embassy_time::{Duration, Ticker, Timer, with_timeout};
use esp_hal::Async;
use esp_hal::i2c::master::I2c;
use firmware_core::platform::ImuSample;

use crate::mailbox::IMU;

/// Samples in a row that may fail before the IMU is looked for again.
const FAILURES_MAX: u32 = 50;

/// A sample takes half a millisecond; a bus that hangs for so long is one failure.
const SAMPLE_TIMEOUT: Duration = Duration::from_millis(5);

fn publish(sample: Option<ImuSample>) {
    critical_section::with(|section| IMU.borrow(section).set(sample));
}

/// Runs the sampler for ever.
#[embassy_executor::task]
pub(crate) async fn run(mut bus: I2c<'static, Async>) -> ! {
    loop {
        bus = match Mpu6886::new(bus).await {
            Ok(mut imu) => {
                sample(&mut imu).await;
                imu.release()
            }
            Err((error, bus)) => {
                esp_println::println!("no IMU: {error:?}");
                bus
            }
        };
        publish(None);
        Timer::after_secs(1).await;
    }
}

/// Samples until the IMU is gone.
async fn sample(imu: &mut Mpu6886<I2c<'static, Async>>) {
    let mut ticker = Ticker::every(Duration::from_micros(PERIOD_US));
    let mut failures = 0;
    while failures < FAILURES_MAX {
        ticker.next().await;
        match with_timeout(SAMPLE_TIMEOUT, imu.sample()).await {
            Ok(Ok(sample)) => {
                failures = 0;
                publish(Some(sample));
            }
            Ok(Err(_)) | Err(_) => failures += 1,
        }
    }
}
