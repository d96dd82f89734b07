//! The sync states of order books.
//!
//! An order book is [`SyncState::Unknown`] while its instrument has no definition in force. After a
//! loss every order book is out of sync: order entries carry no RptSeq, so nothing proves that a
//! book was not affected.

use super::order_book_head::{ChunkTracker, OrderBookHead};
use super::{OrderBookStateChange, OrderBooks};
use crate::market::Market;
use crate::{Feed, InstrumentIndex, LateJoin, Listener, SyncState, Warning};

impl Market {
    /// Marks an order book as out of sync until a snapshot contains everything before packet
    /// `waiting_from`.
    #[cold]
    pub(super) fn mark_order_book_out_of_sync(
        &mut self,
        instrument: InstrumentIndex,
        waiting_from: u32,
        listener: &mut impl Listener,
    ) {
        let Some(head) = self.instruments.orders.heads.get_mut(instrument.as_usize()) else {
            return;
        };
        head.waiting_from = head.waiting_from.max(waiting_from);
        let before = core::mem::replace(&mut head.state, SyncState::OutOfSync);
        if before == SyncState::OutOfSync {
            return;
        }
        if self.orders.out_of_sync == 0 {
            // The passes received so far are outdated.
            self.orders.pass.abandon();
            self.warn_without_order_snapshots(listener);
        }
        self.orders.out_of_sync += 1;
        if before == SyncState::InSync {
            self.counters.order_books_out_of_sync += 1;
            self.notify_order_book_state(instrument, listener);
        }
    }

    /// Warns if orders need a snapshot loop of their own but the settings have none.
    fn warn_without_order_snapshots(&mut self, listener: &mut impl Listener) {
        let feed = Feed::SnapshotOrders;
        if self.settings.order_feed() == Some(feed) && !self.settings.feeds.has(feed) {
            self.warn(&Warning::MissingFeed { feed }, listener);
        }
    }

    /// Marks an order book as in sync.
    #[cold]
    pub(super) fn mark_order_book_in_sync(
        &mut self,
        instrument: InstrumentIndex,
        listener: &mut impl Listener,
    ) {
        let head = &mut self.instruments.orders.heads[instrument.as_usize()];
        let before = core::mem::replace(&mut head.state, SyncState::InSync);
        head.chunk_tracker = ChunkTracker::NONE;
        head.waiting_from = 0;
        if before == SyncState::InSync {
            return;
        }
        if before == SyncState::OutOfSync {
            self.orders.out_of_sync -= 1;
        }
        self.discard_queued_orders(instrument);
        self.notify_order_book_state(instrument, listener);
    }

    /// Discards the queued entries of an instrument.
    pub(super) fn discard_queued_orders(&mut self, instrument: InstrumentIndex) {
        if self.settings.order_books != OrderBooks::Full {
            return;
        }
        self.orders.queue.discard(instrument);
        if self.orders.out_of_sync == 0 && !self.definition_loop.is_first() {
            self.orders.queue.clear();
        }
    }

    fn notify_order_book_state(&self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        let book = self.instruments.order_book(instrument);
        let state = book.sync_state();
        listener.on_order_book_state(&OrderBookStateChange { instrument, state, book });
    }

    /// Sets the state of the order book of an instrument added without a definition.
    pub(crate) fn init_order_book(
        &mut self,
        instrument: InstrumentIndex,
        listener: &mut impl Listener,
    ) {
        match self.settings.late_join {
            LateJoin::InstrumentsAndBooks => {}
            LateJoin::Books => self.mark_order_book_out_of_sync(instrument, 0, listener),
            LateJoin::Nothing => self.start_order_book(instrument),
        }
    }

    /// Sets the state of the order book of an instrument that now has a definition. `waiting_from`
    /// is `None` if it is new at the exchange, otherwise the packet before which a snapshot must
    /// contain everything.
    pub(crate) fn define_order_book(
        &mut self,
        instrument: InstrumentIndex,
        waiting_from: Option<u32>,
        listener: &mut impl Listener,
    ) {
        let order_book = self.instruments.order_book(instrument);
        if self.settings.order_books == OrderBooks::None
            || order_book.sync_state() != SyncState::Unknown
        {
            return;
        }
        match waiting_from {
            Some(waiting_from) => {
                self.mark_order_book_out_of_sync(instrument, waiting_from, listener)
            }
            None => {
                self.start_order_book(instrument);
                self.notify_order_book_state(instrument, listener);
            }
        }
    }

