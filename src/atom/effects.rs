//! What faults do to this ATOM: giving and clearing them, their starts and ends.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use firmware_core::control::Control;
use firmware_core::platform::{ClientId, Transport};

use super::body::check;
use super::fault::{
    Change, ClientFault, CpuFault, Fault, FaultId, FaultKind, OtaEvent, PowerFault, WifiFault,
};
use super::journal::{AtomInput, JournalEntry};
use super::simulated::{Atom, Output, new_network};
use crate::hardware::HardwareError;

/// Events of faults that nobody took yet; older ones are dropped.
const EVENTS_MAX: usize = 10_000;

/// A fault started or ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultEvent {
    /// When (virtual µs).
    pub t_us: u64,
    /// Which.
    pub id: FaultId,
    /// It started; otherwise it ended.
    pub started: bool,
    /// What it does.
    pub kind: FaultKind,
}

/// The faults of processor, power and memory that are there.
#[derive(Debug, Default)]
pub(super) struct Effects {
    cpu: BTreeMap<FaultId, CpuFault>,
    heap: BTreeMap<FaultId, usize>,
    /// Faults that keep the ATOM without power.
    dark: BTreeSet<FaultId>,
    events: VecDeque<FaultEvent>,
}

impl Effects {
    /// The ATOM has power.
    pub(super) fn powered(&self) -> bool {
        self.dark.is_empty()
    }

    /// The network side runs.
    pub(super) fn network_runs(&self) -> bool {
        self.powered() && !self.cpu.values().any(|fault| *fault == CpuFault::NetworkStall)
    }

    /// The control side runs.
    pub(super) fn control_runs(&self) -> bool {
        self.powered() && !self.cpu.values().any(|fault| *fault == CpuFault::ControlStall)
    }

    /// Further time of each control cycle (µs).
    pub(super) fn extra_cycle_us(&self) -> u32 {
        let extra = |fault: &CpuFault| match fault {
            CpuFault::SlowCycle(us) => *us,
            CpuFault::NetworkStall | CpuFault::ControlStall => 0,
        };
        self.cpu.values().map(extra).sum()
    }
}

impl Atom {
    /// Gives a fault, which starts as its scope says.
    ///
    /// # Errors
    /// A fault that the hardware cannot do; nothing changes.
    pub fn inject(&mut self, fault: Fault) -> Result<FaultId, HardwareError> {
        check(&fault.kind)?;
        let id = self.faults.add(self.now_us, fault.clone());
        self.note(|| AtomInput::Inject(id, fault));
        Ok(id)
    }

    /// Clears a fault: it ends now, or never starts.
    pub fn clear_fault(&mut self, id: FaultId) {
        self.note(|| AtomInput::Clear(id));
        if let Some(change) = self.faults.clear(id) {
            self.change(id, change);
        }
    }

    /// Clears every fault.
    pub fn clear_faults(&mut self) {
        for id in self.faults.ids() {
            self.clear_fault(id);
        }
    }

    /// The faults that were given and are not over, by their ids, with whether each is there now.
    pub fn faults(&self) -> impl Iterator<Item = (FaultId, &Fault, bool)> {
        self.faults.list()
    }

    /// The oldest start or end of a fault that was not taken yet.
    pub fn poll_fault_event(&mut self) -> Option<FaultEvent> {
        self.effects.events.pop_front()
    }

    /// The next fault starts or ends.
    pub(super) fn change_faults(&mut self) {
        if let Some((id, change)) = self.faults.pop(self.now_us) {
            self.change(id, change);
        }
    }

    fn change(&mut self, id: FaultId, change: Change) {
        let (kind, started) = match change {
            Change::Start(kind) => (kind, true),
            Change::End(kind) => (kind, false),
        };
        if started {
            self.start(id, &kind);
        } else {
            self.end(id, &kind);
        }
        if self.effects.events.len() == EVENTS_MAX {
            self.effects.events.pop_front();
        }
        let event = FaultEvent { t_us: self.now_us, id, started, kind };
        self.journal.keep(|| JournalEntry::Fault(event.clone()));
        self.effects.events.push_back(event);
    }

