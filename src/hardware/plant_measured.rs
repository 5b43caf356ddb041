//! The plant `measured`: what the lab measured on its arm, integrated on a fixed grid of 1 ms.
//!
//! Each joint is a servo loop on a mass: u = kP·e + I − electric damping, limited to the torque limit; the mass
//! feels u, gravity, pushes, viscous and Coulomb friction, and sticks at rest. `k` and the damping are chosen so
//! that the joint has the measured natural frequency and damping ratio at the gains 32/8/0, and the measured steady
//! error under gravity. Forces are in % of PWM duty, as the servo reads them.
//!
//! An order acts from the next grid point on, so the motion does not depend on how often anybody looks.

use firmware_core::joints::{ARM_JOINTS, J7, JOINTS};

use super::drive::{Drive, Felt, Motion};
use super::gravity;
use super::heat::{AMBIENT_C, FULL_HEAT_DPS, MOTION_HEAT_C, push_heat_c, relax};
use super::measured_table::{JointModel, MODELS, j5_encoder_deg, j5_link_deg};

/// The grid (µs).
const STEP_US: u64 = 1_000;
const STEP_S: f64 = 1e-3;
/// Grid points that are kept, for looks at the near past.
const HISTORY: usize = 64;
/// The integral term is limited to this (%).
const INTEGRAL_MAX_PERCENT: f64 = 50.0;
/// Share of the error that I = 1 adds per second, relative to P = 1. The lag that goes with the speed does not
/// count: the measured circles show that I takes away what gravity and friction leave, not the lag.
const INTEGRAL_PER_S: f64 = 1.8;
/// Minimum starting force that overcomes all of the sticking (%), as the lab sets it on J2–J4.
const UNSTICKING_PERCENT: f64 = 2.0;
/// Gravity above which a link lies on one side of its gear's play (%).
const PLAY_BIAS_PERCENT: f64 = 1.0;
/// Speed at which a link falls through its gear's play (°/s).
const PLAY_DPS: f64 = 20.0;
const J2: usize = 1;
const J3: usize = 2;
const J5: usize = 4;

/// The state of one joint at a grid point.
#[derive(Debug, Clone, Copy)]
struct Joint {
    encoder: Motion,
    /// The link's distance from the encoder's angle within the gear's play (°), and its speed (°/s).
    play_deg: f64,
    play_dps: f64,
    /// Where the servo's own motion is on its way to the goal (°), and its speed (°/s).
    setpoint_deg: f64,
    setpoint_dps: f64,
    integral_percent: f64,
    /// PWM duty (%).
    duty_percent: f64,
    /// What it pushes against a wall (%).
    push_percent: f64,
    celsius: f64,
    overloaded_us: u64,
}

/// All joints at a grid point.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Number of the grid point.
    number: u64,
    joints: [Joint; JOINTS],
    drives: [Drive; JOINTS],
    /// Mass at the tool point (g).
    payload_g: f64,
    /// When the object slipped away (µs).
    slipped_us: Option<u64>,
}

/// What is kept of a grid point.
#[derive(Debug, Clone, Copy)]
struct Past {
    encoder: [Motion; JOINTS],
    link: [Motion; JOINTS],
}

/// The arm.
#[derive(Debug, Clone)]
pub(crate) struct MeasuredArm {
    state: State,
    past: Vec<Past>,
}

impl Joint {
    fn at_rest(joint: usize, link_deg: f64) -> Self {
        let deg = if joint == J5 { j5_encoder_deg(link_deg) } else { link_deg };
        Self {
            encoder: Motion { deg, ..Motion::default() },
            play_deg: 0.0,
            play_dps: 0.0,
            setpoint_deg: deg,
            setpoint_dps: 0.0,
            integral_percent: 0.0,
            duty_percent: 0.0,
            push_percent: 0.0,
            celsius: AMBIENT_C,
            overloaded_us: 0,
        }
    }

    fn link(&self, joint: usize) -> Motion {
        let mut link = self.encoder;
        if joint == J5 {
            link.deg = j5_link_deg(link.deg);
        }
        link.deg += self.play_deg;
        link.dps += self.play_dps;
        link
    }

