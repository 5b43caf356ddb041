//! Transactions on the servo bus. Only these functions block: for one transaction, at most.

use super::packet::{BROADCAST, Instruction, REPLY_OVERHEAD, Replies, Request};
use crate::joints::JOINTS;
use crate::platform::ControlPort;

/// How long a missing reply is waited for (µs).
pub const REPLY_TIMEOUT_US: u32 = 3_000;
/// Tries of one verified write.
pub const WRITE_TRIES: u32 = 5;
/// Most data bytes of one reply (REG_READ of 32).
const REPLY_DATA_BYTES: usize = 32;
/// Most bytes of one SYNC READ per servo (the block of a move).
const SYNC_BYTES: usize = 7;

/// Why a transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusError {
    /// No valid reply came in time.
    NoReply,
    /// The servo answered, but the value read back is not the value written.
    ReadBackDiffers,
}

/// Values read from several servos: one per joint index, `None` where no valid reply came.
pub type Readings<const LENGTH: usize> = [Option<[u8; LENGTH]>; JOINTS];

/// The servo bus for the time of one control step.
#[derive(Debug)]
pub struct Bus<'p, P> {
    /// The platform's port.
    pub port: &'p mut P,
    /// Counts writes that had to be repeated.
    pub write_retries: &'p mut u32,
}

