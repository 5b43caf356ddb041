//! End-effector JOG: the TCP follows a twist.
//!
//! One step: limit the change of the twist, find the joint speeds by damped least squares, scale all of them
//! by one factor so that the TCP keeps its direction at every limit, integrate. A target pose moves with the
//! twist; the way back to it removes the drift of the linear step.
//!
//! | File | Is |
//! | --- | --- |
//! | `messages` | what goes into a step, and what it reports |
//! | `target` | the target pose and the error to it |
//! | `least_squares` | joint speeds for a twist |
//! | `singular` | the smallest singular value |
//! | `limits` | bounds, the one factor, braking |
//!
//! The ESP32 divides and takes square roots in library calls, so they are few. A step that runs freely at a
//! steady twist divides three times (two blocks of the Jacobian, dt) and takes no square root. Besides:
//!
//! | When | Divisions | Square roots |
//! | --- | --- | --- |
//! | the linear or the angular twist changes as fast as it may, each | 1 | 1 |
//! | the fastest joint meets the cap | 1 | |
//! | a joint meets its acceleration, each | 1 | |
//! | a joint meets its bound, each | 1 | 1 |
//! | no factor exists: braking | up to 6 | 6 |
//! | the least squares are damped | 6 instead of 2 | |
//! | every fourth step: the smallest singular value | 6 + 1 per Newton step | 6 |
//!
//! Over the recorded sequences a step has 9.3 divisions and 2.9 square roots on average.

mod least_squares;
mod limits;
mod messages;
mod singular;
mod target;

use crate::joints::{ARM_JOINTS, SPEED_LIMIT_DPS};
use crate::kinematics::{Pose, Posture, Tcp, Vector3, forward};
use crate::math::sqrt;
use crate::math::vector::{add, dot, mul_vector, scale, subtract};
use crate::motion::joint::JointMotion;
pub use least_squares::SIGMA_DAMPED;
use least_squares::{LeastSquares, damping};
use limits::{Scaling, bounds, brake, scaling};
pub use messages::{Twist, TwistCommand, TwistReport};
pub use singular::LINEAR_UNIT_MM;
pub use singular::smallest_singular_value;

/// Change of the twist: linear (mm/s²) and angular (rad/s²), each as a vector.
const LINEAR_ACCEL_MM_S2: f32 = 300.0;
const ANGULAR_ACCEL_RAD_S2: f32 = 4.0;
/// How fast the error to the target is removed (1/s).
const ERROR_GAIN_PER_S: f32 = 4.0;
/// The smallest singular value serves this many steps.
const SIGMA_STEPS: u32 = 4;
/// Blocked: the joints miss more than this share of the twist.
const BLOCKED_SHARE: f32 = 0.2;
/// Longest step (s): a run clamps its steps to 6 ms, so anything longer is a mistake of the caller.
const STEP_S_MAX: f32 = 1.0;
/// Squares of twists up to this are no twist.
const TWIST_NONE: f32 = 1e-6;
const DEG_PER_RAD: f32 = 180.0 / core::f32::consts::PI;
const RAD_PER_DEG: f32 = core::f32::consts::PI / 180.0;

/// The controller's state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwistController {
    /// The tool point.
    pub tcp: Tcp,
    /// The twist now.
    pub twist: Twist,
    /// The target pose.
    pub target: Pose,
    /// The last smallest singular value.
    pub sigma_min: f32,
    /// Steps since it was computed; from 4 on the next step computes it anew.
    pub sigma_age: u32,
}

impl TwistController {
    /// Enters from another mode: the twist is what the joint speeds give, the target the present pose.
    pub fn enter(motion: &JointMotion, tcp: Tcp) -> Self {
        let (q_deg, v_dps) = arm_of(motion);
        let posture = Posture::new(&q_deg, tcp);
        let twist = twist_of(&posture, &v_dps);
        Self { tcp, twist, target: *posture.pose(), sigma_min: 0.0, sigma_age: SIGMA_STEPS }
    }

