//! Books and their events.

use core::fmt;
use core::ops::Deref;

use hairpin_feed_handler::{self as feed, Changes, InstrumentIndex, Instruments};
use hairpin_order_entry::SecurityId;
use hairpin_time::Utc;

use crate::{Instrument, Price, Quantity, Side};

/// A price level of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// The wire price.
    pub price: Price,
    /// The quantity of all orders at the price.
    pub quantity: Quantity,
    /// The number of orders; 0 where the exchange does not publish it.
    pub orders: u32,
}

impl From<&feed::Level> for Level {
    #[inline]
    fn from(level: &feed::Level) -> Self {
        let quantity = Quantity(level.quantity);
        Self { price: level.price.into(), quantity, orders: level.orders }
    }
}

/// An instrument's book.
#[derive(Debug, Clone, Copy)]
pub struct Book<'a> {
    pub(crate) instruments: &'a Instruments,
    pub(crate) index: InstrumentIndex,
    pub(crate) book: feed::Book<'a>,
}

impl<'a> Book<'a> {
    #[inline]
    pub(crate) fn new(instruments: &'a Instruments, index: InstrumentIndex) -> Self {
        Self { instruments, index, book: instruments.book(index) }
    }

    /// Returns SecurityID (48).
    #[inline]
    #[must_use]
    pub fn security_id(&self) -> SecurityId {
        SecurityId(self.book.security_id())
    }

    /// Returns Symbol (55), or an empty text without a definition.
    #[must_use]
    pub fn symbol(&self) -> &'a str {
        self.instrument().symbol()
    }

    /// Returns the instrument: display prices and ticks.
    #[inline]
    #[must_use]
    pub fn instrument(&self) -> Instrument<'a> {
        let definition = self.instruments.definition(self.index);
        Instrument { security_id: self.security_id(), definition }
    }

    /// Returns `true` if the book is complete. Books in callbacks are.
    #[must_use]
    pub fn is_in_sync(&self) -> bool {
        self.book.is_in_sync()
    }

    /// Returns the best bid.
    #[inline]
    #[must_use]
    pub fn best_bid(&self) -> Option<Level> {
        self.book.best_bid().map(Level::from)
    }

    /// Returns the best ask.
    #[inline]
    #[must_use]
    pub fn best_ask(&self) -> Option<Level> {
        self.book.best_ask().map(Level::from)
    }

    /// Returns a level of one side; 0 is the best.
    #[must_use]
    pub fn level(&self, side: Side, number: usize) -> Option<Level> {
        // CME's numbers begin with 1.
        self.book.level(side.book(), number.saturating_add(1)).map(Level::from)
    }

    /// Returns the best bid as text: `12 x 4500.25`, or `-` without a bid.
    #[must_use]
    pub fn bid(&self) -> LevelText<'a> {
        LevelText { instrument: self.instrument(), level: self.best_bid() }
    }

    /// Returns the best ask as text: `12 x 4500.25`, or `-` without an ask.
    #[must_use]
    pub fn ask(&self) -> LevelText<'a> {
        LevelText { instrument: self.instrument(), level: self.best_ask() }
    }

    /// Returns the book of the feed handler: all levels, the sync state and the depth.
    #[must_use]
    pub fn raw(&self) -> feed::Book<'a> {
        self.book
    }
}

/// The text of a level: quantity and display price.
#[derive(Debug, Clone, Copy)]
pub struct LevelText<'a> {
    instrument: Instrument<'a>,
    level: Option<Level>,
}

impl fmt::Display for LevelText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            Some(Level { price, quantity, .. }) => {
                write!(f, "{quantity} x {}", self.instrument.display(price))
            }
            None => f.write_str("-"),
        }
    }
}

/// A change of a book. The matching event is complete, and all books are consistent.
#[derive(Debug, Clone, Copy)]
pub struct BookEvent<'a> {
    pub(crate) book: Book<'a>,
    pub(crate) changes: Changes,
    pub(crate) is_resent: bool,
    pub(crate) transact_time: Utc,
    pub(crate) received: Option<Utc>,
}

impl BookEvent<'_> {
    /// Returns the parts of the book that have changed.
    #[must_use]
    pub const fn changes(&self) -> Changes {
        self.changes
    }

    /// Returns `true` if the price or the presence of the best bid or ask has changed.
    #[inline]
    #[must_use]
    pub const fn best_price_changed(&self) -> bool {
        self.changes.best_price()
    }

    /// Returns `true` if the book has come into sync from a snapshot, or if the exchange sends the
    /// event again while it recovers.
    #[must_use]
    pub const fn is_resent(&self) -> bool {
        self.is_resent
    }

    /// Returns TransactTime (60); the epoch for a book that has come into sync.
    #[must_use]
    pub const fn transact_time(&self) -> Utc {
        self.transact_time
    }

    /// Returns the receive timestamp of the network card or the kernel, if available.
    #[must_use]
    pub const fn received(&self) -> Option<Utc> {
        self.received
    }
}

impl<'a> Deref for BookEvent<'a> {
    type Target = Book<'a>;

    #[inline]
    fn deref(&self) -> &Book<'a> {
        &self.book
    }
}

/// A trade of the market.
#[derive(Debug, Clone, Copy)]
pub struct TradeEvent<'a> {
    pub(crate) trade: &'a feed::Trade<'a>,
}

impl<'a> TradeEvent<'a> {
    /// Returns SecurityID (48).
    #[must_use]
    pub const fn security_id(&self) -> SecurityId {
        SecurityId(self.trade.security_id)
    }

    /// Returns the instrument: display prices and ticks.
    #[must_use]
    pub fn instrument(&self) -> Instrument<'a> {
        let feed::Trade { instrument, instruments, .. } = *self.trade;
        let definition = instrument.and_then(|index| instruments.definition(index));
        Instrument { security_id: self.security_id(), definition }
    }

    /// Returns the wire price.
    #[must_use]
    pub fn price(&self) -> Price {
        self.trade.price.into()
    }

    /// Returns the quantity.
    #[must_use]
    pub const fn quantity(&self) -> Quantity {
        Quantity(self.trade.quantity)
    }

    /// Returns the aggressor's side, if the exchange states it.
    #[must_use]
    pub fn aggressor(&self) -> Option<Side> {
        self.trade.aggressor.and_then(Side::from_aggressor)
    }

    /// Returns `true` if the exchange sends the trade again while it recovers.
    #[must_use]
    pub const fn is_resent(&self) -> bool {
        self.trade.match_event.is_resent()
    }

    /// Returns TransactTime (60).
    #[must_use]
    pub const fn transact_time(&self) -> Utc {
        self.trade.transact_time
    }

    /// Returns the trade of the feed handler: all fields, and the orders that traded.
    #[must_use]
    pub const fn raw(&self) -> &'a feed::Trade<'a> {
        self.trade
    }
}