    fn start(&mut self, id: FaultId, kind: &FaultKind) {
        let now_us = self.now_us;
        match kind {
            FaultKind::Servo { .. }
            | FaultKind::Bus(_)
            | FaultKind::Gripper(_)
            | FaultKind::Arm(_)
            | FaultKind::Imu(_) => self.start_hardware(id, kind),
            FaultKind::Wifi { client, direction, fault } => {
                self.wireless.start_wifi(now_us, id, *client, *direction, *fault);
                if let WifiFault::Address(_) = fault {
                    self.close_web_sockets();
                }
            }
            FaultKind::Client { client, fault } => {
                self.wireless.start_client(now_us, id, *client, *fault);
                if *fault == ClientFault::Disconnect {
                    self.inbox.close(*client);
                    self.cut(*client);
                }
            }
            FaultKind::Cpu(fault) => {
                self.effects.cpu.insert(id, *fault);
            }
            FaultKind::Power(fault) => self.start_power(id, *fault),
            FaultKind::Ota(event) => self.ota(*event),
            FaultKind::HeapLimit(bytes) => {
                self.effects.heap.insert(id, *bytes);
                self.limit_heap();
            }
            FaultKind::Button => {
                self.with_network(|network, _, now_us, mailbox, port| network.button(now_us, mailbox, port));
            }
        }
    }

    fn end(&mut self, id: FaultId, kind: &FaultKind) {
        match kind {
            FaultKind::Servo { .. }
            | FaultKind::Bus(_)
            | FaultKind::Gripper(_)
            | FaultKind::Arm(_)
            | FaultKind::Imu(_) => self.end_hardware(id),
            FaultKind::Wifi { .. } | FaultKind::Client { .. } => self.wireless.end(self.now_us, id),
            FaultKind::Cpu(_) => {
                self.effects.cpu.remove(&id);
                self.control_due_us = self.control_due_us.max(self.now_us);
            }
            FaultKind::Power(_) => self.end_power(id),
            FaultKind::HeapLimit(_) => {
                self.effects.heap.remove(&id);
                self.limit_heap();
            }
            FaultKind::Ota(_) | FaultKind::Button => {}
        }
    }

    fn limit_heap(&mut self) {
        let least = self.effects.heap.values().copied().min();
        let bytes = least.map_or(self.options.plan_bytes_max, |bytes| bytes.min(self.options.plan_bytes_max));
        self.network.set_plan_bytes_max(bytes);
    }

    fn ota(&mut self, event: OtaEvent) {
        match event {
            OtaEvent::Begin => {
                // A refused update changes nothing: the event says that it was tried.
                self.with_network(|network, _, now_us, mailbox, _| {
                    network.ota_begin(now_us, mailbox);
                });
            }
            OtaEvent::End => {
                self.close_web_sockets();
                self.power_up();
            }
            OtaEvent::Fail => {
                self.with_network(|network, _, now_us, mailbox, _| network.ota_failed(now_us, mailbox));
            }
        }
    }

    fn start_power(&mut self, id: FaultId, fault: PowerFault) {
        let atom = match fault {
            PowerFault::CycleAtom | PowerFault::CycleBoth | PowerFault::J6Turned(_) => true,
            PowerFault::BrownOut(_) | PowerFault::CycleServos => false,
        };
        if atom {
            self.close_web_sockets();
            while self.inbox.pop().is_some() {}
            self.effects.dark.insert(id);
        }
        self.start_hardware(id, &FaultKind::Power(fault));
    }

    fn end_power(&mut self, id: FaultId) {
        self.end_hardware(id);
        if self.effects.dark.remove(&id) && self.effects.powered() {
            self.power_up();
        }
    }

    /// The firmware starts from nothing.
    fn power_up(&mut self) {
        self.power_up_us = self.now_us;
        self.hardware.power_up_atom(self.now_us);
        self.network = new_network(&self.options);
        self.limit_heap();
        self.control = Control::new(self.options.level);
        self.mailbox.take();
        self.replay.reset();
        self.wireless.restart(self.now_us);
        self.control_due_us = self.now_us;
        self.control_free_us = self.now_us;
    }

    fn close_web_sockets(&mut self) {
        let open: Vec<ClientId> =
            self.wireless.clients().filter(|client| client.transport == Transport::WebSocket).collect();
        for client in open {
            self.inbox.close(client);
            self.cut(client);
        }
    }

    /// A client's connection breaks, and it notices.
    fn cut(&mut self, client: ClientId) {
        if client.transport == Transport::WebSocket {
            self.wireless.remove(client);
            self.outputs.push_back(Output::Closed { t_us: self.now_us, client });
        }
    }
}
