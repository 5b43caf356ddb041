//! The simulated hardware: servos on a wire, plants, gripper, IMU.
//!
//! | File | Is |
//! | --- | --- |
//! | [`arm`] | [`Hardware`]: everything on the bus, and the IMU |
//! | [`wire`] | bytes and their times |
//! | [`packet`] | Feetech packets as a servo sees them |
//! | [`servo`] | one servo: registers and motor |
//! | [`registers`] | the register file |
//! | [`lag`] | the `lag` plant |
//! | [`imu`] | the MPU6886 |
//! | [`noise`] | noise as a pure function |

pub mod arm;
pub mod imu;
pub mod lag;
pub mod noise;
pub mod packet;
pub mod registers;
pub mod servo;
pub mod wire;

pub use arm::{BusCounters, Hardware, HardwareError, HardwareOptions};
