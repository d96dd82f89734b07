//! The state of order books that all instruments share.

use alloc::vec::Vec;

use hairpin_cme_codecs::mdp3 as codec;

use super::order_entry::OrderEntry;
use super::order_snapshot_pass::OrderSnapshotPass;
use super::queued_order::QueuedOrder;
use super::{OrderBooks, OrderChange, OrderUpdate};
use crate::market::Market;
use crate::message::entries::{self, Root};
use crate::recovery::recovery_queue::RecoveryQueue;
use crate::{
    EventEnd, Feed, InstrumentIndex, LateJoin, Listener, Message, Packet, Price9, Settings,
    UpdateSource, Warning,
};

/// The maximum number of entries in a group; the count is one byte.
pub(super) const MAX_ENTRIES: usize = u8::MAX as usize;

/// A price level that order entries refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct PriceLevelReference {
    pub(super) security_id: i32,
    pub(super) price: Option<Price9>,
    pub(super) entry_type: u8,
}

/// An order change of the current message.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordedOrderChange {
    pub(super) instrument: InstrumentIndex,
    pub(super) change: OrderChange,
}

/// An order book that the current message has changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct TouchedOrderBook {
    pub(super) instrument: InstrumentIndex,
    pub(super) restated: bool,
}

#[derive(Debug)]
pub(crate) struct OrderState {
    /// The queued entries of order books that are not in sync.
    pub(super) queue: RecoveryQueue<QueuedOrder>,
    /// The lowest packet from which every entry was processed or queued, apart from the channel's
    /// own floor.
    pub(super) floor: u32,
    /// The number of instruments that need an order snapshot.
    pub(super) out_of_sync: usize,
    pub(super) pass: OrderSnapshotPass,
    /// The lowest 369 of the last complete pass before the first incremental packet.
    pub(super) early_lowest: Option<u32>,
    pub(super) references: Vec<PriceLevelReference>,
    pub(super) touched: Vec<TouchedOrderBook>,
    pub(super) changes: Vec<RecordedOrderChange>,
    /// The number of ended events at the last message.
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
            pass: OrderSnapshotPass::new(loop_packets, joining),
            early_lowest: None,
            references: Vec::with_capacity(entries),
            touched: Vec::with_capacity(instruments),
            changes: Vec::with_capacity(entries),
            events: 0,
        }
    }
}

impl Settings {
    /// Returns the feed that provides order snapshots.
    pub(crate) fn order_feed(&self) -> Option<Feed> {
        match self.order_books {
            _ if self.late_join == LateJoin::Nothing => None,
            OrderBooks::None => None,
            // Conflated groups have no separate order snapshot feed.
            OrderBooks::Top => Some(Feed::Snapshot),
            OrderBooks::Full => Some(self.order_snapshots),
        }
    }
}

impl Market {
    /// Returns `true` if order books need packets of a feed.
    pub(crate) fn needs_order_feed(&self, feed: Feed) -> bool {
        self.settings.order_feed() == Some(feed)
            && !self.definition_loop.is_first()
            && (self.orders.out_of_sync > 0 || self.orders.pass.joining)
    }

    /// Queues an entry until its instrument's snapshot arrives.
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

    /// Begins a message. If an event has ended since the last one, or ends because the message has
    /// another TransactTime, clears the event's changes.
    pub(super) fn begin_order_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) {
        self.clear_ended_order_event();
        let is_of_event = !matches!(
            message.header.template_id,
            codec::MDIncrementalRefreshBook46::TEMPLATE_ID
                | codec::MDIncrementalRefreshBookLongQty64::TEMPLATE_ID
                | codec::MDIncrementalRefreshOrderBook47::TEMPLATE_ID
                | codec::SnapshotRefreshTopOrders59::TEMPLATE_ID
        ) || self.instruments.orders.changed.is_empty()
            || entries::transact_time(message) == Some(self.event_time);
        if !is_of_event {
            self.end_unfinished_event(packet, EventEnd::TransactTime, listener);
            self.clear_ended_order_event();
        }
    }

    /// Returns `true` if the current event has changed order books.
    pub(crate) fn has_order_event(&self) -> bool {
        self.orders.events == self.counters.events && !self.instruments.orders.changed.is_empty()
    }

    fn clear_ended_order_event(&mut self) {
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

    /// Records that the message has changed an order book.
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

    /// Notifies the listener of the changed order books after all entries of the message were
    /// applied.
    pub(super) fn finish_orders(
        &mut self,
        packet: &Packet,
        root: Root,
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
                self.notify_order_update((packet, root), instrument, source, restated, listener);
            }
        }
        self.orders.touched.clear();
        self.orders.changes.clear();
        (self.event_time, self.event_packet) = (root.transact_time, *packet);
    }

    /// Notifies the listener of a changed order book.
    pub(super) fn notify_order_update(
        &self,
        (packet, Root { transact_time, match_event }): (&Packet, Root),
        instrument: InstrumentIndex,
        source: UpdateSource,
        restated: bool,
        listener: &mut impl Listener,
    ) {
        listener.on_order_update(&OrderUpdate {
            packet,
            transact_time,
            match_event,
            instrument,
            book: self.instruments.order_book(instrument),
            instruments: &self.instruments,
            source,
            restated,
            changes: &self.orders.changes,
        });
    }
}
