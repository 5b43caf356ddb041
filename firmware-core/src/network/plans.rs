//! PLAN_BEGIN, PLAN_DATA and PLAN_END: what they do to the plan in the mailbox.

use super::message::Message;
use super::side::Network;
use crate::joints::ARM_JOINTS;
use crate::motion::plan::PlanError;
use crate::platform::NetworkPort;
use crate::protocol::plan::{PlanBegin, PlanDataHead, PlanEnd};
use crate::protocol::{codes, reply};

impl Network {
    /// PLAN_BEGIN. From here on the old plan is gone.
    pub(super) fn plan_begin(
        &self,
        begin: &PlanBegin,
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        if message.activity.plays() {
            return Err(codes::REFUSED);
        }
        // Before J7 was a joint the byte had no meaning.
        let joints = if message.level.has_j7() { begin.joints() } else { ARM_JOINTS };
        let bytes_max = self.options.plan_bytes_max;
        let plan = &mut message.shared.plan;
        plan.begin(begin.samples, begin.rate_hz, begin.is_cubic(), joints as u8, bytes_max).map_err(status_of)
    }

    /// PLAN_DATA. A valid plan becomes invalid.
    pub(super) fn plan_data(
        head: PlanDataHead,
        samples: &[u8],
        message: &mut Message<'_, impl NetworkPort>,
    ) -> Result<(), i8> {
        if message.activity.plays() {
            return Err(codes::REFUSED);
        }
        message.shared.plan.write(head.offset, head.count, samples).map_err(status_of)?;
        message.reply(&reply::Ack { code: codes::PLAN_DATA, status: codes::OK, value: head.offset });
        Ok(())
    }

    /// PLAN_END.
    pub(super) fn plan_end(end: PlanEnd, message: &mut Message<'_, impl NetworkPort>) -> Result<(), i8> {
        if message.activity.plays() {
            return Err(codes::REFUSED);
        }
        message.shared.plan.end(end.crc32c).map_err(status_of)
    }
}

fn status_of(error: PlanError) -> i8 {
    match error {
        PlanError::Shape => codes::PLAN_SHAPE,
        PlanError::OutOfMemory => codes::NO_MEMORY,
        PlanError::NotBegun
        | PlanError::Range
        | PlanError::Length
        | PlanError::Incomplete
        | PlanError::Crc => codes::REFUSED,
    }
}
