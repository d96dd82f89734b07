//! The recovery queue: packets whose entries wait for a snapshot, in one flat ring of bytes.

use alloc::vec;
use alloc::vec::Vec;

/// Records lie one after the other; one that would cross the end of the ring starts at 0 instead.
///
/// ```text
/// offset 0  length    u32  of the packet in bytes, or SKIP: the next record is at offset 0
/// offset 4  sequence  u32  of the packet
/// offset 8  packet         padded to a multiple of 8
/// ```
#[derive(Debug)]
pub(crate) struct PacketQueue {
    bytes: Vec<u8>,
    /// Offset of the oldest record, and of the next one to be written.
    head: usize,
    tail: usize,
    count: usize,
}

const HEADER: usize = 8;
const SKIP: u32 = u32::MAX;

impl PacketQueue {
    /// A ring of `capacity` bytes, rounded up to a multiple of 8.
    pub(crate) fn new(capacity: usize) -> Self {
        let bytes = vec![0; capacity.next_multiple_of(HEADER).max(HEADER)];
        Self { bytes, head: 0, tail: 0, count: 0 }
    }

    /// Appends a packet, dropping the oldest ones if there is no room.
    ///
    /// Returns how many were dropped, or `None` if the packet is longer than the ring.
    pub(crate) fn push(&mut self, sequence: u32, packet: &[u8]) -> Option<usize> {
        let size = record_size(packet.len());
        if size > self.bytes.len() {
            return None;
        }
        let mut dropped = 0;
        let offset = loop {
            if let Some(offset) = self.room_for(size) {
                break offset;
            }
            self.drop_oldest();
            dropped += 1;
        };
        if offset != self.tail {
            write_u32(&mut self.bytes, self.tail, SKIP);
        }
        write_u32(&mut self.bytes, offset, packet.len() as u32);
        write_u32(&mut self.bytes, offset + 4, sequence);
        self.bytes[offset + HEADER..][..packet.len()].copy_from_slice(packet);
        self.tail = (offset + size) % self.bytes.len();
        self.count += 1;
        Some(dropped)
    }

    /// The sequence of the oldest packet.
    pub(crate) fn oldest(&self) -> Option<u32> {
        (self.count > 0).then(|| read_u32(&self.bytes, self.head + 4))
    }

    /// Drops the packets up to and including `sequence`.
    pub(crate) fn drop_through(&mut self, sequence: u32) {
        while self.oldest().is_some_and(|oldest| oldest <= sequence) {
            self.drop_oldest();
        }
    }

    /// Drops every packet.
    pub(crate) fn clear(&mut self) {
        (self.head, self.tail, self.count) = (0, 0, 0);
    }

    /// The packets after `sequence`, oldest first.
    pub(crate) fn after(&self, sequence: u32) -> impl Iterator<Item = (u32, &[u8])> {
        let (mut offset, mut left) = (self.head, self.count);
        core::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let length = read_u32(&self.bytes, offset) as usize;
            let record =
                (read_u32(&self.bytes, offset + 4), &self.bytes[offset + HEADER..][..length]);
            offset = self.following(offset, length);
            Some(record)
        })
        .skip_while(move |(queued, _)| *queued <= sequence)
    }

    /// Where a record of `size` bytes can stand without touching those in the ring.
    fn room_for(&self, size: usize) -> Option<usize> {
        let capacity = self.bytes.len();
        if self.count == 0 {
            return Some(if self.tail + size <= capacity { self.tail } else { 0 });
        }
        if self.tail > self.head {
            return if self.tail + size <= capacity {
                Some(self.tail)
            } else {
                (size <= self.head).then_some(0)
            };
        }
        (self.tail + size <= self.head).then_some(self.tail)
    }

    fn drop_oldest(&mut self) {
        let length = read_u32(&self.bytes, self.head) as usize;
        self.head = self.following(self.head, length);
        self.count -= 1;
        if self.count == 0 {
            self.clear();
        }
    }

    /// The offset of the record after the one at `offset`.
    fn following(&self, offset: usize, length: usize) -> usize {
        let next = (offset + record_size(length)) % self.bytes.len();
        if next != self.tail && read_u32(&self.bytes, next) == SKIP { 0 } else { next }
    }
}

fn record_size(length: usize) -> usize {
    HEADER + length.next_multiple_of(HEADER)
}

fn read_u32(bytes: &[u8], offset: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[offset..offset + 4]);
    u32::from_ne_bytes(word)
}

fn write_u32(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    #[test]
    fn a_packet_longer_than_the_ring_is_refused() {
        let mut queue = PacketQueue::new(64);
        assert_eq!(queue.push(1, &[0; 57]), None);
        assert_eq!(queue.push(1, &[0; 56]), Some(0));
        assert_eq!(queue.push(2, &[0; 1]), Some(1));
        assert_eq!(queue.oldest(), Some(2));
    }

    #[test]
    fn drops_what_a_snapshot_has_made_useless() {
        let mut queue = PacketQueue::new(256);
        (1..=5).for_each(|n| assert_eq!(queue.push(n, &[n as u8]), Some(0)));
        queue.drop_through(3);
        assert_eq!(queue.after(0).map(|(n, _)| n).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(queue.after(4).map(|(n, _)| n).collect::<Vec<_>>(), [5]);
        queue.drop_through(9);
        assert_eq!(queue.oldest(), None);
    }

    proptest! {
        /// The ring holds what a deque holds that drops from the front as the ring does.
        #[test]
        fn agrees_with_a_deque(
            lengths in prop::collection::vec(0usize..120, 0..200),
            capacity in 16usize..400,
        ) {
            let mut queue = PacketQueue::new(capacity);
            let mut deque: VecDeque<(u32, Vec<u8>)> = VecDeque::new();
            for (n, length) in lengths.into_iter().enumerate() {
                let packet = vec![n as u8; length];
                if let Some(dropped) = queue.push(n as u32, &packet) {
                    deque.drain(..dropped);
                    deque.push_back((n as u32, packet));
                }
                prop_assert!(queue.after(0).eq(
                    deque.iter().filter(|(n, _)| *n > 0).map(|(n, packet)| (*n, &packet[..]))
                ));
                prop_assert_eq!(queue.oldest(), deque.front().map(|(n, _)| *n));
            }
        }
    }
}
