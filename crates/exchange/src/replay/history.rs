//! The latest packets of the incremental feed.

use crate::MAX_PAYLOAD;

/// A ring buffer of packets with consecutive numbers.
#[derive(Debug)]
pub(super) struct History {
    bytes: Box<[u8]>,
    lengths: Box<[u16]>,
    /// The number of the oldest packet.
    first: u32,
    count: u32,
    /// The slot of the oldest packet.
    slot: usize,
}

impl History {
    pub(super) fn new(packets: u32) -> Self {
        let slots = packets as usize;
        Self {
            bytes: vec![0; slots * MAX_PAYLOAD].into(),
            lengths: vec![0; slots].into(),
            first: 0,
            count: 0,
            slot: 0,
        }
    }

    /// Stores a packet, overwriting the oldest if the ring is full.
    pub(super) fn store(&mut self, sequence: u32, packet: &[u8]) {
        if self.first.checked_add(self.count) != Some(sequence) {
            (self.first, self.count, self.slot) = (sequence, 0, 0);
        }
        let slots = self.lengths.len();
        if self.count as usize == slots {
            self.first += 1;
            self.count -= 1;
            self.slot = (self.slot + 1) % slots;
        }
        let slot = (self.slot + self.count as usize) % slots;
        // The length is at most the payload of a datagram.
        self.lengths[slot] = packet.len() as u16;
        self.bytes[slot * MAX_PAYLOAD..][..packet.len()].copy_from_slice(packet);
        self.count += 1;
    }

    pub(super) fn at(&self, sequence: u32) -> Option<&[u8]> {
        let offset = sequence.checked_sub(self.first).filter(|&offset| offset < self.count)?;
        let slot = (self.slot + offset as usize) % self.lengths.len();
        Some(&self.bytes[slot * MAX_PAYLOAD..][..usize::from(self.lengths[slot])])
    }

    /// Returns the first and last number.
    pub(super) fn range(&self) -> Option<(u32, u32)> {
        let last = self.count.checked_sub(1)?;
        Some((self.first, self.first + last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_the_latest_packets() {
        let mut history = History::new(3);
        (5..=9_u8).for_each(|n| history.store(u32::from(n), &[n; 20]));
        assert_eq!(history.range(), Some((7, 9)));
        assert_eq!(history.at(6), None);
        for n in 7..=9_u8 {
            assert_eq!(history.at(u32::from(n)), Some(&[n; 20][..]));
        }
        assert_eq!(history.at(10), None);
    }

    #[test]
    fn non_consecutive_number_restarts_the_history() {
        let mut history = History::new(3);
        history.store(8, b"old");
        history.store(1, b"new");
        assert_eq!((history.range(), history.at(8)), (Some((1, 1)), None));
        assert_eq!(history.at(1), Some(&b"new"[..]));
    }
}
