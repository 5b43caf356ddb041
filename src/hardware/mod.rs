//! The simulated hardware: servos on a wire, plants, gripper, IMU.