impl<P: ControlPort> Bus<'_, P> {
    /// Microseconds since power-up.
    pub fn now_us(&mut self) -> u64 {
        self.port.now_us()
    }

    fn request<'b>(
        &mut self,
        id: u8,
        instruction: Instruction,
        params: impl IntoIterator<Item = &'b u8>,
    ) -> Option<()> {
        let request = Request::new(id, instruction, params)?;
        self.port.discard_input();
        self.port.send(request.bytes());
        Some(())
    }

    /// Receives the reply of servo `id` with `data.len()` (at most 32) bytes of data; returns its error byte.
    fn reply(&mut self, id: u8, data: &mut [u8]) -> Result<u8, BusError> {
        let mut buffer = [0; 2 * (REPLY_OVERHEAD + REPLY_DATA_BYTES)];
        let length = REPLY_OVERHEAD + data.len();
        let mut filled = 0;
        let mut wanted = length;
        // Stray bytes in front push the reply's end out of the first read: read on by as many, once.
        for _ in 0..2 {
            let target = wanted.min(buffer.len());
            filled += self.port.receive(&mut buffer[filled..target], REPLY_TIMEOUT_US);
            let mut replies = Replies::new(&buffer[..filled], data.len());
            if let Some(reply) = replies.find(|reply| reply.id == id) {
                data.copy_from_slice(reply.data);
                return Ok(reply.error);
            }
            let Some(start) = buffer[..filled].windows(2).position(|pair| pair == [0xFF, 0xFF]) else {
                break;
            };
            wanted = start + length;
            if start == 0 || filled < target {
                break;
            }
        }
        Err(BusError::NoReply)
    }

    /// Reads `data.len()` (1–32) registers of servo `id` from `address`. Returns the servo's error byte.
    ///
    /// # Errors
    /// [`BusError::NoReply`].
    pub fn read(&mut self, id: u8, address: u8, data: &mut [u8]) -> Result<u8, BusError> {
        self.request(id, Instruction::Read, &[address, data.len() as u8]).ok_or(BusError::NoReply)?;
        self.reply(id, data)
    }

    /// Writes registers of servo `id`. Returns the servo's error byte.
    ///
    /// # Errors
    /// [`BusError::NoReply`].
    pub fn write(&mut self, id: u8, address: u8, data: &[u8]) -> Result<u8, BusError> {
        self.request(id, Instruction::Write, core::iter::once(&address).chain(data))
            .ok_or(BusError::NoReply)?;
        self.reply(id, &mut [])
    }

    /// Writes registers of servo `id` and reads them back, up to five times until they agree.
    ///
    /// # Errors
    /// What the last try found.
    pub fn write_verified(&mut self, id: u8, address: u8, data: &[u8]) -> Result<u8, BusError> {
        self.write_checked(id, address, data, 0..data.len())
    }

    /// As [`Bus::write_verified`], reading back only the bytes `checked` of `data`: some registers do not
    /// read as they were written.
    ///
    /// # Errors
    /// What the last try found.
    pub fn write_checked(
        &mut self,
        id: u8,
        address: u8,
        data: &[u8],
        checked: core::ops::Range<usize>,
    ) -> Result<u8, BusError> {
        let mut outcome = Err(BusError::NoReply);
        for attempt in 0..WRITE_TRIES {
            if attempt > 0 {
                *self.write_retries += 1;
            }
            outcome = self.write_once(id, address, data, checked.clone());
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    fn write_once(
        &mut self,
        id: u8,
        address: u8,
        data: &[u8],
        checked: core::ops::Range<usize>,
    ) -> Result<u8, BusError> {
        let error = self.write(id, address, data)?;
        let mut buffer = [0; REPLY_DATA_BYTES];
        let read = &mut buffer[..checked.len()];
        self.read(id, address + checked.start as u8, read)?;
        if *read == data[checked] { Ok(error) } else { Err(BusError::ReadBackDiffers) }
    }

    /// Reads `LENGTH` (at most 7) registers from `address` of the joints whose bit is set in `joints`
    /// (bit 0 = J1, id 1).
    pub fn sync_read<const LENGTH: usize>(&mut self, joints: u8, address: u8) -> Readings<LENGTH> {
        const { assert!(LENGTH <= SYNC_BYTES) }
        let mut readings = [None; JOINTS];
        let (ids, count) = ids_of(joints);
        let header = [address, LENGTH as u8];
        if count == 0
            || self.request(BROADCAST, Instruction::SyncRead, header.iter().chain(&ids[..count])).is_none()
        {
            return readings;
        }
        let mut buffer = [0; (JOINTS + 1) * (REPLY_OVERHEAD + SYNC_BYTES)];
        let length = REPLY_OVERHEAD + LENGTH;
        let expected = count * length;
        let mut filled = self.port.receive(&mut buffer[..expected], REPLY_TIMEOUT_US);
        let (mut found, skipped) = collect(&buffer[..filled], joints, &mut readings);
        if found < count && skipped > 0 && filled == expected {
            // Stray bytes pushed the last reply's end out of the first read.
            let more = (expected + skipped.min(length)).min(buffer.len());
            filled += self.port.receive(&mut buffer[filled..more], REPLY_TIMEOUT_US);
            (found, _) = collect(&buffer[..filled], joints, &mut readings);
        }
        debug_assert!(found <= count);
        readings
    }

    /// Writes `LENGTH` registers from `address` of each listed joint (index, values). Nobody answers.
    pub fn sync_write<const LENGTH: usize>(&mut self, address: u8, values: &[Option<[u8; LENGTH]>; JOINTS]) {
        const { assert!(LENGTH <= SYNC_BYTES) }
        let header = [address, LENGTH as u8];
        let mut params = heapless::Vec::<u8, { JOINTS * (SYNC_BYTES + 1) }>::new();
        for (joint, value) in values.iter().enumerate() {
            if let Some(value) = value {
                // Capacity: 7 joints of at most 8 bytes.
                let _ = params.push(id_of(joint));
                let _ = params.extend_from_slice(value);
            }
        }
        if !params.is_empty() {
            let _ = self.request(BROADCAST, Instruction::SyncWrite, header.iter().chain(&params));
        }
    }

    /// SYNC WRITE, read back by SYNC READ, repeated for the joints that differ, up to five times.
    ///
    /// # Errors
    /// What the last try found: no reply of a joint, or a value that differs.
    pub fn sync_write_verified<const LENGTH: usize>(
        &mut self,
        address: u8,
        values: &[Option<[u8; LENGTH]>; JOINTS],
    ) -> Result<(), BusError> {
        let mut open = *values;
        let mut outcome = Ok(());
        for attempt in 0..WRITE_TRIES {
            if attempt > 0 {
                *self.write_retries += open.iter().flatten().count() as u32;
            }
            self.sync_write(address, &open);
            let readings = self.sync_read::<LENGTH>(joints_in(&open), address);
            outcome = Ok(());
            for (value, reading) in open.iter_mut().zip(&readings) {
                match (*value, reading) {
                    (None, _) => {}
                    (Some(wanted), Some(read)) if wanted == *read => *value = None,
                    (Some(_), Some(_)) => outcome = Err(BusError::ReadBackDiffers),
                    (Some(_), None) => outcome = Err(BusError::NoReply),
                }
            }
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }
}

/// Bus id of a joint index.
pub fn id_of(joint: usize) -> u8 {
    joint as u8 + 1
}

fn ids_of(joints: u8) -> ([u8; JOINTS], usize) {
    let mut ids = [0; JOINTS];
    let mut count = 0;
    for joint in (0..JOINTS).filter(|joint| joints & 1 << joint != 0) {
        ids[count] = id_of(joint);
        count += 1;
    }
    (ids, count)
}

fn joints_in<const LENGTH: usize>(values: &[Option<[u8; LENGTH]>; JOINTS]) -> u8 {
    values.iter().enumerate().fold(0, |joints, (joint, value)| joints | u8::from(value.is_some()) << joint)
}

/// Puts the valid replies into `readings`; returns how many there are now and how many bytes were skipped.
fn collect<const LENGTH: usize>(bytes: &[u8], joints: u8, readings: &mut Readings<LENGTH>) -> (usize, usize) {
    let mut replies = Replies::new(bytes, LENGTH);
    for reply in replies.by_ref() {
        let joint = usize::from(reply.id).wrapping_sub(1);
        if joint < JOINTS && joints & 1 << joint != 0 {
            readings[joint] = reply.data.try_into().ok();
        }
    }
    (readings.iter().flatten().count(), replies.skipped())
}
