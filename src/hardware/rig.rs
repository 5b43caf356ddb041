//! All of the hardware in one value: the wire, the servos on it, what they move, and the IMU.

use firmware_core::joints::{J7, JOINTS};
use firmware_core::platform::ImuSample;

use super::active::ActiveFaults;
use super::drive::World;
use super::gripper::Object;
use super::imu::{FILTER_DELAY_US, Imu, JOINTS_BEFORE, PERIOD_US};
use super::line::Line;
use super::load::LoadModel;
use super::noise::{Noise, Stream};
use super::options::{END_STOPS_DEG, HardwareError, HardwareOptions};
use super::packet::{PACKET_BYTES, Reply};
use super::plant::Plant;
use super::servo::Servo;
use super::wire::Wire;

/// Supply of each servo (V), as the robot's servos report it.
pub(crate) const SUPPLY_V: [f64; JOINTS] = [7.6, 7.6, 7.6, 6.6, 6.4, 6.4, 7.4];

/// What happened on the bus since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BusCounters {
    /// Bytes the driver sent.
    pub bytes_sent: u64,
    /// Bytes the servos sent.
    pub bytes_answered: u64,
    /// Requests the servos understood.
    pub requests: u64,
    /// Packets with a wrong checksum.
    pub bad_checksums: u64,
    /// Bytes that belonged to no packet.
    pub stray_bytes: u64,
    /// Replies the servos sent.
    pub replies: u64,
    /// SYNC WRITEs lost to a servo, each servo counted.
    pub lost_sync_writes: u64,
    /// Bytes lost because the driver did not read them.
    pub overrun_bytes: u64,
}

/// Faults of a joint that are no faults of its servo.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct JointFaults {
    /// It does not move.
    pub(crate) stuck: bool,
    /// It is held within this range (°).
    pub(crate) held_deg: Option<(f64, f64)>,
    /// Extra friction (% of full load).
    pub(crate) friction_percent: f64,
    /// A force from outside (% of full load).
    pub(crate) push_percent: f64,
}

/// The simulated hardware of one arm.
#[derive(Debug, Clone)]
pub struct Hardware {
    pub(crate) servos: [Servo; JOINTS],
    pub(crate) plant: Plant,
    pub(crate) load: LoadModel,
    pub(crate) wire: Wire,
    pub(crate) line: Line,
    pub(crate) imu: Imu,
    pub(crate) object: Option<Object>,
    pub(crate) joint_faults: [JointFaults; JOINTS],
    /// The gripper is plugged in.
    pub(crate) plugged: bool,
    /// The servos have power.
    pub(crate) powered: bool,
    /// The servo is missing since the last power-up.
    pub(crate) missing: [bool; JOINTS],
    /// The supply is not what it should be, but this (V).
    pub(crate) brown_out_v: Option<f64>,
    pub(crate) counters: BusCounters,
    pub(crate) lost_writes: [Noise; JOINTS],
    /// Probability that a servo loses a SYNC WRITE right after another.
    pub(crate) lost_hasty_write: f64,
    pub(crate) sync_writes: u64,
    pub(crate) last_sync_write_us: Option<u64>,
    /// Every servo has the id it came with.
    pub(crate) ids_plain: bool,
    /// The start of a packet whose rest has not come, and when its last byte came (µs).
    pub(crate) partial: Vec<u8>,
    pub(crate) partial_us: u64,
    /// Room for disturbed bytes.
    pub(crate) scratch: Vec<u8>,
    pub(crate) reply: Reply,
    /// The latest time anything on the bus has happened at (µs).
    pub(crate) latest_us: u64,
    pub(crate) faults: ActiveFaults,
    /// A fault lets any object slip away above this load (%).
    pub(crate) slips_above_percent: Option<f64>,
}

impl Hardware {
    /// Hardware as `options` say, servos just powered up, torque off.
    ///
    /// # Errors
    /// An option that cannot be, with the range it must have.
    pub fn new(options: &HardwareOptions) -> Result<Self, HardwareError> {
        options.check()?;
        let seed = options.seed;
        let object = options.object;
        let joint_faults = [JointFaults::default(); JOINTS];
        let worlds: [World; JOINTS] =
            core::array::from_fn(|joint| world(joint, &joint_faults[joint], object.as_ref()));
        let pose_deg: [f64; JOINTS] = core::array::from_fn(|joint| {
            options.pose_deg[joint].clamp(worlds[joint].low_deg, worlds[joint].high_deg)
        });
        let servos = core::array::from_fn(|joint| Servo::new(joint, pose_deg[joint], worlds[joint]));
        let drives = core::array::from_fn(|joint: usize| *Servo::drive(&servos[joint]));
        let mut hardware = Self {
            plant: Plant::new(options.plant, &pose_deg, &drives),
            servos,
            load: LoadModel::new(seed),
            wire: Wire::new(),
            line: Line::new(seed),
            imu: Imu::new(seed),
            object,
            joint_faults,
            plugged: options.gripper,
            powered: true,
            missing: [false; JOINTS],
            brown_out_v: None,
            counters: BusCounters::default(),
            lost_writes: core::array::from_fn(|joint| Noise::new(seed, Stream::LostWrite, joint)),
            lost_hasty_write: options.lost_sync_write.unwrap_or(options.plant.lost_sync_write()),
            sync_writes: 0,
            last_sync_write_us: None,
            ids_plain: true,
            partial: Vec::with_capacity(PACKET_BYTES),
            partial_us: 0,
            scratch: Vec::with_capacity(2 * PACKET_BYTES),
            reply: Reply::default(),
            latest_us: 0,
            faults: ActiveFaults::default(),
            slips_above_percent: None,
        };
        hardware.connect(0);
        Ok(hardware)
    }

