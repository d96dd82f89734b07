//! The latest packets of the incremental feed.

use crate::MAX_PAYLOAD;

/// A ring of packets with consecutive numbers.
#[derive(Debug)]
pub(super) struct History {
    bytes: Box<[u8]>,
    lengths: Box<[u16]>,
    /// Number of the oldest.
    first: u32,
    count: u32,
    /// Place of the oldest.
    place: usize,
}

impl History {
    pub(super) fn new(packets: u32) -> Self {
        let slots = packets as usize;
        Self {
            bytes: vec![0; slots * MAX_PAYLOAD].into(),
            lengths: vec![0; slots].into(),
            first: 0,
            count: 0,
            place: 0,
        }
    }

    /// Takes in a packet, and lets go of the oldest if there is no room.
    pub(super) fn keep(&mut self, sequence: u32, packet: &[u8]) {
        if self.first.checked_add(self.count) != Some(sequence) {
            (self.first, self.count, self.place) = (sequence, 0, 0);
        }
        let slots = self.lengths.len();
        if self.count as usize == slots {
            self.first += 1;
            self.count -= 1;
            self.place = (self.place + 1) % slots;
        }
        let place = (self.place + self.count as usize) % slots;
        // Never longer than the payload of a datagram.
        self.lengths[place] = packet.len() as u16;
        self.bytes[place * MAX_PAYLOAD..][..packet.len()].copy_from_slice(packet);
        self.count += 1;
    }

    pub(super) fn at(&self, sequence: u32) -> Option<&[u8]> {
        let behind = sequence.checked_sub(self.first).filter(|&behind| behind < self.count)?;
        let place = (self.place + behind as usize) % self.lengths.len();
        Some(&self.bytes[place * MAX_PAYLOAD..][..usize::from(self.lengths[place])])
    }

    /// First and last number.
    pub(super) fn range(&self) -> Option<(u32, u32)> {
        let last = self.count.checked_sub(1)?;
        Some((self.first, self.first + last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_latest_in_a_ring() {
        let mut history = History::new(3);
        (5..=9_u8).for_each(|n| history.keep(u32::from(n), &[n; 20]));
        assert_eq!(history.range(), Some((7, 9)));
        assert_eq!(history.at(6), None);
        for n in 7..=9_u8 {
            assert_eq!(history.at(u32::from(n)), Some(&[n; 20][..]));
        }
        assert_eq!(history.at(10), None);
    }

    #[test]
    fn a_number_out_of_turn_begins_anew() {
        let mut history = History::new(3);
        history.keep(8, b"old");
        history.keep(1, b"new");
        assert_eq!((history.range(), history.at(8)), (Some((1, 1)), None));
        assert_eq!(history.at(1), Some(&b"new"[..]));
    }
}
