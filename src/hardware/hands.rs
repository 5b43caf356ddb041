//! What hands do to the hardware: plugs and objects between the fingers.

use firmware_core::joints::J7;

use super::gripper::Object;
use super::options::{HardwareError, check_object};
use super::rig::Hardware;

impl Hardware {
    /// Plugs the gripper in, just powered up, or pulls it out.
    pub fn set_gripper(&mut self, plugged: bool, now_us: u64) {
        self.plugged = plugged;
        self.connect(self.time(now_us));
    }

    /// Puts an object between the fingers, or takes it out. Fingers that are too near to each other are spread.
    ///
    /// # Errors
    /// An object that the fingers do not reach, or that makes no sense; nothing changes.
    pub fn set_object(&mut self, object: Option<Object>, now_us: u64) -> Result<(), HardwareError> {
        if let Some(object) = &object {
            check_object(object)?;
        }
        let t_us = self.time(now_us);
        self.note_slip(t_us);
        self.object = object;
        self.renew(J7, t_us);
        Ok(())
    }
}
