//! Messages between the sockets and the network side, all on core 0: one inbox for all clients, an outbox per
//! WebSocket, one for all UDP clients. Nothing here waits for the other side: a full queue loses messages.

use core::cell::RefCell;

use atom_board::queue::Queue;
use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;

/// WebSockets served at once.
pub(crate) const WEB_SOCKETS: usize = 4;
/// Bytes that wait from all clients: several of the longest messages.
const INBOX_BYTES: usize = 6 * 1024;
/// Bytes that wait for one WebSocket: two full telemetry packets.
const WEB_OUTBOX_BYTES: usize = 3 * 1024;
/// Bytes that wait for the UDP clients.
const UDP_OUTBOX_BYTES: usize = 5 * 1024;
/// Tag of a message to or from a UDP client; its number is the first four bytes.
pub(crate) const UDP_TAG: u8 = 0xFF;
/// With the index of a WebSocket: its client is there.
pub(crate) const WEB_OPENED: u8 = 0x10;
/// With the index of a WebSocket: its client is gone.
pub(crate) const WEB_CLOSED: u8 = 0x20;
/// Tag of a text message.
pub(crate) const TEXT_TAG: u8 = 1;
/// Tag of a binary message.
pub(crate) const BINARY_TAG: u8 = 0;

/// A queue that tasks of one core share.
pub(crate) struct Pipe<const BYTES: usize> {
    queue: Mutex<CriticalSectionRawMutex, RefCell<Queue<BYTES>>>,
    ready: Signal<CriticalSectionRawMutex, ()>,
}

impl<const BYTES: usize> Pipe<BYTES> {
    /// An empty pipe.
    pub(crate) const fn new() -> Self {
        Self { queue: Mutex::new(RefCell::new(Queue::new())), ready: Signal::new() }
    }

    /// Puts a message in. False: it does not fit and is lost.
    pub(crate) fn put(&self, tag: u8, message: &[u8]) -> bool {
        let taken = self.queue.lock(|queue| queue.borrow_mut().put(tag, message));
        self.ready.signal(());
        taken
    }

    /// Takes a message if there is one.
    pub(crate) fn try_take(&self, buffer: &mut [u8]) -> Option<(u8, usize)> {
        self.queue.lock(|queue| queue.borrow_mut().take(buffer))
    }

    /// Waits for a message.
    pub(crate) async fn take(&self, buffer: &mut [u8]) -> (u8, usize) {
        loop {
            if let Some(taken) = self.try_take(buffer) {
                return taken;
            }
            self.ready.wait().await;
        }
    }

    /// Drops what waits.
    pub(crate) fn clear(&self) {
        self.queue.lock(|queue| queue.borrow_mut().clear());
    }
}

/// Messages of all clients; the client's number comes first. Tag: the index of a WebSocket, that and
/// [`WEB_OPENED`] or [`WEB_CLOSED`], or [`UDP_TAG`].
/// In RTC RAM, which is slower and only this core's: what is left elsewhere is for the plan.
#[esp_hal::ram(unstable(rtc_fast))]
pub(crate) static INBOX: Pipe<INBOX_BYTES> = Pipe::new();
/// Messages for each WebSocket. Tag: text or binary.
pub(crate) static WEB_OUTBOXES: [Pipe<WEB_OUTBOX_BYTES>; WEB_SOCKETS] = [const { Pipe::new() }; WEB_SOCKETS];
/// Messages for UDP clients; the client's number comes first.
/// In RTC RAM, as the inbox.
#[cfg_attr(feature = "esp32", esp_hal::ram(unstable(rtc_slow)))]
pub(crate) static UDP_OUTBOX: Pipe<UDP_OUTBOX_BYTES> = Pipe::new();
/// Lines for the status log's broadcast.
pub(crate) static LOG: Pipe<1024> = Pipe::new();
