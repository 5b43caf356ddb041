//! One servo: its registers, what it makes of what is written, and what it reports of the joint it drives.

use firmware_core::joints::{J6, TABLE as JOINTS_TABLE};
use firmware_core::units::{self, STEPS_PER_TURN, from_sign_magnitude};

use super::drive::{Drive, Motion, World};
use super::registers::{Present, Registers, Touched};

/// Degrees of one servo step.
pub(crate) const STEP_DEG: f64 = 360.0 / STEPS_PER_TURN as f64;
/// Step of the joint angle 0°.
const ZERO_STEPS: f64 = units::ZERO_STEPS as f64;
/// Present speed has this grain (steps/s).
const SPEED_GRAIN_SPS: f64 = 50.0;
/// A goal that a servo in speed mode never reaches (°).
const FAR_DEG: f64 = 1e9;
/// Longest data that a REG WRITE keeps: the longest packet's.
const KEPT_BYTES: usize = 252;

/// Status bit: voltage outside its range.
pub(crate) const STATUS_VOLTAGE: u8 = 1 << 0;
/// Status bit: too hot.
pub(crate) const STATUS_TEMPERATURE: u8 = 1 << 2;
/// Status bit: overload.
pub(crate) const STATUS_OVERLOAD: u8 = 1 << 5;

/// What is wrong with one servo.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ServoFaults {
    /// It answers nothing.
    pub(crate) silent: bool,
    /// It answers this much later (µs).
    pub(crate) slow_us: u64,
    /// It gives no torque.
    pub(crate) limp: bool,
    /// Its overload protection has tripped.
    pub(crate) overload: bool,
    /// Its encoder reads off by this (°).
    pub(crate) encoder_offset_deg: f64,
    /// Its temperature, whatever it does (°C).
    pub(crate) celsius: Option<f64>,
    /// The model number it reports.
    pub(crate) model: Option<u16>,
}

/// A write that waits for its ACTION.
#[derive(Debug, Clone)]
struct Kept {
    address: u8,
    data: [u8; KEPT_BYTES],
    length: usize,
}

/// One servo.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not one state")]
pub(crate) struct Servo {
    joint: usize,
    sign: f64,
    /// The joint goes beyond one turn of the servo.
    wraps: bool,
    registers: Registers,
    kept: Kept,
    waiting: bool,
    /// It has power and is on the bus.
    connected: bool,
    /// Whole turns between the joint's steps and what the servo counts.
    turns: i32,
    multi_turn: bool,
    /// The goal comes from the goal register; otherwise from where the torque was switched on.
    goal_written: bool,
    /// Status bits that cut the torque (register 19 names them).
    unloaded: u8,
    faults: ServoFaults,
    drive: Drive,
    /// Steps by which the encoder's zero was moved since the servo left the factory.
    offset_steps: i32,
}

impl Servo {
    /// The servo of joint `joint` (index) at `deg`, just powered up. The world around it is `world`.
    pub(crate) fn new(joint: usize, deg: f64, world: World) -> Self {
        let mut servo = Self {
            joint,
            sign: f64::from(JOINTS_TABLE[joint].sign),
            wraps: joint == J6,
            registers: Registers::new(joint),
            kept: Kept { address: 0, data: [0; KEPT_BYTES], length: 0 },
            waiting: false,
            connected: true,
            turns: 0,
            multi_turn: false,
            goal_written: false,
            unloaded: 0,
            faults: ServoFaults::default(),
            offset_steps: 0,
            drive: Drive {
                on: false,
                goal_deg: deg,
                speed_cap_dps: 0.0,
                torque_percent: 0.0,
                overload_percent: f64::INFINITY,
                ramps: false,
                accel_dps2: 0.0,
                gains_pdi: [0.0; 3],
                starting_force_percent: 0.0,
                dead_zone_deg: 0.0,
                world,
            },
        };
        servo.count_turns(deg);
        servo.renew_drive(deg);
        servo
    }

    /// Its registers.
    pub(crate) fn registers(&self) -> &Registers {
        &self.registers
    }

    /// What moves its joint.
    pub(crate) fn drive(&self) -> &Drive {
        &self.drive
    }

