//! A price book's place in memory.
//!
//! ```text
//! line 0     next RptSeq, state, depth, best bid, best ask, SecurityID, marks
//! lines 1-8  the ranks of the bids and ten levels of 24 bytes; the same of the asks
//! ```
//! All books of a channel lie one after the other. The best prices stand in line 0 once more, so
//! that a decision on them touches one cache line; they follow the levels when a message is done,
//! which also tells whether they have changed.

use core::hint::black_box;

use crate::book::ladder::{Action, Inapplicable, Ladder};
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
    /// Which books the message being processed has touched, `BOOK`, `IMPLIED` or both, and what
    /// of their best levels was settled amid it.
    pub(crate) touched: Changes,
    /// What the event being processed has changed.
    pub(crate) event_changes: Changes,
    /// Sides whose best level may not be what it was when the best ones were last taken.
    unsettled: Sides,
    /// Sides that had levels then.
    had: Sides,
}

/// A set of sides: bit 0 for bids, bit 1 for asks.
#[derive(Debug, Clone, Copy)]
struct Sides(u8);

impl Sides {
    const NONE: Self = Self(0);
    const BOTH: Self = Self(0b11);

    const fn contains(self, side: BookSide) -> bool {
        self.0 & 1 << side as u8 != 0
    }

    const fn with(self, side: BookSide) -> Self {
        self.with_if(side, true)
    }

    const fn with_if(self, side: BookSide, is_one: bool) -> Self {
        Self(self.0 | (is_one as u8) << side as u8)
    }

    const fn without(self, side: BookSide) -> Self {
        Self(self.0 & !(1 << side as u8))
    }
}

/// A book of an instrument, of up to `N` levels a side.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Cell<const N: usize> {
    pub(crate) head: Head,
    bids: Ladder<N>,
    asks: Ladder<N>,
}

/// An instrument's part of the arena: its direct book, and what else a packet needs.
pub(crate) type DirectCell = Cell<MAX_DEPTH>;

const _: () = assert!(size_of::<Head>() == 64 && size_of::<Level>() == 24);
const _: () = assert!(size_of::<DirectCell>() == 576 && align_of::<DirectCell>() == 64);

impl<const N: usize> Cell<N> {
    /// An empty book of an instrument of which nothing is known.
    pub(crate) const VACANT: Self = Self {
        head: Head {
            next_rpt_seq: 0,
            state: State::Unknown,
            depth: 0,
            best_bid: Level::NONE,
            best_ask: Level::NONE,
            security_id: 0,
            touched: Changes::NONE,
            event_changes: Changes::NONE,
            unsettled: Sides::NONE,
            had: Sides::NONE,
        },
        bids: Ladder::VACANT,
        asks: Ladder::VACANT,
    };

    /// Reads something of each of its cache lines.
    #[inline]
    pub(crate) fn prefetch(&self) {
        black_box(self.head.next_rpt_seq);
        for side in [&self.bids, &self.asks] {
            // 24 bytes each: no line without one of these.
            side.slots().iter().step_by(2).for_each(|level| _ = black_box(level.price));
        }
    }

    /// Replaces a level, counted from 0; returns what it was.
    #[inline]
    pub(crate) fn replace(
        &mut self,
        side: BookSide,
        level: usize,
        stated: Level,
    ) -> Result<Level, Inapplicable> {
        if level == 0 {
            self.head.unsettled = self.head.unsettled.with(side);
        }
        self.side(side).replace(level, stated)
    }

    /// Applies one of the usual entries: see [`Ladder::apply_usual`].
    #[inline(always)]
    pub(crate) fn apply_usual(
        &mut self,
        side: BookSide,
        (action, level): (Action, usize),
        stated: Level,
    ) -> bool {
        let depth = usize::from(self.head.depth);
        let is_usual = self.side(side).apply_usual(depth, (action, level), stated);
        self.head.unsettled = self.head.unsettled.with_if(side, is_usual && level == 0);
        is_usual
    }

    /// Applies one entry; `level` counts from 0.
    pub(crate) fn apply(
        &mut self,
        side: BookSide,
        action: Action,
        level: usize,
        stated: Level,
    ) -> Result<(), Inapplicable> {
        if level == 0 || action == Action::DeleteThru {
            self.head.unsettled = self.head.unsettled.with(side);
        }
        let depth = usize::from(self.head.depth);
        self.side(side).apply(depth, (action, level), stated)
    }

    #[inline]
    fn side(&mut self, side: BookSide) -> &mut Ladder<N> {
        match side {
            BookSide::Bid => &mut self.bids,
            BookSide::Ask => &mut self.asks,
        }
    }

