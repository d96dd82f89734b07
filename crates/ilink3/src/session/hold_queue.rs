//! The hold queue: messages that wait for missing earlier ones.

use alloc::boxed::Box;
use alloc::vec;

use hairpin_sbe::MessageHeader;

/// A queue of messages in SeqNum order, in a buffer allocated once.
///
/// Each entry is: length (u16), SeqNum (u32), both little-endian, then the message.
#[derive(Debug, Default)]
pub(super) struct HoldQueue {
    bytes: Box<[u8]>,
    head: usize,
    tail: usize,
}

/// The length of an entry's prefix in bytes.
const PREFIX: usize = 6;

impl HoldQueue {
    /// Creates an empty queue with `capacity` bytes.
    pub(super) fn new(capacity: usize) -> Self {
        Self { bytes: vec![0; capacity].into_boxed_slice(), head: 0, tail: 0 }
    }

    pub(super) fn clear(&mut self) {
        (self.head, self.tail) = (0, 0);
    }

    /// Appends a message. Returns `false` if there is no room.
    pub(super) fn push(&mut self, seq_num: u32, header: &MessageHeader, body: &[u8]) -> bool {
        let length = MessageHeader::LENGTH + body.len();
        if self.bytes.len() - self.tail < PREFIX + length {
            self.bytes.copy_within(self.head..self.tail, 0);
            (self.head, self.tail) = (0, self.tail - self.head);
        }
        let Some(entry) = self.bytes.get_mut(self.tail..self.tail + PREFIX + length) else {
            return false;
        };
        let (prefix, message) = entry.split_at_mut(PREFIX);
        // A frame's length is a u16 and includes more than this.
        prefix[..2].copy_from_slice(&(length as u16).to_le_bytes());
        prefix[2..].copy_from_slice(&seq_num.to_le_bytes());
        message[..MessageHeader::LENGTH].copy_from_slice(&header.to_bytes());
        message[MessageHeader::LENGTH..].copy_from_slice(body);
        self.tail += PREFIX + length;
        true
    }

    /// Returns the SeqNum of the first message.
    pub(super) fn first(&self) -> Option<u32> {
        let [_, _, number @ ..] = *self.bytes[self.head..self.tail].first_chunk::<PREFIX>()?;
        Some(u32::from_le_bytes(number))
    }

    /// Removes the first message and returns it, from its SBE header on.
    pub(super) fn pop(&mut self) -> Option<&[u8]> {
        let entry = &self.bytes[self.head..self.tail];
        let (&[size_0, size_1, ..], rest) = entry.split_first_chunk::<PREFIX>()?;
        let length = usize::from(u16::from_le_bytes([size_0, size_1]));
        self.head += PREFIX + length;
        Some(&rest[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: MessageHeader =
        MessageHeader { block_length: 3, template_id: 522, schema_id: 8, version: 9 };

    #[test]
    fn returns_messages_in_order_and_reuses_space() {
        // Room for three messages of three bytes.
        let mut held = HoldQueue::new(3 * (PREFIX + 11));
        for number in 1..100_u32 {
            while held.push(number, &HEADER, &[number as u8; 3]) && held.first() == Some(number) {}
            let first = held.first().unwrap();
            let message = held.pop().unwrap();
            assert_eq!(message[..8], HEADER.to_bytes());
            assert_eq!(message[8..], [first as u8; 3]);
        }
    }

    #[test]
    fn rejects_messages_without_room() {
        let mut held = HoldQueue::new(2 * (PREFIX + 11) + 16);
        assert!(held.push(7, &HEADER, &[1; 3]) && held.push(8, &HEADER, &[2; 3]));
        assert!(!held.push(9, &HEADER, &[3; 3]));
        assert_eq!(held.first(), Some(7));
        held.pop();
        assert!(held.push(9, &HEADER, &[3; 3]));
        assert_eq!(held.pop().map(|message| message[8]), Some(2));
        assert_eq!((held.first(), held.pop().map(|message| message[8])), (Some(9), Some(3)));
        assert_eq!((held.first(), held.pop()), (None, None));
    }

    #[test]
    fn zero_capacity_rejects_everything() {
        let mut held = HoldQueue::new(0);
        assert!(!held.push(1, &HEADER, &[]));
        assert_eq!(held.first(), None);
    }
}
