//! The storage of one price book.
//!
//! ```text
//! line 0     next RptSeq, state, depth, best bid, best ask, SecurityID, flags
//! lines 1-8  the order of the bids and ten levels of 24 bytes; the same for the asks
//! ```
//! All books of a channel are adjacent. Line 0 repeats the best levels, so that a decision on them
//! reads one cache line. They are updated at the end of a message, which also determines whether
//! they have changed.

use core::hint::black_box;

use crate::book::ladder::{BookAction, Inapplicable, Ladder};
use crate::book::levels::{Level, Levels, MAX_DEPTH};
use crate::recovery::sync_state::State;
use crate::{BookSide, Changes};

/// Line 0 of an instrument.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Head {
    pub(crate) next_rpt_seq: u32,
    pub(crate) state: State,
    pub(crate) depth: u8,
    best_bid: Level,
    best_ask: Level,
    pub(crate) security_id: i32,
    /// The books that the current message has changed (`BOOK`, `IMPLIED` or both), and the changes
    /// of best levels updated during the message.
    pub(crate) message_changes: Changes,
    /// The changes of the current event.
    pub(crate) event_changes: Changes,
    /// Sides whose best level may differ from the one in line 0.
    stale: SideSet,
    /// Sides that had levels at the last update of line 0.
    had_levels: SideSet,
}

/// A set of sides: bit 0 for bids, bit 1 for asks.
#[derive(Debug, Clone, Copy)]
struct SideSet(u8);

impl SideSet {
    const NONE: Self = Self(0);
    const BOTH: Self = Self(0b11);

    const fn contains(self, side: BookSide) -> bool {
        self.0 & 1 << side as u8 != 0
    }

    const fn with(self, side: BookSide) -> Self {
        self.with_if(side, true)
    }

    const fn with_if(self, side: BookSide, included: bool) -> Self {
        Self(self.0 | (included as u8) << side as u8)
    }

    const fn without(self, side: BookSide) -> Self {
        Self(self.0 & !(1 << side as u8))
    }
}

/// A book of an instrument with up to `N` levels per side.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct BookSlot<const N: usize> {
    pub(crate) head: Head,
    bids: Ladder<N>,
    asks: Ladder<N>,
}

/// An instrument's direct book and the fields that every packet needs.
pub(crate) type DirectBookSlot = BookSlot<MAX_DEPTH>;

const _: () = assert!(size_of::<Head>() == 64 && size_of::<Level>() == 24);
const _: () = assert!(size_of::<DirectBookSlot>() == 576 && align_of::<DirectBookSlot>() == 64);

impl<const N: usize> BookSlot<N> {
    /// An empty book of an unknown instrument.
    pub(crate) const EMPTY: Self = Self {
        head: Head {
            next_rpt_seq: 0,
            state: State::Unknown,
            depth: 0,
            best_bid: Level::NONE,
            best_ask: Level::NONE,
            security_id: 0,
            message_changes: Changes::NONE,
            event_changes: Changes::NONE,
            stale: SideSet::NONE,
            had_levels: SideSet::NONE,
        },
        bids: Ladder::EMPTY,
        asks: Ladder::EMPTY,
    };

    /// Reads from each cache line of the book.
    #[inline]
    pub(crate) fn prefetch(&self) {
        black_box(self.head.next_rpt_seq);
        for side in [&self.bids, &self.asks] {
            // Levels have 24 bytes, so every second one covers all cache lines.
            side.slots().iter().step_by(2).for_each(|level| _ = black_box(level.price));
        }
    }

    /// Replaces a level, counted from 0. Returns the previous level.
    #[inline]
    pub(crate) fn replace(
        &mut self,
        side: BookSide,
        level: usize,
        new_level: Level,
    ) -> Result<Level, Inapplicable> {
        if level == 0 {
            self.head.stale = self.head.stale.with(side);
        }
        self.ladder_mut(side).replace(level, new_level)
    }

    /// Applies an entry on the fast path; see [`Ladder::apply_fast_path`].
    #[inline(always)]
    pub(crate) fn apply_fast_path(
        &mut self,
        side: BookSide,
        (action, level): (BookAction, usize),
        new_level: Level,
    ) -> bool {
        let depth = usize::from(self.head.depth);
        let applied = self.ladder_mut(side).apply_fast_path(depth, (action, level), new_level);
        self.head.stale = self.head.stale.with_if(side, applied && level == 0);
        applied
    }

