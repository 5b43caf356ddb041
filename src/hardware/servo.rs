//! One servo: its registers, what they do to the motor, and what the motor shows in them.

use firmware_core::joints::{J7, TABLE};

use super::lag::{Lag, SPEED_LIMIT_SPS};
use super::noise::Noise;
use super::registers::{self, Access, COUNT, address};

/// Steps of one turn.
const TURN_STEPS: f64 = 4096.0;
/// Step of the joint angle 0°.
const ZERO_STEPS: f64 = 2048.0;
/// Grain of the present speed (steps/s).
const SPEED_GRAIN_SPS: f64 = 50.0;
/// Temperature at rest and of a joint at 60 °/s (°C), and its time constant (s).
const TEMPERATURE_REST_C: f64 = 25.0;
const TEMPERATURE_RISE_C: f64 = 10.0;
const TEMPERATURE_FULL_SPS: f64 = 60.0 * 4096.0 / 360.0;
const TEMPERATURE_TAU_S: f64 = 60.0;
/// Noise of the load (%).
const LOAD_NOISE_PERCENT: f64 = 0.3;
/// Supply voltage at each servo (0.1 V).
const VOLTAGES_DV: [u8; 7] = [76, 76, 76, 66, 64, 64, 74];
/// Phase bit that lets the position go past one turn.
const PHASE_MULTI_TURN: u8 = 0x10;

/// End stops by hand (°): J1–J6 as measured; J7 closed and open.
pub const END_STOPS_DEG: [(f64, f64); 7] = [
    (-170.9, 170.9),
    (-143.2, 142.5),
    (-155.7, 154.8),
    (-156.4, 157.1),
    (-162.8, 164.7),
    (-237.1, 139.9),
    (-51.503_906_25, 0.0),
];

/// A servo on the bus.
#[derive(Debug)]
pub struct Servo {
    index: usize,
    registers: [u8; COUNT],
    /// EEPROM as the next power cycle finds it.
    eeprom: [u8; COUNT],
    plant: Lag,
    /// Turns (steps) that the encoder lost at power-up: it counts from its one-turn reading.
    turns_steps: f64,
    /// The angle at which an object stops the fingers (steps); J7 only.
    stop_steps: Option<f64>,
    load_noise: Noise,
    temperature_c: f64,
    temperature_at_us: u64,
    /// Parameters of REG WRITE that wait for ACTION.
    pending: Option<(u8, [u8; 32], usize)>,
}

/// Steps (past one turn) of an angle (°) of joint `joint` (index).
pub fn steps_of(joint: usize, deg: f64) -> f64 {
    ZERO_STEPS + f64::from(TABLE[joint].sign) * deg * TURN_STEPS / 360.0
}

/// Angle (°) of joint `joint` (index) at steps.
pub fn deg_of(joint: usize, steps: f64) -> f64 {
    f64::from(TABLE[joint].sign) * (steps - ZERO_STEPS) * 360.0 / TURN_STEPS
}

impl Servo {
    /// Servo `index` (0 = J1) with its joint at `deg`, just powered.
    pub fn new(index: usize, deg: f64, seed: u64) -> Self {
        let mut servo = Self {
            index,
            registers: registers::power_up(index),
            eeprom: registers::power_up(index),
            plant: Lag::new(0, steps_of(index, deg)),
            turns_steps: 0.0,
            stop_steps: None,
            load_noise: Noise::new(seed, index as u64),
            temperature_c: f64::from(registers::power_up(index)[usize::from(address::TEMPERATURE)]),
            temperature_at_us: 0,
            pending: None,
        };
        servo.power_cycle(0);
        servo
    }

    /// Power off and on: RAM to its power-up values, the joint stays where it is, the encoder forgets turns.
    pub fn power_cycle(&mut self, now_us: u64) {
        self.registers = self.eeprom;
        self.pending = None;
        let (steps, _) = self.plant.at(now_us);
        self.turns_steps = (steps / TURN_STEPS).floor() * TURN_STEPS;
        self.plant.place(now_us, steps);
    }

    /// Instruction RESET: power-up values for all registers but the id.
    pub fn reset(&mut self, now_us: u64) {
        let id = self.registers[usize::from(address::ID)];
        self.eeprom = registers::power_up(self.index);
        self.eeprom[usize::from(address::ID)] = id;
        self.power_cycle(now_us);
    }

