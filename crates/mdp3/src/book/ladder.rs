//! A side of a price book, and the effect of an entry on it.
//!
//! The rules are CME's for multiple-depth books (Client Systems Wiki, "MDP 3.0 - Market By Price
//! Multiple Depth Book"), with FIX's definition of DeleteThru and DeleteFrom, which CME's text does
//! not specify: *thru* n removes everything from the best through n, *from* n removes n and
//! everything worse. Sources disagree: in EPAM's handler Thru empties the side and From removes the
//! levels 1 to n. No public capture contains either action.
//!
//! A Delete in a full book leaves the last level empty. If the exchange has a level for it, a
//! separate entry follows. A New in a full book drops the last level without an entry.
//!
//! Levels never move in memory. New and Delete change only their order, which is one 64-bit word.

use core::hint::select_unpredictable;

use crate::book::level_order::LevelOrder;
use crate::book::levels::{Level, Levels};

/// MDUpdateAction (tag 279) of a book entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BookAction {
    New,
    Change,
    Delete,
    DeleteThru,
    DeleteFrom,
    Overlay,
}

impl BookAction {
    /// Converts a wire value; `None` for a value that schema version 13 does not define.
    pub(crate) const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            0 => Self::New,
            1 => Self::Change,
            2 => Self::Delete,
            3 => Self::DeleteThru,
            4 => Self::DeleteFrom,
            5 => Self::Overlay,
            _ => return None,
        })
    }
}

/// The book does not have the level that the entry requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inapplicable;

/// A side of a book, of up to `N` levels. Ranks count from 0, the best.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Ladder<const N: usize> {
    order: LevelOrder,
    slots: [Level; N],
}

impl<const N: usize> Ladder<N> {
    /// A side without levels.
    pub(crate) const EMPTY: Self = Self { order: LevelOrder::new::<N>(0), slots: [Level::NONE; N] };