    /// It has power and is on the bus.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected
    }

    /// It understands what is on the wire.
    pub(crate) fn hears(&self) -> bool {
        self.connected && self.registers.speaks_1_mbaud()
    }

    /// It answers what it understands.
    pub(crate) fn answers(&self) -> bool {
        self.hears() && !self.faults.silent
    }

    /// Further delay of each answer (µs).
    pub(crate) fn delay_us(&self) -> u64 {
        self.registers.return_delay_us() + self.faults.slow_us
    }

    /// What is wrong with it.
    pub(crate) fn faults(&self) -> &ServoFaults {
        &self.faults
    }

    /// Sets what is wrong with it; its joint is at `deg`.
    pub(crate) fn set_faults(&mut self, faults: ServoFaults, deg: f64) {
        self.faults = faults;
        self.registers.set_model(faults.model.unwrap_or(self.registers.true_model()));
        self.renew_drive(deg);
    }

    /// Sets the walls and forces on its joint.
    pub(crate) fn set_world(&mut self, world: World) {
        self.drive.world = world;
    }

    /// Power and plug go off or on. Off to on is a power-up with the joint at `deg`.
    pub(crate) fn set_connected(&mut self, connected: bool, deg: f64) {
        if connected && !self.connected {
            self.registers.power_cycle();
            self.restart(deg);
        }
        self.connected = connected;
        self.renew_drive(deg);
    }

    /// RESET, with the joint at `deg`.
    pub(crate) fn reset(&mut self, deg: f64) {
        self.registers.reset();
        self.restart(deg);
    }

    fn restart(&mut self, deg: f64) {
        self.waiting = false;
        self.goal_written = false;
        self.unloaded = 0;
        self.registers.set_model(self.faults.model.unwrap_or(self.registers.true_model()));
        self.count_turns(deg);
        self.renew_drive(deg);
    }

    /// REG WRITE: keeps a write for the next ACTION.
    pub(crate) fn keep(&mut self, address: u8, data: &[u8]) {
        let length = data.len().min(KEPT_BYTES);
        self.kept.address = address;
        self.kept.data[..length].copy_from_slice(&data[..length]);
        self.kept.length = length;
        self.waiting = true;
    }

    /// ACTION: does the write that was kept. True: the drive has changed.
    pub(crate) fn act(&mut self, deg: impl FnOnce() -> f64) -> bool {
        if !core::mem::take(&mut self.waiting) {
            return false;
        }
        let Kept { address, data, length } = self.kept;
        self.write(address, &data[..length], deg)
    }

    /// Writes registers; `deg` tells where the joint is. True: the drive has changed.
    pub(crate) fn write(&mut self, address: u8, data: &[u8], deg: impl FnOnce() -> f64) -> bool {
        let was_on = self.registers.torque_enabled();
        let touched = self.registers.write(address, data);
        if touched == Touched::default() {
            return false;
        }
        if touched.goal {
            self.goal_written = true;
        } else if !was_on && self.registers.torque_enabled() {
            self.goal_written = false;
        }
        let only_goal = touched.goal && !touched.mode && !touched.others;
        let turns_stay = !self.wraps || self.multi_turn;
        if only_goal && was_on && turns_stay && self.registers.mode() == 0 && self.drive.on {
            self.drive.goal_deg = self.goal_deg();
            return true;
        }
        let deg = deg();
        if self.multi_turn != self.registers.multi_turn() {
            self.count_turns(deg);
        }
        if !self.goal_written && (touched.mode || !was_on && self.registers.torque_enabled()) {
            self.drive.goal_deg = deg;
        }
        self.renew_drive(deg);
        true
    }

    /// Starts to count turns from the one-turn reading.
    fn count_turns(&mut self, deg: f64) {
        self.offset_steps = self.registers.offset_change_steps();
        self.multi_turn = self.registers.multi_turn();
        self.turns = nearest(self.steps(deg)).div_euclid(STEPS_PER_TURN);
    }

    /// Steps of the joint at encoder angle `deg`, turns and all.
    fn steps(&self, deg: f64) -> f64 {
        let read_deg = deg + self.faults.encoder_offset_deg;
        ZERO_STEPS + self.sign * read_deg * (1.0 / STEP_DEG) + f64::from(self.offset_steps)
    }

    /// Encoder angle (°) that the goal register means.
    fn goal_deg(&self) -> f64 {
        let raw = self.registers.goal_position();
        let goal = if self.multi_turn {
            from_sign_magnitude(raw)
        } else {
            let (low, high) = self.registers.angle_limits();
            let goal = raw & 0x7FFF;
            i32::from(if low < high { goal.clamp(low, high) } else { goal.min(4_095) })
        };
        let steps = goal + self.turns * STEPS_PER_TURN - self.offset_steps;
        self.sign * (f64::from(steps) - ZERO_STEPS) * STEP_DEG - self.faults.encoder_offset_deg
    }

    /// Makes the drive from the registers; the joint is at `deg`.
    pub(crate) fn renew_drive(&mut self, deg: f64) {
        self.offset_steps = self.registers.offset_change_steps();
        if self.wraps && !self.multi_turn {
            self.turns = nearest(self.steps(deg)).div_euclid(STEPS_PER_TURN);
        }
        let registers = &self.registers;
        let able = self.connected && !self.faults.limp && !self.faults.overload;
        let cut = self.unloaded & (STATUS_VOLTAGE | STATUS_TEMPERATURE) != 0;
        let speed_sps = registers.goal_speed();
        let to_dps = |sps: u16| f64::from(sps) * STEP_DEG;
        let mut torque_percent = registers.torque_limit_percent();
        if self.unloaded & STATUS_OVERLOAD != 0 {
            torque_percent = torque_percent.min(registers.protective_torque_percent());
        }
        let (dead_cw, dead_ccw) = registers.dead_zone_steps();
        let mut drive = Drive {
            on: able && !cut && registers.torque_enabled() && registers.mode() <= 1,
            speed_cap_dps: to_dps(speed_sps & 0x7FFF),
            torque_percent,
            overload_percent: registers.overload().0,
            ramps: registers.ramps(),
            accel_dps2: f64::from(registers.acceleration_x100()) * 100.0 * STEP_DEG,
            gains_pdi: registers.gains_pdi().map(f64::from),
            starting_force_percent: f64::from(registers.starting_force()) / 10.0,
            dead_zone_deg: f64::from(dead_cw.max(dead_ccw)) * STEP_DEG,
            ..self.drive
        };
        if registers.mode() == 1 {
            drive.goal_deg = if speed_sps & 0x8000 == 0 { FAR_DEG } else { -FAR_DEG } * self.sign;
        } else if self.goal_written {
            drive.goal_deg = self.goal_deg();
        } else if !drive.on {
            drive.goal_deg = deg;
        }
        self.drive = drive;
    }

    /// The status bits of these circumstances.
    pub(crate) fn status(&self, celsius: f64, volts: f64, overloaded_us: u64) -> u8 {
        let (low_v, high_v) = self.registers.voltage_range();
        let (_, patience_us) = self.registers.overload();
        let mut status = 0;
        if volts < low_v || volts > high_v {
            status |= STATUS_VOLTAGE;
        }
        if celsius > self.registers.max_temperature_c() {
            status |= STATUS_TEMPERATURE;
        }
        if self.faults.overload || overloaded_us > patience_us {
            status |= STATUS_OVERLOAD;
        }
        status
    }

    /// Cuts the torque as far as register 19 asks for it at `status`, the joint at `deg`. True: the drive has changed.
    pub(crate) fn protect(&mut self, status: u8, deg: f64) -> bool {
        // An overload stays cut until the servo restarts; heat and voltage come back by themselves.
        let unloaded = (status | self.unloaded & STATUS_OVERLOAD) & self.registers.unloading();
        if unloaded == self.unloaded {
            return false;
        }
        self.unloaded = unloaded;
        self.renew_drive(deg);
        true
    }

    /// Position register at encoder angle `deg`.
    pub(crate) fn position_register(&self, deg: f64) -> u16 {
        let steps = nearest(self.steps(deg));
        if self.multi_turn {
            let counted = steps - self.turns * STEPS_PER_TURN;
            counted.unsigned_abs() as u16 & 0x7FFF | if counted < 0 { 0x8000 } else { 0 }
        } else {
            steps.rem_euclid(STEPS_PER_TURN) as u16
        }
    }

    /// Position, speed and load registers; the joint moves as `motion` says and bears `load_percent`.
    pub(crate) fn present(&self, motion: Motion, load_percent: f64) -> Present {
        let speed_sps = self.sign * motion.dps * (1.0 / STEP_DEG);
        let speed = nearest(speed_sps * (1.0 / SPEED_GRAIN_SPS)) * SPEED_GRAIN_SPS as i32;
        let load = nearest(self.sign * load_percent * 10.0).clamp(-1_000, 1_000);
        let threshold_sps = i32::from(self.registers.moving_threshold_x50()) * SPEED_GRAIN_SPS as i32;
        Present {
            position: self.position_register(motion.deg),
            speed: speed.unsigned_abs() as u16 & 0x7FFF | if speed < 0 { 0x8000 } else { 0 },
            load: load.unsigned_abs() as u16 | if load < 0 { 0x0400 } else { 0 },
            waiting: self.waiting,
            moving: speed.abs() >= threshold_sps.max(1),
            // The scale of the current is not known; it is shown as 2.6 A (400 · 6.5 mA) at full load.
            current: (load.unsigned_abs() * 2 / 5) as u16 | if load < 0 { 0x8000 } else { 0 },
            ..Present::default()
        }
    }

    /// Joint index.
    pub(crate) fn joint(&self) -> usize {
        self.joint
    }
}

/// The nearest whole number, for values within ±2³⁰; cheaper than the library's function.
fn nearest(value: f64) -> i32 {
    const UP: i64 = 1 << 32;
    ((value + UP as f64 + 0.5) as i64 - UP) as i32
}
