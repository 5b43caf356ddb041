//! What the servos make of the bytes that the driver sends: requests found, done and answered at their times.

use core::ops::Range;

use firmware_core::joints::JOINTS;

use super::drive::Felt;
use super::heat::{AMBIENT_C, HOTTEST_C};
use super::packet::{BROADCAST, Found, Instruction, REPLY_DATA_BYTES, Request, find};
use super::registers::Present;
use super::rig::Hardware;
use super::servo::Servo;
use super::wire::{BYTE_US, RELEASE_US, REPLY_GAP_US};

/// A pause after which a servo gives up a packet that has begun (µs).
const PACKET_TIMEOUT_US: u64 = 1_000;
/// A SYNC WRITE sooner than this after another one can be lost (µs).
const HASTY_US: u64 = 500;
/// Bytes of a reply besides its data.
const REPLY_OVERHEAD: u64 = 6;
/// Registers that the servo measures.
const MEASURED: Range<usize> = 56..71;
/// Those of them from here on need temperature and voltage.
const HEALTH: usize = 62;

impl Hardware {
    /// The driver sends `bytes` from `start_us` on, 10 µs each. Returns when it goes on: the last byte is out and
    /// the line released. The servos do what they are told and queue their replies at their times.
    pub fn transmit(&mut self, start_us: u64, bytes: &[u8]) -> u64 {
        let end_us = start_us + bytes.len() as u64 * BYTE_US;
        self.counters.bytes_sent += bytes.len() as u64;
        self.line.talk(end_us, &mut self.wire);
        if self.line.is_disturbed() || self.wire.is_busy(start_us, end_us) {
            self.take_disturbed(start_us, bytes);
        } else {
            self.line.pass(bytes.len());
            self.take(start_us, bytes);
        }
        self.latest_us = self.latest_us.max(end_us);
        end_us + RELEASE_US
    }

    fn take_disturbed(&mut self, start_us: u64, bytes: &[u8]) {
        let mut sent = bytes.to_vec();
        self.wire.send_into(start_us, &mut sent);
        let mut arrived = core::mem::take(&mut self.scratch);
        self.line.disturb(&sent, &mut arrived);
        self.take(start_us, &arrived);
        self.scratch = arrived;
    }

    /// The servos see `bytes`, the first from `start_us` on.
    fn take(&mut self, start_us: u64, bytes: &[u8]) {
        if start_us > self.partial_us + PACKET_TIMEOUT_US {
            self.partial.clear();
        }
        self.partial_us = start_us + bytes.len() as u64 * BYTE_US;
        if self.partial.is_empty() {
            let rest = self.parse(start_us, bytes);
            self.partial.extend_from_slice(&bytes[rest..]);
            return;
        }
        let before_us = self.partial.len() as u64 * BYTE_US;
        let mut all = core::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let rest = self.parse(start_us.saturating_sub(before_us), &all);
        all.drain(..rest);
        self.partial = all;
    }

