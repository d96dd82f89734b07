//! The public view of an order book.

use core::fmt;

use super::Order;
use super::order_arena::OrderSource;
use crate::{BookSide, InstrumentIndex, Instruments, Level, SyncState};

/// A view of an instrument's order book.
///
/// On a channel that stores no orders it is empty, with [`SyncState::Unknown`].
#[derive(Clone, Copy)]
pub struct OrderBook<'a> {
    instruments: &'a Instruments,
    instrument: InstrumentIndex,
}

impl<'a> OrderBook<'a> {
    pub(crate) const fn new(instruments: &'a Instruments, instrument: InstrumentIndex) -> Self {
        Self { instruments, instrument }
    }

    /// Returns the SecurityID.
    #[must_use]
    pub fn security_id(self) -> i32 {
        self.instruments.book(self.instrument).security_id()
    }

    /// Returns `true` if the book has all orders as the exchange published them last. Otherwise its
    /// orders are outdated, incomplete or missing; do not trade on them.
    #[must_use]
    pub fn is_in_sync(self) -> bool {
        self.sync_state() == SyncState::InSync
    }

    /// Returns the sync state of the order book, which is independent of the price book's.
    #[must_use]
    pub fn sync_state(self) -> SyncState {
        self.instruments.orders.sync_state(self.instrument)
    }

    /// Returns the number of orders on both sides.
    #[must_use]
    pub fn len(self) -> usize {
        self.bids().len() + self.asks().len()
    }

    /// Returns `true` if there are no orders on either side.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the bids: highest price first, then by priority.
    #[must_use]
    pub fn bids(self) -> OrderIter<'a> {
        self.orders(BookSide::Bid)
    }

    /// Returns the asks: lowest price first, then by priority.
    #[must_use]
    pub fn asks(self) -> OrderIter<'a> {
        self.orders(BookSide::Ask)
    }

    /// Returns the orders of a side, best first.
    #[must_use]
    pub fn orders(self, side: BookSide) -> OrderIter<'a> {
        OrderIter(self.instruments.orders.orders(self.instrument, side))
    }

    /// Returns the order with an OrderID, and its side.
    #[must_use]
    pub fn find(self, order_id: u64) -> Option<(BookSide, Order)> {
        self.instruments.orders.find(self.instrument, order_id)
    }

    /// Returns the orders of a side aggregated by price, best first, without a depth limit.
    /// Quantities saturate.
    pub fn levels(self, side: BookSide) -> impl Iterator<Item = Level> + use<'a> {
        let mut orders = self.orders(side).peekable();
        core::iter::from_fn(move || {
            let Order { price, quantity, .. } = orders.next()?;
            let mut level = Level { price, quantity, orders: 1 };
            while let Some(order) = orders.next_if(|order| order.price == price) {
                level.quantity = level.quantity.saturating_add(order.quantity);
                level.orders += 1;
            }
            Some(level)
        })
    }
}

impl fmt::Debug for OrderBook<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrderBook")
            .field("security_id", &self.security_id())
            .field("sync_state", &self.sync_state())
            .field("bids", &self.bids())
            .field("asks", &self.asks())
            .finish()
    }
}

/// Prints one order per line, `side priority quantity price id`, bids before asks, best first.
/// Prices are as on the wire, without the display factor.
impl fmt::Display for OrderBook<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, name) in [(BookSide::Bid, "bid"), (BookSide::Ask, "ask")] {
            for Order { id, priority, price, quantity } in self.orders(side) {
                writeln!(f, "{name} {priority:>20} {quantity:>8} {price} {id}")?;
            }
        }
        Ok(())
    }
}

/// An iterator over the orders of a side, best first.
#[derive(Clone)]
pub struct OrderIter<'a>(OrderSource<'a>);

impl Iterator for OrderIter<'_> {
    type Item = Order;

    fn next(&mut self) -> Option<Order> {
        match &mut self.0 {
            OrderSource::Top(orders) => orders.next().copied(),
            OrderSource::Full(walk) => walk.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = match &self.0 {
            OrderSource::Top(orders) => orders.len(),
            OrderSource::Full(walk) => walk.len(),
        };
        (length, Some(length))
    }
}

impl DoubleEndedIterator for OrderIter<'_> {
    fn next_back(&mut self) -> Option<Order> {
        match &mut self.0 {
            OrderSource::Top(orders) => orders.next_back().copied(),
            OrderSource::Full(walk) => walk.next_back(),
        }
    }
}

impl ExactSizeIterator for OrderIter<'_> {}

impl fmt::Debug for OrderIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OrderBooks, Price9, Settings};
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn instruments(order_books: OrderBooks) -> Instruments {
        let settings = Settings { max_instruments: 1, order_books, ..Settings::default() };
        let mut instruments = Instruments::new(&settings);
        let instrument = instruments.insert(7, 10).unwrap();
        for (side, id, price) in [
            (BookSide::Bid, 1, 10),
            (BookSide::Bid, 2, 9),
            (BookSide::Bid, 3, 10),
            (BookSide::Ask, 4, 11),
        ] {
            let order = Order { id, priority: id, price: Price9(price), quantity: 10 * id };
            instruments.orders.insert(instrument, side, &order).unwrap();
        }
        instruments
    }

    #[test]
    fn iterates_orders_from_both_ends() {
        for kind in [OrderBooks::Top, OrderBooks::Full] {
            let instruments = instruments(kind);
            let book = OrderBook::new(&instruments, InstrumentIndex(0));
            let ids = |orders: OrderIter<'_>| orders.map(|order| order.id).collect::<Vec<_>>();
            assert_eq!((ids(book.bids()), ids(book.asks())), ([1, 3, 2].into(), [4].into()));
            let backwards: Vec<_> = book.bids().rev().map(|order| order.id).collect();
            assert_eq!(backwards, [2, 3, 1]);
            let mut ends = book.bids();
            let (first, last) = (ends.next().unwrap().id, ends.next_back().unwrap().id);
            assert_eq!((first, last, ends.len()), (1, 2, 1));
            assert_eq!((ends.next().unwrap().id, ends.next(), ends.next_back()), (3, None, None));
            assert_eq!((book.len(), book.security_id()), (4, 7));
        }
    }

    #[test]
    fn aggregates_orders_by_price() {
        for kind in [OrderBooks::Top, OrderBooks::Full] {
            let instruments = instruments(kind);
            let book = OrderBook::new(&instruments, InstrumentIndex(0));
            let levels: Vec<_> = book
                .levels(BookSide::Bid)
                .map(|level| (level.price.0, level.quantity, level.orders))
                .collect();
            assert_eq!(levels, [(10, 40, 2), (9, 20, 1)]);
        }
    }

    #[test]
    fn finds_order_by_id() {
        for kind in [OrderBooks::Top, OrderBooks::Full] {
            let instruments = instruments(kind);
            let book = OrderBook::new(&instruments, InstrumentIndex(0));
            let (side, order) = book.find(4).unwrap();
            assert_eq!((side, order.price, order.quantity), (BookSide::Ask, Price9(11), 40));
            assert_eq!(book.find(5), None);
        }
    }

    #[test]
    fn prints_one_order_per_line() {
        let instruments = instruments(OrderBooks::Top);
        let text = OrderBook::new(&instruments, InstrumentIndex(0)).to_string();
        assert_eq!(text.lines().count(), 4);
        assert!(text.starts_with("bid                    1       10 0.00000001 1\n"), "{text}");
    }
}