    /// Starts an empty order book in sync.
    fn start_order_book(&mut self, instrument: InstrumentIndex) {
        let Some(head) = self.instruments.orders.heads.get_mut(instrument.as_usize()) else {
            return;
        };
        head.state = SyncState::InSync;
        (head.snapshot_sequence, head.waiting_from) = (0, 0);
        self.instruments.orders.clear(instrument);
        self.discard_queued_orders(instrument);
    }

    /// Removes the order book of a deleted instrument.
    pub(crate) fn remove_order_book(
        &mut self,
        instrument: InstrumentIndex,
        listener: &mut impl Listener,
    ) {
        let Some(head) = self.instruments.orders.heads.get_mut(instrument.as_usize()) else {
            return;
        };
        let before = core::mem::replace(&mut head.state, SyncState::Unknown);
        if before == SyncState::Unknown {
            return;
        }
        head.chunk_tracker = ChunkTracker::NONE;
        self.orders.out_of_sync -= usize::from(before == SyncState::OutOfSync);
        self.instruments.orders.clear(instrument);
        self.discard_queued_orders(instrument);
        self.notify_order_book_state(instrument, listener);
    }

    /// Forgets a removed order book, whose slot is reused.
    pub(crate) fn forget_order_book(&mut self, instrument: InstrumentIndex) {
        let is_other = |other: &InstrumentIndex| *other != instrument;
        self.orders.touched.retain(|touched| is_other(&touched.instrument));
        self.instruments.orders.changed.retain(is_other);
        self.instruments.orders.clear(instrument);
        self.discard_queued_orders(instrument);
        if let Some(head) = self.instruments.orders.heads.get_mut(instrument.as_usize()) {
            *head = OrderBookHead::UNKNOWN;
        }
    }

    /// Marks all order books as out of sync after a loss, and discards the queue. The channel's
    /// floor determines which snapshots suffice.
    #[cold]
    pub(crate) fn mark_all_order_books_out_of_sync(&mut self, listener: &mut impl Listener) {
        self.clear_order_event();
        for touched in self.orders.touched.drain(..) {
            self.instruments.orders.heads[touched.instrument.as_usize()].touched = false;
        }
        self.orders.changes.clear();
        self.orders.queue.clear();
        for position in 0..self.instruments.orders.heads.len() {
            let instrument = InstrumentIndex(position as u32);
            if self.instruments.orders.is_in_sync(instrument) {
                self.mark_order_book_out_of_sync(instrument, 0, listener);
            }
        }
    }

    /// Restarts the packet numbering at 1.
    #[cold]
    pub(crate) fn restart_order_books(&mut self, keeps_books: bool, listener: &mut impl Listener) {
        self.clear_order_event();
        self.orders.floor = 0;
        self.orders.queue.clear();
        self.orders.pass.abandon();
        for head in &mut self.instruments.orders.heads {
            (head.waiting_from, head.snapshot_sequence) = (0, 0);
            head.chunk_tracker = ChunkTracker::NONE;
        }
        if !keeps_books {
            self.mark_all_order_books_out_of_sync(listener);
        }
    }

    /// Empties all order books after a ChannelReset.
    #[cold]
    pub(crate) fn reset_order_books(&mut self, listener: &mut impl Listener) {
        self.clear_order_event();
        self.orders.floor = 0;
        self.orders.queue.clear();
        self.orders.pass.joining = false;
        self.orders.pass.abandon();
        for position in 0..self.instruments.orders.heads.len() {
            let instrument = InstrumentIndex(position as u32);
            self.instruments.orders.clear(instrument);
            let head = &mut self.instruments.orders.heads[position];
            (head.waiting_from, head.snapshot_sequence) = (0, 0);
            if head.state == SyncState::OutOfSync {
                self.mark_order_book_in_sync(instrument, listener);
            }
        }
    }
}