    /// One step of the servo's own motion toward the goal.
    fn move_setpoint(&mut self, drive: &Drive) {
        if !drive.on {
            self.setpoint_deg = self.encoder.deg;
            self.setpoint_dps = 0.0;
            self.integral_percent = 0.0;
            return;
        }
        let way_deg = drive.goal_deg - self.setpoint_deg;
        let mut dps = (way_deg / STEP_S).clamp(-drive.speed_cap_dps, drive.speed_cap_dps);
        if drive.ramps {
            let stoppable_dps = (2.0 * drive.accel_dps2 * way_deg.abs()).sqrt();
            let change_dps = drive.accel_dps2 * STEP_S;
            dps = dps.clamp(-stoppable_dps, stoppable_dps);
            dps = dps.clamp(self.setpoint_dps - change_dps, self.setpoint_dps + change_dps);
        }
        self.setpoint_dps = dps;
        self.setpoint_deg += dps * STEP_S;
    }

    /// PWM duty (%) of the servo's loop.
    fn control(&mut self, model: &JointModel, drive: &Drive) -> f64 {
        if !drive.on {
            return 0.0;
        }
        let [p, _, i] = drive.gains_pdi;
        let error_deg = self.setpoint_deg - self.encoder.deg;
        let beyond_dead_zone = error_deg.abs() > drive.dead_zone_deg;
        let felt_deg = if beyond_dead_zone { error_deg } else { 0.0 };
        let gain = model.percent_per_deg_and_p;
        let lag_deg = model.damping() * self.encoder.dps / (gain * p.max(1.0));
        self.integral_percent += INTEGRAL_PER_S * gain * i * (felt_deg - lag_deg) * STEP_S;
        self.integral_percent = self.integral_percent.clamp(-INTEGRAL_MAX_PERCENT, INTEGRAL_MAX_PERCENT);
        let electric = (model.damping() - model.viscous_percent_s_deg) * self.encoder.dps;
        let duty = gain * p * felt_deg + self.integral_percent - electric;
        duty.clamp(-drive.torque_percent, drive.torque_percent)
    }

    /// One step of the mass under `duty` and `outside` (%, from gravity and hands).
    fn move_mass(&mut self, model: &JointModel, drive: &Drive, duty: f64, outside: f64) {
        let world = &drive.world;
        let start = self.encoder;
        let mut force = duty + outside;
        self.push_percent = 0.0;
        let into_object_deg = world.low_deg - start.deg;
        let has_object = world.low_deg > world.low_without_object_deg;
        if has_object && into_object_deg > 0.0 {
            let back = world.low_stiffness_percent_deg * into_object_deg;
            force += back;
            self.push_percent = -back;
        }
        let friction = model.friction_percent + world.friction_percent;
        let unstuck = (drive.starting_force_percent / UNSTICKING_PERCENT).min(1.0);
        let sticking = model.sticking_percent * (1.0 - unstuck);
        let dps = if world.frozen || (start.dps == 0.0 && force.abs() <= friction + sticking) {
            0.0
        } else {
            let direction = if start.dps == 0.0 { force } else { start.dps }.signum();
            let slow = libm::exp(start.dps.abs() * (-1.0 / model.sticking_below_dps));
            let drag = (friction + sticking * slow) * direction + model.viscous_percent_s_deg * start.dps;
            let dps2 = (force - drag) / model.inertia();
            let limit_dps2 = if drive.on { model.accel_limit_dps2 } else { f64::INFINITY };
            let dps = start.dps + dps2.clamp(-limit_dps2, limit_dps2) * STEP_S;
            // Friction stops a joint, it does not turn it round.
            if dps * direction < 0.0 { 0.0 } else { dps.clamp(-model.speed_limit_dps, model.speed_limit_dps) }
        };
        let low_deg = if has_object { world.low_without_object_deg } else { world.low_deg };
        let free_deg = start.deg + dps * STEP_S;
        let deg = free_deg.clamp(low_deg, world.high_deg);
        if deg != free_deg {
            self.push_percent = duty;
        }
        let dps = if deg == free_deg { dps } else { 0.0 };
        self.encoder = Motion { deg, dps, dps2: (dps - start.dps) / STEP_S };
    }

