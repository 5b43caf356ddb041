//! The generators: pure functions of state and dt.
//!
//! | File | Is |
//! | --- | --- |
//! | [`min_jerk`] | minimum-jerk moves: MOVE_TO |
//! | [`joint`] | joints in steps of dt: JOG frame 0 and TRACK |
//! | [`twist`] | end-effector JOG: frames 1 and 2 |
//! | [`plan`] | uploaded plans and their interpolation: PLAY |
//! | [`signal`] | test signals: PLAY_SIGNAL |

pub mod joint;
pub mod min_jerk;
pub mod plan;
pub mod signal;
pub mod twist;