    /// Its id on the bus.
    pub fn id(&self) -> u8 {
        self.registers[usize::from(address::ID)]
    }

    /// True angle (°) at `t_us`.
    pub fn deg(&self, t_us: u64) -> f64 {
        deg_of(self.index, self.plant.at(t_us).0)
    }

    /// True speed (°/s) at `t_us`.
    pub fn dps(&self, t_us: u64) -> f64 {
        f64::from(TABLE[self.index].sign) * self.plant.at(t_us).1 * 360.0 / TURN_STEPS
    }

    /// Moves the joint by hand.
    pub fn place(&mut self, deg: f64, now_us: u64) {
        self.plant.place(now_us, steps_of(self.index, deg));
        self.aim(now_us);
    }

    /// Puts an object between the fingers, or takes it out.
    pub fn set_object(&mut self, stop_deg: Option<f64>, now_us: u64) {
        self.stop_steps = stop_deg.map(|deg| steps_of(J7, deg));
        self.aim(now_us);
    }

    /// A register as it stands, without what the plant shows.
    pub fn register(&self, address: u8) -> u8 {
        self.registers.get(usize::from(address)).copied().unwrap_or(0)
    }

    fn word(&self, address: u8) -> u16 {
        u16::from_le_bytes([self.register(address), self.register(address + 1)])
    }

    fn multi_turn(&self) -> bool {
        self.register(address::PHASE) & PHASE_MULTI_TURN != 0
            && self.registers[usize::from(address::MIN_ANGLE)..][..4] == [0; 4]
    }

    /// Writes registers, as WRITE does. Read-only ones are passed over.
    pub fn write(&mut self, first: u8, data: &[u8], now_us: u64) {
        let mut goal_written = false;
        for (offset, value) in data.iter().enumerate() {
            let Some(at) = u8::try_from(usize::from(first) + offset).ok() else { break };
            let mut value = *value;
            match registers::access(at) {
                Access::Ignored => continue,
                Access::Eeprom if self.register(address::EEPROM_LOCK) == 0 => {
                    self.eeprom[usize::from(at)] = value
                }
                Access::Eeprom | Access::Ram => {}
            }
            if at == address::ACCELERATION {
                value = value.min(self.register(address::MAX_ACCELERATION));
            }
            if at == address::MODE {
                self.registers[usize::from(address::TORQUE_ENABLE)] = 0;
            }
            goal_written |= at == address::GOAL_POSITION || at == address::GOAL_POSITION + 1;
            self.registers[usize::from(at)] = value;
        }
        if goal_written {
            self.registers[usize::from(address::TORQUE_ENABLE)] = 1;
        }
        self.aim(now_us);
    }

    /// REG WRITE: keeps a write for ACTION.
    pub fn keep_write(&mut self, first: u8, data: &[u8]) {
        let mut kept = [0; 32];
        let length = data.len().min(kept.len());
        kept[..length].copy_from_slice(&data[..length]);
        self.pending = Some((first, kept, length));
    }

    /// ACTION: carries out the kept write.
    pub fn action(&mut self, now_us: u64) {
        if let Some((first, data, length)) = self.pending.take() {
            self.write(first, &data[..length], now_us);
        }
    }

    /// The motor follows the registers.
    fn aim(&mut self, now_us: u64) {
        let (here, _) = self.plant.at(now_us);
        let powered = self.register(address::TORQUE_ENABLE) != 0;
        let cap_sps = f64::from(self.word(address::GOAL_SPEED) & 0x7FFF);
        if !powered || cap_sps == 0.0 {
            self.plant.aim(now_us, here, 0.0);
            return;
        }
        let raw = self.word(address::GOAL_POSITION);
        let goal = if self.multi_turn() {
            let magnitude = f64::from(raw & 0x7FFF);
            self.turns_steps + if raw & 0x8000 == 0 { magnitude } else { -magnitude }
        } else {
            // Within the turn it is in.
            (here / TURN_STEPS).floor() * TURN_STEPS + f64::from(raw.min(4095))
        };
        let (a_deg, b_deg) = END_STOPS_DEG[self.index];
        let (a, b) = (steps_of(self.index, a_deg), steps_of(self.index, b_deg));
        let mut goal = goal.clamp(a.min(b), a.max(b));
        if let Some(stop) = self.stop_steps {
            // The fingers close toward lower steps; they cannot go past the object from outside it.
            if here >= stop {
                goal = goal.max(stop);
            }
        }
        self.plant.aim(now_us, goal, cap_sps.min(SPEED_LIMIT_SPS));
    }