    /// One step of the link within the gear's play, `gravity` (%) holding it to one side.
    fn move_in_play(&mut self, model: &JointModel, gravity: f64) {
        let half_deg = 0.5 * model.play_deg;
        if half_deg == 0.0 {
            return;
        }
        let before_deg = self.play_deg;
        if gravity.abs() > PLAY_BIAS_PERCENT {
            let side_deg = half_deg.copysign(-gravity);
            let step_deg = PLAY_DPS * STEP_S;
            self.play_deg += (side_deg - self.play_deg).clamp(-step_deg, step_deg);
        } else {
            // Nothing pulls at it: the gear drags it along once the play is used up.
            self.play_deg = (self.play_deg - self.encoder.dps * STEP_S).clamp(-half_deg, half_deg);
        }
        self.play_dps = (self.play_deg - before_deg) / STEP_S;
    }
}

impl State {
    fn step(&mut self) {
        self.number += 1;
        let gravity = self.gravity_percent();
        for joint in 0..JOINTS {
            let (model, drive) = (&MODELS[joint], &self.drives[joint]);
            let holding = gravity[joint];
            let state = &mut self.joints[joint];
            state.move_setpoint(drive);
            let duty = state.control(model, drive);
            state.duty_percent = duty;
            state.move_mass(model, drive, duty, drive.world.push_percent - holding);
            state.move_in_play(model, holding);
            let moving_c = MOTION_HEAT_C * (state.encoder.dps.abs() / FULL_HEAT_DPS).min(1.0);
            let heat_c = AMBIENT_C + moving_c + push_heat_c(state.push_percent);
            state.celsius = relax(state.celsius, heat_c, STEP_S);
            let overloaded = duty.abs() >= drive.overload_percent;
            state.overloaded_us = if overloaded { state.overloaded_us + STEP_US } else { 0 };
        }
        self.slip();
    }

    /// The loads that hold the arm up (%).
    fn gravity_percent(&self) -> [f64; JOINTS] {
        let deg: [f64; ARM_JOINTS] = core::array::from_fn(|joint| self.joints[joint].link(joint).deg);
        let mut percent = [0.0; JOINTS];
        percent[J3] = gravity::j3_percent(deg[J2], deg[J3]);
        percent[J2] = gravity::j2_percent(deg[J2], percent[J3]);
        let held = self.joints[J7].push_percent < 0.0;
        let mass_g = self.payload_g + if held { self.drives[J7].world.object_g } else { 0.0 };
        if mass_g > 0.0 {
            let [j2, j3] = gravity::carried_percent(&deg, mass_g);
            percent[J2] += j2;
            percent[J3] += j3;
        }
        percent
    }

    /// The object slips away when it is squeezed too hard.
    fn slip(&mut self) {
        let world = &mut self.drives[J7].world;
        let squeeze = self.joints[J7].push_percent.abs();
        if world.slips_above_percent.is_some_and(|limit| squeeze > limit) {
            world.low_deg = world.low_without_object_deg;
            world.slips_above_percent = None;
            self.slipped_us = Some(self.number * STEP_US);
        }
    }

    fn past(&self) -> Past {
        Past {
            encoder: self.joints.map(|joint| joint.encoder),
            link: core::array::from_fn(|joint| self.joints[joint].link(joint)),
        }
    }
}

/// The motion between two grid points, `share` (0…1) of the way.
fn between(before: &Motion, after: &Motion, share: f64) -> Motion {
    let mix = |a: f64, b: f64| a + (b - a) * share;
    Motion {
        deg: mix(before.deg, after.deg),
        dps: mix(before.dps, after.dps),
        dps2: mix(before.dps2, after.dps2),
    }
}

impl MeasuredArm {
    /// An arm at rest, its links at `pose_deg`, with these orders.
    pub(crate) fn new(pose_deg: &[f64; JOINTS], drives: &[Drive; JOINTS]) -> Self {
        let state = State {
            number: 0,
            joints: core::array::from_fn(|joint| Joint::at_rest(joint, pose_deg[joint])),
            drives: *drives,
            payload_g: 0.0,
            slipped_us: None,
        };
        Self { past: vec![state.past(); HISTORY], state }
    }

    /// Integrates up to the first grid point at or after `t_us`.
    pub(crate) fn advance(&mut self, t_us: u64) {
        while self.state.number * STEP_US < t_us {
            self.state.step();
            self.past[self.state.number as usize % HISTORY] = self.state.past();
        }
    }

