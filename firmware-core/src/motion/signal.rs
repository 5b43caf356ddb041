//! Test signals of one joint: chirp and steps, with the way to the base pose and back.

use core::f32::consts::TAU;
use core::fmt;

use crate::joints::{ARM_JOINTS, Joint, JointTable};
use crate::math::{exp, ln, sin};
use crate::motion::min_jerk;

/// Signals stay this far inside the joint limits (°).
const MARGIN_DEG: f32 = 10.0;
/// Furthest way from the start pose to the base pose (°).
const START_DISTANCE_DEG_MAX: f32 = 90.0;
/// Way to the base pose, and back (s).
const APPROACH_S: f32 = 2.0;
/// Rest before and after the signal (s).
const REST_S: f32 = 1.0;
/// A chirp is zero for this long at each end (s).
const CHIRP_ZERO_S: f32 = 1.0;
/// Holds of a steps signal, in shares of the amplitude.
const STEP_LEVELS: [f32; 8] = [0.0, 1.0, 0.0, -1.0, 0.0, 1.0, -1.0, 0.0];

/// Form of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 1: a sine whose frequency grows from f0 to f1.
    Chirp,
    /// 2: eight holds.
    Steps,
}

/// Parameters of PLAY_SIGNAL, as they come.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Params {
    /// Joint, 1–6.
    pub joint: u8,
    /// 1 = chirp, 2 = steps.
    pub kind: u8,
    /// Amplitude (°), in (0, 90].
    pub amp_deg: f32,
    /// First frequency of a chirp (Hz), above 0.
    pub f0_hz: f32,
    /// Last frequency of a chirp (Hz), above f0, at most 20.
    pub f1_hz: f32,
    /// Duration of the signal without the way there and back (s), 4–120.
    pub duration_s: f32,
    /// Top speed (°/s), in (0, 150].
    pub vmax_dps: f32,
    /// Top acceleration (°/s²), in (0, the joint's limit].
    pub amax_dps2: f32,
    /// Base pose (0.01°).
    pub base_cdeg: [i16; ARM_JOINTS],
}

/// The first check that parameters or a start pose do not pass, in the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// The joint is not 1–6.
    Joint = 1,
    /// The kind is not 1 or 2.
    Kind = 2,
    /// The amplitude is not in (0, 90].
    Amplitude = 3,
    /// The duration is not in [4, 120].
    Duration = 4,
    /// The top speed is not in (0, 150], or the ramps of a steps signal do not fit into its holds.
    Speed = 5,
    /// The top acceleration is not in (0, the joint's limit].
    Acceleration = 6,
    /// Not 0 < f0 < f1 ≤ 20.
    Frequencies = 7,
    /// The base pose, with the amplitude, is outside the limits less 10°.
    Base = 8,
    /// The start pose is outside the limits less 10°.
    Start = 9,
    /// The start pose is further than 90° from the base pose.
    StartDistance = 10,
}

impl Refusal {
    /// The status of the ACK: −10 − code for parameters, −20 − code for the start pose.
    pub fn ack_status(self) -> i8 {
        let code = self as i8;
        match self {
            Self::Start | Self::StartDistance => -20 - code,
            Self::Joint
            | Self::Kind
            | Self::Amplitude
            | Self::Duration
            | Self::Speed
            | Self::Acceleration
            | Self::Frequencies
            | Self::Base => -10 - code,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Joint => "the joint must be 1 to 6",
            Self::Kind => "the kind must be 1 (chirp) or 2 (steps)",
            Self::Amplitude => "the amplitude must be above 0° and at most 90°",
            Self::Duration => "the duration must be 4 s to 120 s",
            Self::Speed => {
                "the top speed must be above 0 °/s and at most 150 °/s, and for steps so high that a change of \
                 twice the amplitude fits into an eighth of the duration"
            }
            Self::Acceleration => "the top acceleration must be above 0 °/s² and at most the joint's limit",
            Self::Frequencies => "the frequencies of a chirp must rise: 0 Hz < f0 < f1, at most 20 Hz",
            Self::Base => "the base pose ± the amplitude must stay 10° inside the joint limits",
            Self::Start => "the start pose must stay 10° inside the joint limits: move the arm there first",
            Self::StartDistance => {
                "each joint must start at most 90° from the base pose: move the arm nearer first"
            }
        })
    }
}

