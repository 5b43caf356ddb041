//! The joints of the arm: the one table of limits, gains and signs that every check uses.
//!
//! Source: the limits of the robot description and the settings of controller firmware 5.1.

/// Joints of the arm without the gripper, J1–J6.
pub const ARM_JOINTS: usize = 6;
/// Joints with the gripper, J1–J7. Arrays over joints always have this length; J7 is index 6.
pub const JOINTS: usize = 7;
/// Index of J6, the joint that goes past one turn.
pub const J6: usize = 5;
/// Index of J7, the gripper.
pub const J7: usize = 6;

/// What the controller knows of one joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// Lower joint limit (°).
    pub min_deg: f32,
    /// Upper joint limit (°).
    pub max_deg: f32,
    /// Goals of MOVE_TO and TRACK, and joint JOG, stay this far inside the limits (°).
    pub margin_deg: f32,
    /// Acceleration limit (°/s²).
    pub accel_limit_dps2: f32,
    /// Sign between servo steps and angle: angle = sign · (steps − 2048) · 360/4096.
    pub sign: i32,
    /// Position-loop gains P, D, I (registers 21, 22, 23).
    pub gains_pdi: [u8; 3],
    /// Minimum starting force and dead zone (registers 24; 26 and 27); `None` leaves the servo's own.
    pub starting_force_and_dead_zone: Option<(u8, u8)>,
}

impl Joint {
    /// Lowest goal that MOVE_TO and TRACK accept (°).
    pub const fn min_goal_deg(&self) -> f32 {
        self.min_deg + self.margin_deg
    }

    /// Highest goal that MOVE_TO and TRACK accept (°).
    pub const fn max_goal_deg(&self) -> f32 {
        self.max_deg - self.margin_deg
    }
}

const fn joint(
    min_deg: f32,
    max_deg: f32,
    accel_limit_dps2: f32,
    sign: i32,
    gains_pdi: [u8; 3],
    starting: (u8, u8),
) -> Joint {
    Joint {
        min_deg,
        max_deg,
        margin_deg: 2.0,
        accel_limit_dps2,
        sign,
        gains_pdi,
        starting_force_and_dead_zone: Some(starting),
    }
}

/// J1–J6 and the gripper J7, in order of bus id (id = index + 1).
pub type JointTable = [Joint; JOINTS];

/// The table of firmware 4.6 and later.
pub const TABLE: JointTable = [
    joint(-165.0, 165.0, 400.0, -1, [32, 4, 16], (0, 3)),
    joint(-140.0, 140.0, 400.0, -1, [32, 4, 16], (20, 1)),
    joint(-150.0, 150.0, 400.0, 1, [32, 4, 16], (20, 1)),
    joint(-150.0, 150.0, 2000.0, -1, [32, 8, 0], (20, 1)),
    joint(-160.0, 160.0, 2000.0, -1, [32, 8, 0], (0, 3)),
    joint(-225.0, 135.0, 2000.0, -1, [32, 8, 0], (0, 3)),
    Joint {
        min_deg: -51.503_906,
        max_deg: 0.0,
        margin_deg: 0.0,
        accel_limit_dps2: 2000.0,
        sign: 1,
        gains_pdi: [150, 150, 0],
        starting_force_and_dead_zone: None,
    },
];

/// The table of a firmware in which J6 had other limits (°).
pub const fn table_with_j6_limits(min_deg: f32, max_deg: f32) -> JointTable {
    let mut table = TABLE;
    table[J6].min_deg = min_deg;
    table[J6].max_deg = max_deg;
    table
}

/// Highest joint speed of any run (°/s).
pub const SPEED_LIMIT_DPS: f32 = 90.0;

/// Angles or speeds of 6 or 7 joints, in degrees or degrees per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointValues {
    /// One value per joint; those past `n` are 0.
    pub values: [f32; JOINTS],
    /// Joints given: 6, or 7 with J7.
    pub n: usize,
}
