//! Message codes and status values.

/// PING.
pub const PING: u8 = 0x01;
/// STATE.
pub const STATE: u8 = 0x02;
/// HOLD.
pub const HOLD: u8 = 0x03;
/// PLAN_BEGIN.
pub const PLAN_BEGIN: u8 = 0x04;
/// PLAN_DATA.
pub const PLAN_DATA: u8 = 0x05;
/// PLAN_END.
pub const PLAN_END: u8 = 0x06;
/// PLAY.
pub const PLAY: u8 = 0x07;
/// STOP.
pub const STOP: u8 = 0x08;
/// REG_READ.
pub const REG_READ: u8 = 0x09;
/// REG_WRITE.
pub const REG_WRITE: u8 = 0x0A;
/// PLAY_SIGNAL.
pub const PLAY_SIGNAL: u8 = 0x0B;
/// SUBSCRIBE.
pub const SUBSCRIBE: u8 = 0x0C;
/// CONTROL.
pub const CONTROL: u8 = 0x0D;
/// MOVE_TO.
pub const MOVE_TO: u8 = 0x0E;
/// JOG.
pub const JOG: u8 = 0x0F;
/// TRACK.
pub const TRACK: u8 = 0x10;
/// GRIPPER, at API level 4.6 only.
pub const GRIPPER: u8 = 0x11;

/// PONG.
pub const PONG: u8 = 0x81;
/// STATE reply.
pub const STATE_REPLY: u8 = 0x82;
/// ACK.
pub const ACK: u8 = 0x83;
/// TELEM.
pub const TELEM: u8 = 0x84;
/// DONE.
pub const DONE: u8 = 0x85;
/// REG_READ reply.
pub const REG_READ_REPLY: u8 = 0x86;
/// REG_WRITE reply.
pub const REG_WRITE_REPLY: u8 = 0x87;
/// STREAM.
pub const STREAM: u8 = 0x88;

/// Done or started.
pub const OK: i8 = 0;
/// Busy, not allowed now, or a message of the wrong form.
pub const REFUSED: i8 = -1;
/// Another client has control.
pub const NO_CONTROL: i8 = -2;
/// PLAN_BEGIN: the plan's shape is impossible. The same value as [`NO_CONTROL`].
pub const PLAN_SHAPE: i8 = -2;
/// PLAY and PLAY_SIGNAL: the rate is outside 50–800 Hz. The same value as [`NO_CONTROL`].
pub const RATE_OUTSIDE: i8 = -2;
/// PLAN_BEGIN: not enough memory.
pub const NO_MEMORY: i8 = -3;
/// PLAY: not at the start pose. The same value as [`NO_MEMORY`].
pub const NOT_AT_START: i8 = -3;
/// A servo does not answer.
pub const NO_REPLY: i8 = -4;
/// REG_WRITE: the register may not be written.
pub const REGISTER_PROTECTED: i8 = -5;
/// REG_WRITE: the read-back differs or does not come.
pub const READ_BACK_DIFFERS: i8 = -6;
/// Seven values, or a J7 velocity, but no gripper.
pub const NO_GRIPPER: i8 = -7;

/// A value of joint `joint` (index, 0 = J1) is outside its limits: −10 − the joint's number.
pub const fn outside_limits(joint: usize) -> i8 {
    -11 - joint as i8
}