    /// Reads `data.len()` registers from `first` as they show at `t_us`. `load_percent` is the load that
    /// gravity gives this joint.
    pub fn read(&mut self, first: u8, data: &mut [u8], load_percent: f64, t_us: u64) {
        let end = usize::from(first) + data.len();
        if end > usize::from(address::PRESENT_POSITION) && first <= address::PRESENT_END {
            self.show_present(load_percent, t_us, end > usize::from(address::TEMPERATURE));
        }
        for (offset, value) in data.iter_mut().enumerate() {
            *value = self.registers.get(usize::from(first) + offset).copied().unwrap_or(0);
        }
    }

    /// Error byte of a reply: the protective bits of the status.
    pub fn error(&self) -> u8 {
        self.register(address::STATUS)
    }

    fn set_word(&mut self, address: u8, value: u16) {
        self.registers[usize::from(address)..][..2].copy_from_slice(&value.to_le_bytes());
    }

    /// Brings the present values up to date.
    fn show_present(&mut self, load_percent: f64, t_us: u64, health: bool) {
        let (steps, speed_sps) = self.plant.at(t_us);
        let encoder = (steps - self.turns_steps).round();
        let position = if self.multi_turn() {
            sign_magnitude(encoder, 15)
        } else {
            encoder.rem_euclid(TURN_STEPS) as u16
        };
        let grasp_percent = self.grasp_percent(steps);
        let noise = LOAD_NOISE_PERCENT * self.load_noise.normal(t_us);
        let load = f64::from(TABLE[self.index].sign) * (load_percent + grasp_percent + noise);
        self.set_word(address::PRESENT_POSITION, position);
        self.set_word(address::PRESENT_POSITION + 2, sign_magnitude(quantised(speed_sps), 15));
        self.set_word(
            address::PRESENT_POSITION + 4,
            sign_magnitude((load * 10.0).clamp(-1000.0, 1000.0), 10),
        );
        if health {
            self.warm_up(t_us, speed_sps);
            let threshold_sps = f64::from(self.register(address::MOVING_THRESHOLD));
            self.registers[usize::from(address::MOVING)] = u8::from(speed_sps.abs() > threshold_sps);
        }
    }

    /// Load (%) that an object gives J7: 10 % per degree between the fingers and their goal.
    fn grasp_percent(&self, steps: f64) -> f64 {
        let Some(stop) = self.stop_steps else { return 0.0 };
        let goal = f64::from(self.word(address::GOAL_POSITION).min(4095));
        let holds = self.register(address::TORQUE_ENABLE) != 0 && self.word(address::GOAL_SPEED) != 0;
        if !holds || steps > stop + 1.0 || goal >= stop {
            return 0.0;
        }
        -(10.0 * (deg_of(J7, steps) - deg_of(J7, goal))).min(100.0)
    }

    fn warm_up(&mut self, t_us: u64, speed_sps: f64) {
        let dt_s = t_us.saturating_sub(self.temperature_at_us) as f64 * 1e-6;
        let toward_c =
            TEMPERATURE_REST_C + TEMPERATURE_RISE_C * (speed_sps.abs() / TEMPERATURE_FULL_SPS).min(1.0);
        self.temperature_c =
            toward_c + (self.temperature_c - toward_c) * libm::exp(-dt_s / TEMPERATURE_TAU_S);
        self.temperature_at_us = t_us;
        self.registers[usize::from(address::PRESENT_POSITION) + 6] = VOLTAGES_DV[self.index];
        self.registers[usize::from(address::TEMPERATURE)] = self.temperature_c.round() as u8;
    }
}

fn quantised(speed_sps: f64) -> f64 {
    (speed_sps / SPEED_GRAIN_SPS).round() * SPEED_GRAIN_SPS
}

/// Magnitude below a sign bit.
fn sign_magnitude(value: f64, sign_bit: u32) -> u16 {
    let largest = f64::from((1_u16 << sign_bit) - 1);
    let magnitude = value.abs().round().min(largest) as u16;
    if value < 0.0 && magnitude > 0 { magnitude | 1 << sign_bit } else { magnitude }
}
