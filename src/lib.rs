//! A simulated ATOM: the lab's controller firmware against simulated servos, bus, gripper, IMU and WiFi.
#![forbid(unsafe_code)]

pub mod atom;
pub mod cli;
pub mod client;
pub mod hardware;
pub mod kinematics;
pub mod link;
mod mix;
pub mod recording;
pub mod scenario;
pub mod server;
pub mod servo_model;