    /// Returns the levels, best first.
    #[inline]
    pub(crate) fn levels(&self) -> Levels<'_> {
        Levels::new(&self.slots, self.order)
    }

    /// Returns the storage of the levels, unordered.
    #[inline]
    pub(crate) const fn slots(&self) -> &[Level; N] {
        &self.slots
    }

    /// Replaces all levels, as far as there is room.
    pub(crate) fn load(&mut self, levels: &[Level]) {
        let count = levels.len().min(N);
        self.slots[..count].copy_from_slice(&levels[..count]);
        self.order = LevelOrder::new::<N>(count);
    }

    /// Keeps the first `count` levels.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.order = self.order.with_count(self.order.count().min(count));
    }

    /// Replaces a level. Returns the previous one.
    #[inline]
    pub(crate) fn replace(&mut self, rank: usize, new_level: Level) -> Result<Level, Inapplicable> {
        let level = self.level_mut(rank).ok_or(Inapplicable)?;
        Ok(core::mem::replace(level, new_level))
    }

    /// Applies a New, a Delete, or a Change at the same price to a book of `depth`, at most `N`;
    /// `rank` is below `depth`. Returns `false` without any change for any other entry, or if the
    /// levels do not permit it.
    ///
    /// All three actions share one branchless path: the next action is unpredictable, and a branch
    /// misprediction costs more than computing all three.
    #[inline(always)]
    pub(crate) fn apply_fast_path(
        &mut self,
        depth: usize,
        (action, rank): (BookAction, usize),
        new_level: Level,
    ) -> bool {
        let (is_new, is_change) = (action == BookAction::New, action == BookAction::Change);
        let (order, count) = (self.order, self.order.count());
        debug_assert!(count <= depth && rank < depth && depth <= N);
        // A Delete writes to the slot that it frees.
        let slot = select_unpredictable(is_new, order.spare_slot::<N>(), order.slot(rank));
        let Some(level) = self.slots.get_mut(slot) else { return false };
        // Only a Change depends on the present level.
        let before = *select_unpredictable(is_change, &level.price, &new_level.price);
        if before != new_level.price || rank >= count + usize::from(is_new) {
            return false;
        }
        *level = new_level;
        let after = select_unpredictable(is_change, order, order.removed::<N>(rank));
        let after = select_unpredictable(is_new, order.inserted::<N>(rank), after);
        let count = (count + usize::from(is_new)).min(depth);
        self.order = after.with_count(count - usize::from(action == BookAction::Delete));
        true
    }

    /// Applies any entry to a book of `depth`, at most `N`.
    ///
    /// `rank` is below `depth` for all actions that state a level; `new_level` is that level.
    // Always inlined: all but two call sites pass a constant action.
    #[inline(always)]
    pub(crate) fn apply(
        &mut self,
        depth: usize,
        (action, rank): (BookAction, usize),
        new_level: Level,
    ) -> Result<(), Inapplicable> {
        match action {
            BookAction::New | BookAction::Delete => self
                .apply_fast_path(depth, (action, rank), new_level)
                .then_some(())
                .ok_or(Inapplicable),
            BookAction::Change | BookAction::Overlay => self.replace(rank, new_level).map(drop),
            BookAction::DeleteThru => {
                self.remove_top(rank + 1);
                Ok(())
            }
            BookAction::DeleteFrom => {
                self.truncate(rank);
                Ok(())
            }
        }
    }

    fn remove_top(&mut self, count: usize) {
        for left in (0..self.order.count()).rev().take(count) {
            self.order = self.order.removed::<N>(0).with_count(left);
        }
    }

    #[inline(always)]
    fn level_mut(&mut self, rank: usize) -> Option<&mut Level> {
        if rank >= self.order.count() {
            return None;
        }
        self.slots.get_mut(self.order.slot(rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_DEPTH, Price9};
    use alloc::vec::Vec;

    fn at(price: i64) -> Level {
        Level { price: Price9(price), quantity: 1, orders: 1 }
    }

    /// Returns the prices after one entry on a side of `depth` with the given prices.
    fn after(
        prices: &[i64],
        depth: usize,
        action: BookAction,
        level: usize,
        price: i64,
    ) -> Result<Vec<i64>, Inapplicable> {
        let mut ladder = Ladder::<MAX_DEPTH>::EMPTY;
        for (rank, price) in prices.iter().enumerate().rev() {
            // Fills slots in another order than the ranks.
            assert!(ladder.apply_fast_path(MAX_DEPTH, (BookAction::New, 0), at(*price)));
            assert_eq!(ladder.levels().len(), prices.len() - rank);
        }
        ladder.apply(depth, (action, level - 1), at(price))?;
        Ok(ladder.levels().iter().map(|level| level.price.0).collect())
    }

    #[test]
    fn new_moves_levels_down() {
        assert_eq!(after(&[9, 7], 10, BookAction::New, 2, 8), Ok([9, 8, 7].to_vec()));
        assert_eq!(after(&[], 10, BookAction::New, 1, 8), Ok([8].to_vec()));
        assert_eq!(after(&[9, 7], 10, BookAction::New, 3, 5), Ok([9, 7, 5].to_vec()));
    }

    #[test]
    fn new_in_a_full_book_drops_the_last_level() {
        assert_eq!(after(&[9, 7, 5], 3, BookAction::New, 1, 10), Ok([10, 9, 7].to_vec()));
        assert_eq!(after(&[9, 7, 5], 3, BookAction::New, 3, 6), Ok([9, 7, 6].to_vec()));
        let full = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1];
        assert_eq!(
            after(&full, 10, BookAction::New, 1, 11),
            Ok([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].to_vec())
        );
    }

    #[test]
    fn new_beyond_the_next_level_is_inapplicable() {
        assert_eq!(after(&[9, 7], 10, BookAction::New, 4, 5), Err(Inapplicable));
    }

    #[test]
    fn change_and_overlay_replace_a_level_that_exists() {
        for action in [BookAction::Change, BookAction::Overlay] {
            assert_eq!(after(&[9, 7], 10, action, 2, 6), Ok([9, 6].to_vec()));
            assert_eq!(after(&[9, 7], 10, action, 3, 6), Err(Inapplicable));
        }
    }

    #[test]
    fn delete_moves_levels_up() {
        assert_eq!(after(&[9, 7, 5], 10, BookAction::Delete, 1, 0), Ok([7, 5].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, BookAction::Delete, 3, 0), Ok([9, 7].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, BookAction::Delete, 4, 0), Err(Inapplicable));
    }

    #[test]
    fn delete_thru_removes_from_the_top_through_the_level() {
        assert_eq!(after(&[9, 7, 5], 10, BookAction::DeleteThru, 1, 0), Ok([7, 5].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, BookAction::DeleteThru, 2, 0), Ok([5].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, BookAction::DeleteThru, 7, 0), Ok([].to_vec()));
    }

    #[test]
    fn delete_from_removes_the_level_and_all_below_it() {
        assert_eq!(after(&[9, 7, 5], 10, BookAction::DeleteFrom, 1, 0), Ok([].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, BookAction::DeleteFrom, 2, 0), Ok([9].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, BookAction::DeleteFrom, 4, 0), Ok([9, 7, 5].to_vec()));
    }

    /// Compares random entries on a ladder with the same on a list.
    #[test]
    fn matches_list() {
        let mut random = hairpin_testkit::Random::new(7);
        for depth in [1, 2, 3, 9, 10] {
            let (mut ladder, mut list) = (Ladder::<MAX_DEPTH>::EMPTY, Vec::new());
            for price in 0..20_000 {
                let action = BookAction::from_wire(random.below(6) as u8).unwrap();
                let rank = random.index(depth);
                // The actions that remove most are rare, so that levels remain.
                if matches!(action, BookAction::DeleteThru | BookAction::DeleteFrom)
                    && !random.one_in(8)
                {
                    continue;
                }
                let applied = ladder.apply(depth, (action, rank), at(price)).is_ok();
                let before = list.len();
                let expected = match action {
                    BookAction::New => rank <= before,
                    BookAction::DeleteThru | BookAction::DeleteFrom => true,
                    _ => rank < before,
                };
                assert_eq!(applied, expected);
                match action {
                    _ if !applied => {}
                    BookAction::New => list.insert(rank, at(price)),
                    BookAction::Change | BookAction::Overlay => list[rank] = at(price),
                    BookAction::Delete => drop(list.remove(rank)),
                    BookAction::DeleteThru => drop(list.drain(..(rank + 1).min(before))),
                    BookAction::DeleteFrom => list.truncate(rank),
                }
                list.truncate(depth);
                assert_eq!(ladder.levels(), list[..]);
            }
        }
    }

    #[test]
    fn change_takes_fast_path_at_same_price() {
        let mut ladder = Ladder::<MAX_DEPTH>::EMPTY;
        ladder.load(&[at(9), at(7)]);
        // The contents of a freed slot do not count as a level.
        assert!(ladder.apply_fast_path(10, (BookAction::New, 2), at(7)));
        assert!(ladder.apply_fast_path(10, (BookAction::Delete, 2), at(7)));
        let new_level = Level { quantity: 5, ..at(7) };
        let mut restate = |rank| ladder.apply_fast_path(10, (BookAction::Change, rank), new_level);
        assert!(!restate(0) && !restate(2));
        assert!(restate(1));
        assert_eq!(ladder.levels(), [at(9), new_level][..]);
    }
}
