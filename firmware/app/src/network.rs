//! The network side: every millisecond the core's messages, tick and LED picture; the button; its watchdog.

use core::cell::Cell;

use atom_board::button::Button;
use atom_board::envelope::{ENVELOPE_BYTES, Inward, Outward};
use atom_board::watch::Feeder;
use critical_section::Mutex;
use embassy_futures::yield_now;
use embassy_time::{Duration, Ticker};
use esp_hal::gpio::Input;
use esp_hal::peripherals::TIMG0;
use esp_hal::timer::timg::Wdt;
use firmware_core::led::{self, Frame};
use firmware_core::network::{Banner, Network, NetworkOptions};
use firmware_core::platform::{ClientId, Health, ImuSample, NetworkPort, Transport};
use firmware_core::shared::{Mailbox, State};

use crate::mailbox::{MAILBOX, imu, now_us};
use crate::queues::{INBOX, LOG, UDP_OUTBOX, WEB_OUTBOXES, WEB_SOCKETS};
use crate::{LEVEL, led_matrix, link, memory, update};

/// Messages handled in one tick: the rest waits for the next millisecond, so that a flood delays nothing.
const MESSAGES_PER_TICK: usize = 8;
/// Most memory for plans (bytes): 20 s at 250 Hz.
const PLAN_BYTES_MAX: usize = 120_024;

/// What is known of the state outside the network side.
pub(crate) static STATE: Mutex<Cell<State>> = Mutex::new(Cell::new(State::Booting));

/// The state that clients see.
pub(crate) fn state() -> State {
    critical_section::with(|section| STATE.borrow(section).get())
}

/// The robot moves, boots or is being updated: nothing may take its time or its flash.
pub(crate) fn busy() -> bool {
    match state() {
        State::Holding | State::Ready | State::Error => false,
        State::Booting | State::Playing | State::Ota | State::Moving | State::Jogging | State::Tracking => {
            true
        }
    }
}

/// The way out for the core's messages.
#[derive(Default)]
struct Outlet {
    /// The number of the client on each WebSocket; 0 = none.
    web_clients: [u32; WEB_SOCKETS],
}

impl NetworkPort for Outlet {
    fn send(&mut self, to: ClientId, message: &[u8]) {
        let outward = Outward { to: to.number, text: false, message };
        match to.transport {
            Transport::WebSocket => {
                let place = self.web_clients.iter().position(|number| *number == to.number);
                if let Some(place) = place {
                    WEB_OUTBOXES[place].put_outward(&outward);
                }
            }
            Transport::Udp => UDP_OUTBOX.put_outward(&outward),
        }
    }

    fn broadcast(&mut self, line: &str) {
        let outward = |to| Outward { to, text: true, message: line.as_bytes() };
        for (outbox, number) in WEB_OUTBOXES.iter().zip(self.web_clients).filter(|(_, number)| *number > 0) {
            outbox.put_outward(&outward(number));
        }
        LOG.put_outward(&outward(0));
    }

    fn imu(&mut self) -> Option<ImuSample> {
        imu()
    }

    fn health(&mut self) -> Health {
        let link = link::now();
        Health {
            ip: link.ip.unwrap_or_default(),
            rssi_dbm: link.rssi_dbm,
            heap_free: esp_alloc::HEAP.free() as u32,
            wifi_drops: link.drops,
        }
    }
}

struct Side {
    network: Network,
    outlet: Outlet,
    plan_bytes_max: usize,
}

impl Side {
    /// Hands one message of a client to the core, or notes that a WebSocket's client came or went.
    fn take(&mut self, inward: &Inward<'_>) {
        match *inward {
            Inward::Opened { place, number } => self.outlet.web_clients[usize::from(place)] = number,
            Inward::Closed { place, number } => {
                self.outlet.web_clients[usize::from(place)] = 0;
                let client = ClientId { transport: Transport::WebSocket, number };
                self.network.closed(now_us(), client, &MAILBOX);
            }
            Inward::Message { from, message } => {
                self.network.receive(now_us(), from, message, &MAILBOX, &mut self.outlet);
            }
        }
    }

    /// A plan gets what the heap leaves.
    fn share_heap(&mut self) {
        let plan_bytes = MAILBOX.with(|shared| shared.plan.bytes());
        let (used, free) = (esp_alloc::HEAP.used(), esp_alloc::HEAP.free());
        let others = used.saturating_sub(plan_bytes);
        let room = memory::plan_room(used + free, others).min(PLAN_BYTES_MAX);
        if room != self.plan_bytes_max {
            self.plan_bytes_max = room;
            self.network.set_plan_bytes_max(room);
        }
    }

    fn update_requests(&mut self) {
        match update::take_request() {
            Some(update::Request::Begin) => {
                update::answer(self.network.ota_begin(now_us(), &MAILBOX));
            }
            Some(update::Request::Failed) => self.network.ota_failed(now_us(), &MAILBOX),
            None => {}
        }
    }

    fn picture(&self) -> Frame {
        let frame = *self.network.led_frame();
        if link::now().has_network { frame } else { led::without_network(&frame, now_us()) }
    }
}

/// Runs the network side for ever.
#[embassy_executor::task]
pub(crate) async fn run(button_pin: Input<'static>, mut watchdog: Wdt<TIMG0<'static>>) -> ! {
    let options = NetworkOptions {
        level: LEVEL,
        max_subscribers: 4,
        plan_bytes_max: 0,
        banner: if cfg!(feature = "lab") { Banner::Lab } else { Banner::Public },
        build: crate::BUILD,
    };
    let mut side = Side { network: Network::new(options), outlet: Outlet::default(), plan_bytes_max: 0 };
    let (mut button, mut feeder) = (Button::default(), Feeder::default());
    let mut ticker = Ticker::every(Duration::from_millis(1));
    let mut buffer = [0; ENVELOPE_BYTES];
    loop {
        ticker.next().await;
        side.share_heap();
        for _ in 0..MESSAGES_PER_TICK {
            let Some(inward) = INBOX.take(&mut buffer) else { break };
            side.take(&inward);
            // Sockets and WiFi get their turn between messages.
            yield_now().await;
        }
        side.update_requests();
        if button.pressed(button_pin.is_low()) {
            side.network.button(now_us(), &MAILBOX, &mut side.outlet);
        }
        let now_us = now_us();
        side.network.tick(now_us, &MAILBOX, &mut side.outlet);
        let state = side.network.state(now_us, &MAILBOX);
        critical_section::with(|section| STATE.borrow(section).set(state));
        led_matrix::show(side.picture());
        if feeder.stepped(now_us) {
            watchdog.feed();
        }
    }
}