    /// Calls `look` with the state at the first grid point at or after `t_us`, or the newest known.
    fn at<R>(&self, t_us: u64, look: impl FnOnce(&State) -> R) -> R {
        if self.state.number * STEP_US >= t_us {
            return look(&self.state);
        }
        let mut ahead = self.state;
        while ahead.number * STEP_US < t_us {
            ahead.step();
        }
        look(&ahead)
    }

    /// A motion at `t_us`, seen through `of`; long past times show the oldest grid point known.
    fn motion(&self, t_us: u64, of: impl Fn(&Past) -> Motion) -> Motion {
        if self.state.number * STEP_US < t_us {
            let (mut before, mut after) = (self.state, self.state);
            while after.number * STEP_US < t_us {
                before = after;
                after.step();
            }
            let share = (t_us - before.number * STEP_US) as f64 / STEP_US as f64;
            return between(&of(&before.past()), &of(&after.past()), share);
        }
        let newest = self.state.number;
        let before = (t_us / STEP_US).max((newest + 1).saturating_sub(HISTORY as u64));
        let after = (before + 1).min(newest);
        let share = (t_us as f64 - (before * STEP_US) as f64).max(0.0) / STEP_US as f64;
        let kept = |number: u64| of(&self.past[number as usize % HISTORY]);
        between(&kept(before), &kept(after), share)
    }

    /// What the encoder of `joint` sees at `t_us`.
    pub(crate) fn encoder(&self, joint: usize, t_us: u64) -> Motion {
        self.motion(t_us, |past| past.encoder[joint])
    }

    /// How the link after `joint` moves at `t_us`.
    pub(crate) fn link(&self, joint: usize, t_us: u64) -> Motion {
        self.motion(t_us, |past| past.link[joint])
    }

    /// What the servo of `joint` feels at `t_us`.
    pub(crate) fn felt(&self, joint: usize, t_us: u64) -> Felt {
        let encoder = self.encoder(joint, t_us);
        self.at(t_us, |state| Felt {
            encoder,
            push_percent: state.joints[joint].push_percent,
            overloaded_us: state.joints[joint].overloaded_us,
            duty_percent: Some(state.joints[joint].duty_percent),
        })
    }

    /// Temperature of the servo of `joint` at `t_us` (°C).
    pub(crate) fn temperature_c(&self, joint: usize, t_us: u64) -> f64 {
        self.at(t_us, |state| state.joints[joint].celsius)
    }

    /// The object has slipped away by `t_us`.
    pub(crate) fn slipped_by(&self, t_us: u64) -> bool {
        self.at(t_us, |state| state.slipped_us.is_some_and(|slip_us| slip_us <= t_us))
    }

    /// The slip is known: nothing is left between the fingers.
    pub(crate) fn forget_slip(&mut self) {
        self.state.slipped_us = None;
    }

    /// Vibration of the hand at `t_us` (g, RMS of each axis).
    pub(crate) fn vibration_g(&self, t_us: u64) -> f64 {
        let speed = |joint: usize| self.encoder(joint, t_us).dps;
        let speeds = [speed(0), speed(1), speed(2)];
        let p = (0..3).map(|joint| self.state.drives[joint].gains_pdi[0]).sum::<f64>() / 3.0;
        super::measured_table::vibration_g(p, speeds)
    }

    /// Sets the mass at the tool point (g).
    pub(crate) fn set_payload(&mut self, grams: f64) {
        self.state.payload_g = grams;
    }

    /// A new order for `joint` at `t_us`; it acts from the next grid point on.
    pub(crate) fn order(&mut self, joint: usize, t_us: u64, drive: &Drive) {
        self.advance(t_us);
        self.state.drives[joint] = *drive;
    }

    /// A hand puts the link after `joint` at `deg`.
    pub(crate) fn put(&mut self, joint: usize, t_us: u64, deg: f64) {
        self.advance(t_us);
        let celsius = self.state.joints[joint].celsius;
        self.state.joints[joint] = Joint { celsius, ..Joint::at_rest(joint, deg) };
        self.past[self.state.number as usize % HISTORY] = self.state.past();
    }
}
