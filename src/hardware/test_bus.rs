//! A driver for tests: sends requests, reads replies, minds the time.

use super::packet::checksum;
use super::{Hardware, HardwareOptions};

/// The hardware with a driver of the plainest kind.
pub(crate) struct TestBus {
    pub(crate) hardware: Hardware,
    pub(crate) now_us: u64,
}

impl TestBus {
    pub(crate) fn new(options: &HardwareOptions) -> Self {
        Self { hardware: Hardware::new(options).expect("possible options"), now_us: 0 }
    }

    pub(crate) fn at_pose(pose_deg: [f64; 7]) -> Self {
        Self::new(&HardwareOptions { pose_deg, ..HardwareOptions::default() })
    }

    pub(crate) fn send(&mut self, id: u8, instruction: u8, params: &[u8]) {
        let mut bytes = vec![0xFF, 0xFF, id, params.len() as u8 + 2, instruction];
        bytes.extend_from_slice(params);
        bytes.push(checksum(&bytes[2..]));
        self.hardware.discard_input(self.now_us);
        self.now_us = self.hardware.transmit(self.now_us, &bytes);
    }

    /// All bytes that come until none came for 3 ms; the time stays at the last byte.
    pub(crate) fn hear(&mut self) -> Vec<u8> {
        let mut buffer = [0; 2_048];
        let (count, end_us) = self.hardware.receive(self.now_us, &mut buffer, 3_000);
        self.now_us = end_us - 3_000;
        buffer[..count].to_vec()
    }

    /// The replies to the last request: id, error byte, data.
    pub(crate) fn replies(&mut self) -> Vec<(u8, u8, Vec<u8>)> {
        let bytes = self.hear();
        let mut rest = &bytes[..];
        let mut replies = Vec::new();
        while let [0xFF, 0xFF, id, length, error, ..] = *rest {
            let end = 4 + usize::from(length);
            assert_eq!(rest[end - 1], checksum(&rest[2..end - 1]), "checksum");
            replies.push((id, error, rest[5..end - 1].to_vec()));
            rest = &rest[end..];
        }
        assert!(rest.is_empty(), "stray bytes {rest:?}");
        replies
    }

    pub(crate) fn read(&mut self, id: u8, address: u8, length: u8) -> Option<Vec<u8>> {
        self.send(id, 0x02, &[address, length]);
        self.replies().pop().map(|(_, _, data)| data)
    }

    pub(crate) fn word(&mut self, id: u8, address: u8) -> u16 {
        let data = self.read(id, address, 2).expect("an answer");
        u16::from_le_bytes([data[0], data[1]])
    }

    pub(crate) fn byte(&mut self, id: u8, address: u8) -> u8 {
        self.read(id, address, 1).expect("an answer")[0]
    }

    pub(crate) fn write(&mut self, id: u8, address: u8, data: &[u8]) {
        let params: Vec<u8> = core::iter::once(address).chain(data.iter().copied()).collect();
        self.send(id, 0x03, &params);
        self.hear();
    }

    pub(crate) fn write_word(&mut self, id: u8, address: u8, value: u16) {
        self.write(id, address, &value.to_le_bytes());
    }

    /// Goal and speed cap of one servo.
    pub(crate) fn go(&mut self, id: u8, goal: u16, speed_sps: u16) {
        let [goal_l, goal_h] = goal.to_le_bytes();
        let [speed_l, speed_h] = speed_sps.to_le_bytes();
        self.write(id, 42, &[goal_l, goal_h, 0, 0, speed_l, speed_h]);
    }

    pub(crate) fn sync_read(&mut self, address: u8, length: u8, ids: &[u8]) -> Vec<(u8, u8, Vec<u8>)> {
        let params: Vec<u8> = [address, length].into_iter().chain(ids.iter().copied()).collect();
        self.send(0xFE, 0x82, &params);
        self.replies()
    }

    pub(crate) fn sync_write_goals(&mut self, goals: &[(u8, u16)]) {
        let blocks = goals.iter().flat_map(|(id, goal)| {
            let [low, high] = goal.to_le_bytes();
            [*id, low, high]
        });
        let params: Vec<u8> = [42, 2].into_iter().chain(blocks).collect();
        self.send(0xFE, 0x83, &params);
    }

    pub(crate) fn wait(&mut self, us: u64) {
        self.now_us += us;
    }

    pub(crate) fn deg(&self, joint: usize) -> f64 {
        self.hardware.deg(joint, self.now_us)
    }
}

/// Step of an angle (°) of joint `joint` (index).
pub(crate) fn steps(joint: usize, deg: f64) -> u16 {
    (2_048.0 + f64::from(firmware_core::joints::TABLE[joint].sign) * deg * 4_096.0 / 360.0).round() as u16
}
