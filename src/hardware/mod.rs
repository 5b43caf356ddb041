//! The simulated hardware: seven servos as things on a wire, what they move, the gripper and the IMU.
//!
//! The driver's bytes go in, the servos' bytes come out, each at its virtual time. Nothing here knows the
//! controller. All work is lazy: a joint's motion is known in closed form between two orders, noise is a function
//! of the sample number, and so nothing depends on who looks, or how often.
//!
//! | File | Is |
//! | --- | --- |
//! | `rig` | [`Hardware`]: the whole of it |
//! | `options` | how it starts, what cannot be |
//! | `requests` | what servos make of bytes |
//! | `fault`, `active` | what can go wrong; what goes wrong now |
//! | `truth` | ground truth |
//! | `wire`, `line` | bytes and their times; what disturbs them |
//! | `packet` | requests found, replies built |
//! | [`register_table`], `registers` | registers as data; as one servo's memory |
//! | `servo` | one servo: from registers to a drive, from motion to registers |
//! | `drive` | what moves a joint |
//! | `plant`, `plant_lag`, `plant_measured`, `measured_table` | what the drives move: the models |
//! | `load`, `gravity`, `heat` | what the servos bear; how they get warm |
//! | [`gripper`] | fingers and objects |
//! | `chain`, `space` | where links are and how they move |
//! | `imu` | the motion sensor |
//! | `noise` | noise without state |

mod active;
#[cfg(test)]
mod bus_tests;
mod chain;
mod drive;
mod fault;
#[cfg(test)]
mod fault_tests;
mod gravity;
pub mod gripper;
#[cfg(test)]
mod gripper_tests;
mod heat;
mod imu;
mod line;
mod load;
mod measured_table;
#[cfg(test)]
mod measured_tests;
mod noise;
mod options;
mod packet;
mod plant;
mod plant_lag;
mod plant_measured;
pub mod register_table;
mod registers;
mod requests;
mod rig;
mod servo;
mod space;
#[cfg(test)]
mod test_bus;
mod truth;
mod wire;

pub use chain::Pose;
pub use fault::{ArmFault, BusFault, FaultId, GripperFault, HardwareFault, ImuFault, PowerFault, ServoFault};
pub use gripper::{Object, ObjectSize};
pub(crate) use options::check_range;
pub use options::{END_STOPS_DEG, HardwareError, HardwareOptions, READY_DEG, ZERO_DEG};
pub use plant::PlantKind;
pub use rig::{BusCounters, Hardware};
pub use truth::{JointTruth, ObjectTruth};
