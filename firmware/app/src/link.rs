//! What is known of the WiFi link, for the status log, the LED matrix and Improv.

use core::cell::Cell;

use critical_section::Mutex;

/// The link now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Link {
    /// The ATOM's address in the network; `None` while there is none.
    pub(crate) ip: Option<[u8; 4]>,
    /// Signal strength (dBm).
    pub(crate) rssi_dbm: i8,
    /// Associations lost since power-up.
    pub(crate) drops: u32,
    /// There is a network to join, saved or compiled in.
    pub(crate) has_network: bool,
}

static LINK: Mutex<Cell<Link>> =
    Mutex::new(Cell::new(Link { ip: None, rssi_dbm: 0, drops: 0, has_network: false }));

/// The link now.
pub(crate) fn now() -> Link {
    critical_section::with(|section| LINK.borrow(section).get())
}

/// Changes what is known.
pub(crate) fn change(change: impl FnOnce(&mut Link)) {
    critical_section::with(|section| {
        let cell = LINK.borrow(section);
        let mut link = cell.get();
        change(&mut link);
        cell.set(link);
    });
}
