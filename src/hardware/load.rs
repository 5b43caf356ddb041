//! The load each servo reports: what holds the arm up, what pushes against walls and hands, and noise.

use firmware_core::joints::{ARM_JOINTS, J7, JOINTS};

use super::chain;
use super::drive::Drive;
use super::noise::{Noise, Stream};
use super::plant::Plant;

/// Load of J2 per sine of its own angle from upright (%).
const UPPER_ARM_PERCENT: f64 = -25.0;
/// Load of J2 and of J3 per sine of the forearm's angle from upright (%).
const FOREARM_PERCENT: f64 = -10.0;
/// Noise of every load (%).
const NOISE_PERCENT: f64 = 0.3;
/// Full load of J2 and J3 (N·m), for masses that the arm carries: 19.5 kg·cm, what the makers of such servos name.
const FULL_LOAD_NM: f64 = 1.91;
/// Standard gravity (m/s²).
const GRAVITY_M_S2: f64 = 9.806_65;

const J2: usize = 1;
const J3: usize = 2;

/// What makes loads.
#[derive(Debug, Clone)]
pub(crate) struct LoadModel {
    noise: [Noise; JOINTS],
    on: [bool; JOINTS],
    push_percent: [f64; JOINTS],
    friction_percent: [f64; JOINTS],
    torque_percent: [f64; JOINTS],
    /// Mass at the tool point (g).
    pub(crate) payload_g: f64,
}

impl LoadModel {
    /// Loads of an arm that carries nothing; their noise comes from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            noise: core::array::from_fn(|joint| Noise::new(seed, Stream::Load, joint)),
            on: [false; JOINTS],
            push_percent: [0.0; JOINTS],
            friction_percent: [0.0; JOINTS],
            torque_percent: [0.0; JOINTS],
            payload_g: 0.0,
        }
    }

    /// Takes note of what drives `joint`.
    pub(crate) fn note(&mut self, joint: usize, drive: &Drive) {
        self.on[joint] = drive.on;
        self.push_percent[joint] = drive.world.push_percent;
        self.friction_percent[joint] = drive.world.friction_percent;
        self.torque_percent[joint] = drive.torque_percent;
    }

    /// Load of `joint` at `t_us` (%, signed as its servo pushes), as the servo reads it. `held_g` is the mass of
    /// what the fingers hold.
    pub(crate) fn percent(&self, plant: &Plant, joint: usize, t_us: u64, held_g: f64) -> f64 {
        if !self.on[joint] {
            return 0.0;
        }
        let mut load = self.gravity_percent(plant, joint, t_us, held_g) + plant.push_percent(joint, t_us)
            - self.push_percent[joint];
        if self.friction_percent[joint] > 0.0 {
            let dps = plant.encoder(joint, t_us).dps;
            load += self.friction_percent[joint] * if dps == 0.0 { 0.0 } else { dps.signum() };
        }
        let limit = if joint == J7 { self.torque_percent[joint] } else { 100.0 };
        load.clamp(-limit, limit) + NOISE_PERCENT * self.noise[joint].normal(t_us)
    }

    fn gravity_percent(&self, plant: &Plant, joint: usize, t_us: u64, held_g: f64) -> f64 {
        if joint != J2 && joint != J3 {
            return 0.0;
        }
        let q2 = plant.link(J2, t_us).deg.to_radians();
        let q3 = plant.link(J3, t_us).deg.to_radians();
        let mut load = FOREARM_PERCENT * libm::sin(q2 + q3);
        if joint == J2 {
            load += UPPER_ARM_PERCENT * libm::sin(q2);
        }
        let mass_g = self.payload_g + held_g;
        if mass_g > 0.0 {
            let deg: [f64; ARM_JOINTS] = core::array::from_fn(|other| plant.link(other, t_us).deg);
            let lift_m = chain::lift_mm_rad(&deg)[joint - J2] * 1e-3;
            load += mass_g * 1e-3 * GRAVITY_M_S2 * lift_m / FULL_LOAD_NM * 100.0;
        }
        load
    }
}
