//! The register file of one servo: what reads return, what writes change, what survives a power cycle.

use firmware_core::bus::registers as address;
use firmware_core::joints::J7;

use super::register_table::{Access, EEPROM_END, REGISTERS, TABLE};

/// Model number: registers 3 and 4.
const MODEL: usize = address::MODEL as usize;
const ID: usize = 5;
const RETURN_DELAY: usize = 7;
const RESPONSE_LEVEL: usize = 8;
const BAUD_RATE: usize = 6;
const MAX_TEMPERATURE: usize = 13;
const MAX_VOLTAGE: usize = 14;
const MIN_VOLTAGE: usize = 15;
const UNLOADING: usize = 19;
const OFFSET: usize = 31;
const MODE: usize = 33;
const PROTECTIVE_TORQUE: usize = 34;
const PROTECTION_TIME: usize = 35;
const OVERLOAD_TORQUE: usize = 36;
const TORQUE_ENABLE: usize = address::TORQUE_ENABLE as usize;
const ACCELERATION: usize = address::MOVE_BLOCK as usize;
const GOAL_POSITION: usize = address::GOAL_POSITION as usize;
const GOAL: u8 = address::GOAL_POSITION;
const GOAL_POSITION_HIGH: usize = GOAL_POSITION + 1;
const GOAL_SPEED: usize = address::GOAL_SPEED as usize;
const LOCK: usize = address::EEPROM_LOCK as usize;
const MOVING_THRESHOLD: usize = 80;
const MAX_ACCELERATION: usize = 85;
/// The first and the last register that the servo measures.
const PRESENT: usize = address::PRESENT as usize;
const PRESENT_END: usize = 71;

/// What the servo measures, in the encoding of its registers 56–70.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Present {
    /// Position (steps; sign in bit 15 when multi-turn).
    pub(crate) position: u16,
    /// Speed (steps/s, sign in bit 15).
    pub(crate) speed: u16,
    /// Load (0.1 %, sign in bit 10).
    pub(crate) load: u16,
    /// Voltage (0.1 V).
    pub(crate) voltage_dv: u8,
    /// Temperature (°C).
    pub(crate) temperature_c: u8,
    /// A REG WRITE waits for its ACTION.
    pub(crate) waiting: bool,
    /// Status bits.
    pub(crate) status: u8,
    /// Faster than the moving threshold.
    pub(crate) moving: bool,
    /// Current (6.5 mA, sign in bit 15).
    pub(crate) current: u16,
}

impl Present {
    fn bytes(&self) -> [u8; PRESENT_END - PRESENT] {
        let [position_l, position_h] = self.position.to_le_bytes();
        let [speed_l, speed_h] = self.speed.to_le_bytes();
        let [load_l, load_h] = self.load.to_le_bytes();
        let [current_l, current_h] = self.current.to_le_bytes();
        [
            position_l,
            position_h,
            speed_l,
            speed_h,
            load_l,
            load_h,
            self.voltage_dv,
            self.temperature_c,
            u8::from(self.waiting),
            self.status,
            u8::from(self.moving),
            position_l,
            position_h,
            current_l,
            current_h,
        ]
    }
}

/// What a write touched, for the servo to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Touched {
    /// The goal position.
    pub(crate) goal: bool,
    /// The mode: torque goes off.
    pub(crate) mode: bool,
    /// Registers other than the goal position.
    pub(crate) others: bool,
}

/// The registers of one servo.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    joint: usize,
    values: [u8; REGISTERS],
    stored: [u8; EEPROM_END],
}

impl Registers {
    /// The registers of joint `joint` (index) after power-up.
    pub(crate) fn new(joint: usize) -> Self {
        let values = TABLE.power_up[joint];
        let mut stored = [0; EEPROM_END];
        stored.copy_from_slice(&values[..EEPROM_END]);
        Self { joint, values, stored }
    }

