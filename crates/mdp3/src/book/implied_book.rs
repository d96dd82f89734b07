//! Implied books: prices implied from spreads to their legs and from legs to spreads.
//!
//! CME publishes them as separate entries (MDEntryType `E` and `F`), a few levels deep, after the
//! direct entries of the same event. They follow the rules of direct entries and share the
//! instrument's RptSeq, so both books of an instrument are in sync together.

use core::fmt;

use crate::book::book_slot::BookSlot;
use crate::book::levels::{Levels, MAX_IMPLIED_DEPTH};
use crate::{BookSide, Level};

/// The storage of an implied book, apart from the direct books because few callers read it. Its
/// head uses only depth, flags and best levels.
pub(crate) type ImpliedBookSlot = BookSlot<MAX_IMPLIED_DEPTH>;

const _: () = assert!(size_of::<ImpliedBookSlot>() == 256);

/// A view of an instrument's implied book. It is in sync exactly when the direct book is.
#[derive(Clone, Copy)]
pub struct ImpliedBook<'a> {
    slot: &'a ImpliedBookSlot,
}

impl<'a> ImpliedBook<'a> {
    pub(crate) const fn new(slot: &'a ImpliedBookSlot) -> Self {
        Self { slot }
    }

    /// Returns the maximum number of levels per side.
    #[must_use]
    pub fn depth(self) -> usize {
        usize::from(self.slot.head.depth)
    }

    /// Returns the highest implied bid.
    #[must_use]
    pub fn best_bid(self) -> Option<&'a Level> {
        self.slot.best_bid()
    }

    /// Returns the lowest implied ask.
    #[must_use]
    pub fn best_ask(self) -> Option<&'a Level> {
        self.slot.best_ask()
    }

    /// Returns the level that CME numbers `level`: 1 is the best.
    #[must_use]
    pub fn level(self, side: BookSide, level: usize) -> Option<&'a Level> {
        self.levels(side).get(level.checked_sub(1)?)
    }

    /// Returns the levels of a side, best first. CME publishes no number of orders for them.
    #[must_use]
    pub fn levels(self, side: BookSide) -> Levels<'a> {
        self.slot.levels(side)
    }

    /// Returns the implied bids, highest price first.
    #[must_use]
    pub fn bids(self) -> Levels<'a> {
        self.slot.levels(BookSide::Bid)
    }

    /// Returns the implied asks, lowest price first.
    #[must_use]
    pub fn asks(self) -> Levels<'a> {
        self.slot.levels(BookSide::Ask)
    }
}

impl fmt::Debug for ImpliedBook<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImpliedBook")
            .field("bids", &self.bids())
            .field("asks", &self.asks())
            .finish()
    }
}
