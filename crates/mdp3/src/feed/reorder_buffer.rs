//! Packets that arrived early, buffered until the gap before them is filled.

use alloc::vec;
use alloc::vec::Vec;

use hairpin_time::Instant;

use crate::{Feed, Packet};

/// A fixed number of slots of fixed size. The sequence of a packet determines its slot.
///
/// All buffered sequences lie within one window of as many packets as there are slots, so no two
/// share a slot.
#[derive(Debug)]
pub(crate) struct ReorderBuffer {
    slots: Vec<Option<BufferedPacket>>,
    bytes: Vec<u8>,
    slot_bytes: usize,
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct BufferedPacket {
    packet: Packet,
    length: usize,
}

impl ReorderBuffer {
    /// Creates a buffer for `packets` packets of up to `slot_bytes` bytes each.
    pub(crate) fn new(packets: usize, slot_bytes: usize) -> Self {
        let slots = vec![None; packets];
        Self { slots, bytes: vec![0; packets * slot_bytes], slot_bytes, count: 0 }
    }

    /// Returns `true` if no packet is buffered.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns `true` if a packet of `length` bytes with `sequence` fits while `expected` is next.
    pub(crate) fn has_room(&self, expected: u32, sequence: u32, length: usize) -> bool {
        ((sequence - expected) as usize) < self.slots.len() && length <= self.slot_bytes
    }

    /// Stores a packet that fits. Returns `false` if it is already buffered.
    pub(crate) fn insert(&mut self, packet: Packet, bytes: &[u8]) -> bool {
        let slot = packet.sequence as usize % self.slots.len();
        if self.slots[slot].is_some() {
            return false;
        }
        self.slots[slot] = Some(BufferedPacket { packet, length: bytes.len() });
        self.bytes[slot * self.slot_bytes..][..bytes.len()].copy_from_slice(bytes);
        self.count += 1;
        true
    }

    /// Removes and returns the packet with `sequence`, if it is buffered.
    #[inline]
    pub(crate) fn remove(&mut self, sequence: u32) -> Option<(Packet, &[u8])> {
        if self.count == 0 {
            return None;
        }
        let slot = sequence as usize % self.slots.len();
        let held = self.slots[slot].take_if(|held| held.packet.sequence == sequence)?;
        self.count -= 1;
        Some((held.packet, &self.bytes[slot * self.slot_bytes..][..held.length]))
    }

    /// Returns the lowest buffered sequence. None is below `expected`.
    pub(crate) fn lowest_sequence(&self, expected: u32) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        // All lie within one window, so the first one found from `expected` on is the lowest.
        let mut window = (0..self.slots.len() as u32).map(|ahead| expected.wrapping_add(ahead));
        window.find(|sequence| self.handed_over_at(*sequence).is_some())
    }

    /// Returns when a buffered packet was passed to the channel.
    pub(crate) fn handed_over_at(&self, sequence: u32) -> Option<Instant> {
        let held = self.slots.get(sequence as usize % self.slots.len().max(1))?.as_ref()?;
        (held.packet.sequence == sequence).then_some(held.packet.handed_over)
    }

    /// Discards all packets. Returns how many of them came from the lines, not from replay.
    pub(crate) fn clear(&mut self) -> usize {
        let is_of_side = |held: &&BufferedPacket| held.packet.feed != Feed::Replay;
        let count = self.slots.iter().flatten().filter(is_of_side).count();
        self.slots.fill(None);
        self.count = 0;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_by_sequence_and_finds_lowest() {
        let mut buffer = ReorderBuffer::new(4, 8);
        assert!(buffer.insert(Packet::with_sequence(13), b"three"));
        assert!(buffer.insert(Packet::with_sequence(11), b"one"));
        assert!(!buffer.insert(Packet::with_sequence(11), b"other"));
        assert_eq!(buffer.lowest_sequence(10), Some(11));
        assert!(buffer.remove(12).is_none());
        assert_eq!(buffer.remove(11).map(|(_, bytes)| bytes), Some(&b"one"[..]));
        assert_eq!(buffer.lowest_sequence(12), Some(13));
        assert_eq!(buffer.clear(), 1);
        assert!(buffer.is_empty() && buffer.remove(13).is_none());
    }

    #[test]
    fn has_room_within_its_window_and_slot() {
        let buffer = ReorderBuffer::new(4, 8);
        assert!(buffer.has_room(10, 13, 8));
        assert!(!buffer.has_room(10, 14, 8));
        assert!(!buffer.has_room(10, 11, 9));
    }

    #[test]
    fn buffer_without_slots_stores_nothing() {
        let mut buffer = ReorderBuffer::new(0, 8);
        assert!(!buffer.has_room(1, 2, 1));
        assert!(buffer.remove(2).is_none());
    }
}
