//! [`Hardware`]: seven servos on one wire, an object between the fingers, and the IMU.

use firmware_core::joints::{J7, JOINTS};
use firmware_core::platform::ImuSample;

use super::imu::Imu;
use super::noise::Noise;
use super::packet::{BROADCAST, Request, build_reply, next_request};
use super::servo::{END_STOPS_DEG, Servo};
use super::wire::{REPLY_DELAY_US, SEGMENT_BYTES, Wire};

/// The arm as it is put on the table.
#[derive(Debug, Clone, PartialEq)]
pub struct HardwareOptions {
    /// Seed of every random stream.
    pub seed: u64,
    /// The gripper is plugged in.
    pub gripper: bool,
    /// An object between the fingers stops J7 at this angle when it closes (°, −51.5…0).
    pub object_deg: Option<f64>,
    /// True joint angles (°), J1–J7.
    pub pose_deg: [f64; JOINTS],
    /// Probability that a servo loses a SYNC WRITE that follows another within 1 ms.
    pub sync_write_loss: f64,
}

impl Default for HardwareOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            gripper: true,
            object_deg: None,
            pose_deg: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -20.0],
            sync_write_loss: 0.0,
        }
    }
}

/// Why the hardware cannot be as the options want it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HardwareError {
    /// A joint outside its end stops.
    #[error("J{joint} at {found}° is outside its end stops; expected {low} to {high}°")]
    OutsideEndStops {
        /// Joint number, 1–7.
        joint: usize,
        /// The angle wanted (°).
        found: f64,
        /// Lower end stop (°).
        low: f64,
        /// Upper end stop (°).
        high: f64,
    },
    /// An object at an angle that the fingers do not reach.
    #[error("an object at {found}° is out of the fingers' reach; expected {low} (closed) to {high}° (open)")]
    ObjectOutOfReach {
        /// The angle wanted (°).
        found: f64,
        /// Closed (°).
        low: f64,
        /// Open (°).
        high: f64,
    },
    /// A probability outside 0…1.
    #[error("a probability of {found}; expected 0 to 1")]
    Probability {
        /// The value wanted.
        found: f64,
    },
}

/// What travelled on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BusCounters {
    /// Valid requests that servos saw.
    pub requests: u64,
    /// Replies of servos.
    pub replies: u64,
    /// Bytes of the controller.
    pub bytes_sent: u64,
    /// Bytes of servos.
    pub bytes_received: u64,
    /// SYNC WRITEs that a servo lost.
    pub sync_writes_lost: u64,
}

/// Two SYNC WRITEs this near each other can be lost by a servo (µs).
const SYNC_WRITE_GAP_US: u64 = 1_000;

/// Everything on the bus, and the IMU.
#[derive(Debug)]
pub struct Hardware {
    servos: [Servo; JOINTS],
    gripper: bool,
    wire: Wire,
    imu: Imu,
    counters: BusCounters,
    sync_write_loss: f64,
    loss_noise: Noise,
    last_sync_write_us: Option<u64>,
}

impl Hardware {
    /// An arm at rest, just powered.
    ///
    /// # Errors
    /// A pose outside the end stops, an object out of reach, a probability that is none.
    pub fn new(options: &HardwareOptions) -> Result<Self, HardwareError> {
        for (index, (deg, (low, high))) in options.pose_deg.iter().zip(END_STOPS_DEG).enumerate() {
            if !(low..=high).contains(deg) {
                return Err(HardwareError::OutsideEndStops { joint: index + 1, found: *deg, low, high });
            }
        }
        if !(0.0..=1.0).contains(&options.sync_write_loss) {
            return Err(HardwareError::Probability { found: options.sync_write_loss });
        }
        let mut hardware = Self {
            servos: core::array::from_fn(|index| Servo::new(index, options.pose_deg[index], options.seed)),
            gripper: options.gripper,
            wire: Wire::default(),
            imu: Imu::new(options.seed),
            counters: BusCounters::default(),
            sync_write_loss: options.sync_write_loss,
            loss_noise: Noise::new(options.seed, 200),
            last_sync_write_us: None,
        };
        hardware.set_object(options.object_deg, 0)?;
        Ok(hardware)
    }

