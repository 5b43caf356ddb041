//! What waits for the network side: one queue for all clients, of which none may fill more than its share, so that a
//! flood of one does not keep the STOP of another out.

use firmware_core::platform::Transport;

use crate::envelope::Inward;
use crate::queue::{HEAD_BYTES, Queue};

/// A queue of `BYTES` bytes for UDP and `PLACES` WebSockets. Each may fill half of it.
#[derive(Debug)]
pub struct Inbox<const BYTES: usize, const PLACES: usize> {
    queue: Queue<BYTES>,
    /// Bytes that wait of each WebSocket.
    web_bytes: [usize; PLACES],
    /// Bytes that wait of all UDP clients.
    udp_bytes: usize,
}

impl<const BYTES: usize, const PLACES: usize> Inbox<BYTES, PLACES> {
    /// An empty inbox.
    pub const fn new() -> Self {
        Self { queue: Queue::new(), web_bytes: [0; PLACES], udp_bytes: 0 }
    }

    /// The number of the `count`-th client of a WebSocket, from 0. Numbers of the WebSockets never meet.
    pub const fn number(place: u8, count: u32) -> u32 {
        place as u32 + 1 + count * PLACES as u32
    }

    /// Puts a message in, or that a client came or went. False: it does not fit, or its sender has its share.
    pub fn put(&mut self, inward: &Inward<'_>) -> bool {
        let before = self.queue.bytes();
        if let Inward::Message { message, .. } = inward
            && *self.share(inward) + HEAD_BYTES + 4 + message.len() > BYTES / 2
        {
            return false;
        }
        let taken = inward.put(&mut self.queue);
        *self.share(inward) += self.queue.bytes() - before;
        taken
    }

    /// Takes the oldest into `buffer`.
    pub fn take<'b>(&mut self, buffer: &'b mut [u8]) -> Option<Inward<'b>> {
        let before = self.queue.bytes();
        let (tag, length) = self.queue.take(buffer)?;
        let inward = Inward::read(tag, &buffer[..length])?;
        *self.share(&inward) -= before - self.queue.bytes();
        Some(inward)
    }

    /// What waits of the sender.
    fn share(&mut self, inward: &Inward<'_>) -> &mut usize {
        let number = match inward {
            Inward::Opened { number, .. } | Inward::Closed { number, .. } => *number,
            Inward::Message { from, .. } => match from.transport {
                Transport::Udp => return &mut self.udp_bytes,
                Transport::WebSocket => from.number,
            },
        };
        &mut self.web_bytes[number.wrapping_sub(1) as usize % PLACES]
    }
}

impl<const BYTES: usize, const PLACES: usize> Default for Inbox<BYTES, PLACES> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use firmware_core::platform::ClientId;

    use super::*;
    use crate::envelope::{ENVELOPE_BYTES, MESSAGE_BYTES};

    type Small = Inbox<6_144, 4>;

    const fn from(transport: Transport, number: u32) -> ClientId {
        ClientId { transport, number }
    }

    fn message(from: ClientId, message: &[u8]) -> Inward<'_> {
        Inward::Message { from, message }
    }

    #[test]
    fn a_flood_of_one_leaves_room_for_the_others() {
        let flooder = from(Transport::WebSocket, Small::number(1, 0));
        for other in [from(Transport::WebSocket, Small::number(2, 7)), from(Transport::Udp, 1)] {
            let (mut inbox, mut buffer) = (Small::new(), [0; ENVELOPE_BYTES]);
            let mut stops = 0;
            for _ in 0..1_000 {
                // In a millisecond the network side takes 8, and the flooder sends 70.
                for _ in 0..8 {
                    stops += usize::from(inbox.take(&mut buffer) == Some(message(other, &[8])));
                }
                for _ in 0..70 {
                    inbox.put(&message(flooder, &[1]));
                }
                assert!(inbox.put(&message(other, &[8])), "there is no room for the STOP of {other:?}");
            }
            assert!(stops > 900, "{stops} of 1,000 STOPs of {other:?} came through");
        }
    }

    #[test]
    fn what_is_taken_makes_room_again() {
        let (mut inbox, mut buffer) = (Small::new(), [0; ENVELOPE_BYTES]);
        let client = from(Transport::Udp, 9);
        let longest = [5; MESSAGE_BYTES];
        for _ in 0..100 {
            assert!(inbox.put(&message(client, &longest)) && inbox.put(&message(client, &longest)));
            assert!(!inbox.put(&message(client, &longest)), "more than half of it");
            for _ in 0..2 {
                assert_eq!(inbox.take(&mut buffer), Some(message(client, &longest)));
            }
            assert_eq!(inbox.take(&mut buffer), None);
        }
    }

    #[test]
    fn who_came_and_went_is_told_even_past_the_share() {
        let mut inbox = Small::new();
        let number = Small::number(3, 2);
        let client = from(Transport::WebSocket, number);
        while inbox.put(&message(client, &[1; 100])) {}
        assert!(inbox.put(&Inward::Closed { place: 3, number }));
        assert!(inbox.put(&Inward::Opened { place: 3, number: Small::number(3, 3) }));
    }
}