    /// Applies any entry; `level` counts from 0.
    pub(crate) fn apply(
        &mut self,
        side: BookSide,
        action: BookAction,
        level: usize,
        new_level: Level,
    ) -> Result<(), Inapplicable> {
        if level == 0 || action == BookAction::DeleteThru {
            self.head.stale = self.head.stale.with(side);
        }
        let depth = usize::from(self.head.depth);
        self.ladder_mut(side).apply(depth, (action, level), new_level)
    }

    #[inline]
    fn ladder_mut(&mut self, side: BookSide) -> &mut Ladder<N> {
        match side {
            BookSide::Bid => &mut self.bids,
            BookSide::Ask => &mut self.asks,
        }
    }

    /// Returns the present levels of a side, even inside a message.
    #[inline]
    pub(crate) fn levels(&self, side: BookSide) -> Levels<'_> {
        match side {
            BookSide::Bid => self.bids.levels(),
            BookSide::Ask => self.asks.levels(),
        }
    }

    /// Replaces both sides by the given levels, truncated to the depth.
    pub(crate) fn load(&mut self, bids: &[Level], asks: &[Level]) {
        let depth = usize::from(self.head.depth);
        self.bids.load(&bids[..bids.len().min(depth)]);
        self.asks.load(&asks[..asks.len().min(depth)]);
        self.head.stale = SideSet::BOTH;
    }

    /// Empties both sides.
    pub(crate) fn clear(&mut self) {
        self.bids.truncate(0);
        self.asks.truncate(0);
        self.head.stale = SideSet::BOTH;
    }

    /// Sets the depth, at most `N`, and drops the levels below it.
    pub(crate) fn set_depth(&mut self, depth: u8) {
        debug_assert!(usize::from(depth) <= N);
        self.head.depth = depth;
        self.bids.truncate(usize::from(depth));
        self.asks.truncate(usize::from(depth));
        self.head.stale = SideSet::BOTH;
    }

    /// Makes the next [`update_best`](Self::update_best) report the best levels as new.
    pub(crate) fn forget_best(&mut self) {
        (self.head.best_bid, self.head.best_ask) = (Level::NONE, Level::NONE);
        (self.head.had_levels, self.head.stale) = (SideSet::NONE, SideSet::BOTH);
    }

    /// Copies the best levels to line 0. Returns what changed since the last call.
    #[inline]
    pub(crate) fn update_best(&mut self) -> Changes {
        let stale = core::mem::replace(&mut self.head.stale, SideSet::NONE);
        let mut changes = Changes::BOOK;
        if stale.contains(BookSide::Bid) {
            changes = changes.union(self.update_best_side(BookSide::Bid));
        }
        if stale.contains(BookSide::Ask) {
            changes = changes.union(self.update_best_side(BookSide::Ask));
        }
        changes
    }

    #[inline]
    fn update_best_side(&mut self, side: BookSide) -> Changes {
        let head = &mut self.head;
        let (levels, best, changes, price_changes) = match side {
            BookSide::Bid => {
                let (changes, price_changes) = (Changes::BEST_BID, Changes::BEST_BID_PRICE);
                (self.bids.levels(), &mut head.best_bid, changes, price_changes)
            }
            BookSide::Ask => {
                let (changes, price_changes) = (Changes::BEST_ASK, Changes::BEST_ASK_PRICE);
                (self.asks.levels(), &mut head.best_ask, changes, price_changes)
            }
        };
        let first = levels.first();
        let (has, had_levels) = (first.is_some(), head.had_levels.contains(side));
        let level = first.copied().unwrap_or(Level::NONE);
        if level == *best && has == had_levels {
            return Changes::NONE;
        }
        head.had_levels =
            if has { head.had_levels.with(side) } else { head.had_levels.without(side) };
        let before = core::mem::replace(best, level);
        let is_price = before.price != level.price || has != had_levels;
        if is_price { changes.union(price_changes) } else { changes }
    }

    /// Returns the highest bid as of the last [`Self::update_best`].
    #[inline]
    pub(crate) fn best_bid(&self) -> Option<&Level> {
        if self.head.had_levels.contains(BookSide::Bid) { Some(&self.head.best_bid) } else { None }
    }

    /// Returns the lowest ask as of the last [`Self::update_best`].
    #[inline]
    pub(crate) fn best_ask(&self) -> Option<&Level> {
        if self.head.had_levels.contains(BookSide::Ask) { Some(&self.head.best_ask) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Book, Price9};

    fn level(price: i64, quantity: u64) -> Level {
        Level { price: Price9(price), quantity, orders: 1 }
    }

    fn slot(bids: &[Level], asks: &[Level]) -> DirectBookSlot {
        let mut slot = DirectBookSlot::EMPTY;
        slot.set_depth(10);
        slot.load(bids, asks);
        slot.update_best();
        slot
    }

    #[test]
    fn update_distinguishes_price_from_quantity() {
        let mut slot = slot(&[level(9, 5), level(8, 5)], &[level(11, 5)]);
        assert_eq!(slot.update_best(), Changes::BOOK);
        assert_eq!(slot.apply(BookSide::Bid, BookAction::Change, 0, level(9, 6)), Ok(()));
        assert_eq!(slot.update_best(), Changes::BOOK.union(Changes::BEST_BID));
        assert_eq!(slot.apply(BookSide::Ask, BookAction::New, 0, level(10, 1)), Ok(()));
        let changes = slot.update_best();
        assert!(changes.contains(Changes::BEST_ASK.union(Changes::BEST_ASK_PRICE)));
        assert!(!changes.intersects(Changes::BEST_BID));
        assert!(changes.best_price());
    }

    #[test]
    fn removal_of_last_level_is_price_change_at_price_0() {
        let mut slot = slot(&[Level::NONE], &[Level::NONE]);
        assert_eq!(Book::new(&slot).best_bid(), Some(&Level::NONE));
        assert_eq!(slot.apply(BookSide::Bid, BookAction::Delete, 0, Level::NONE), Ok(()));
        assert_eq!(slot.apply(BookSide::Ask, BookAction::Delete, 0, Level::NONE), Ok(()));
        let changes = slot.update_best();
        assert!(changes.contains(Changes::BEST_BID_PRICE.union(Changes::BEST_ASK_PRICE)));
        assert!(Book::new(&slot).best_bid().is_none() && Book::new(&slot).best_ask().is_none());
    }

    #[test]
    fn update_detects_every_change_of_best_level() {
        let before = slot(&[level(9, 5), level(8, 5), level(7, 5)], &[level(11, 5)]);
        let entry = |action, place, new_level| {
            let mut slot = before;
            assert_eq!(slot.apply(BookSide::Bid, action, place, new_level), Ok(()));
            slot
        };
        let mut replaced = before;
        assert_eq!(replaced.replace(BookSide::Bid, 0, level(6, 5)), Ok(level(9, 5)));
        let (mut loaded, mut cleared, mut cut) = (before, before, before);
        loaded.load(&[level(6, 5)], &[level(11, 5)]);
        cleared.clear();
        cut.set_depth(0);
        let changed = [
            entry(BookAction::New, 0, level(10, 5)),
            entry(BookAction::Overlay, 0, level(6, 5)),
            entry(BookAction::Delete, 0, Level::NONE),
            entry(BookAction::DeleteThru, 1, Level::NONE),
            entry(BookAction::DeleteFrom, 0, Level::NONE),
            replaced,
            loaded,
            cleared,
            cut,
        ];
        for mut slot in changed {
            assert!(slot.update_best().contains(Changes::BEST_BID_PRICE));
            assert_eq!(slot.best_bid(), slot.levels(BookSide::Bid).first());
            assert_eq!(slot.best_ask(), slot.levels(BookSide::Ask).first());
            assert_eq!(slot.update_best(), Changes::BOOK);
        }
    }

    #[test]
    fn smaller_depth_drops_levels() {
        let mut slot = slot(&[level(9, 5), level(8, 5)], &[level(11, 5), level(12, 5)]);
        slot.set_depth(1);
        assert_eq!((slot.levels(BookSide::Bid).len(), slot.levels(BookSide::Ask).len()), (1, 1));
    }
}
