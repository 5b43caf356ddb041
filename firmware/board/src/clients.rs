//! Numbers for UDP sources: the core knows a client by a number that is never used again.

use heapless::Vec;

/// UDP sources that are remembered; one more takes the place of the one that was neither heard nor spoken to longest.
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
    /// It was heard, or a message went to it, last then (µs).
    active_us: u64,
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
            known.active_us = now_us;
            return known.number;
        }
        self.next_number += 1;
        let new = Known { source, number: self.next_number, active_us: now_us };
        if let Err(new) = self.known.push(new)
            && let Some(oldest) = self.known.iter_mut().min_by_key(|known| known.active_us)
        {
            *oldest = new;
        }
        self.next_number
    }

    /// Where a message for the client of a number goes; `None` if it was forgotten. Who gets messages is not forgotten:
    /// a client may say nothing for as long as its run lasts.
    pub fn source(&mut self, number: u32, now_us: u64) -> Option<Source> {
        let known = self.known.iter_mut().find(|known| known.number == number)?;
        known.active_us = now_us;
        Some(known.source)
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
        assert_eq!(clients.source(2, 4), Some(source(5008)));
    }

    #[test]
    fn the_source_that_was_silent_longest_makes_room_and_its_number_is_not_used_again() {
        let mut clients = UdpClients::default();
        for port in 0..UDP_CLIENTS as u16 {
            clients.number(source(port), u64::from(port));
        }
        clients.number(source(0), 100);
        assert_eq!(clients.number(source(99), 101), UDP_CLIENTS as u32 + 1);
        assert_eq!(clients.source(2, 101), None, "port 1 was silent longest");
        assert_eq!(clients.source(1, 101), Some(source(0)));
        assert_eq!(clients.number(source(1), 102), UDP_CLIENTS as u32 + 2, "a new number");
    }

    #[test]
    fn a_client_that_only_listens_to_its_run_is_not_forgotten() {
        let mut clients = UdpClients::default();
        let player = clients.number(source(5007), 0);
        // Somebody opens a socket a second, while telemetry goes out.
        for second in 1..100 {
            assert_eq!(
                clients.source(player, second * 1_000_000 - 40_000),
                Some(source(5007)),
                "second {second}"
            );
            clients.number(source(40_000 + second as u16), second * 1_000_000);
        }
    }
}
