//! End-effector JOG: the TCP follows a twist.
//!
//! One step: limit the change of the twist, find the joint speeds by damped least squares, scale all of them
//! by one factor so that the TCP keeps its direction at every limit, integrate. A target pose moves with the
//! twist; the way back to it removes the drift of the linear step.
//!
//! The ESP32 divides and takes square roots in library calls. A step has 6 divisions for the least squares,
//! up to 3 per moving joint for the limits, 2 square roots for the twist's change and 1 per moving joint; the
//! smallest singular value, every fourth step, adds those of [`singular`].

mod limits;
mod singular;
mod target;

use crate::joints::{ARM_JOINTS, SPEED_LIMIT_DPS};
use crate::kinematics::{Jacobian, Pose, Tcp, Vector3, forward, mul_vector, pose_and_jacobian};
use crate::math::sqrt;
use crate::motion::joint::JointMotion;
use limits::{Scaling, bounds, brake, scale};
pub use singular::smallest_singular_value;

/// Change of the twist: linear (mm/s²) and angular (rad/s²), each as a vector.
const LINEAR_ACCEL_MM_S2: f32 = 300.0;
const ANGULAR_ACCEL_RAD_S2: f32 = 4.0;
/// How fast the error to the target is removed (1/s).
const ERROR_GAIN_PER_S: f32 = 4.0;
/// Unit of the linear rows in the least squares (mm): a length of the arm, so that rows compare.
const LINEAR_UNIT_MM: f32 = 100.0;
/// The damping begins below this smallest singular value; its square root is at most the same.
const SIGMA_DAMPED: f32 = 0.05;
/// The smallest singular value serves this many steps.
const SIGMA_STEPS: u32 = 4;
/// Blocked: the joints give less than this share of the twist's square.
const BLOCKED_SHARE: f32 = 0.2;
/// Squares of twists up to this are no twist.
const TWIST_NONE: f32 = 1e-6;

/// A twist of the TCP in the base frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist {
    /// Linear velocity (mm/s).
    pub linear_mm_s: Vector3,
    /// Angular velocity (rad/s).
    pub angular_rad_s: Vector3,
}

/// What the TCP shall do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwistCommand {
    /// The twist is in tool axes, not in base axes.
    pub tool: bool,
    /// Linear velocity (mm/s).
    pub linear_mm_s: Vector3,
    /// Angular velocity (rad/s).
    pub angular_rad_s: Vector3,
    /// Joint speed cap (°/s), at most 90.
    pub speed_cap_dps: f32,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwistReport {
    /// Share of the wanted joint speeds (0…1); 0 when blocked.
    pub factor: f32,
    /// The joint (index) whose bound sets the factor.
    pub limiting_joint: Option<usize>,
    /// Smallest singular value of the Jacobian, linear rows in units of 100 mm.
    pub sigma_min: f32,
    /// The least squares are damped.
    pub damped: bool,
    /// The joints cannot give the twist: the arm brakes and stays.
    pub blocked: bool,
}

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
    /// Steps since it was computed.
    pub sigma_age: u32,
}

impl TwistController {
    /// Enters from another mode: the twist is what the joint speeds give, the target the present pose.
    pub fn enter(motion: &JointMotion, tcp: Tcp) -> Self {
        let (q_deg, v_dps) = arm_of(motion);
        let (target, jacobian) = pose_and_jacobian(&q_deg, tcp);
        Self { tcp, twist: twist_of(&jacobian, &v_dps), target, sigma_min: 0.0, sigma_age: SIGMA_STEPS }
    }