    /// Does every request in `bytes`; returns where the rest begins that is not complete.
    fn parse(&mut self, start_us: u64, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            match find(&bytes[at..]) {
                Found::Request(request, length) => {
                    let packet_us = start_us + at as u64 * BYTE_US;
                    at += length;
                    self.counters.requests += 1;
                    self.handle(&request, packet_us, start_us + at as u64 * BYTE_US);
                }
                Found::BadChecksum(skip) => {
                    self.counters.bad_checksums += 1;
                    at += skip;
                }
                Found::Skip(skip) => {
                    self.counters.stray_bytes += skip as u64;
                    at += skip;
                }
                Found::Incomplete => break,
            }
        }
        at.min(bytes.len())
    }

    fn handle(&mut self, request: &Request<'_>, start_us: u64, end_us: u64) {
        self.plant.advance(end_us);
        self.note_slip(end_us);
        match (request.instruction, request.params) {
            (Instruction::SyncRead, &[address, length, ref ids @ ..]) if request.id == BROADCAST => {
                self.sync_read(end_us, address, usize::from(length), ids);
            }
            (Instruction::SyncWrite, &[address, length, ref blocks @ ..]) if request.id == BROADCAST => {
                self.sync_write(start_us, end_us, address, usize::from(length), blocks);
            }
            (Instruction::Ping, _) if request.id == BROADCAST => self.ping_all(end_us),
            (Instruction::Read, _) if request.id == BROADCAST => {}
            (Instruction::Ping | Instruction::Read, params) => {
                let (address, length) = match *params {
                    [address, length] if request.instruction == Instruction::Read => {
                        (address, usize::from(length))
                    }
                    [] if request.instruction == Instruction::Ping => (0, 0),
                    _ => return,
                };
                for joint in self.joints_of(request.id) {
                    self.answer(joint, end_us, address, length);
                }
            }
            (
                Instruction::Write | Instruction::RegWrite | Instruction::Action | Instruction::Reset,
                params,
            ) => {
                for joint in self.joints_of(request.id) {
                    let knows_how = self.servos[joint].hears() && self.act(joint, request, params, end_us);
                    let wants_answer =
                        request.id != BROADCAST && self.servos[joint].registers().answers_all();
                    if knows_how && wants_answer {
                        self.answer(joint, end_us, 0, 0);
                    }
                }
            }
            // A SYNC READ or SYNC WRITE to one servo, or without address and length, means nothing.
            (Instruction::SyncRead | Instruction::SyncWrite, _) => {}
        }
    }

    /// The joints whose servos have this id.
    fn joints_of(&self, id: u8) -> impl Iterator<Item = usize> + use<> {
        let mask: u8 = if id == BROADCAST {
            0x7F
        } else if self.ids_plain {
            if (1..=JOINTS as u8).contains(&id) { 1 << (id - 1) } else { 0 }
        } else {
            let has_id = |servo: &&Servo| servo.registers().id() == id;
            self.servos.iter().filter(has_id).fold(0, |mask, servo| mask | 1 << servo.joint())
        };
        let mut left = mask;
        core::iter::from_fn(move || {
            let joint = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (joint < JOINTS).then_some(joint)
        })
    }

    /// Does a request that changes a servo. False: it has the wrong parameters.
    fn act(&mut self, joint: usize, request: &Request<'_>, params: &[u8], t_us: u64) -> bool {
        match (request.instruction, params) {
            (Instruction::Write, &[address, ref data @ ..]) => self.write(joint, t_us, address, data),
            (Instruction::RegWrite, &[address, ref data @ ..]) => self.servos[joint].keep(address, data),
            (Instruction::Action, _) => {
                let Self { servos, plant, .. } = self;
                if servos[joint].act(|| plant.encoder(joint, t_us).deg) {
                    self.order(joint, t_us);
                    self.note_ids();
                }
            }
            (Instruction::Reset, _) => {
                self.servos[joint].reset(self.plant.encoder(joint, t_us).deg);
                self.order(joint, t_us);
                self.note_ids();
            }
            (
                Instruction::Write
                | Instruction::RegWrite
                | Instruction::Ping
                | Instruction::Read
                | Instruction::SyncRead
                | Instruction::SyncWrite,
                _,
            ) => return false,
        }
        true
    }

    /// Writes registers of one servo.
    fn write(&mut self, joint: usize, t_us: u64, address: u8, data: &[u8]) {
        let Self { servos, plant, .. } = self;
        if servos[joint].write(address, data, || plant.encoder(joint, t_us).deg) {
            self.order(joint, t_us);
        }
        if address < 8 {
            self.note_ids();
        }
    }

    fn sync_write(&mut self, start_us: u64, end_us: u64, address: u8, length: usize, blocks: &[u8]) {
        self.sync_writes += 1;
        let hasty = self.last_sync_write_us.is_some_and(|last| start_us < last + HASTY_US);
        self.last_sync_write_us = Some(end_us);
        let kept = 1.0 - self.line.faults.lost_sync_write;
        let lost_chance = if hasty { 1.0 - kept * (1.0 - self.lost_hasty_write) } else { 1.0 - kept };
        for block in blocks.chunks_exact(length + 1) {
            for joint in self.joints_of(block[0]) {
                if !self.servos[joint].hears() {
                    continue;
                }
                if lost_chance > 0.0 && self.lost_writes[joint].happens(self.sync_writes, lost_chance) {
                    self.counters.lost_sync_writes += 1;
                } else {
                    self.write(joint, end_us, address, &block[1..]);
                }
            }
        }
    }

    fn sync_read(&mut self, end_us: u64, address: u8, length: usize, ids: &[u8]) {
        if length > REPLY_DATA_BYTES {
            return;
        }
        let mut t_us = end_us;
        for &id in ids {
            let mut done_us = None;
            for joint in self.joints_of(id) {
                done_us = done_us.max(self.answer(joint, t_us, address, length));
            }
            // The next servo waits for a reply that does not come as long as the reply would take.
            let slot_us = REPLY_GAP_US + (REPLY_OVERHEAD + length as u64) * BYTE_US;
            t_us = done_us.unwrap_or(t_us + slot_us);
        }
    }

    fn ping_all(&mut self, end_us: u64) {
        let mut by_id: [(u8, usize); JOINTS] =
            core::array::from_fn(|joint| (self.servos[joint].registers().id(), joint));
        by_id.sort_unstable();
        let mut t_us = end_us;
        for (_, joint) in by_id {
            t_us = self.answer(joint, t_us, 0, 0).unwrap_or(t_us);
        }
    }

    /// Servo of `joint` answers what ended at `t_us` with `length` registers from `address`. Returns when the
    /// reply has ended; `None`: it does not answer.
    fn answer(&mut self, joint: usize, t_us: u64, address: u8, length: usize) -> Option<u64> {
        let servo = &self.servos[joint];
        if !servo.answers() || length > REPLY_DATA_BYTES {
            return None;
        }
        let start_us = t_us + REPLY_GAP_US + servo.delay_us();
        self.plant.advance(start_us);
        let felt = self.plant.felt(joint, start_us);
        let status = self.check_health(joint, &felt, start_us);
        let from = usize::from(address);
        let present = self.present(joint, &felt, start_us, status, from..from + length);
        let Self { servos, reply, .. } = self;
        let registers = servos[joint].registers();
        reply.write(registers.id(), status, length, |data| registers.read(address, &present, data));
        self.counters.replies += 1;
        self.counters.bytes_answered += REPLY_OVERHEAD + length as u64;
        Some(self.send_reply(start_us))
    }

    fn send_reply(&mut self, start_us: u64) -> u64 {
        let Self { reply, wire, line, scratch, .. } = self;
        let end_us = if line.is_disturbed() {
            line.talk(start_us + reply.bytes().len() as u64 * BYTE_US, wire);
            line.disturb(reply.bytes(), scratch);
            wire.put(start_us, scratch)
        } else {
            line.pass(reply.bytes().len());
            wire.put(start_us, reply.bytes())
        };
        self.latest_us = self.latest_us.max(end_us);
        end_us
    }

    /// Status bits of a servo at `t_us`; cuts its torque where they ask for it.
    fn check_health(&mut self, joint: usize, felt: &Felt, t_us: u64) -> u8 {
        let servo = &self.servos[joint];
        // Below its highest possible temperature nothing can be too hot: most of the time nobody has to ask.
        let may_be_hot =
            servo.faults().celsius.is_some() || servo.registers().max_temperature_c() < HOTTEST_C;
        let celsius = if may_be_hot { self.celsius(joint, t_us) } else { AMBIENT_C };
        let status = servo.status(celsius, self.supply_v(joint), felt.overloaded_us);
        if self.servos[joint].protect(status, felt.encoder.deg) {
            self.order(joint, t_us);
        }
        status
    }

    /// What the servo of `joint` measures at `t_us`, as far as the registers `shown` show it.
    pub(crate) fn present(
        &self,
        joint: usize,
        felt: &Felt,
        t_us: u64,
        status: u8,
        shown: Range<usize>,
    ) -> Present {
        if shown.start >= MEASURED.end || shown.end <= MEASURED.start {
            return Present::default();
        }
        let load_percent = self.load_percent(joint, felt, t_us);
        let mut present = self.servos[joint].present(felt.encoder, load_percent);
        present.status = status;
        if shown.end > HEALTH {
            present.temperature_c = self.celsius(joint, t_us) as u8;
            present.voltage_dv = (self.supply_v(joint) * 10.0 + 0.5) as u8;
        }
        present
    }
}
