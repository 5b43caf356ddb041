//! Register addresses of the Feetech STS servos, as far as the controller uses them. Values are little-endian.

/// Model number (2 bytes).
pub const MODEL: u8 = 3;
/// Lower and upper angle limit (2 bytes each); 0 and 0 with phase bit 4 is multi-turn.
pub const ANGLE_LIMITS: u8 = 9;
/// Largest torque (2 bytes, 0.1 %).
pub const MAX_TORQUE: u8 = 16;
/// Phase; bit 4 lets the position go past one turn.
pub const PHASE: u8 = 18;
/// Phase bit 4.
pub const PHASE_MULTI_TURN: u8 = 0x10;
/// Position-loop gains P, D, I (1 byte each).
pub const GAINS: u8 = 21;
/// Minimum starting force (2 bytes).
pub const STARTING_FORCE: u8 = 24;
/// Dead zone clockwise and counter-clockwise (1 byte each).
pub const DEAD_ZONE: u8 = 26;
/// Protection current (2 bytes).
pub const PROTECTION_CURRENT: u8 = 28;
/// Torque on (1 byte).
pub const TORQUE_ENABLE: u8 = 40;
/// Acceleration (1), goal position (2), goal time (2) and goal speed (2): the block of a move.
pub const MOVE_BLOCK: u8 = 41;
/// Goal position (2 bytes).
pub const GOAL_POSITION: u8 = 42;
/// Goal speed (2 bytes); 0 in position mode = do not move.
pub const GOAL_SPEED: u8 = 46;
/// Torque limit (2 bytes, 0.1 %).
pub const TORQUE_LIMIT: u8 = 48;
/// Keeps the EEPROM area from being written for good.
pub const EEPROM_LOCK: u8 = 55;
/// Present position, speed and load (2 bytes each).
pub const PRESENT: u8 = 56;
/// Voltage, temperature, asynchronous-write flag, status (1 byte each): the slow read.
pub const HEALTH: u8 = 62;
/// First register of the factory area.
pub const FACTORY: u8 = 80;

/// Model number of the gripper.
pub const GRIPPER_MODEL: u16 = 0x070A;
