//! One whole simulated ATOM as a value: both firmware sides, bus, servos, gripper, IMU and ground truth.
//!
//! | File | Is |
//! | --- | --- |
//! | [`simulated`] | [`Atom`]: inputs, virtual time, outputs |
//! | [`options`] | how it starts |
//! | [`inbox`] | messages that wait for the next network tick |
//! | [`ports`] | the platform it gives to `firmware-core` |
//! | [`fault`] | what can go wrong: names, parameters, scopes |
//! | [`truth`] | what really is, beside the protocol |

pub mod fault;
mod inbox;
mod options;
mod ports;
mod simulated;
pub mod truth;

pub use firmware_core::platform::{ClientId, Transport};
pub use options::Options;
pub use ports::CpuModel;
pub use simulated::{Atom, Output};