impl core::error::Error for Refusal {}

impl Params {
    fn kind(&self) -> Option<Kind> {
        match self.kind {
            1 => Some(Kind::Chirp),
            2 => Some(Kind::Steps),
            _other => None,
        }
    }

    fn base_deg(&self, joint: usize) -> f32 {
        f32::from(self.base_cdeg[joint]) / 100.0
    }

    /// Index of the joint that moves.
    fn index(&self) -> usize {
        usize::from(self.joint) - 1
    }

    /// Checks the parameters; NaN and infinity pass no check.
    ///
    /// # Errors
    /// The first check that fails, of [`Refusal::Joint`] to [`Refusal::Base`].
    pub fn validate(&self, table: &JointTable) -> Result<(), Refusal> {
        let check = |passes: bool, refusal| if passes { Ok(()) } else { Err(refusal) };
        check((1..=ARM_JOINTS).contains(&usize::from(self.joint)), Refusal::Joint)?;
        let kind = self.kind().ok_or(Refusal::Kind)?;
        check(self.amp_deg > 0.0 && self.amp_deg <= 90.0, Refusal::Amplitude)?;
        check((4.0..=120.0).contains(&self.duration_s), Refusal::Duration)?;
        check(self.vmax_dps > 0.0 && self.vmax_dps <= 150.0, Refusal::Speed)?;
        let ramp_s = 2.0 * self.amp_deg / self.vmax_dps;
        check(kind == Kind::Chirp || ramp_s <= self.duration_s / 8.0, Refusal::Speed)?;
        let accel_limit = table[self.index()].accel_limit_dps2;
        check(self.amax_dps2 > 0.0 && self.amax_dps2 <= accel_limit, Refusal::Acceleration)?;
        let rising = 0.0 < self.f0_hz && self.f0_hz < self.f1_hz && self.f1_hz <= 20.0;
        check(kind == Kind::Steps || rising, Refusal::Frequencies)?;
        let inside = (0..ARM_JOINTS).all(|joint| {
            let swing_deg = if joint == self.index() { self.amp_deg } else { 0.0 };
            let base_deg = self.base_deg(joint);
            base_deg - swing_deg >= lowest_deg(&table[joint])
                && base_deg + swing_deg <= highest_deg(&table[joint])
        });
        check(inside, Refusal::Base)
    }

    /// Checks the start pose (°), joint by joint.
    ///
    /// # Errors
    /// The joint (index) and [`Refusal::Start`] or [`Refusal::StartDistance`].
    pub fn validate_start(
        &self,
        start_deg: &[f32; ARM_JOINTS],
        table: &JointTable,
    ) -> Result<(), (usize, Refusal)> {
        for (joint, deg) in start_deg.iter().enumerate() {
            let limits = &table[joint];
            if !(lowest_deg(limits)..=highest_deg(limits)).contains(deg) {
                return Err((joint, Refusal::Start));
            }
            if (deg - self.base_deg(joint)).abs() > START_DISTANCE_DEG_MAX {
                return Err((joint, Refusal::StartDistance));
            }
        }
        Ok(())
    }
}

fn lowest_deg(joint: &Joint) -> f32 {
    joint.min_deg + MARGIN_DEG
}

fn highest_deg(joint: &Joint) -> f32 {
    joint.max_deg - MARGIN_DEG
}

/// A signal that runs from a start pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signal {
    params: Params,
    kind: Kind,
    start_deg: [f32; ARM_JOINTS],
    /// ln(f1/f0) / (T − 2) of a chirp.
    growth: f32,
    fade_s: f32,
}

