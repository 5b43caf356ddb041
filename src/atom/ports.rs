//! The platform that the simulator gives to `firmware-core`: virtual time, the simulated bus, a way out.

use serde::{Deserialize, Serialize};

use std::collections::VecDeque;

use firmware_core::platform::{ClientId, ControlPort, Health, ImuSample, NetworkPort, Work};

use super::Output;
use super::wireless::Wireless;
use crate::hardware::Hardware;

/// The control side's platform for one step. Time moves on as bytes travel.
#[derive(Debug)]
pub(super) struct ControlSide<'a> {
    pub(super) hardware: &'a mut Hardware,
    /// Virtual time (µs).
    pub(super) virtual_us: u64,
    /// Virtual time of power-up (µs).
    pub(super) power_up_us: u64,
    /// Modelled CPU time of a control cycle and of an end-effector step (µs).
    pub(super) cpu: CpuModel,
}

/// Modelled CPU times (µs).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuModel {
    /// A control cycle's own computation.
    pub cycle_us: u32,
    /// An end-effector step; about 450 on the chip.
    pub twist_step_us: u32,
}

impl ControlPort for ControlSide<'_> {
    fn now_us(&mut self) -> u64 {
        self.virtual_us - self.power_up_us
    }

    fn send(&mut self, bytes: &[u8]) {
        self.virtual_us = self.hardware.transmit(self.virtual_us, bytes);
    }

    fn receive(&mut self, buffer: &mut [u8], timeout_us: u32) -> usize {
        let (count, virtual_us) = self.hardware.receive(self.virtual_us, buffer, timeout_us);
        self.virtual_us = virtual_us;
        count
    }

    fn discard_input(&mut self) {
        self.hardware.discard_input(self.virtual_us);
    }

    fn imu(&mut self) -> Option<ImuSample> {
        self.hardware.imu(self.virtual_us)
    }

    fn computed(&mut self, work: Work) {
        self.virtual_us += u64::from(match work {
            Work::Cycle => self.cpu.cycle_us,
            Work::TwistStep => self.cpu.twist_step_us,
        });
    }
}

/// The network side's platform for one tick.
#[derive(Debug)]
pub(super) struct NetworkSide<'a> {
    pub(super) hardware: &'a mut Hardware,
    /// Virtual time (µs).
    pub(super) virtual_us: u64,
    pub(super) health: Health,
    pub(super) wireless: &'a mut Wireless,
    pub(super) outputs: &'a mut VecDeque<Output>,
}

impl NetworkPort for NetworkSide<'_> {
    fn send(&mut self, to: ClientId, message: &[u8]) {
        if self.wireless.send_to_client(self.virtual_us, to, message) {
            self.outputs.push_back(Output::Message { t_us: self.virtual_us, to, bytes: message.to_vec() });
        }
    }

    fn broadcast(&mut self, line: &str) {
        if self.wireless.is_up(self.virtual_us) {
            self.outputs.push_back(Output::StatusLine { t_us: self.virtual_us, line: line.to_owned() });
        }
    }

    fn imu(&mut self) -> Option<ImuSample> {
        self.hardware.imu(self.virtual_us)
    }

    fn health(&mut self) -> Health {
        self.health
    }
}
