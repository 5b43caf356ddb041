//! The kinematic chain: forward kinematics and Jacobian of the flange and the gripper TCP.