    /// Power goes off and on: RAM has its power-up values, EEPROM what was stored.
    pub(crate) fn power_cycle(&mut self) {
        self.values = TABLE.power_up[self.joint];
        self.values[..EEPROM_END].copy_from_slice(&self.stored);
    }

    /// RESET: every register has its power-up value, but the id stays.
    pub(crate) fn reset(&mut self) {
        let id = self.id();
        self.power_cycle();
        self.values[ID] = id;
    }

    /// All values, with what the servo measures now.
    pub(crate) fn all(&self, present: &Present) -> [u8; REGISTERS] {
        let mut all = self.values;
        all[PRESENT..PRESENT_END].copy_from_slice(&present.bytes());
        all
    }

    /// Reads `out.len()` registers from `from`; addresses without a register read 0.
    pub(crate) fn read(&self, from: u8, present: &Present, out: &mut [u8]) {
        let from = usize::from(from);
        let measured = present.bytes();
        // What every control cycle reads lies within the measured registers.
        if let Some(part) = from.checked_sub(PRESENT).and_then(|at| measured.get(at..at + out.len())) {
            out.copy_from_slice(part);
            return;
        }
        for (address, byte) in (from..).zip(out) {
            *byte = match address {
                PRESENT..PRESENT_END => measured[address - PRESENT],
                _ => self.values.get(address).copied().unwrap_or(0),
            };
        }
    }

