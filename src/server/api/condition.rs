//! What can be waited for: conditions on the truth, in the words of scenario files.

use firmware_core::joints::{ARM_JOINTS, JOINTS};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::error::{ApiError, Code};
use crate::atom::{StateName, Truth};

/// Conditions in one, counted with those inside them.
const PARTS_MAX: usize = 64;
/// Conditions inside each other.
const DEPTH_MAX: usize = 8;

/// Limits of a number. Each that is given must hold; at least one must be given.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Joint, 1–7; every joint of the arm (J1–J6) when it is not given. Not with `time_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<u8>,
    /// At least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// At most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// Something that is true or not at a moment of virtual time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The controller's state.
    State(StateName),
    /// Virtual time (s).
    TimeS(Limits),
    /// True joint angle (°).
    AngleDeg(Limits),
    /// Goal register of a joint (°).
    GoalDeg(Limits),
    /// True joint speed, absolute value (°/s).
    SpeedDps(Limits),
    /// Load, absolute value (% of full torque).
    LoadPercent(Limits),
    /// Who has control: `nobody`, `anybody` or a client's name such as `websocket-1`.
    Holder(String),
    /// Joints in use, 6 or 7.
    JointsInUse(u8),
    /// A valid plan is there.
    PlanValid(bool),
    /// All of these.
    #[schema(no_recursion)]
    All(Vec<Condition>),
    /// At least one of these.
    #[schema(no_recursion)]
    Any(Vec<Condition>),
    /// Not this.
    #[schema(no_recursion)]
    Not(Box<Condition>),
}

impl Condition {
    /// Whether it can be judged at all.
    ///
    /// # Errors
    /// A joint that does not exist, limits without a limit or that nothing keeps, no parts, or too many.
    pub fn check(&self) -> Result<(), ApiError> {
        let mut parts = 0;
        self.check_part(1, &mut parts)
    }

    fn check_part(&self, depth: usize, parts: &mut usize) -> Result<(), ApiError> {
        *parts += 1;
        if depth > DEPTH_MAX || *parts > PARTS_MAX {
            return Err(invalid(format!(
                "a condition has at most {PARTS_MAX} parts, {DEPTH_MAX} inside each other"
            )));
        }
        match self {
            Self::State(_) | Self::Holder(_) | Self::PlanValid(_) | Self::JointsInUse(6 | 7) => Ok(()),
            Self::JointsInUse(count) => Err(invalid(format!("joints_in_use is 6 or 7, found {count}"))),
            Self::TimeS(limits) if limits.joint.is_some() => {
                Err(invalid("time_s has no joint; give min or max".to_owned()))
            }
            Self::TimeS(limits)
            | Self::AngleDeg(limits)
            | Self::GoalDeg(limits)
            | Self::SpeedDps(limits)
            | Self::LoadPercent(limits) => limits.check(),
            Self::All(none) | Self::Any(none) if none.is_empty() => {
                Err(invalid("all and any need at least one condition".to_owned()))
            }
            Self::All(parts_of) | Self::Any(parts_of) => {
                parts_of.iter().try_for_each(|part| part.check_part(depth + 1, parts))
            }
            Self::Not(part) => part.check_part(depth + 1, parts),
        }
    }

    /// It is true of this moment. `holder` is the name of the client that has control.
    pub fn holds(&self, truth: &Truth, holder: Option<&str>) -> bool {
        match self {
            Self::State(name) => StateName::from(truth.state) == *name,
            Self::TimeS(limits) => limits.hold(truth.t_us as f64 / 1e6),
            Self::AngleDeg(limits) => limits.hold_for_joints(&truth.angle_deg, false),
            Self::GoalDeg(limits) => limits.hold_for_joints(&truth.goal_deg, false),
            Self::SpeedDps(limits) => limits.hold_for_joints(&truth.speed_dps, true),
            Self::LoadPercent(limits) => limits.hold_for_joints(&truth.load_percent, true),
            Self::Holder(name) => match name.as_str() {
                "nobody" => holder.is_none(),
                "anybody" => holder.is_some(),
                name => holder == Some(name),
            },
            Self::JointsInUse(count) => truth.n == *count,
            Self::PlanValid(valid) => truth.plan_valid == *valid,
            Self::All(parts) => parts.iter().all(|part| part.holds(truth, holder)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(truth, holder)),
            Self::Not(part) => !part.holds(truth, holder),
        }
    }
}

