//! Numbers for UDP sources: the core knows a client by a number that is never used again.

use heapless::Vec;

/// UDP sources that are remembered; one more takes the place of the one that was silent longest.
pub const UDP_CLIENTS: usize = 16;

/// An IPv4 address and a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Address.
    pub ip: [u8; 4],
    /// Port.
    pub port: u16,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    source: Source,
    number: u32,
    heard_us: u64,
}

/// The UDP sources heard of.
#[derive(Debug, Default)]
pub struct UdpClients {
    known: Vec<Known, UDP_CLIENTS>,
    next_number: u32,
}

impl UdpClients {
    /// The number of a source that was just heard.
    pub fn number(&mut self, source: Source, now_us: u64) -> u32 {
        if let Some(known) = self.known.iter_mut().find(|known| known.source == source) {
            known.heard_us = now_us;
            return known.number;
        }
        self.next_number += 1;
        let new = Known { source, number: self.next_number, heard_us: now_us };
        if let Err(new) = self.known.push(new)
            && let Some(oldest) = self.known.iter_mut().min_by_key(|known| known.heard_us)
        {
            *oldest = new;
        }
        self.next_number
    }

    /// Where the client of a number is; `None` if it was forgotten.
    pub fn source(&self, number: u32) -> Option<Source> {
        self.known.iter().find(|known| known.number == number).map(|known| known.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(port: u16) -> Source {
        Source { ip: [192, 168, 4, 9], port }
    }

    #[test]
    fn a_source_keeps_its_number_and_another_port_is_another_client() {
        let mut clients = UdpClients::default();
        assert_eq!(clients.number(source(5007), 1), 1);
        assert_eq!(clients.number(source(5008), 2), 2);
        assert_eq!(clients.number(source(5007), 3), 1);
        assert_eq!(clients.source(2), Some(source(5008)));
    }

    #[test]
    fn the_source_that_was_silent_longest_makes_room_and_its_number_is_not_used_again() {
        let mut clients = UdpClients::default();
        for port in 0..UDP_CLIENTS as u16 {
            clients.number(source(port), u64::from(port));
        }
        clients.number(source(0), 100);
        assert_eq!(clients.number(source(99), 101), UDP_CLIENTS as u32 + 1);
        assert_eq!(clients.source(2), None, "port 1 was silent longest");
        assert_eq!(clients.source(1), Some(source(0)));
        assert_eq!(clients.number(source(1), 102), UDP_CLIENTS as u32 + 2, "a new number");
    }
}
