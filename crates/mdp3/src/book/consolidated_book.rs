//! The direct and implied book of an instrument, merged by price.

use crate::{Book, BookSide, ImpliedBook, Level, Price9};

/// A price level of a [`ConsolidatedBook`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsolidatedLevel {
    /// The price, as on the wire.
    pub price: Price9,
    /// The quantity of both books.
    pub quantity: u64,
    /// The implied part of the quantity.
    pub implied_quantity: u64,
    /// The number of orders at the direct level; implied levels have no orders.
    pub orders: u32,
}

/// A merged view of an instrument's direct and implied book. Nothing is stored; iteration merges
/// the levels.
///
/// A side is as deep as both books together. Below the last level of one book, CME may have further
/// levels of it that are not published.
#[derive(Debug, Clone, Copy)]
pub struct ConsolidatedBook<'a> {
    direct: Book<'a>,
    implied: ImpliedBook<'a>,
}

impl<'a> ConsolidatedBook<'a> {
    pub(crate) const fn new(direct: Book<'a>, implied: ImpliedBook<'a>) -> Self {
        Self { direct, implied }
    }

    /// Returns the direct book, whose sync state applies to both.
    #[must_use]
    pub const fn direct(self) -> Book<'a> {
        self.direct
    }

    /// Returns the implied book.
    #[must_use]
    pub const fn implied(self) -> ImpliedBook<'a> {
        self.implied
    }

    /// Returns the bids, highest price first.
    pub fn bids(self) -> impl Iterator<Item = ConsolidatedLevel> + use<'a> {
        self.levels(BookSide::Bid)
    }

    /// Returns the asks, lowest price first.
    pub fn asks(self) -> impl Iterator<Item = ConsolidatedLevel> + use<'a> {
        self.levels(BookSide::Ask)
    }

    /// Returns the levels of a side, best first.
    pub fn levels(self, side: BookSide) -> impl Iterator<Item = ConsolidatedLevel> + use<'a> {
        let (mut direct, mut implied) = (
            self.direct.levels(side).iter().peekable(),
            self.implied.levels(side).iter().peekable(),
        );
        core::iter::from_fn(move || {
            let (first, second) = (direct.peek().copied(), implied.peek().copied());
            let price = best(side, first, second)?;
            let direct = direct.next_if(|level| level.price == price);
            let implied = implied.next_if(|level| level.price == price);
            Some(merge(price, direct, implied))
        })
    }
}

/// Returns the better price of two levels.
fn best(side: BookSide, first: Option<&Level>, second: Option<&Level>) -> Option<Price9> {
    let prices = first.into_iter().chain(second).map(|level| level.price);
    match side {
        BookSide::Bid => prices.max_by_key(|price| price.0),
        BookSide::Ask => prices.min_by_key(|price| price.0),
    }
}

fn merge(price: Price9, direct: Option<&Level>, implied: Option<&Level>) -> ConsolidatedLevel {
    let implied_quantity = implied.map_or(0, |level| level.quantity);
    let quantity = direct.map_or(0, |level| level.quantity).saturating_add(implied_quantity);
    let orders = direct.map_or(0, |level| level.orders);
    ConsolidatedLevel { price, quantity, implied_quantity, orders }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::book_slot::DirectBookSlot;
    use crate::book::implied_book::ImpliedBookSlot;
    use alloc::vec::Vec;

    /// Converts `(price, quantity)` pairs to levels.
    fn levels(stated: &[(i64, u64)]) -> Vec<Level> {
        let level = |&(price, quantity)| Level { price: Price9(price), quantity, orders: 1 };
        stated.iter().map(level).collect()
    }

    #[track_caller]
    fn merges(
        side: BookSide,
        direct: &[(i64, u64)],
        implied: &[(i64, u64)],
        expected: &[(i64, u64, u64, u32)],
    ) {
        let (mut direct_slot, mut implied_slot) = (DirectBookSlot::EMPTY, ImpliedBookSlot::EMPTY);
        direct_slot.set_depth(10);
        implied_slot.set_depth(3);
        let (direct, implied) = (levels(direct), levels(implied));
        match side {
            BookSide::Bid => {
                direct_slot.load(&direct, &[]);
                implied_slot.load(&implied, &[]);
            }
            BookSide::Ask => {
                direct_slot.load(&[], &direct);
                implied_slot.load(&[], &implied);
            }
        }
        let book = ConsolidatedBook::new(Book::new(&direct_slot), ImpliedBook::new(&implied_slot));
        let merged: Vec<_> = book
            .levels(side)
            .map(|level| (level.price.0, level.quantity, level.implied_quantity, level.orders))
            .collect();
        assert_eq!(merged, expected);
    }

    #[test]
    fn merges_levels_by_price() {
        let bids = [(10, 2, 2, 0), (9, 5, 0, 1), (8, 7, 0, 1), (6, 1, 1, 0)];
        merges(BookSide::Bid, &[(9, 5), (8, 7)], &[(10, 2), (6, 1)], &bids);
        let asks = [(10, 2, 2, 0), (11, 5, 0, 1), (12, 7, 0, 1), (13, 1, 1, 0)];
        merges(BookSide::Ask, &[(11, 5), (12, 7)], &[(10, 2), (13, 1)], &asks);
    }

    #[test]
    fn adds_quantities_at_same_price() {
        merges(BookSide::Bid, &[(9, 5)], &[(9, 3)], &[(9, 8, 3, 1)]);
        merges(BookSide::Bid, &[(9, u64::MAX)], &[(9, 3)], &[(9, u64::MAX, 3, 1)]);
    }

    #[test]
    fn merges_with_empty_book() {
        merges(BookSide::Ask, &[], &[(9, 3)], &[(9, 3, 3, 0)]);
        merges(BookSide::Ask, &[(9, 3)], &[], &[(9, 3, 0, 1)]);
        merges(BookSide::Ask, &[], &[], &[]);
    }
}