    /// One step of `dt_s`: moves the goals and speeds of J1–J6; J7 is left alone.
    ///
    /// A step time outside (0, 1] s, or goals and speeds that are not finite, make no step. A twist that is
    /// not finite asks for rest.
    pub fn step(&mut self, motion: &mut JointMotion, command: &TwistCommand, dt_s: f32) -> TwistReport {
        let (q_deg, v_dps) = arm_of(motion);
        if !(dt_s > 0.0 && dt_s <= STEP_S_MAX && are_finite(&q_deg) && are_finite(&v_dps)) {
            let (damped, sigma_min) = (damping(self.sigma_min) > 0.0, self.sigma_min);
            return TwistReport { factor: 0.0, limiting_joint: None, sigma_min, damped, blocked: false };
        }
        let bounds = bounds(&q_deg);
        let posture = Posture::new(&q_deg, self.tcp);
        let wanted = self.limited(&wanted_twist(command, posture.pose()), dt_s);
        let (wanted_dps, damped, blocked) = self.joint_speeds(&posture, &wanted);
        let cap_dps =
            if command.speed_cap_dps > 0.0 { command.speed_cap_dps.min(SPEED_LIMIT_DPS) } else { 0.0 };
        let (scaling, limiting_joint) = scaling(&q_deg, &v_dps, &wanted_dps, &bounds, cap_dps, dt_s);
        let speeds_dps = match scaling {
            Scaling::Factor(factor) => wanted_dps.map(|wanted| factor * wanted),
            Scaling::Brake => brake(&q_deg, &v_dps, &bounds, dt_s),
        };
        let per_dt = 1.0 / dt_s;
        for joint in 0..ARM_JOINTS {
            let next_deg = q_deg[joint] + speeds_dps[joint] * dt_s;
            motion.q_deg[joint] = bounds[joint].land_deg(q_deg[joint], next_deg);
            // The speed of the step made, rounding of the goal included.
            motion.v_dps[joint] = (motion.q_deg[joint] - q_deg[joint]) * per_dt;
        }
        let factor = self.follow(scaling, &wanted, &posture, motion, dt_s);
        let factor = if blocked { 0.0 } else { factor };
        TwistReport { factor, limiting_joint, sigma_min: self.sigma_min, damped, blocked }
    }

    /// The twist after this step's change toward `wanted`.
    fn limited(&self, wanted: &Twist, dt_s: f32) -> Twist {
        let linear = LINEAR_ACCEL_MM_S2 * dt_s;
        let angular = ANGULAR_ACCEL_RAD_S2 * dt_s;
        Twist {
            linear_mm_s: toward(&self.twist.linear_mm_s, &wanted.linear_mm_s, linear),
            angular_rad_s: toward(&self.twist.angular_rad_s, &wanted.angular_rad_s, angular),
        }
    }

    /// Joint speeds (°/s) for a twist and the way back to the target; whether they are damped, and whether
    /// the twist is blocked, which makes them 0.
    fn joint_speeds(&mut self, posture: &Posture, wanted: &Twist) -> ([f32; ARM_JOINTS], bool, bool) {
        let error = target::error(&self.target, posture.pose()).unwrap_or_else(|| {
            self.target = *posture.pose();
            Twist::default()
        });
        let linear = add(&wanted.linear_mm_s, &scale(ERROR_GAIN_PER_S, &error.linear_mm_s));
        let angular = add(&wanted.angular_rad_s, &scale(ERROR_GAIN_PER_S, &error.angular_rad_s));
        let xi = posture.to_plane(&scale(1.0 / LINEAR_UNIT_MM, &linear), &angular);
        let jacobian = posture.plane_jacobian().with_linear_rows_times(1.0 / LINEAR_UNIT_MM);
        let system = LeastSquares::new(jacobian);
        if self.sigma_age >= SIGMA_STEPS {
            self.sigma_min = singular::of_scaled(&system);
            self.sigma_age = 0;
        }
        self.sigma_age += 1;
        let damping = damping(self.sigma_min);
        let rates = system.solve(&xi, damping);
        let given = system.jacobian.twist(&rates);
        let (inner, outer) = (subtract(&given.inner, &xi.inner), subtract(&given.outer, &xi.outer));
        let missed2 = dot(&inner, &inner) + dot(&outer, &outer);
        let size2 = dot(&xi.inner, &xi.inner) + dot(&xi.outer, &xi.outer);
        let blocked = size2 > TWIST_NONE && missed2 > BLOCKED_SHARE * BLOCKED_SHARE * size2;
        let speeds_dps = if blocked { [0.0; ARM_JOINTS] } else { rates.map(|rate| rate * DEG_PER_RAD) };
        (speeds_dps, damping > 0.0, blocked)
    }