    /// One step of `dt_s`: moves the goals and speeds of J1–J6; J7 is left alone.
    pub fn step(&mut self, motion: &mut JointMotion, command: &TwistCommand, dt_s: f32) -> TwistReport {
        let (q_deg, v_dps) = arm_of(motion);
        let (pose, jacobian) = pose_and_jacobian(&q_deg, self.tcp);
        let wanted = self.limited(&wanted_twist(command, &pose), dt_s);
        let error = target::error(&self.target, &pose).unwrap_or_else(|| {
            self.target = pose;
            Twist::default()
        });
        let with_error =
            |v: &Vector3, e: &Vector3| core::array::from_fn(|axis| v[axis] + ERROR_GAIN_PER_S * e[axis]);
        let scaled = Scaled::new(&jacobian);
        let xi = scaled_twist(&Twist {
            linear_mm_s: with_error(&wanted.linear_mm_s, &error.linear_mm_s),
            angular_rad_s: with_error(&wanted.angular_rad_s, &error.angular_rad_s),
        });
        self.update_sigma(&scaled);
        let damping = self.damping();
        let (mut wanted_dps, residual2) = scaled.solve(&xi, damping);
        let size2 = dot(&xi, &xi);
        let blocked = size2 > TWIST_NONE && residual2 > BLOCKED_SHARE * BLOCKED_SHARE * size2;
        if blocked {
            wanted_dps = [0.0; ARM_JOINTS];
        }
        let bounds = bounds(&q_deg);
        let cap_dps = command.speed_cap_dps.min(SPEED_LIMIT_DPS);
        let scaling = scale(&q_deg, &v_dps, &wanted_dps, &bounds, cap_dps, dt_s);
        let speeds_dps = match &scaling {
            Scaling::Factor { factor, .. } => wanted_dps.map(|wanted| factor * wanted),
            Scaling::Brake { .. } => brake(&q_deg, &v_dps, &bounds, dt_s),
        };
        for joint in 0..ARM_JOINTS {
            let (q, v) = bounds[joint].integrate(q_deg[joint], speeds_dps[joint], dt_s);
            motion.q_deg[joint] = q;
            motion.v_dps[joint] = v;
        }
        self.follow(&scaling, &wanted, &jacobian, motion, dt_s);
        let (factor, limiting_joint) = match scaling {
            Scaling::Factor { factor, limiting_joint } => (factor, limiting_joint),
            Scaling::Brake { limiting_joint } => (0.0, limiting_joint),
        };
        TwistReport {
            factor: if blocked { 0.0 } else { factor },
            limiting_joint,
            sigma_min: self.sigma_min,
            damped: damping > 0.0,
            blocked,
        }
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

    fn update_sigma(&mut self, scaled: &Scaled) {
        if self.sigma_age >= SIGMA_STEPS {
            self.sigma_min = sqrt(singular::smallest_eigenvalue(&scaled.squared).max(0.0));
            self.sigma_age = 0;
        }
        self.sigma_age += 1;
    }

    /// λ² of the damped least squares.
    fn damping(&self) -> f32 {
        if self.sigma_min >= SIGMA_DAMPED {
            return 0.0;
        }
        let share = self.sigma_min * (1.0 / SIGMA_DAMPED);
        SIGMA_DAMPED * SIGMA_DAMPED * (1.0 - share * share)
    }

    /// Moves twist and target on. Along the twist the target moves and turns with it; braking, both follow
    /// the joints.
    fn follow(
        &mut self,
        scaling: &Scaling,
        wanted: &Twist,
        jacobian: &Jacobian,
        motion: &JointMotion,
        dt_s: f32,
    ) {
        match scaling {
            Scaling::Factor { factor, .. } => {
                self.twist = Twist {
                    linear_mm_s: wanted.linear_mm_s.map(|v| factor * v),
                    angular_rad_s: wanted.angular_rad_s.map(|v| factor * v),
                };
                target::advance(&mut self.target, &self.twist, dt_s);
            }
            Scaling::Brake { .. } => {
                let (q_deg, v_dps) = arm_of(motion);
                self.twist = twist_of(jacobian, &v_dps);
                self.target = forward(&q_deg, self.tcp);
            }
        }
    }
}

/// Goals (°) and speeds (°/s) of J1–J6.
fn arm_of(motion: &JointMotion) -> ([f32; ARM_JOINTS], [f32; ARM_JOINTS]) {
    (core::array::from_fn(|joint| motion.q_deg[joint]), core::array::from_fn(|joint| motion.v_dps[joint]))
}

/// The twist that joint speeds (°/s) give.
fn twist_of(jacobian: &Jacobian, v_dps: &[f32; ARM_JOINTS]) -> Twist {
    let component = |row: usize| {
        let sum: f32 = jacobian.iter().zip(v_dps).map(|(column, v)| column[row] * v).sum();
        sum * (core::f32::consts::PI / 180.0)
    };
    Twist {
        linear_mm_s: core::array::from_fn(component),
        angular_rad_s: core::array::from_fn(|k| component(k + 3)),
    }
}

/// The commanded twist in base axes.
fn wanted_twist(command: &TwistCommand, pose: &Pose) -> Twist {
    let TwistCommand { tool, linear_mm_s, angular_rad_s, .. } = *command;
    if tool {
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
    let way: Vector3 = core::array::from_fn(|axis| to[axis] - from[axis]);
    let length2 = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
    if length2 <= change * change {
        return *to;
    }
    let share = change / sqrt(length2);
    core::array::from_fn(|axis| from[axis] + share * way[axis])
}

fn scaled_twist(twist: &Twist) -> [f32; 6] {
    let [x, y, z] = twist.linear_mm_s.map(|v| v * (1.0 / LINEAR_UNIT_MM));
    let [a, b, c] = twist.angular_rad_s;
    [x, y, z, a, b, c]
}

fn dot(a: &[f32; 6], b: &[f32; 6]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]
}

/// A symmetric 6 × 6 matrix; only the lower triangle is used.
pub(super) type Symmetric = [[f32; 6]; 6];

/// The Jacobian with linear rows in units of 100 mm, and its square J·Jᵀ.
struct Scaled {
    /// One row per component of the twist.
    rows: [[f32; ARM_JOINTS]; 6],
    squared: Symmetric,
}

impl Scaled {
    fn new(jacobian: &Jacobian) -> Self {
        let rows: [[f32; ARM_JOINTS]; 6] = core::array::from_fn(|row| {
            let unit = if row < 3 { 1.0 / LINEAR_UNIT_MM } else { 1.0 };
            core::array::from_fn(|joint| jacobian[joint][row] * unit)
        });
        let mut squared = [[0.0; 6]; 6];
        for row in 0..6 {
            for column in 0..=row {
                squared[row][column] = dot(&rows[row], &rows[column]);
            }
        }
        Self { rows, squared }
    }

