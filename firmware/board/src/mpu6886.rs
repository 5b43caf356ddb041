//! The IMU: an MPU6886 on I²C.

use embedded_hal_async::i2c::I2c;
use firmware_core::platform::ImuSample;

/// Period of the samples (µs).
pub const PERIOD_US: u64 = 2_000;
const ADDRESS: u8 = 0x68;
const WHO_AM_I: u8 = 0x75;
const IDENTITY: u8 = 0x19;
/// Acceleration, temperature and angular rate, 14 bytes, big-endian.
const DATA: u8 = 0x3B;
/// Wakes it with the clock it finds best; sample divider 0; low-pass 1 for both; ±8 g; ±2,000 °/s.
const SETTINGS: [[u8; 2]; 6] =
    [[0x6B, 0x01], [0x19, 0x00], [0x1A, 0x01], [0x1D, 0x01], [0x1C, 0x10], [0x1B, 0x18]];

/// Why there is no IMU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImuError {
    /// Nobody answers at 0x68, or the bus failed.
    Bus,
    /// Somebody else answers: its identity.
    OtherChip(u8),
}

/// The IMU, set up.
#[derive(Debug)]
pub struct Mpu6886<B> {
    bus: B,
}

impl<B: I2c> Mpu6886<B> {
    /// Finds the IMU and sets it up; gives the bus back if it is not there.
    ///
    /// # Errors
    /// [`ImuError`], with the bus.
    pub async fn new(mut bus: B) -> Result<Self, (ImuError, B)> {
        let mut identity = [0];
        if bus.write_read(ADDRESS, &[WHO_AM_I], &mut identity).await.is_err() {
            return Err((ImuError::Bus, bus));
        }
        if identity != [IDENTITY] {
            return Err((ImuError::OtherChip(identity[0]), bus));
        }
        for setting in &SETTINGS {
            if bus.write(ADDRESS, setting).await.is_err() {
                return Err((ImuError::Bus, bus));
            }
        }
        Ok(Self { bus })
    }

    /// The latest sample.
    ///
    /// # Errors
    /// [`ImuError::Bus`].
    pub async fn sample(&mut self) -> Result<ImuSample, ImuError> {
        let mut data = [0; 14];
        self.bus.write_read(ADDRESS, &[DATA], &mut data).await.map_err(|_| ImuError::Bus)?;
        let word = |index: usize| i16::from_be_bytes([data[2 * index], data[2 * index + 1]]);
        Ok(ImuSample { acc: [word(0), word(1), word(2)], gyro: [word(4), word(5), word(6)] })
    }

    /// Gives the bus back, to look for the IMU again.
    pub fn release(self) -> B {
        self.bus
    }
}

#[cfg(test)]
mod tests {
    use embassy_futures::block_on;
    use embedded_hal_async::i2c::{ErrorKind, ErrorType, NoAcknowledgeSource, Operation};

    use super::*;

    /// A chip with registers at address 0x68.
    struct Chip {
        registers: [u8; 128],
        written: std::vec::Vec<[u8; 2]>,
        silent: bool,
    }

    impl Chip {
        fn new(identity: u8) -> Self {
            let mut registers = [0; 128];
            registers[usize::from(WHO_AM_I)] = identity;
            Self { registers, written: std::vec::Vec::new(), silent: false }
        }
    }

    impl ErrorType for Chip {
        type Error = ErrorKind;
    }

    impl I2c for Chip {
        async fn transaction(
            &mut self,
            address: u8,
            operations: &mut [Operation<'_>],
        ) -> Result<(), ErrorKind> {
            if self.silent || address != ADDRESS {
                return Err(ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address));
            }
            let mut at = 0;
            for operation in operations {
                match operation {
                    Operation::Write(bytes) => {
                        at = usize::from(bytes[0]);
                        if let [register, value] = **bytes {
                            self.written.push([register, value]);
                        }
                    }
                    Operation::Read(buffer) => {
                        let length = buffer.len();
                        buffer.copy_from_slice(&self.registers[at..at + length]);
                    }
                }
            }
            Ok(())
        }
    }

    #[test]
    fn it_is_set_up_for_8_g_and_2000_degrees_per_second() {
        let imu = block_on(Mpu6886::new(Chip::new(0x19))).map_err(|(error, _)| error).expect("found");
        assert_eq!(imu.release().written, SETTINGS);
    }

    #[test]
    fn a_sample_is_big_endian_and_leaves_the_temperature_out() {
        let mut chip = Chip::new(0x19);
        chip.registers[0x3B..0x49]
            .copy_from_slice(&[0x10, 0x00, 0xF0, 0x01, 0, 2, 0x7F, 0x7F, 0, 3, 0xFF, 0xFC, 0x80, 0x00]);
        let mut imu = block_on(Mpu6886::new(chip)).map_err(|(error, _)| error).expect("found");
        let sample = block_on(imu.sample()).expect("a sample");
        assert_eq!(sample, ImuSample { acc: [4096, -4095, 2], gyro: [3, -4, -32_768] });
    }

    #[test]
    fn another_chip_and_a_silent_bus_are_told_apart() {
        let other = block_on(Mpu6886::new(Chip::new(0x71))).map_err(|(error, _)| error);
        assert_eq!(other.err(), Some(ImuError::OtherChip(0x71)));
        let silent = Chip { silent: true, ..Chip::new(0x19) };
        assert_eq!(block_on(Mpu6886::new(silent)).map_err(|(error, _)| error).err(), Some(ImuError::Bus));
    }
}
