//! Messages that wait: a ring of bytes with a tag and the length in front of each message.
//!
//! A client that does not read fills its own ring and no other; a message that does not fit is lost.

use heapless::Deque;

/// Bytes in front of each message: its tag and its length.
pub(crate) const HEAD_BYTES: usize = 1 + 2;

/// A ring of `BYTES` bytes, a power of two or not.
#[derive(Debug, Default)]
pub struct Queue<const BYTES: usize> {
    bytes: Deque<u8, BYTES>,
}

impl<const BYTES: usize> Queue<BYTES> {
    /// An empty ring.
    pub const fn new() -> Self {
        Self { bytes: Deque::new() }
    }

    /// Puts a message of several parts in, with a tag of the caller. False: it did not fit and is lost.
    pub fn put(&mut self, tag: u8, parts: &[&[u8]]) -> bool {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let Ok(told) = u16::try_from(length) else { return false };
        if BYTES - self.bytes.len() < HEAD_BYTES + length {
            return false;
        }
        let [low, high] = told.to_le_bytes();
        for byte in [tag, low, high].iter().chain(parts.iter().copied().flatten()) {
            // There is room: see above.
            let _room = self.bytes.push_back(*byte);
        }
        true
    }

    /// Takes the oldest message into `buffer`: its tag and length. A message longer than the buffer is cut.
    pub fn take(&mut self, buffer: &mut [u8]) -> Option<(u8, usize)> {
        let tag = self.bytes.pop_front()?;
        let length = u16::from_le_bytes([self.bytes.pop_front()?, self.bytes.pop_front()?]);
        for index in 0..usize::from(length) {
            let byte = self.bytes.pop_front()?;
            if let Some(place) = buffer.get_mut(index) {
                *place = byte;
            }
        }
        Some((tag, usize::from(length).min(buffer.len())))
    }

    /// Drops all messages.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Bytes that wait, tags and lengths included.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_in_order_with_their_tags_also_around_the_end_of_the_ring() {
        let mut queue = Queue::<20>::new();
        let mut buffer = [0; 16];
        for round in 0..10 {
            assert!(queue.put(1, &[&[round; 5]]) && queue.put(2, &[&[round + 100], &[], &[round + 100; 3]]));
            assert_eq!(queue.take(&mut buffer), Some((1, 5)));
            assert_eq!(buffer[..5], [round; 5]);
            assert_eq!(queue.take(&mut buffer), Some((2, 4)));
            assert_eq!(buffer[..4], [round + 100; 4]);
            assert_eq!(queue.take(&mut buffer), None);
        }
    }

    #[test]
    fn a_full_ring_loses_the_new_message_whole() {
        let mut queue = Queue::<10>::new();
        assert!(queue.put(7, &[b"abcd"]));
        assert!(!queue.put(8, &[b"e"]), "3 bytes are left, 4 are needed");
        let mut buffer = [0; 2];
        assert_eq!(queue.take(&mut buffer), Some((7, 2)), "cut to the buffer");
        assert!(queue.is_empty(), "the rest of the cut message is gone");
    }
}