    /// Moves twist and target on, and returns the factor. Along the twist the target moves and turns with it;
    /// braking, both follow the joints.
    fn follow(
        &mut self,
        scaling: Scaling,
        wanted: &Twist,
        posture: &Posture,
        motion: &JointMotion,
        dt_s: f32,
    ) -> f32 {
        match scaling {
            Scaling::Factor(factor) => {
                self.twist = Twist {
                    linear_mm_s: scale(factor, &wanted.linear_mm_s),
                    angular_rad_s: scale(factor, &wanted.angular_rad_s),
                };
                target::advance(&mut self.target, &self.twist, dt_s);
                factor
            }
            Scaling::Brake => {
                let (q_deg, v_dps) = arm_of(motion);
                self.twist = twist_of(posture, &v_dps);
                self.target = forward(&q_deg, self.tcp);
                0.0
            }
        }
    }
}

/// Turns of J1–J6 (rad) that bring the TCP on by `linear_mm` and the rotation vector `angular_rad`, both in
/// the base frame and small: the damped least squares of one step, for a way to a pose without time.
pub fn damped_turns_rad(posture: &Posture, linear_mm: &Vector3, angular_rad: &Vector3) -> [f32; ARM_JOINTS] {
    let jacobian = posture.plane_jacobian().with_linear_rows_times(1.0 / LINEAR_UNIT_MM);
    let system = LeastSquares::new(jacobian);
    let way = posture.to_plane(&scale(1.0 / LINEAR_UNIT_MM, linear_mm), angular_rad);
    system.solve(&way, damping(singular::of_scaled(&system)))
}

/// Goals (°) and speeds (°/s) of J1–J6.
fn arm_of(motion: &JointMotion) -> ([f32; ARM_JOINTS], [f32; ARM_JOINTS]) {
    (core::array::from_fn(|joint| motion.q_deg[joint]), core::array::from_fn(|joint| motion.v_dps[joint]))
}

/// None is infinite or NaN: either would make the sum so.
fn are_finite(values: &[f32]) -> bool {
    values.iter().sum::<f32>().is_finite()
}

/// The twist that joint speeds (°/s) give.
fn twist_of(posture: &Posture, v_dps: &[f32; ARM_JOINTS]) -> Twist {
    let rates = v_dps.map(|v| v * RAD_PER_DEG);
    let (linear_mm_s, angular_rad_s) = posture.to_base(&posture.plane_jacobian().twist(&rates));
    Twist { linear_mm_s, angular_rad_s }
}

/// The commanded twist in base axes.
fn wanted_twist(command: &TwistCommand, pose: &Pose) -> Twist {
    let TwistCommand { tool, linear_mm_s, angular_rad_s, .. } = *command;
    if !are_finite(&linear_mm_s) || !are_finite(&angular_rad_s) {
        Twist::default()
    } else if tool {
        Twist {
            linear_mm_s: mul_vector(&pose.rotation, &linear_mm_s),
            angular_rad_s: mul_vector(&pose.rotation, &angular_rad_s),
        }
    } else {
        Twist { linear_mm_s, angular_rad_s }
    }
}

/// From `from` toward `to` by at most `change`, as vectors.
fn toward(from: &Vector3, to: &Vector3, change: f32) -> Vector3 {
    let way = subtract(to, from);
    let length2 = dot(&way, &way);
    if length2 <= change * change {
        return *to;
    }
    add(from, &scale(change / sqrt(length2), &way))
}
