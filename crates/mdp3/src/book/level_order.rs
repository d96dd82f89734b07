//! The order of levels that do not move in memory.

/// The assignment of up to 14 slots to ranks, and the number of ranks in use, in one word.
/// Inserting or removing a rank shifts bits and moves no slot. The number of slots, `N`, is a
/// parameter of the methods.
///
/// | bits | contents |
/// |---|---|
/// | 0 to 3 | the number of ranks in use |
/// | 4r + 4 to 4r + 7 | the slot of rank r, 0 to N - 1; rank 0 is the best; 0 for r >= N |
///
/// Each slot has exactly one rank. Ranks of unused slots follow those in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelOrder(u64);

/// The number of bits per slot number.
const SLOT_BITS: usize = 4;
/// The mask of the number of ranks in use.
const COUNT_MASK: u64 = 0xF;

/// Returns the bit position of a rank.
#[inline(always)]
const fn shift(rank: usize) -> usize {
    SLOT_BITS * rank + SLOT_BITS
}

/// Returns the mask of all bits below a rank.
#[inline(always)]
const fn mask_below(rank: usize) -> u64 {
    (1 << shift(rank)) - 1
}

impl LevelOrder {
    /// The maximum number of slots.
    pub(crate) const MAX_SLOTS: usize = 14;

    /// Creates an order with the first `count` of `N` ranks in use; each rank has the slot of its
    /// own number.
    #[inline]
    pub(crate) const fn new<const N: usize>(count: usize) -> Self {
        const { assert!(0 < N && N <= Self::MAX_SLOTS) };
        Self(0xEDCB_A987_6543_2100 & mask_below(N)).with_count(count)
    }

    /// Returns the number of ranks in use.
    #[inline(always)]
    pub(crate) const fn count(self) -> usize {
        (self.0 & COUNT_MASK) as usize
    }

    /// Sets the number of ranks in use. All slots keep their ranks.
    #[inline(always)]
    pub(crate) const fn with_count(self, count: usize) -> Self {
        debug_assert!(count <= Self::MAX_SLOTS);
        Self(self.0 & !COUNT_MASK | count as u64)
    }

    /// Returns the slot of a rank.
    #[inline(always)]
    pub(crate) const fn slot(self, rank: usize) -> usize {
        debug_assert!(rank < Self::MAX_SLOTS);
        (self.0 >> shift(rank) & 0xF) as usize
    }

    /// Returns the slot of the last rank, which [`inserted`](Self::inserted) assigns.
    #[inline(always)]
    pub(crate) const fn spare_slot<const N: usize>(self) -> usize {
        (self.0 >> shift(N - 1)) as usize
    }

    /// Assigns the slot of the last rank to `rank`, below `N`, and moves all ranks from there on
    /// one back. The number in use does not change.
    #[inline(always)]
    pub(crate) const fn inserted<const N: usize>(self, rank: usize) -> Self {
        let front = self.0 & mask_below(rank);
        let back = (self.0 & !mask_below(rank)) << SLOT_BITS & mask_below(N);
        Self(front | back | (self.spare_slot::<N>() as u64) << shift(rank))
    }

    /// Assigns the slot of `rank`, below `N`, to the last rank, and moves all ranks after it one
    /// forward. The number in use does not change.
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

    /// Compares random insertions and removals with those on a list.
    fn is_like_a_list<const N: usize>() {
        let mut order = LevelOrder::new::<N>(N / 2);
        let mut list: Vec<_> = (0..N).collect();
        let mut random = hairpin_testkit::Random::new(7);
        for _ in 0..10_000 {
            let rank = random.index(N);
            if random.one_in(2) {
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
    fn inserts_and_removes_like_list() {
        is_like_a_list::<1>();
        is_like_a_list::<3>();
        is_like_a_list::<10>();
        is_like_a_list::<14>();
    }

    #[test]
    fn count_does_not_move_slots() {
        let order = LevelOrder::new::<10>(0).inserted::<10>(2).removed::<10>(5);
        assert_eq!(order.count(), 0);
        for count in 0..=10 {
            let counted = order.with_count(10).with_count(count);
            assert_eq!((counted.count(), slots(counted, 10)), (count, slots(order, 10)));
        }
    }
}
