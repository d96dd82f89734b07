//! Price books: the public view of a direct book, and the storage and rules behind it.

pub(crate) mod apply_entry;
pub(crate) mod book_copy;
pub(crate) mod book_display;
pub(crate) mod book_slot;
pub(crate) mod changes;
pub(crate) mod consolidated_book;
pub(crate) mod implied_book;
pub(crate) mod ladder;
pub(crate) mod level_order;
pub(crate) mod levels;
pub(crate) mod market_best;
pub(crate) mod natural_refresh_book;
pub(crate) mod orders;

use core::fmt;

use crate::book::book_slot::DirectBookSlot;
use crate::book::levels::{Level, Levels};
use crate::recovery::sync_state::SyncState;

/// A side of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BookSide {
    /// Buyers, highest price first.
    Bid,
    /// Sellers, lowest price first (CME: offer).
    Ask,
}

/// The best level of each side of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Best<'a> {
    /// The highest bid.
    pub bid: Option<&'a Level>,
    /// The lowest ask.
    pub ask: Option<&'a Level>,
}

/// A view of an instrument's direct book.
#[derive(Clone, Copy)]
pub struct Book<'a> {
    slot: &'a DirectBookSlot,
}

impl<'a> Book<'a> {
    pub(crate) const fn new(slot: &'a DirectBookSlot) -> Self {
        Self { slot }
    }

    /// SecurityID.
    #[must_use]
    pub const fn security_id(self) -> i32 {
        self.slot.head.security_id
    }

    /// Returns `true` if the book equals the last state that the exchange published. Otherwise its
    /// levels are outdated or missing; do not trade on them.
    #[must_use]
    #[inline]
    pub fn is_in_sync(self) -> bool {
        self.sync_state() == SyncState::InSync
    }

    /// Returns the sync state of the book.
    #[must_use]
    #[inline]
    pub fn sync_state(self) -> SyncState {
        self.slot.head.state.into()
    }

    /// Returns the RptSeq of the last entry of any kind for the instrument, or `None` if there was
    /// none or the feed carries no RptSeq.
    #[must_use]
    pub const fn rpt_seq(self) -> Option<u32> {
        self.slot.head.next_rpt_seq.checked_sub(1)
    }

    /// Returns the maximum number of levels per side.
    #[must_use]
    pub fn depth(self) -> usize {
        usize::from(self.slot.head.depth)
    }

    /// Returns the highest bid.
    #[must_use]
    #[inline]
    pub fn best_bid(self) -> Option<&'a Level> {
        self.slot.best_bid()
    }

    /// Returns the lowest ask.
    #[must_use]
    #[inline]
    pub fn best_ask(self) -> Option<&'a Level> {
        self.slot.best_ask()
    }

    /// Returns the best level of each side, in at most ten instructions.
    #[must_use]
    #[inline]
    pub fn best(self) -> Best<'a> {
        Best { bid: self.slot.best_bid(), ask: self.slot.best_ask() }
    }

    /// Returns the level that CME numbers `level`: 1 is the best.
    #[must_use]
    pub fn level(self, side: BookSide, level: usize) -> Option<&'a Level> {
        self.levels(side).get(level.checked_sub(1)?)
    }

    /// Returns the levels of a side, best first.
    #[must_use]
    pub fn levels(self, side: BookSide) -> Levels<'a> {
        self.slot.levels(side)
    }

    /// Returns the bids, highest price first.
    #[must_use]
    pub fn bids(self) -> Levels<'a> {
        self.slot.levels(BookSide::Bid)
    }

    /// Returns the asks, lowest price first.
    #[must_use]
    pub fn asks(self) -> Levels<'a> {
        self.slot.levels(BookSide::Ask)
    }
}

impl fmt::Debug for Book<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book")
            .field("security_id", &self.security_id())
            .field("sync_state", &self.sync_state())
            .field("rpt_seq", &self.rpt_seq())
            .field("bids", &self.bids())
            .field("asks", &self.asks())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Price9;

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
    fn levels_are_numbered_from_1() {
        let slot = slot(&[level(9, 5), level(8, 5)], &[]);
        let book = Book::new(&slot);
        assert_eq!(book.level(BookSide::Bid, 1), Some(&level(9, 5)));
        assert_eq!(book.level(BookSide::Bid, 2), Some(&level(8, 5)));
        assert_eq!(book.level(BookSide::Bid, 3), None);
        assert_eq!(book.level(BookSide::Bid, 0), None);
        assert_eq!(book.level(BookSide::Ask, 1), None);
    }
}