    /// The levels of a side as they are now, also amid a message.
    #[inline]
    pub(crate) fn levels(&self, side: BookSide) -> Levels<'_> {
        match side {
            BookSide::Bid => self.bids.levels(),
            BookSide::Ask => self.asks.levels(),
        }
    }

    /// Replaces both sides by the first levels of these, as many as the depth allows.
    pub(crate) fn load(&mut self, bids: &[Level], asks: &[Level]) {
        let depth = usize::from(self.head.depth);
        self.bids.load(&bids[..bids.len().min(depth)]);
        self.asks.load(&asks[..asks.len().min(depth)]);
        self.head.unsettled = Sides::BOTH;
    }

    /// Empties both sides.
    pub(crate) fn clear(&mut self) {
        self.bids.truncate(0);
        self.asks.truncate(0);
        self.head.unsettled = Sides::BOTH;
    }

    /// Sets the depth, at most `N`, and drops the levels below it.
    pub(crate) fn set_depth(&mut self, depth: u8) {
        debug_assert!(usize::from(depth) <= N);
        self.head.depth = depth;
        self.bids.truncate(usize::from(depth));
        self.asks.truncate(usize::from(depth));
        self.head.unsettled = Sides::BOTH;
    }

    /// Takes the best levels into line 0; returns what of them has changed since the last time.
    #[inline]
    pub(crate) fn settle_best(&mut self) -> Changes {
        let unsettled = core::mem::replace(&mut self.head.unsettled, Sides::NONE);
        let mut changes = Changes::BOOK;
        if unsettled.contains(BookSide::Bid) {
            changes = changes.union(self.settle_side(BookSide::Bid));
        }
        if unsettled.contains(BookSide::Ask) {
            changes = changes.union(self.settle_side(BookSide::Ask));
        }
        changes
    }

    #[inline]
    fn settle_side(&mut self, side: BookSide) -> Changes {
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
        let (has, had) = (first.is_some(), head.had.contains(side));
        let level = first.copied().unwrap_or(Level::NONE);
        if level == *best && has == had {
            return Changes::NONE;
        }
        head.had = if has { head.had.with(side) } else { head.had.without(side) };
        let before = core::mem::replace(best, level);
        let is_price = before.price != level.price || has != had;
        if is_price { changes.union(price_changes) } else { changes }
    }

    /// The highest bid as it was when the best ones were last taken.
    #[inline]
    pub(crate) fn best_bid(&self) -> Option<&Level> {
        if self.head.had.contains(BookSide::Bid) { Some(&self.head.best_bid) } else { None }
    }

    /// The lowest ask as it was when the best ones were last taken.
    #[inline]
    pub(crate) fn best_ask(&self) -> Option<&Level> {
        if self.head.had.contains(BookSide::Ask) { Some(&self.head.best_ask) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Book, Price9};

    fn level(price: i64, quantity: u64) -> Level {
        Level { price: Price9(price), quantity, orders: 1 }
    }

    fn cell(bids: &[Level], asks: &[Level]) -> DirectCell {
        let mut cell = DirectCell::VACANT;
        cell.set_depth(10);
        cell.load(bids, asks);
        cell.settle_best();
        cell
    }

    #[test]
    fn settling_tells_a_price_from_a_quantity() {
        let mut cell = cell(&[level(9, 5), level(8, 5)], &[level(11, 5)]);
        assert_eq!(cell.settle_best(), Changes::BOOK);
        assert_eq!(cell.apply(BookSide::Bid, Action::Change, 0, level(9, 6)), Ok(()));
        assert_eq!(cell.settle_best(), Changes::BOOK.union(Changes::BEST_BID));
        assert_eq!(cell.apply(BookSide::Ask, Action::New, 0, level(10, 1)), Ok(()));
        let changes = cell.settle_best();
        assert!(changes.contains(Changes::BEST_ASK.union(Changes::BEST_ASK_PRICE)));
        assert!(!changes.intersects(Changes::BEST_BID));
        assert!(changes.best_price());
    }

    #[test]
    fn the_last_level_gone_is_a_price_change_even_at_price_0() {
        let mut cell = cell(&[Level::NONE], &[Level::NONE]);
        assert_eq!(Book::new(&cell).best_bid(), Some(&Level::NONE));
        assert_eq!(cell.apply(BookSide::Bid, Action::Delete, 0, Level::NONE), Ok(()));
        assert_eq!(cell.apply(BookSide::Ask, Action::Delete, 0, Level::NONE), Ok(()));
        let changes = cell.settle_best();
        assert!(changes.contains(Changes::BEST_BID_PRICE.union(Changes::BEST_ASK_PRICE)));
        assert!(Book::new(&cell).best_bid().is_none() && Book::new(&cell).best_ask().is_none());
    }

    #[test]
    fn settling_sees_a_best_level_however_it_changed() {
        let before = cell(&[level(9, 5), level(8, 5), level(7, 5)], &[level(11, 5)]);
        let entry = |action, place, stated| {
            let mut cell = before;
            assert_eq!(cell.apply(BookSide::Bid, action, place, stated), Ok(()));
            cell
        };
        let mut replaced = before;
        assert_eq!(replaced.replace(BookSide::Bid, 0, level(6, 5)), Ok(level(9, 5)));
        let (mut loaded, mut cleared, mut cut) = (before, before, before);
        loaded.load(&[level(6, 5)], &[level(11, 5)]);
        cleared.clear();
        cut.set_depth(0);
        let changed = [
            entry(Action::New, 0, level(10, 5)),
            entry(Action::Overlay, 0, level(6, 5)),
            entry(Action::Delete, 0, Level::NONE),
            entry(Action::DeleteThru, 1, Level::NONE),
            entry(Action::DeleteFrom, 0, Level::NONE),
            replaced,
            loaded,
            cleared,
            cut,
        ];
        for mut cell in changed {
            assert!(cell.settle_best().contains(Changes::BEST_BID_PRICE));
            assert_eq!(cell.best_bid(), cell.levels(BookSide::Bid).first());
            assert_eq!(cell.best_ask(), cell.levels(BookSide::Ask).first());
            assert_eq!(cell.settle_best(), Changes::BOOK);
        }
    }

    #[test]
    fn a_smaller_depth_drops_levels() {
        let mut cell = cell(&[level(9, 5), level(8, 5)], &[level(11, 5), level(12, 5)]);
        cell.set_depth(1);
        assert_eq!((cell.levels(BookSide::Bid).len(), cell.levels(BookSide::Ask).len()), (1, 1));
    }
}