    /// Puts an object between the fingers that stops J7 at `deg`, or takes it out.
    ///
    /// # Errors
    /// An angle that the fingers do not reach.
    pub fn set_object(&mut self, deg: Option<f64>, now_us: u64) -> Result<(), HardwareError> {
        let (low, high) = END_STOPS_DEG[J7];
        if let Some(found) = deg.filter(|deg| !(low..=high).contains(deg)) {
            return Err(HardwareError::ObjectOutOfReach { found, low, high });
        }
        self.servos[J7].set_object(deg, now_us);
        Ok(())
    }

    /// Plugs the gripper in, just powered, or pulls it out.
    pub fn set_gripper(&mut self, plugged: bool, now_us: u64) {
        if plugged && !self.gripper {
            self.servos[J7].power_cycle(now_us);
        }
        self.gripper = plugged;
    }

    /// Power of all servos off and on.
    pub fn power_cycle_servos(&mut self, now_us: u64) {
        for servo in &mut self.servos {
            servo.power_cycle(now_us);
        }
    }

    /// The controller sends `bytes` from `start_us` on; returns when the last one is out. The servos hear
    /// them and put their replies on the wire.
    pub fn transmit(&mut self, start_us: u64, bytes: &[u8]) -> u64 {
        let end_us = self.wire.send(start_us, bytes.len());
        let mut rest = bytes;
        while let Some((request, after)) = next_request(rest) {
            self.counters.requests += 1;
            self.hear(request, end_us);
            rest = after;
        }
        end_us
    }

    /// Fills `buffer` from `now_us` on; returns the count and the time at which it was full, or at which no
    /// byte had come for `timeout_us`.
    pub fn receive(&mut self, now_us: u64, buffer: &mut [u8], timeout_us: u32) -> (usize, u64) {
        self.wire.receive(now_us, buffer, timeout_us)
    }

    /// Drops bytes that have arrived by `now_us`.
    pub fn discard_input(&mut self, now_us: u64) {
        self.wire.discard(now_us);
    }

    /// The IMU's latest sample.
    pub fn imu(&self, now_us: u64) -> Option<ImuSample> {
        let angles = |t_us: u64| core::array::from_fn(|joint| self.servos[joint].deg(t_us));
        Some(self.imu.sample(Imu::sample_number(now_us), angles))
    }

    /// True angle (°) of joint `joint` (index) at `t_us`.
    pub fn deg(&self, joint: usize, t_us: u64) -> f64 {
        self.servos[joint].deg(t_us)
    }

    /// True speed (°/s) of joint `joint` (index) at `t_us`.
    pub fn dps(&self, joint: usize, t_us: u64) -> f64 {
        self.servos[joint].dps(t_us)
    }

    /// A register of joint `joint` (index) as it was last shown or written.
    pub fn register(&self, joint: usize, address: u8) -> u8 {
        self.servos[joint].register(address)
    }

    /// What travelled on the bus.
    pub fn counters(&self) -> BusCounters {
        BusCounters {
            bytes_sent: self.wire.bytes_sent,
            bytes_received: self.wire.bytes_received,
            ..self.counters
        }
    }

    /// The gripper is plugged in.
    pub fn gripper(&self) -> bool {
        self.gripper
    }

    fn present(&self, joint: usize) -> bool {
        joint != J7 || self.gripper
    }

    /// The servo with bus id `id`.
    fn servo_with_id(&self, id: u8) -> Option<usize> {
        (0..JOINTS).find(|joint| self.present(*joint) && self.servos[*joint].id() == id)
    }

