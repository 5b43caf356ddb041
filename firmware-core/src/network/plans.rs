//! PLAN_BEGIN, PLAN_DATA and PLAN_END.

use super::activity::Activity;
use super::side::Network;
use crate::motion::plan::PlanError;
use crate::protocol::codes;
use crate::shared::Shared;

/// What PLAN_BEGIN declares.
pub(super) struct Shape {
    pub(super) samples: u32,
    pub(super) rate_hz: u16,
    pub(super) interpolation: u8,
    pub(super) joints: u8,
}

impl Network {
    /// PLAN_BEGIN: the status of its ACK. From here on the old plan is gone.
    pub(super) fn plan_begin(&self, activity: Activity, shared: &mut Shared, shape: Shape) -> i8 {
        if activity.plays() {
            return codes::REFUSED;
        }
        let Shape { samples, rate_hz, interpolation, joints } = shape;
        let cubic = interpolation == 1;
        match shared.plan.begin(samples, rate_hz, cubic, joints, self.options.plan_bytes_max) {
            Ok(()) => codes::OK,
            Err(PlanError::Shape) => codes::PLAN_SHAPE,
            Err(PlanError::OutOfMemory) => codes::NO_MEMORY,
            Err(
                PlanError::NotBegun
                | PlanError::Range
                | PlanError::Length
                | PlanError::Incomplete
                | PlanError::Crc,
            ) => codes::REFUSED,
        }
    }

    /// PLAN_DATA: the status of its ACK. A valid plan becomes invalid.
    pub(super) fn plan_data(
        activity: Activity,
        shared: &mut Shared,
        offset: u32,
        count: u16,
        samples: &[u8],
    ) -> i8 {
        if activity.plays() || shared.plan.write(offset, count, samples).is_err() {
            return codes::REFUSED;
        }
        codes::OK
    }

    /// PLAN_END: the status of its ACK.
    pub(super) fn plan_end(activity: Activity, shared: &mut Shared, crc32c: u32) -> i8 {
        if activity.plays() || shared.plan.end(crc32c).is_err() { codes::REFUSED } else { codes::OK }
    }
}