impl Limits {
    fn check(self) -> Result<(), ApiError> {
        if let Some(joint) = self.joint.filter(|joint| !(1..=JOINTS).contains(&usize::from(*joint))) {
            return Err(invalid(format!("a joint is 1 to {JOINTS}, found {joint}")));
        }
        match (self.min, self.max) {
            (None, None) => Err(invalid("limits need min, max or both".to_owned())),
            (Some(min), Some(max)) if min > max => {
                Err(invalid(format!("expected min of at most max, found min {min} and max {max}")))
            }
            (Some(_), _) | (None, Some(_)) => Ok(()),
        }
    }

    fn hold(self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    fn hold_for_joints(self, values: &[f64; JOINTS], absolute: bool) -> bool {
        let size = |value: f64| if absolute { value.abs() } else { value };
        match self.joint.map(|joint| usize::from(joint) - 1) {
            Some(joint) => values.get(joint).is_some_and(|value| self.hold(size(*value))),
            None => values.iter().take(ARM_JOINTS).all(|value| self.hold(size(*value))),
        }
    }
}

fn invalid(message: String) -> ApiError {
    ApiError::new(Code::InvalidValue, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atom::{Atom, Options};

    fn truth() -> Truth {
        Atom::new(&Options::default()).expect("the defaults are valid").truth()
    }

    fn parse(json: &str) -> Condition {
        serde_json::from_str(json).expect("a condition")
    }

    #[test]
    fn conditions_are_judged_on_the_truth() {
        let truth = truth();
        for (json, expected) in [
            (r#"{"state": "holding"}"#, true),
            (r#"{"state": "error"}"#, false),
            (r#"{"angle_deg": {"joint": 7, "min": -20.1, "max": -19.9}}"#, true),
            (r#"{"angle_deg": {"min": -0.2, "max": 0.2}}"#, true),
            (r#"{"angle_deg": {"min": 1}}"#, false),
            (r#"{"time_s": {"min": 1000}}"#, false),
            (r#"{"holder": "nobody"}"#, true),
            (r#"{"holder": "websocket-3"}"#, false),
            (r#"{"joints_in_use": 7}"#, true),
            (r#"{"not": {"plan_valid": true}}"#, true),
            (r#"{"all": [{"state": "holding"}, {"plan_valid": true}]}"#, false),
            (r#"{"any": [{"state": "holding"}, {"plan_valid": true}]}"#, true),
        ] {
            let condition = parse(json);
            assert_eq!(condition.check(), Ok(()), "{json}");
            assert_eq!(condition.holds(&truth, None), expected, "{json}");
        }
    }

    #[test]
    fn a_condition_that_cannot_be_judged_is_refused() {
        for json in [
            r#"{"angle_deg": {"joint": 8, "min": 1}}"#,
            r#"{"angle_deg": {"joint": 0, "min": 1}}"#,
            r#"{"speed_dps": {"joint": 1}}"#,
            r#"{"time_s": {"joint": 1, "min": 3}}"#,
            r#"{"joints_in_use": 5}"#,
            r#"{"not": {"not": {"not": {"not": {"not": {"not": {"not": {"not": {"plan_valid": true}}}}}}}}}"#,
        ] {
            assert_eq!(parse(json).check().map_err(|error| error.code()), Err(Code::InvalidValue), "{json}");
        }
        let many = Condition::Any(vec![Condition::PlanValid(true); PARTS_MAX]);
        assert!(many.check().is_err());
    }
}
