//! Price levels and the view of one side's levels.

use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::Index;

use crate::Price9;
use crate::book::level_order::LevelOrder;

/// The maximum number of levels per side of a direct book: CME's deepest price book.
pub const MAX_DEPTH: usize = 10;

/// The maximum number of levels per side of an implied book: those of FX Spot+.
pub const MAX_IMPLIED_DEPTH: usize = 3;

/// A price level of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Level {
    /// MDEntryPx, as on the wire. Multiply by the definition's display factor for display.
    pub price: Price9,
    /// MDEntrySize: the quantity of all orders at the price.
    pub quantity: u64,
    /// NumberOfOrders, 0 where the exchange does not publish it.
    pub orders: u32,
}

impl Level {
    /// The contents of unused memory.
    pub(crate) const NONE: Self = Self { price: Price9(0), quantity: 0, orders: 0 };
}

/// The levels of a side, best first.
///
/// A view: the levels are not in this order in memory. [`Book::copied`](crate::Book::copied) and
/// [`to_vec`](Self::to_vec) copy them in order.
#[derive(Clone, Copy)]
pub struct Levels<'a> {
    slots: &'a [Level],
    order: LevelOrder,
}

impl<'a> Levels<'a> {
    #[inline]
    pub(crate) const fn new(slots: &'a [Level], order: LevelOrder) -> Self {
        Self { slots, order }
    }

    /// Returns the number of levels.
    #[must_use]
    #[inline]
    pub const fn len(self) -> usize {
        self.order.count()
    }

    /// Returns `true` if there are no levels.
    #[must_use]
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the level at `rank`; rank 0 is the best.
    #[must_use]
    #[inline]
    pub fn get(self, rank: usize) -> Option<&'a Level> {
        if rank < self.len() { self.slots.get(self.order.slot(rank)) } else { None }
    }

    /// Returns the best level.
    #[must_use]
    #[inline]
    pub fn first(self) -> Option<&'a Level> {
        self.get(0)
    }

    /// Returns the worst level.
    #[must_use]
    #[inline]
    pub fn last(self) -> Option<&'a Level> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Iterates from the best level to the worst; reversed, from the worst to the best.
    #[must_use]
    #[inline]
    pub const fn iter(self) -> LevelsIter<'a> {
        LevelsIter { levels: self, from: 0, to: self.len() }
    }

    /// Returns a copy of the levels, best first.
    #[must_use]
    pub fn to_vec(self) -> Vec<Level> {
        self.iter().copied().collect()
    }
}

/// Indexes by rank; 0 is the best.
impl Index<usize> for Levels<'_> {
    type Output = Level;

    /// # Panics
    ///
    /// Panics if `rank` is not below the number of levels.
    fn index(&self, rank: usize) -> &Level {
        self.get(rank).expect("rank is below the number of levels")
    }
}

impl<'a> IntoIterator for Levels<'a> {
    type Item = &'a Level;
    type IntoIter = LevelsIter<'a>;

    fn into_iter(self) -> LevelsIter<'a> {
        self.iter()
    }
}

impl PartialEq for Levels<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Levels<'_> {}

impl PartialEq<[Level]> for Levels<'_> {
    fn eq(&self, other: &[Level]) -> bool {
        self.iter().eq(other)
    }
}

impl fmt::Debug for Levels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

/// An iterator over the levels of a side; see [`Levels::iter`].
#[derive(Debug, Clone)]
pub struct LevelsIter<'a> {
    levels: Levels<'a>,
    from: usize,
    to: usize,
}

impl<'a> Iterator for LevelsIter<'a> {
    type Item = &'a Level;

    #[inline]
    fn next(&mut self) -> Option<&'a Level> {
        if self.from >= self.to {
            return None;
        }
        self.from += 1;
        self.levels.get(self.from - 1)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.to - self.from;
        (left, Some(left))
    }
}

impl DoubleEndedIterator for LevelsIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.from >= self.to {
            return None;
        }
        self.to -= 1;
        self.levels.get(self.to)
    }
}

impl ExactSizeIterator for LevelsIter<'_> {}

impl FusedIterator for LevelsIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::ladder::{BookAction, Ladder};
    use alloc::vec;

    fn at(price: i64) -> Level {
        Level { price: Price9(price), quantity: 1, orders: 1 }
    }

    #[test]
    fn iterates_by_rank_from_both_ends() {
        let mut ladder = Ladder::<MAX_DEPTH>::EMPTY;
        ladder.load(&[at(9), at(7)]);
        assert!(ladder.apply_fast_path(10, (BookAction::New, 1), at(8)));
        let levels = ladder.levels();
        assert_eq!((levels.len(), levels.is_empty()), (3, false));
        assert_eq!(levels.to_vec(), vec![at(9), at(8), at(7)]);
        assert_eq!((levels.first(), levels.last()), (Some(&at(9)), Some(&at(7))));
        assert_eq!((levels.get(1), levels.get(3), levels[2]), (Some(&at(8)), None, at(7)));
        assert!(levels.iter().rev().eq(&[at(7), at(8), at(9)]));
        let mut ends = levels.into_iter();
        assert_eq!((ends.next(), ends.next_back(), ends.len()), (Some(&at(9)), Some(&at(7)), 1));
        assert_eq!((ends.next(), ends.next(), ends.next_back()), (Some(&at(8)), None, None));
        assert_eq!(levels, [at(9), at(8), at(7)][..]);
        assert_ne!(levels, [at(9), at(8)][..]);
    }

    #[test]
    fn equality_ignores_memory_order() {
        let (mut one, mut other) = (Ladder::<MAX_DEPTH>::EMPTY, Ladder::<MAX_DEPTH>::EMPTY);
        one.load(&[at(9), at(8)]);
        other.load(&[at(8)]);
        assert_ne!(one.levels(), other.levels());
        assert!(other.apply_fast_path(10, (BookAction::New, 0), at(9)));
        assert_eq!(one.levels(), other.levels());
    }

    #[test]
    fn empty_side_has_no_levels() {
        let ladder = Ladder::<MAX_DEPTH>::EMPTY;
        let levels = ladder.levels();
        assert!(levels.is_empty() && levels.first().is_none() && levels.last().is_none());
        assert_eq!((levels.get(0), levels.iter().next(), levels.iter().len()), (None, None, 0));
    }
}
