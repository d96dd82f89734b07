//! The order of things that do not move.

/// Which of up to 14 slots is of which rank, and how many ranks are in use: one word, so that a
/// rank is made or taken away by shifting it, whatever lies in the slots. How many slots there are,
/// `N`, those know who change it.
///
/// | bits | are |
/// |---|---|
/// | 0 to 3 | how many ranks are in use |
/// | 4r + 4 to 4r + 7 | the slot of rank r, 0 to N - 1; 0 is the best; from r = N on all 0 |
///
/// Every slot has exactly one rank; those of the slots not in use are behind those in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelOrder(u64);

/// Bits of a slot's number.
const SLOT_BITS: usize = 4;
/// The count.
const COUNT_MASK: u64 = 0xF;

/// Where a rank stands, or where the last one ends.
#[inline(always)]
const fn shift(rank: usize) -> usize {
    SLOT_BITS * rank + SLOT_BITS
}

/// All below the place of a rank.
#[inline(always)]
const fn mask_below(rank: usize) -> u64 {
    (1 << shift(rank)) - 1
}

impl LevelOrder {
    /// The most slots there can be.
    pub(crate) const MAX_SLOTS: usize = 14;

    /// The first `count` ranks of `N` in use; each rank has the slot of its number.
    #[inline]
    pub(crate) const fn new<const N: usize>(count: usize) -> Self {
        const { assert!(0 < N && N <= Self::MAX_SLOTS) };
        Self(0xEDCB_A987_6543_2100 & mask_below(N)).with_count(count)
    }

    /// How many are in use.
    #[inline(always)]
    pub(crate) const fn count(self) -> usize {
        (self.0 & COUNT_MASK) as usize
    }

    /// So many in use, which leaves all slots where they are.
    #[inline(always)]
    pub(crate) const fn with_count(self, count: usize) -> Self {
        debug_assert!(count <= Self::MAX_SLOTS);
        Self(self.0 & !COUNT_MASK | count as u64)
    }

    /// The slot of a rank.
    #[inline(always)]
    pub(crate) const fn slot(self, rank: usize) -> usize {
        debug_assert!(rank < Self::MAX_SLOTS);
        (self.0 >> shift(rank) & 0xF) as usize
    }

    /// The slot of the last rank: what [`inserted`](Self::opened) gives.
    #[inline(always)]
    pub(crate) const fn spare_slot<const N: usize>(self) -> usize {
        (self.0 >> shift(N - 1)) as usize
    }

    /// The slot of the last rank is of this one now, below `N`, and all ranks from it on are one
    /// further back. As many are in use as were.
    #[inline(always)]
    pub(crate) const fn inserted<const N: usize>(self, rank: usize) -> Self {
        let front = self.0 & mask_below(rank);
        let back = (self.0 & !mask_below(rank)) << SLOT_BITS & mask_below(N);
        Self(front | back | (self.spare_slot::<N>() as u64) << shift(rank))
    }

    /// The slot of this rank, below `N`, is of the last one now, and all ranks behind it are one
    /// further to the front. As many are in use as were.
    #[inline(always)]
    pub(crate) const fn removed<const N: usize>(self, rank: usize) -> Self {
        let front = self.0 & mask_below(rank);
        let back = self.0 >> SLOT_BITS & !mask_below(rank);
        Self(front | back | (self.slot(rank) as u64) << shift(N - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn slots(order: LevelOrder, count: usize) -> Vec<usize> {
        (0..count).map(|rank| order.slot(rank)).collect()
    }

    /// Any openings and closings are those of a list.
    fn is_like_a_list<const N: usize>() {
        let mut order = LevelOrder::new::<N>(N / 2);
        let mut list: Vec<_> = (0..N).collect();
        let mut seed = 7_u64;
        for _ in 0..10_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let rank = (seed >> 33) as usize % N;
            if seed >> 63 == 0 {
                assert_eq!(order.spare_slot::<N>(), list[N - 1]);
                let slot = list.pop().unwrap();
                list.insert(rank, slot);
                order = order.inserted::<N>(rank);
            } else {
                let slot = list.remove(rank);
                list.push(slot);
                order = order.removed::<N>(rank);
            }
            assert_eq!((slots(order, N), order.count()), (list.clone(), N / 2));
        }
    }

    #[test]
    fn ranks_are_opened_and_closed_like_those_of_a_list() {
        is_like_a_list::<1>();
        is_like_a_list::<3>();
        is_like_a_list::<10>();
        is_like_a_list::<14>();
    }

    #[test]
    fn the_count_leaves_the_slots() {
        let order = LevelOrder::new::<10>(0).inserted::<10>(2).removed::<10>(5);
        assert_eq!(order.count(), 0);
        for count in 0..=10 {
            let counted = order.with_count(10).with_count(count);
            assert_eq!((counted.count(), slots(counted, 10)), (count, slots(order, 10)));
        }
    }
}