    /// Writes `data` from `from` on, as far as each register takes it.
    pub(crate) fn write(&mut self, from: u8, data: &[u8]) -> Touched {
        // What every control cycle writes is a goal and nothing else.
        if let (GOAL, &[low, high]) = (from, data) {
            self.values[GOAL_POSITION] = low;
            self.values[GOAL_POSITION_HIGH] = high;
            self.values[TORQUE_ENABLE] = 1;
            return Touched { goal: true, ..Touched::default() };
        }
        let locked = self.values[LOCK] != 0;
        let mut touched = Touched::default();
        for (address, &byte) in (usize::from(from)..).zip(data) {
            match TABLE.access.get(address) {
                Some(Access::Eeprom) => {
                    self.values[address] = byte;
                    if !locked {
                        self.stored[address] = byte;
                    }
                }
                Some(Access::Ram | Access::Factory) => self.values[address] = byte,
                Some(Access::None | Access::Read) | None => continue,
            }
            match address {
                GOAL_POSITION | GOAL_POSITION_HIGH => touched.goal = true,
                MODE => touched.mode = true,
                _ => touched.others = true,
            }
        }
        if touched.goal {
            self.values[TORQUE_ENABLE] = 1;
        }
        if touched.mode {
            self.values[TORQUE_ENABLE] = 0;
        }
        self.values[ACCELERATION] = self.values[ACCELERATION].min(self.values[MAX_ACCELERATION]);
        touched
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.values[at], self.values[at + 1]])
    }

    /// Bus id.
    pub(crate) fn id(&self) -> u8 {
        self.values[ID]
    }

    /// Model number as read.
    pub(crate) fn set_model(&mut self, model: u16) {
        self.values[MODEL..MODEL + 2].copy_from_slice(&model.to_le_bytes());
    }

    /// Model number from the factory.
    pub(crate) fn true_model(&self) -> u16 {
        u16::from_le_bytes([self.stored[MODEL], self.stored[MODEL + 1]])
    }

    /// It speaks at 1 Mbaud.
    pub(crate) fn speaks_1_mbaud(&self) -> bool {
        self.values[BAUD_RATE] == 0
    }

    /// Further delay of each reply (µs).
    pub(crate) fn return_delay_us(&self) -> u64 {
        2 * u64::from(self.values[RETURN_DELAY])
    }

    /// It answers every request; otherwise PING and reads alone.
    pub(crate) fn answers_all(&self) -> bool {
        self.values[RESPONSE_LEVEL] != 0
    }

    /// The torque is on.
    pub(crate) fn torque_enabled(&self) -> bool {
        self.values[TORQUE_ENABLE] == 1
    }

    /// Operating mode: 0 position, 1 speed.
    pub(crate) fn mode(&self) -> u8 {
        self.values[MODE]
    }

    /// Goal position, raw.
    pub(crate) fn goal_position(&self) -> u16 {
        self.word(GOAL_POSITION)
    }

    /// Goal speed, raw (steps/s; sign in bit 15 in speed mode).
    pub(crate) fn goal_speed(&self) -> u16 {
        self.word(GOAL_SPEED)
    }

    /// Lower and upper angle limit (steps).
    pub(crate) fn angle_limits(&self) -> (u16, u16) {
        let at = usize::from(address::ANGLE_LIMITS);
        (self.word(at), self.word(at + 2))
    }

    /// The position goes past one turn: phase bit 4 and both angle limits 0.
    pub(crate) fn multi_turn(&self) -> bool {
        self.values[usize::from(address::PHASE)] & address::PHASE_MULTI_TURN != 0
            && self.angle_limits() == (0, 0)
    }

    /// Steps by which the position offset was changed since it left the factory.
    pub(crate) fn offset_change_steps(&self) -> i32 {
        let decode = |l: u8, h: u8| {
            let raw = i32::from(u16::from_le_bytes([l, h]));
            if raw & 0x0800 == 0 { raw } else { -(raw & 0x07FF) }
        };
        let factory = &TABLE.power_up[self.joint];
        decode(self.values[OFFSET], self.values[OFFSET + 1]) - decode(factory[OFFSET], factory[OFFSET + 1])
    }

    /// Torque limit (%): the least of registers 16 and 48, on the gripper also 28.
    pub(crate) fn torque_limit_percent(&self) -> f64 {
        let mut least = self.word(usize::from(address::MAX_TORQUE)).min(1_000);
        least = least.min(self.word(usize::from(address::TORQUE_LIMIT)));
        if self.joint == J7 {
            least = least.min(self.word(usize::from(address::PROTECTION_CURRENT)));
        }
        f64::from(least) / 10.0
    }

    /// Torque that is left when the overload protection has tripped (%).
    pub(crate) fn protective_torque_percent(&self) -> f64 {
        f64::from(self.values[PROTECTIVE_TORQUE])
    }

    /// Load above which the overload protection counts (%), and how long (µs).
    pub(crate) fn overload(&self) -> (f64, u64) {
        (f64::from(self.values[OVERLOAD_TORQUE]), 10_000 * u64::from(self.values[PROTECTION_TIME]))
    }

    /// Highest temperature (°C).
    pub(crate) fn max_temperature_c(&self) -> f64 {
        f64::from(self.values[MAX_TEMPERATURE])
    }

    /// Lowest and highest voltage (V).
    pub(crate) fn voltage_range(&self) -> (f64, f64) {
        (f64::from(self.values[MIN_VOLTAGE]) / 10.0, f64::from(self.values[MAX_VOLTAGE]) / 10.0)
    }

    /// Status bits that switch the torque off (overload: down to the protective torque).
    pub(crate) fn unloading(&self) -> u8 {
        self.values[UNLOADING]
    }

    /// Gains P, D, I.
    pub(crate) fn gains_pdi(&self) -> [u8; 3] {
        let at = usize::from(address::GAINS);
        [self.values[at], self.values[at + 1], self.values[at + 2]]
    }

    /// Minimum starting force (0.1 %).
    pub(crate) fn starting_force(&self) -> u16 {
        self.word(usize::from(address::STARTING_FORCE))
    }

    /// Dead zone, clockwise and counter-clockwise (steps).
    pub(crate) fn dead_zone_steps(&self) -> (u8, u8) {
        let at = usize::from(address::DEAD_ZONE);
        (self.values[at], self.values[at + 1])
    }

    /// Acceleration of the servo's own motion (100 steps/s²): register 41, or its maximum when that is 0.
    pub(crate) fn acceleration_x100(&self) -> u8 {
        match self.values[ACCELERATION] {
            0 => self.values[MAX_ACCELERATION],
            acceleration => acceleration,
        }
    }

    /// The servo accelerates and brakes its own motion: register 41 is not 0.
    pub(crate) fn ramps(&self) -> bool {
        self.values[ACCELERATION] != 0
    }

    /// Speed above which the servo calls itself moving (50 steps/s).
    pub(crate) fn moving_threshold_x50(&self) -> u8 {
        self.values[MOVING_THRESHOLD]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(registers: &Registers, address: u8) -> u8 {
        let mut byte = [0];
        registers.read(address, &Present::default(), &mut byte);
        byte[0]
    }

    #[test]
    fn a_locked_eeprom_write_lasts_until_the_next_power_cycle() {
        let mut registers = Registers::new(0);
        registers.write(21, &[64]);
        assert_eq!(value(&registers, 21), 64);
        registers.power_cycle();
        assert_eq!(value(&registers, 21), 32);
    }

    #[test]
    fn an_unlocked_eeprom_write_outlives_power_cycles() {
        let mut registers = Registers::new(0);
        registers.write(55, &[0]);
        registers.write(21, &[64]);
        registers.power_cycle();
        assert_eq!((value(&registers, 21), value(&registers, 55)), (64, 1));
    }

    #[test]
    fn goal_position_and_goal_speed_read_0_after_power_up() {
        let mut registers = Registers::new(3);
        registers.write(42, &[0, 8, 0, 0, 0xD0, 7]);
        registers.power_cycle();
        for address in 42..48 {
            assert_eq!(value(&registers, address), 0, "register {address}");
        }
    }

    #[test]
    fn a_goal_turns_the_torque_on_and_the_mode_turns_it_off() {
        let mut registers = Registers::new(0);
        assert!(!registers.torque_enabled());
        registers.write(42, &[0, 8]);
        assert!(registers.torque_enabled());
        registers.write(33, &[0]);
        assert!(!registers.torque_enabled());
    }

    #[test]
    fn acceleration_is_clamped_to_register_85() {
        for (joint, limit) in [(0, 50), (3, 250)] {
            let mut registers = Registers::new(joint);
            registers.write(41, &[254]);
            assert_eq!(value(&registers, 41), limit);
        }
    }

    #[test]
    fn what_is_read_only_or_absent_is_ignored_and_what_follows_is_written() {
        let mut registers = Registers::new(0);
        registers.write(4, &[99, 9]);
        assert_eq!((value(&registers, 4), value(&registers, 5)), (8, 9));
        registers.write(56, &[1, 2, 3]);
        registers.write(75, &[1]);
        registers.write(250, &[1; 10]);
        assert_eq!((value(&registers, 56), value(&registers, 75), value(&registers, 255)), (0, 0, 0));
    }

    #[test]
    fn reset_keeps_the_id() {
        let mut registers = Registers::new(0);
        registers.write(5, &[42]);
        registers.write(40, &[1]);
        registers.reset();
        assert_eq!((registers.id(), registers.torque_enabled()), (42, false));
    }

    #[test]
    fn the_gripper_s_torque_limit_is_the_least_of_registers_16_28_and_48() {
        let mut registers = Registers::new(6);
        assert!((registers.torque_limit_percent() - 14.0).abs() < 1e-9);
        for address in [16, 28, 48] {
            registers.write(address, &1_000u16.to_le_bytes());
        }
        assert!((registers.torque_limit_percent() - 100.0).abs() < 1e-9);
        registers.write(48, &500u16.to_le_bytes());
        assert!((registers.torque_limit_percent() - 50.0).abs() < 1e-9);
    }

    #[test]
    fn multi_turn_needs_phase_bit_4_and_both_limits_0() {
        let mut registers = Registers::new(5);
        registers.write(18, &[116]);
        assert!(!registers.multi_turn());
        registers.write(9, &[0; 4]);
        assert!(registers.multi_turn());
        registers.power_cycle();
        assert!(!registers.multi_turn());
    }
}
