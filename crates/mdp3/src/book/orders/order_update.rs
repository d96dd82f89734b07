//! What is told of order books.

use hairpin_time::Utc;

use super::order_state::RecordedOrderChange;
use super::{Order, OrderBook};
use crate::{
    BookSide, EndOfEvent, InstrumentIndex, Instruments, MDUpdateAction, Packet, SyncState,
    UpdateSource,
};

/// An order book has changed: all entries of a message for it have been applied, or it was
/// restated as a whole.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OrderUpdate<'a> {
    /// The packet with the message, or with the last part of the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// Its order book.
    pub book: OrderBook<'a>,
    /// All books.
    pub instruments: &'a Instruments,
    /// Whether a message or a snapshot has changed it.
    pub source: UpdateSource,
    /// The book was emptied or stated anew: by top orders, a BookReset or a snapshot.
    pub restated: bool,
    pub(super) changes: &'a [RecordedOrderChange],
}

impl<'a> OrderUpdate<'a> {
    /// The orders that entries of the message have added, changed or removed, in its order.
    /// None of a book that top orders or a snapshot have restated.
    pub fn changes(&self) -> impl Iterator<Item = &'a OrderChange> + use<'a> {
        let instrument = self.instrument;
        self.changes
            .iter()
            .filter(move |recorded| recorded.instrument == instrument)
            .map(|n| &n.change)
    }
}

/// What an entry has done to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderChange {
    /// New, Change or Delete.
    pub action: MDUpdateAction,
    /// The side it is on; of one that is gone, was on.
    pub side: BookSide,
    /// The order as it is now; one that is gone, as it was.
    pub order: Order,
    /// The order as it was; `None` if it is new.
    pub before: Option<Order>,
}

/// An order book has come in sync, has fallen out of it, or is gone.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OrderBookStateChange<'a> {
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// The new state of its order book.
    pub state: SyncState,
    /// Its order book.
    pub book: OrderBook<'a>,
}

impl<'a> EndOfEvent<'a> {
    /// The instruments whose order books the event has changed and that are in sync, with these.
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
