//! What it takes to keep order books right.

use alloc::vec::Vec;

use hairpin_time::Utc;

use super::order_entry::OrderEntry;
use super::order_pass::OrderPass;
use super::queued_order::QueuedOrder;
use super::{OrderBooks, OrderChange, OrderUpdate};
use crate::market::Market;
use crate::recovery::recovery_queue::RecoveryQueue;
use crate::{
    Feed, InstrumentIndex, LateJoin, Listener, Packet, Price9, Settings, UpdateSource, Warning,
};

/// The most entries of a group: their number is a byte.
pub(super) const MAX_ENTRIES: usize = u8::MAX as usize;

/// The price level that order entries refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct PriceLevelReference {
    pub(super) security_id: i32,
    pub(super) price: Option<Price9>,
    pub(super) entry_type: u8,
}

/// A change of the message being processed.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordedOrderChange {
    pub(super) instrument: InstrumentIndex,
    pub(super) change: OrderChange,
}

/// A book that the message has touched.
#[derive(Debug, Clone, Copy)]
pub(super) struct TouchedOrderBook {
    pub(super) instrument: InstrumentIndex,
    pub(super) restated: bool,
}

#[derive(Debug)]
pub(crate) struct OrderState {
    /// Entries for books that are not in sync.
    pub(super) queue: RecoveryQueue<QueuedOrder>,
    /// Every entry from this packet on has been processed or is in the queue, but for those before
    /// the channel's own floor.
    pub(super) floor: u32,
    /// How many instruments need a snapshot of their orders.
    pub(super) out_of_sync: usize,
    pub(super) pass: OrderPass,
    pub(super) references: Vec<PriceLevelReference>,
    pub(super) touched: Vec<TouchedOrderBook>,
    pub(super) changes: Vec<RecordedOrderChange>,
    /// How many events had ended when the last message came.
    events: u64,
}

impl OrderState {
    pub(crate) fn new(settings: &Settings) -> Self {
        let is_kept = settings.order_books != OrderBooks::None;
        let instruments = if is_kept { settings.max_instruments } else { 0 };
        let entries = if is_kept { MAX_ENTRIES } else { 0 };
        let is_full = settings.order_books == OrderBooks::Full;
        let joining = is_kept && settings.late_join == LateJoin::Books;
        let loop_packets = if is_kept { settings.max_loop_packets } else { 0 };
        Self {
            queue: RecoveryQueue::new(settings.queue_bytes, if is_full { instruments } else { 0 }),
            floor: 0,
            out_of_sync: 0,
            pass: OrderPass::new(loop_packets, joining),
            references: Vec::with_capacity(entries),
            touched: Vec::with_capacity(instruments),
            changes: Vec::with_capacity(entries),
            events: 0,
        }
    }
}

impl Settings {
    /// The feed that order snapshots are wanted from.
    pub(crate) fn order_feed(&self) -> Option<Feed> {
        match self.order_books {
            _ if self.late_join == LateJoin::Nothing => None,
            OrderBooks::None => None,
            // Conflated groups have no other.
            OrderBooks::Top => Some(Feed::Snapshot),
            OrderBooks::Full => Some(self.order_snapshots),
        }
    }
}

impl Market {
    /// Whether order books need packets of a feed.
    pub(crate) fn needs_order_feed(&self, feed: Feed) -> bool {
        self.settings.order_feed() == Some(feed)
            && !self.definition_loop.is_first()
            && (self.orders.out_of_sync > 0 || self.orders.pass.joining)
    }

    /// Keeps an entry for when its instrument's snapshot comes.
    pub(super) fn queue_order(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &OrderEntry,
        listener: &mut impl Listener,
    ) {
        self.counters.withheld_orders += 1;
        let queued = QueuedOrder { sequence: packet.sequence, entry: *entry };
        let dropped = self.orders.queue.push(instrument, queued);
        if let Some(lost) = dropped.filter(|dropped| dropped.still_needed) {
            self.orders.floor = self.orders.floor.max(lost.sequence.saturating_add(1));
            self.warn(&Warning::OrderQueueOverflow, listener);
        }
    }

    /// Begins a message: if an event has ended before it, what that had changed is of the past.
    pub(super) fn begin_order_message(&mut self) {
        if self.orders.events != self.counters.events {
            self.orders.events = self.counters.events;
            self.clear_order_event();
        }
    }

    pub(super) fn clear_order_event(&mut self) {
        let arena = &mut self.instruments.orders;
        for instrument in arena.changed.drain(..) {
            arena.heads[instrument.as_usize()].changed = false;
        }
    }

    /// Notes that the message has changed an order book.
    pub(super) fn record_order_book_change(&mut self, instrument: InstrumentIndex, restated: bool) {
        let head = &mut self.instruments.orders.heads[instrument.as_usize()];
        if !core::mem::replace(&mut head.touched, true) {
            self.orders.touched.push(TouchedOrderBook { instrument, restated });
        } else if restated
            && let Some(touched) =
                self.orders.touched.iter_mut().find(|touched| touched.instrument == instrument)
        {
            touched.restated = true;
        }
    }

    /// All entries of the message are applied: tells the order books they have changed.
    pub(super) fn finish_orders(
        &mut self,
        packet: &Packet,
        transact_time: Utc,
        listener: &mut impl Listener,
    ) {
        for position in 0..self.orders.touched.len() {
            let TouchedOrderBook { instrument, restated } = self.orders.touched[position];
            let arena = &mut self.instruments.orders;
            let head = &mut arena.heads[instrument.as_usize()];
            head.touched = false;
            if !core::mem::replace(&mut head.changed, true) {
                arena.changed.push(instrument);
            }
            if self.instruments.orders.is_in_sync(instrument) {
                let source = UpdateSource::Incremental;
                self.notify_order_update(
                    (packet, transact_time),
                    instrument,
                    source,
                    restated,
                    listener,
                );
            }
        }
        self.orders.touched.clear();
        self.orders.changes.clear();
    }

    /// Tells that an order book has changed.
    pub(super) fn notify_order_update(
        &self,
        (packet, transact_time): (&Packet, Utc),
        instrument: InstrumentIndex,
        source: UpdateSource,
        restated: bool,
        listener: &mut impl Listener,
    ) {
        listener.on_order_update(&OrderUpdate {
            packet,
            transact_time,
            instrument,
            book: self.instruments.order_book(instrument),
            instruments: &self.instruments,
            source,
            restated,
            changes: &self.orders.changes,
        });
    }
}