impl Signal {
    /// A signal with parameters and a start pose (°) that passed [`Params::validate`] and
    /// [`Params::validate_start`]; with others the poses mean nothing.
    pub fn new(params: &Params, start_deg: &[f32; ARM_JOINTS]) -> Self {
        let sweep_s = params.duration_s - 2.0 * CHIRP_ZERO_S;
        Self {
            params: *params,
            kind: params.kind().unwrap_or(Kind::Steps),
            start_deg: *start_deg,
            growth: ln(params.f1_hz / params.f0_hz) / sweep_s,
            fade_s: (3.75 * params.amp_deg / params.vmax_dps).max(0.5),
        }
    }

    /// The whole way, which is the motion part of its run (s): there, rest, signal, rest, back.
    pub fn duration_s(&self) -> f32 {
        self.params.duration_s + 2.0 * (APPROACH_S + REST_S)
    }

    /// Goals of J1–J6 (°) at `t_s` (s) after the start: the start pose at 0 and before, and from the end on.
    pub fn pose_deg(&self, t_s: f32) -> [f32; ARM_JOINTS] {
        let after_s = t_s - APPROACH_S - REST_S;
        let back_s = after_s - self.params.duration_s - REST_S;
        let away = if back_s > 0.0 {
            1.0 - min_jerk::position(back_s / APPROACH_S)
        } else {
            min_jerk::position(t_s / APPROACH_S)
        };
        let mut pose_deg = core::array::from_fn(|joint| {
            self.start_deg[joint] + away * (self.params.base_deg(joint) - self.start_deg[joint])
        });
        if (0.0..=self.params.duration_s).contains(&after_s) {
            pose_deg[self.params.index()] += match self.kind {
                Kind::Chirp => self.chirp_deg(after_s - CHIRP_ZERO_S),
                Kind::Steps => self.steps_deg(after_s),
            };
        }
        pose_deg
    }

    /// The chirp at `tau_s` of its sweep.
    fn chirp_deg(&self, tau_s: f32) -> f32 {
        let sweep_s = self.params.duration_s - 2.0 * CHIRP_ZERO_S;
        if tau_s <= 0.0 || tau_s >= sweep_s {
            return 0.0;
        }
        let grown = exp(self.growth * tau_s);
        let omega = TAU * self.params.f0_hz * grown;
        let phase = TAU * self.params.f0_hz * (grown - 1.0) / self.growth;
        let amplitude_deg = smooth_minimum([
            self.params.amp_deg,
            self.params.vmax_dps / omega,
            self.params.amax_dps2 / (omega * omega),
        ]);
        let fade =
            min_jerk::position(tau_s / self.fade_s) * min_jerk::position((sweep_s - tau_s) / self.fade_s);
        amplitude_deg * fade * sin(phase)
    }

    /// The steps at `t_s` of the signal: each change linear from the start of its hold.
    fn steps_deg(&self, t_s: f32) -> f32 {
        let hold_s = self.params.duration_s / STEP_LEVELS.len() as f32;
        let hold = ((t_s / hold_s) as usize).min(STEP_LEVELS.len() - 1);
        let from = STEP_LEVELS[hold.saturating_sub(1)];
        let ramp_s = 2.0 * self.params.amp_deg / self.params.vmax_dps;
        let share = ((t_s - hold as f32 * hold_s) / ramp_s).min(1.0);
        self.params.amp_deg * (from + share * (STEP_LEVELS[hold] - from))
    }
}

/// Smooth minimum (Σ rᵢ⁻⁸)^(−1/8) of three amplitudes above 0: 0.87 of the least of them to all of it.
fn smooth_minimum(limits: [f32; 3]) -> f32 {
    // In shares of the least: they lie in 0…1, so that no eighth power overflows.
    let least = limits.into_iter().fold(f32::INFINITY, f32::min);
    let sum: f32 = limits
        .iter()
        .map(|limit| {
            let square = (least / limit) * (least / limit);
            (square * square) * (square * square)
        })
        .sum();
    least / libm::sqrtf(libm::sqrtf(libm::sqrtf(sum)))
}