    /// Joint speeds (°/s) = Jᵀ(JJᵀ + λ²I)⁻¹ξ, and the square of what they miss of ξ: J·q̇ − ξ = −λ²(…)⁻¹ξ.
    fn solve(&self, xi: &[f32; 6], damping: f32) -> ([f32; ARM_JOINTS], f32) {
        let y = solve_positive(&self.squared, xi, damping);
        let speeds_dps = core::array::from_fn(|joint| {
            let rad_s: f32 = self.rows.iter().zip(&y).map(|(row, y)| row[joint] * y).sum();
            rad_s * (180.0 / core::f32::consts::PI)
        });
        (speeds_dps, damping * damping * dot(&y, &y))
    }
}

/// Solves (A + λ²I)·y = b for a positive definite A by L·D·Lᵀ: six divisions, no square root.
fn solve_positive(a: &Symmetric, b: &[f32; 6], damping: f32) -> [f32; 6] {
    let mut l = [[0.0_f32; 6]; 6];
    let mut inverse_d = [0.0_f32; 6];
    let mut y = *b;
    for row in 0..6 {
        // ld[k] = L[row][k]·D[k], so that each product is made once.
        let mut ld = [0.0_f32; 6];
        let mut d = a[row][row] + damping;
        for column in 0..row {
            let mut sum = a[row][column];
            for k in 0..column {
                sum -= ld[k] * l[column][k];
            }
            ld[column] = sum;
            l[row][column] = sum * inverse_d[column];
            d -= sum * l[row][column];
            y[row] -= l[row][column] * y[column];
        }
        // Rounding can take the last pivots of a singular matrix to 0 and below.
        inverse_d[row] = 1.0 / d.max(PIVOT_MIN);
    }
    for row in (0..6).rev() {
        y[row] *= inverse_d[row];
        for below in row + 1..6 {
            y[row] -= l[below][row] * y[below];
        }
    }
    y
}

/// Smallest pivot of the least squares: the square of half a single-precision step of the largest one.
const PIVOT_MIN: f32 = 1e-7;
