//! Messages between the sockets and the network side, all on core 0: one inbox for all clients, an outbox per
//! WebSocket, one for all UDP clients. Nothing here waits for the other side: a full queue loses messages.

use core::cell::RefCell;

use atom_board::envelope::{Inward, Outward};
use atom_board::inbox::Inbox;
use atom_board::queue::Queue;
use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;

/// WebSockets served at once.
pub(crate) const WEB_SOCKETS: usize = 4;
/// Bytes that wait from all clients: several of the longest messages.
const INBOX_BYTES: usize = 6 * 1024;
/// Bytes that wait for one WebSocket: two full telemetry packets.
pub(crate) const WEB_OUTBOX_BYTES: usize = 3 * 1024;
/// Bytes of the WebSocket's own answers that wait for one client: the upgrade, or two pongs and a close.
pub(crate) const WEB_ANSWER_BYTES: usize = 320;
/// Bytes that wait for the UDP clients.
const UDP_OUTBOX_BYTES: usize = 5 * 1024;

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

    fn put(&self, put: impl FnOnce(&mut Queue<BYTES>) -> bool) -> bool {
        let taken = self.queue.lock(|queue| put(&mut queue.borrow_mut()));
        self.ready.signal(());
        taken
    }

    /// Puts in what goes out. What does not fit is lost.
    pub(crate) fn put_outward(&self, outward: &Outward<'_>) {
        self.put(|queue| outward.put(queue));
    }

    /// Puts in plain bytes. What does not fit is lost.
    pub(crate) fn put_plain(&self, bytes: &[u8]) {
        self.put(|queue| queue.put(0, &[bytes]));
    }

    /// Takes a message if there is one: its tag and length.
    pub(crate) fn try_take(&self, buffer: &mut [u8]) -> Option<(u8, usize)> {
        self.queue.lock(|queue| queue.borrow_mut().take(buffer))
    }

    /// Waits for a message: its tag and length.
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

/// What waits for the network side.
pub(crate) type Waiting = Inbox<INBOX_BYTES, WEB_SOCKETS>;

/// An inbox that tasks of one core share.
pub(crate) struct SharedInbox(Mutex<CriticalSectionRawMutex, RefCell<Waiting>>);

impl SharedInbox {
    /// Puts in what the sockets say. False: it does not fit, or its sender has its share.
    pub(crate) fn put(&self, inward: &Inward<'_>) -> bool {
        self.0.lock(|inbox| inbox.borrow_mut().put(inward))
    }

    /// Takes the oldest into `buffer`, if there is one.
    pub(crate) fn take<'b>(&self, buffer: &'b mut [u8]) -> Option<Inward<'b>> {
        self.0.lock(|inbox| inbox.borrow_mut().take(buffer))
    }
}

/// What the sockets say: messages of all clients, and who came and went.
/// In RTC RAM, which is slower and only this core's: what is left elsewhere is for the plan.
#[esp_hal::ram(unstable(rtc_fast))]
pub(crate) static INBOX: SharedInbox = SharedInbox(Mutex::new(RefCell::new(Waiting::new())));
/// What goes to each WebSocket.
pub(crate) static WEB_OUTBOXES: [Pipe<WEB_OUTBOX_BYTES>; WEB_SOCKETS] = [const { Pipe::new() }; WEB_SOCKETS];
/// Answers of each WebSocket itself: the upgrade, pongs, a close.
pub(crate) static WEB_ANSWERS: [Pipe<WEB_ANSWER_BYTES>; WEB_SOCKETS] = [const { Pipe::new() }; WEB_SOCKETS];
/// What goes to UDP clients.
/// In RTC RAM, as the inbox.
#[cfg_attr(feature = "esp32", esp_hal::ram(unstable(rtc_slow)))]
pub(crate) static UDP_OUTBOX: Pipe<UDP_OUTBOX_BYTES> = Pipe::new();
/// Lines for the status log's broadcast.
pub(crate) static LOG: Pipe<1024> = Pipe::new();
