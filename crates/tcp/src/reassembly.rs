//! The ranges received out of order, and the blocks that report them (RFC 2018 §4).

use crate::sequence::{earlier, is_before, later};

/// The most ranges kept. A segment that would need another one is dropped, and sent again.
const RANGES: usize = 16;

/// Ranges of sequence numbers, the latest changed first. They neither overlap nor touch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reassembly {
    ranges: [(u32, u32); RANGES],
    count: u8,
}

impl Reassembly {
    pub(crate) const fn new() -> Self {
        Self { ranges: [(0, 0); RANGES], count: 0 }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the ranges, the latest changed first: the order of the blocks (RFC 2018 §4).
    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges[..usize::from(self.count)]
    }

    /// Adds a range. Returns `false` if there is no room for it.
    pub(crate) fn add(&mut self, start: u32, end: u32) -> bool {
        let (mut start, mut end) = (start, end);
        let mut kept = 0;
        for at in 0..usize::from(self.count) {
            let (left, right) = self.ranges[at];
            if is_before(right, start) || is_before(end, left) {
                self.ranges[kept] = (left, right);
                kept += 1;
            } else {
                (start, end) = (earlier(start, left), later(end, right));
            }
        }
        let fits = kept < RANGES;
        let moved = kept.min(RANGES - 1);
        if fits {
            self.ranges.copy_within(..moved, 1);
            self.ranges[0] = (start, end);
            kept += 1;
        }
        self.count = kept as u8;
        fits
    }

    /// Removes the ranges that start at or before `next`. Returns the end of the data that follow
    /// without a gap.
    pub(crate) fn advance(&mut self, next: u32) -> u32 {
        let mut end = next;
        let mut kept = 0;
        // The ranges do not touch, so at most one starts at the end of what was received.
        for at in 0..usize::from(self.count) {
            let (left, right) = self.ranges[at];
            if is_before(next, left) {
                self.ranges[kept] = (left, right);
                kept += 1;
            } else {
                end = later(end, right);
            }
        }
        self.count = kept as u8;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_ranges_merge_and_the_latest_comes_first() {
        let mut reassembly = Reassembly::new();
        assert!(reassembly.add(10, 20) && reassembly.add(30, 40) && reassembly.add(50, 60));
        assert_eq!(reassembly.ranges(), [(50, 60), (30, 40), (10, 20)]);
        assert!(reassembly.add(20, 30));
        assert_eq!(reassembly.ranges(), [(10, 40), (50, 60)]);
        assert!(reassembly.add(12, 14));
        assert_eq!(reassembly.ranges(), [(10, 40), (50, 60)]);
    }

    #[test]
    fn range_beyond_capacity_is_rejected() {
        let mut reassembly = Reassembly::new();
        for range in 0..16 {
            assert!(reassembly.add(range * 10, range * 10 + 5));
        }
        assert!(!reassembly.add(500, 505));
        assert_eq!(reassembly.ranges().len(), 16);
        assert!(reassembly.add(5, 10), "it joins two ranges");
        assert_eq!(reassembly.ranges()[0], (0, 15));
    }

    #[test]
    fn advance_returns_the_end_of_contiguous_data() {
        let mut reassembly = Reassembly::new();
        reassembly.add(10, 20);
        reassembly.add(30, 40);
        assert_eq!(reassembly.advance(9), 9);
        assert_eq!(reassembly.advance(12), 20);
        assert_eq!(reassembly.ranges(), [(30, 40)]);
        assert_eq!(reassembly.advance(45), 45);
        assert!(reassembly.is_empty());
    }
}
