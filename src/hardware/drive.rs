//! What moves a joint: the servo's orders on one side, the world's hands and walls on the other. Both plants
//! take it; angles are encoder angles in degrees.

/// Load per degree of distance from the goal, where nothing else is known (%/°): a joint that leans on its end
/// stop or is held.
pub(crate) const WALL_STIFFNESS_PERCENT_DEG: f64 = 10.0;

/// What the servo wants and what it may use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drive {
    /// Torque is on.
    pub(crate) on: bool,
    /// Where to (°).
    pub(crate) goal_deg: f64,
    /// Speed cap (°/s); 0: the joint holds where it is.
    pub(crate) speed_cap_dps: f64,
    /// Largest torque (%).
    pub(crate) torque_percent: f64,
    /// The servo accelerates and brakes its own motion by [`Self::accel_dps2`]; otherwise its goal is where it
    /// wants to be at once.
    pub(crate) ramps: bool,
    /// Load from which a push counts for the overload protection (%).
    pub(crate) overload_percent: f64,
    /// Acceleration of the servo's own motion (°/s²).
    pub(crate) accel_dps2: f64,
    /// Gains P, D, I.
    pub(crate) gains_pdi: [f64; 3],
    /// Minimum starting force (%).
    pub(crate) starting_force_percent: f64,
    /// Dead zone around the goal (°).
    pub(crate) dead_zone_deg: f64,
    /// What the world does to the joint.
    pub(crate) world: World,
}

/// Walls and forces on one joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct World {
    /// The joint cannot go below this (°).
    pub(crate) low_deg: f64,
    /// The joint cannot go above this (°).
    pub(crate) high_deg: f64,
    /// Load per degree between goal and joint while it leans on the lower wall (%/°).
    pub(crate) low_stiffness_percent_deg: f64,
    /// The lower wall is an object that slips away above this load (%).
    pub(crate) slips_above_percent: Option<f64>,
    /// Where the joint stops below, once the object has slipped (°).
    pub(crate) low_without_object_deg: f64,
    /// Mass of the object at the lower wall (g).
    pub(crate) object_g: f64,
    /// The joint does not move at all.
    pub(crate) frozen: bool,
    /// A force from outside (% of full load, positive toward positive angles).
    pub(crate) push_percent: f64,
    /// Extra friction (% of full load).
    pub(crate) friction_percent: f64,
}

/// Where a joint is and how it moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Motion {
    /// Angle (°).
    pub(crate) deg: f64,
    /// Speed (°/s).
    pub(crate) dps: f64,
    /// Acceleration (°/s²).
    pub(crate) dps2: f64,
}

/// What a servo feels of its joint at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Felt {
    /// What the encoder sees.
    pub(crate) encoder: Motion,
    /// What the joint pushes against a wall (%, signed as the drive pushes).
    pub(crate) push_percent: f64,
    /// How long the joint has borne more than its overload load without a break (µs).
    pub(crate) overloaded_us: u64,
    /// PWM duty (%), if the plant has one.
    pub(crate) duty_percent: Option<f64>,
}

/// Seconds from `from_us` to `to_us`, 0 when that is before.
pub(crate) fn seconds(from_us: u64, to_us: u64) -> f64 {
    to_us.saturating_sub(from_us) as f64 * 1e-6
}
