//! The load each servo reports: what holds the arm up, what pushes against walls and hands, and noise.

use firmware_core::joints::{ARM_JOINTS, J7, JOINTS};

use super::drive::Drive;
use super::gravity;
use super::noise::{Noise, Stream};
use super::plant::Plant;

/// Noise of every load (%).
const NOISE_PERCENT: f64 = 0.3;
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
        let noise = NOISE_PERCENT * self.noise[joint].normal(t_us);
        if let Some(duty) = plant.duty_percent(joint, t_us) {
            return duty + noise;
        }
        let mut load = self.gravity_percent(plant, joint, t_us, held_g) + plant.push_percent(joint, t_us)
            - self.push_percent[joint];
        if self.friction_percent[joint] > 0.0 {
            let dps = plant.encoder(joint, t_us).dps;
            load += self.friction_percent[joint] * if dps == 0.0 { 0.0 } else { dps.signum() };
        }
        let limit = if joint == J7 { self.torque_percent[joint] } else { 100.0 };
        load.clamp(-limit, limit) + noise
    }

    fn gravity_percent(&self, plant: &Plant, joint: usize, t_us: u64, held_g: f64) -> f64 {
        if joint != J2 && joint != J3 {
            return 0.0;
        }
        let j2_deg = plant.link(J2, t_us).deg;
        let j3_percent = gravity::j3_percent(j2_deg, plant.link(J3, t_us).deg);
        let mut load = if joint == J2 { gravity::j2_percent(j2_deg, j3_percent) } else { j3_percent };
        let mass_g = self.payload_g + held_g;
        if mass_g > 0.0 {
            let deg: [f64; ARM_JOINTS] = core::array::from_fn(|other| plant.link(other, t_us).deg);
            load += gravity::carried_percent(&deg, mass_g)[joint - J2];
        }
        load
    }
}