    /// The time to use for something that comes at `now_us`: never before what has happened.
    pub(crate) fn time(&self, now_us: u64) -> u64 {
        now_us.max(self.latest_us)
    }

    /// Gives every servo the power and the plug it has now.
    pub(crate) fn connect(&mut self, t_us: u64) {
        for joint in 0..JOINTS {
            let plugged = joint != J7 || self.plugged;
            let connected = self.powered && plugged && !self.missing[joint];
            if connected != self.servos[joint].is_connected() {
                let deg = self.plant.encoder(joint, t_us).deg;
                self.servos[joint].set_connected(connected, deg);
                self.renew(joint, t_us);
            }
        }
        self.note_ids();
    }

    /// Renews what drives `joint` after something around it has changed.
    pub(crate) fn renew(&mut self, joint: usize, t_us: u64) {
        let object = self.object.map(|object| Object {
            slips_above_percent: least(object.slips_above_percent, self.slips_above_percent),
            ..object
        });
        let world = world(joint, &self.joint_faults[joint], object.as_ref());
        let servo = &mut self.servos[joint];
        servo.set_world(world);
        servo.renew_drive(self.plant.encoder(joint, t_us).deg);
        self.order(joint, t_us);
    }

    /// Passes the drive of `joint` on to the plant.
    pub(crate) fn order(&mut self, joint: usize, t_us: u64) {
        let servo = &self.servos[joint];
        self.plant.order(joint, t_us, servo.drive());
    }

    /// Takes note of an object that has slipped away by `t_us`.
    pub(crate) fn note_slip(&mut self, t_us: u64) {
        if self.object.is_some() && self.plant.slipped_by(t_us) {
            self.object = None;
            self.plant.forget_slip();
            self.renew(J7, t_us);
        }
    }

    pub(crate) fn note_ids(&mut self) {
        self.ids_plain =
            self.servos.iter().all(|servo| usize::from(servo.registers().id()) == servo.joint() + 1);
    }

    /// Supply of the servo of `joint` (V).
    pub(crate) fn supply_v(&self, joint: usize) -> f64 {
        self.brown_out_v.unwrap_or(SUPPLY_V[joint])
    }

    /// Fills `buffer` with bytes that reach the driver from `now_us` on. Returns their number and when the driver
    /// goes on: when the buffer was full, or when no byte had come for `timeout_us`.
    pub fn receive(&mut self, now_us: u64, buffer: &mut [u8], timeout_us: u32) -> (usize, u64) {
        let longest_us = (buffer.len() as u64 + 1) * u64::from(timeout_us);
        self.line.talk(now_us.saturating_add(longest_us.min(100_000)), &mut self.wire);
        self.wire.receive(now_us, buffer, timeout_us)
    }

    /// Drops what the driver has received by `now_us`.
    pub fn discard_input(&mut self, now_us: u64) {
        self.line.talk(now_us, &mut self.wire);
        self.wire.discard(now_us);
    }

    /// The IMU sampler's latest sample at `now_us`; `None` while the IMU does not answer.
    pub fn imu(&self, now_us: u64) -> Option<ImuSample> {
        let number = now_us / PERIOD_US;
        let t_us = (number * PERIOD_US).saturating_sub(FILTER_DELAY_US);
        let joints: [_; JOINTS_BEFORE] = core::array::from_fn(|joint| self.plant.link(joint, t_us));
        self.imu.sample(number, &joints, self.plant.vibration_g(t_us))
    }
}

fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

/// The walls and forces on `joint`.
fn world(joint: usize, faults: &JointFaults, object: Option<&Object>) -> World {
    let (end_low_deg, end_high_deg) = END_STOPS_DEG[joint];
    let (held_low_deg, held_high_deg) = faults.held_deg.unwrap_or((end_low_deg, end_high_deg));
    let high_deg = end_high_deg.min(held_high_deg.max(end_low_deg));
    let free_low_deg = end_low_deg.max(held_low_deg).min(high_deg);
    let mut world = World {
        low_deg: free_low_deg,
        high_deg,
        low_stiffness_percent_deg: super::drive::WALL_STIFFNESS_PERCENT_DEG,
        slips_above_percent: None,
        low_without_object_deg: free_low_deg,
        object_g: 0.0,
        frozen: faults.stuck,
        push_percent: faults.push_percent,
        friction_percent: faults.friction_percent,
    };
    if let Some(object) = object.filter(|_| joint == J7) {
        let contact_deg = object.size.contact_deg().min(high_deg);
        if contact_deg >= free_low_deg {
            world.low_deg = contact_deg;
            world.low_stiffness_percent_deg = object.stiffness_percent_deg;
            world.slips_above_percent = object.slips_above_percent;
            world.object_g = object.mass_g;
        }
    }
    world
}
