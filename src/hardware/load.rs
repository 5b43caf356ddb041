//! The load each servo reports: what holds the arm up, what pushes against walls and hands, and noise.

use firmware_core::joints::{ARM_JOINTS, J7, JOINTS};

use super::drive::{Drive, Felt};
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
    /// Mass at the tool point (g).
    pub(crate) payload_g: f64,
}

impl LoadModel {
    /// Loads of an arm that carries nothing; their noise comes from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self { noise: core::array::from_fn(|joint| Noise::new(seed, Stream::Load, joint)), payload_g: 0.0 }
    }

    /// Load of `joint`, moved by `drive` and as it is `felt` at `t_us` (%, signed as its servo pushes), as the servo
    /// reads it. `held_g` is the mass of what the fingers hold.
    pub(crate) fn percent(
        &self,
        plant: &Plant,
        joint: usize,
        drive: &Drive,
        felt: &Felt,
        t_us: u64,
        held_g: f64,
    ) -> f64 {
        if !drive.on {
            return 0.0;
        }
        let noise = NOISE_PERCENT * self.noise[joint].normal(t_us);
        if let Some(duty) = felt.duty_percent {
            return duty + noise;
        }
        let world = &drive.world;
        let mut load =
            self.gravity_percent(plant, joint, felt, t_us, held_g) + felt.push_percent - world.push_percent;
        if world.friction_percent > 0.0 {
            let dps = felt.encoder.dps;
            load += world.friction_percent * if dps == 0.0 { 0.0 } else { dps.signum() };
        }
        let limit = if joint == J7 { drive.torque_percent } else { 100.0 };
        load.clamp(-limit, limit) + noise
    }

    fn gravity_percent(&self, plant: &Plant, joint: usize, felt: &Felt, t_us: u64, held_g: f64) -> f64 {
        if joint != J2 && joint != J3 {
            return 0.0;
        }
        let at = |other: usize| if other == joint { felt.encoder.deg } else { plant.link(other, t_us).deg };
        let j2_deg = at(J2);
        let j3_percent = gravity::j3_percent(j2_deg, at(J3));
        let mut load = if joint == J2 { gravity::j2_percent(j2_deg, j3_percent) } else { j3_percent };
        let mass_g = self.payload_g + held_g;
        if mass_g > 0.0 {
            let deg: [f64; ARM_JOINTS] = core::array::from_fn(|other| plant.link(other, t_us).deg);
            load += gravity::carried_percent(&deg, mass_g)[joint - J2];
        }
        load
    }
}