    /// Load (%) that gravity gives a joint: J2 and J3 carry the arm.
    fn gravity_percent(&self, joint: usize, t_us: u64) -> f64 {
        if joint != 1 && joint != 2 {
            return 0.0;
        }
        let q2 = self.servos[1].deg(t_us).to_radians();
        let q3 = self.servos[2].deg(t_us).to_radians();
        let both = -10.0 * libm::sin(q2 + q3);
        if joint == 1 { both - 25.0 * libm::sin(q2) } else { both }
    }

    fn hear(&mut self, request: Request<'_>, heard_us: u64) {
        match (request.instruction, request.params) {
            (0x82, [first, length, ids @ ..]) if request.id == BROADCAST => {
                for id in ids {
                    if let Some(joint) = self.servo_with_id(*id) {
                        self.answer_read(joint, *first, *length);
                    }
                }
            }
            (0x83, [first, length, blocks @ ..]) if request.id == BROADCAST => {
                self.hear_sync_write(*first, usize::from(*length), blocks, heard_us);
            }
            _for_one_or_all => {
                for joint in 0..JOINTS {
                    let asked = request.id == BROADCAST || request.id == self.servos[joint].id();
                    if asked && self.present(joint) {
                        self.hear_one(joint, request, heard_us);
                    }
                }
                if request.id == BROADCAST {
                    self.wire.turn();
                }
            }
        }
    }

    /// One servo hears an instruction for it alone or for all.
    fn hear_one(&mut self, joint: usize, request: Request<'_>, heard_us: u64) {
        let alone = request.id != BROADCAST;
        let servo = &mut self.servos[joint];
        match (request.instruction, request.params) {
            (0x01, _) => {
                self.answer(joint, &[]);
                return;
            }
            (0x02, [first, length]) if alone => {
                self.answer_read(joint, *first, *length);
                return;
            }
            (0x03, [first, data @ ..]) => servo.write(*first, data, heard_us),
            (0x04, [first, data @ ..]) => servo.keep_write(*first, data),
            (0x05, _) => servo.action(heard_us),
            (0x06, _) => servo.reset(heard_us),
            // An instruction that a servo does not know gets no answer.
            _unknown => return,
        }
        if alone {
            self.answer(joint, &[]);
        }
    }

    fn hear_sync_write(&mut self, first: u8, length: usize, blocks: &[u8], heard_us: u64) {
        let near = self.last_sync_write_us.is_some_and(|last_us| heard_us - last_us < SYNC_WRITE_GAP_US);
        self.last_sync_write_us = Some(heard_us);
        for block in blocks.chunks_exact(length + 1) {
            let Some(joint) = self.servo_with_id(block[0]) else { continue };
            let lost = near
                && self.sync_write_loss > 0.0
                && self.loss_noise.uniform(heard_us * JOINTS as u64 + joint as u64) < self.sync_write_loss;
            if lost {
                self.counters.sync_writes_lost += 1;
            } else {
                self.servos[joint].write(first, &block[1..], heard_us);
            }
        }
        self.wire.turn();
    }

    fn answer_read(&mut self, joint: usize, first: u8, length: u8) {
        let mut data = [0; SEGMENT_BYTES - 6];
        let Some(data) = data.get_mut(..usize::from(length)) else { return };
        let start_us = self.wire.reply_start_us(REPLY_DELAY_US);
        let load_percent = self.gravity_percent(joint, start_us);
        self.servos[joint].read(first, data, load_percent, start_us);
        self.answer(joint, data);
    }

    fn answer(&mut self, joint: usize, data: &[u8]) {
        let servo = &self.servos[joint];
        let mut bytes = [0; SEGMENT_BYTES];
        let length = build_reply(servo.id(), servo.error(), data, &mut bytes);
        self.counters.replies += 1;
        self.wire.reply(self.wire.reply_start_us(REPLY_DELAY_US), &bytes[..length]);
    }
}
