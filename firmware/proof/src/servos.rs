//! The servos of the session: seven register files behind the bus protocol, each at its goal at once, like servos
//! that are much faster than the motion.

use firmware_core::bus::packet::{BROADCAST, Instruction};
use firmware_core::bus::registers;
use firmware_core::joints::JOINTS;
use heapless::Vec;

/// Registers of one servo.
const REGISTERS: usize = 128;
/// Longest answer of all servos to one request: seven replies of 38 bytes.
const ANSWER_BYTES: usize = 7 * 38;
/// Bytes in front of the parameters of a request: FF FF id length instruction.
const HEAD: usize = 5;

/// Seven servos on one bus.
#[derive(Debug)]
pub struct Servos {
    registers: [[u8; REGISTERS]; JOINTS],
    answer: Vec<u8, ANSWER_BYTES>,
    read: usize,
}

impl Servos {
    /// Servos in the middle of their turn, torque on; id 7 is the gripper.
    pub fn new() -> Self {
        let mut servo = [0; REGISTERS];
        for address in [registers::GOAL_POSITION, registers::PRESENT] {
            servo[usize::from(address)..][..2].copy_from_slice(&2048_u16.to_le_bytes());
        }
        servo[usize::from(registers::TORQUE_ENABLE)] = 1;
        servo[usize::from(registers::HEALTH)..][..2].copy_from_slice(&[74, 31]);
        let mut registers = [servo; JOINTS];
        registers[JOINTS - 1][usize::from(registers::MODEL)..][..2]
            .copy_from_slice(&registers::GRIPPER_MODEL.to_le_bytes());
        Self { registers, answer: Vec::new(), read: 0 }
    }

    /// Takes the bytes of one request packet and prepares the answer.
    pub fn take(&mut self, bytes: &[u8]) {
        self.discard();
        let [0xFF, 0xFF, id, length, instruction, ..] = *bytes else { return };
        let Some(params) = bytes.get(HEAD..usize::from(length) + 3) else { return };
        if instruction == Instruction::Ping as u8 {
            self.reply(id, &[]);
        } else if instruction == Instruction::Read as u8 {
            if let [address, count] = *params {
                self.reply_registers(id, address, count);
            }
        } else if instruction == Instruction::Write as u8 {
            if let [address, data @ ..] = params {
                self.write(id, *address, data);
                if id != BROADCAST {
                    self.reply(id, &[]);
                }
            }
        } else if instruction == Instruction::SyncRead as u8 {
            if let [address, count, ids @ ..] = params {
                for id in ids {
                    self.reply_registers(*id, *address, *count);
                }
            }
        } else if instruction == Instruction::SyncWrite as u8
            && let [address, count, rest @ ..] = params
        {
            for block in rest.chunks_exact(usize::from(*count) + 1) {
                self.write(block[0], *address, &block[1..]);
            }
        }
    }

    /// Moves bytes of the answer into `buffer`; returns how many.
    pub fn give(&mut self, buffer: &mut [u8]) -> usize {
        let rest = &self.answer[self.read..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        count
    }

    /// Drops what is left of the answer.
    pub fn discard(&mut self) {
        self.answer.clear();
        self.read = 0;
    }

    fn servo(&mut self, id: u8) -> Option<&mut [u8; REGISTERS]> {
        self.registers.get_mut(usize::from(id).checked_sub(1)?)
    }

    fn write(&mut self, id: u8, address: u8, data: &[u8]) {
        let Some(servo) = self.servo(id) else { return };
        let at = usize::from(address);
        let Some(place) = servo.get_mut(at..at + data.len()) else { return };
        place.copy_from_slice(data);
        let goal = usize::from(registers::GOAL_POSITION);
        let present = usize::from(registers::PRESENT);
        servo.copy_within(goal..goal + 2, present);
    }

    fn reply_registers(&mut self, id: u8, address: u8, count: u8) {
        let at = usize::from(address);
        let Some(servo) = self.servo(id) else { return };
        let Some(values) = servo.get(at..at + usize::from(count)) else { return };
        // The longest read is 32 registers; a longer one gets no answer.
        let Ok(values) = Vec::<u8, 32>::from_slice(values) else { return };
        self.reply(id, &values);
    }

    fn reply(&mut self, id: u8, data: &[u8]) {
        if self.servo(id).is_none() {
            return;
        }
        let head = [id, data.len() as u8 + 2, 0];
        let check = !head.iter().chain(data).fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let bytes = [0xFF, 0xFF].into_iter().chain(head).chain(data.iter().copied()).chain([check]);
        for byte in bytes {
            if self.answer.push(byte).is_err() {
                return;
            }
        }
    }
}

impl Default for Servos {
    fn default() -> Self {
        Self::new()
    }
}
