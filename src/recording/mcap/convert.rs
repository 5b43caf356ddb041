//! A recording → an MCAP file.

use std::io::{Read, Write};

use firmware_core::kinematics::Tcp;
use firmware_core::shared::State as ControllerState;

use super::file::File;
use super::messages::{Log, Severity, State, Time};
use super::moment::{Moment, tcp_of};
use crate::recording::{ReadError, Reader};

/// Why a recording cannot be converted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file cannot be written.
    #[error("the MCAP file: {0}")]
    Write(#[from] std::io::Error),
}

/// Converts a recording row by row; returns the rows. Without `tcp`, the TCP is the gripper's for recordings of seven
/// joints and the flange for those of six.
///
/// # Errors
/// [`ConvertError`].
pub fn convert<R: Read, W: Write>(
    reader: &mut Reader<R>,
    tcp: Option<Tcp>,
    out: W,
) -> Result<u64, ConvertError> {
    let n = reader.joints();
    let tcp = tcp.unwrap_or_else(|| tcp_of(n));
    let mut file = File::new(out)?;
    let (mut rows, mut last_us) = (0, 0);
    while let Some(row) = reader.read()? {
        let moment = Moment::of_row(&row, n, tcp);
        last_us = moment.t_us;
        if rows == 0 {
            file.log(last_us, &Log::new(last_us, Severity::Info, format!("the run begins, {n} joints")))?;
            file.state(last_us, &playing(last_us, n))?;
        }
        file.moment(&moment)?;
        rows += 1;
    }
    file.log(last_us, &Log::new(last_us, Severity::Info, format!("the run ends after {rows} samples")))?;
    file.finish()?;
    Ok(rows)
}

/// The state of a run; a recording has no other.
fn playing(t_us: u64, n: usize) -> State {
    let number = ControllerState::Playing as u8;
    State {
        timestamp: Time::from_us(t_us),
        state: ControllerState::Playing.name(),
        number,
        control: String::new(),
        joints: n as u8,
        plan_valid: true,
    }
}
