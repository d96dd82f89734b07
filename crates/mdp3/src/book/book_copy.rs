//! A copy of a book that is independent of its channel.

use crate::book::levels::{Level, Levels, MAX_DEPTH};
use crate::{Book, BookSide, SyncState};

/// A copy of a direct book: about 500 bytes of plain data without borrows, to store, compare or
/// send to another thread.
#[derive(Debug, Clone, Copy)]
pub struct BookCopy {
    /// SecurityID (48).
    pub security_id: i32,
    /// The sync state of the book when copied.
    pub sync_state: SyncState,
    /// RptSeq (83) of the last entry, or `None` if there was none or the feed carries none.
    pub rpt_seq: Option<u32>,
    bids: [Level; MAX_DEPTH],
    asks: [Level; MAX_DEPTH],
    bid_count: u8,
    ask_count: u8,
}

/// Equal if both have the same contents and instrument.
impl PartialEq for BookCopy {
    fn eq(&self, other: &Self) -> bool {
        (self.security_id, self.sync_state, self.rpt_seq)
            == (other.security_id, other.sync_state, other.rpt_seq)
            && self.bids() == other.bids()
            && self.asks() == other.asks()
    }
}

impl Eq for BookCopy {}

impl BookCopy {
    /// Returns the bids, highest price first.
    #[must_use]
    pub fn bids(&self) -> &[Level] {
        &self.bids[..usize::from(self.bid_count).min(MAX_DEPTH)]
    }

    /// Returns the asks, lowest price first.
    #[must_use]
    pub fn asks(&self) -> &[Level] {
        &self.asks[..usize::from(self.ask_count).min(MAX_DEPTH)]
    }

    /// Returns the levels of a side, best first.
    #[must_use]
    pub fn levels(&self, side: BookSide) -> &[Level] {
        match side {
            BookSide::Bid => self.bids(),
            BookSide::Ask => self.asks(),
        }
    }

    /// Returns the level that CME numbers `level`: 1 is the best.
    #[must_use]
    pub fn level(&self, side: BookSide, level: usize) -> Option<&Level> {
        self.levels(side).get(level.checked_sub(1)?)
    }
}

impl Book<'_> {
    /// Returns a copy of the present book. Inside a message, levels may be inconsistent.
    #[must_use]
    pub fn copied(self) -> BookCopy {
        let side = |from: Levels<'_>| {
            let mut levels = [Level::NONE; MAX_DEPTH];
            levels.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            (levels, from.len().min(MAX_DEPTH) as u8)
        };
        let ((bids, bid_count), (asks, ask_count)) = (side(self.bids()), side(self.asks()));
        BookCopy {
            security_id: self.security_id(),
            sync_state: self.sync_state(),
            rpt_seq: self.rpt_seq(),
            bids,
            asks,
            bid_count,
            ask_count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Price9;
    use crate::book::book_slot::DirectBookSlot;

    fn level(price: i64) -> Level {
        Level { price: Price9(price), quantity: 1, orders: 1 }
    }

    fn slot(bids: &[Level], asks: &[Level]) -> DirectBookSlot {
        let mut slot = DirectBookSlot::EMPTY;
        slot.set_depth(10);
        slot.load(bids, asks);
        slot
    }

    #[test]
    fn copy_is_independent_of_book() {
        let mut slot = slot(&[level(9), level(8)], &[level(11)]);
        let copy = Book::new(&slot).copied();
        assert_eq!((copy.bids(), copy.asks()), (&[level(9), level(8)][..], &[level(11)][..]));
        assert_eq!(copy.level(BookSide::Bid, 2), Some(&level(8)));
        assert_eq!((copy.level(BookSide::Ask, 2), copy.level(BookSide::Ask, 0)), (None, None));
        slot.clear();
        assert_eq!(copy.bids().len(), 2);
        assert_ne!(copy, Book::new(&slot).copied());
    }

    #[test]
    fn equality_ignores_unused_slots() {
        let mut before = slot(&[level(9), level(8)], &[]);
        before.load(&[level(9)], &[]);
        assert_eq!(Book::new(&before).copied(), Book::new(&slot(&[level(9)], &[])).copied());
    }
}
