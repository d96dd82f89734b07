//! The callback data of order books.

use hairpin_time::Utc;

use super::order_state::RecordedOrderChange;
use super::{Order, OrderBook};
use crate::{
    BookSide, EndOfEvent, InstrumentIndex, Instruments, MDUpdateAction, MatchEvent, Packet,
    SyncState, UpdateSource,
};

/// A change of an order book: all entries of a message for it were applied, or the book was
/// restated.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OrderUpdate<'a> {
    /// The packet with the message, or with the last chunk of the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799); none in a snapshot.
    pub match_event: MatchEvent,
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// The instrument's order book.
    pub book: OrderBook<'a>,
    /// All instruments and their books.
    pub instruments: &'a Instruments,
    /// The source of the change.
    pub source: UpdateSource,
    /// The book was emptied or restated by top orders, a BookReset or a snapshot.
    pub restated: bool,
    pub(super) changes: &'a [RecordedOrderChange],
}

impl<'a> OrderUpdate<'a> {
    /// Returns the orders that the message has added, changed or removed, in message order. Empty
    /// if top orders or a snapshot have restated the book.
    pub fn changes(&self) -> impl Iterator<Item = &'a OrderChange> + use<'a> {
        let instrument = self.instrument;
        self.changes
            .iter()
            .filter(move |recorded| recorded.instrument == instrument)
            .map(|n| &n.change)
    }
}

/// A change of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderChange {
    /// New, Change or Delete.
    pub action: MDUpdateAction,
    /// The side of the order, also of a removed one.
    pub side: BookSide,
    /// The present order, or the last state of a removed one.
    pub order: Order,
    /// The order before the change; `None` if it is new.
    pub before: Option<Order>,
}

/// A change of an order book's sync state.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OrderBookStateChange<'a> {
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// The order book's new state.
    pub state: SyncState,
    /// The instrument's order book.
    pub book: OrderBook<'a>,
}

impl<'a> EndOfEvent<'a> {
    /// Returns the instruments that are in sync and whose order books the event changed, with these
    /// books.
    pub fn changed_orders(
        &self,
    ) -> impl Iterator<Item = (InstrumentIndex, OrderBook<'a>)> + use<'a> {
        let instruments = self.instruments;
        let changed = instruments.orders.changed.iter().copied();
        changed
            .filter(|&instrument| instruments.orders.is_in_sync(instrument))
            .map(|instrument| (instrument, instruments.order_book(instrument)))
    }
}
