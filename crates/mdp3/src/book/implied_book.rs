//! An implied book: prices that spreads make possible in their legs, and legs in spreads.
//!
//! CME publishes them as entries of their own (MDEntryType `E` and `F`), a few levels deep, after
//! the direct ones of the same event. They follow the same rules as direct ones and count in the
//! same RptSeq, so that an instrument's two books are in sync together.

use core::fmt;

use crate::book::book_slot::BookSlot;
use crate::book::levels::{Levels, MAX_IMPLIED_DEPTH};
use crate::{BookSide, Level};

/// An instrument's part of the implied books, which lie apart from the direct ones: few look at
/// them. Of the head only depth, counts and best levels are used.
pub(crate) type ImpliedBookSlot = BookSlot<MAX_IMPLIED_DEPTH>;

const _: () = assert!(size_of::<ImpliedBookSlot>() == 256);

/// A view of an instrument's implied book. It is in sync if and only if the direct one is.
#[derive(Clone, Copy)]
pub struct ImpliedBook<'a> {
    slot: &'a ImpliedBookSlot,
}

impl<'a> ImpliedBook<'a> {
    pub(crate) const fn new(slot: &'a ImpliedBookSlot) -> Self {
        Self { slot }
    }

    /// How many levels a side can have.
    #[must_use]
    pub fn depth(self) -> usize {
        usize::from(self.slot.head.depth)
    }

    /// The highest implied bid.
    #[must_use]
    pub fn best_bid(self) -> Option<&'a Level> {
        self.slot.best_bid()
    }

    /// The lowest implied ask.
    #[must_use]
    pub fn best_ask(self) -> Option<&'a Level> {
        self.slot.best_ask()
    }

    /// The level that CME numbers `level`: 1 is the best.
    #[must_use]
    pub fn level(self, side: BookSide, level: usize) -> Option<&'a Level> {
        self.levels(side).get(level.checked_sub(1)?)
    }

    /// The levels of a side, best first. CME tells no number of orders for them.
    #[must_use]
    pub fn levels(self, side: BookSide) -> Levels<'a> {
        self.slot.levels(side)
    }

    /// The implied bids, highest price first.
    #[must_use]
    pub fn bids(self) -> Levels<'a> {
        self.slot.levels(BookSide::Bid)
    }

    /// The implied asks, lowest price first.
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
