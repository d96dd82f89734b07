//! Order entries of incremental messages.

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_time::Utc;

use super::OrderBooks;
use super::order_entry::{OrderAction, OrderEntry, OrderError};
use super::order_state::{MAX_ENTRIES, PriceLevelReference, RecordedOrderChange};
use crate::book::apply_entry::EntryTarget;
use crate::market::Market;
use crate::message::entries::Root;
use crate::{
    Error, InstrumentIndex, LateJoin, Listener, MatchEvent, Message, Packet, SyncState, Warning,
};

/// Applies a book message of one template, whose order entries refer to its price levels. The two
/// templates differ only in the quantity type of the levels, which does not matter here.
macro_rules! combined {
    ($market:ident, ($packet:ident, $message:ident, $on:ident), $type:ident, $module:ident) => {{
        let mut scratch = codec::$type::SCRATCH;
        let decoded = codec::$type::decode(&$message.header, $message.body, &mut scratch).ok()?;
        $market.orders.references.clear();
        let mut entries = decoded.no_md_entries();
        let mut scratch = codec::$module::NoMDEntries::SCRATCH;
        while let Some(entry) = entries.next(&mut scratch) {
            $market.orders.references.push(PriceLevelReference {
                security_id: entry.security_id(),
                price: entry.md_entry_px(),
                entry_type: entry.md_entry_type().0,
            });
        }
        $market.apply_order_resets($packet, $on);
        let mut orders = decoded.no_order_id_entries();
        let mut scratch = codec::$module::NoOrderIDEntries::SCRATCH;
        while let Some(order) = orders.next(&mut scratch) {
            let reference = $market.find_reference(order.reference_id());
            let entry = OrderEntry::new(
                order.order_update_action().0,
                reference.map_or(0, |reference| reference.entry_type),
                (order.order_id(), order.md_order_priority()),
                (reference.and_then(|reference| reference.price), order.md_display_qty()),
            );
            let reference_id = order.reference_id().unwrap_or(0);
            $market.apply_referenced_order($packet, (reference, reference_id), &entry, $on);
        }
        Some(Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        })
    }};
}

impl Market {
    /// Applies the order entries of a valid incremental message, if orders are stored. A message
    /// that cannot be decoded is skipped here; the caller reports it and marks its contents lost.
    #[cold]
    pub(crate) fn apply_order_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) {
        self.begin_order_message(packet, message, listener);
        let is_full = self.settings.order_books == OrderBooks::Full;
        let root = match message.header.template_id {
            codec::MDIncrementalRefreshBook46::TEMPLATE_ID => {
                self.apply_book_orders(packet, message, listener)
            }
            codec::MDIncrementalRefreshBookLongQty64::TEMPLATE_ID => {
                self.apply_long_book_orders(packet, message, listener)
            }
            codec::MDIncrementalRefreshOrderBook47::TEMPLATE_ID if is_full => {
                self.apply_order_entries(packet, message, listener)
            }
            codec::SnapshotRefreshTopOrders59::TEMPLATE_ID if !is_full => {
                self.apply_top_orders(packet, message, listener)
            }
            _ => None,
        };
        if let Some(root) = root {
            self.finish_orders(packet, root, listener);
        }
    }

    fn apply_book_orders(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Option<Root> {
        combined!(
            self,
            (packet, message, listener),
            MDIncrementalRefreshBook46,
            md_incremental_refresh_book46
        )
    }

    fn apply_long_book_orders(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Option<Root> {
        combined!(
            self,
            (packet, message, listener),
            MDIncrementalRefreshBookLongQty64,
            md_incremental_refresh_book_long_qty64
        )
    }

    /// Applies an order book message (template 47).
    fn apply_order_entries(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Option<Root> {
        let mut scratch = codec::MDIncrementalRefreshOrderBook47::SCRATCH;
        let decoded = codec::MDIncrementalRefreshOrderBook47::decode(
            &message.header,
            message.body,
            &mut scratch,
        )
        .ok()?;
        let mut entries = decoded.no_md_entries();
        let mut scratch = codec::md_incremental_refresh_order_book47::NoMDEntries::SCRATCH;
        while let Some(wire) = entries.next(&mut scratch) {
            let entry = OrderEntry::new(
                // An entry without an OrderID has no effect.
                wire.order_id().map_or(u8::MAX, |_| wire.md_update_action().0),
                wire.md_entry_type().0,
                (wire.order_id().unwrap_or(u64::MAX), wire.md_order_priority()),
                (wire.md_entry_px(), wire.md_display_qty()),
            );
            self.apply_or_queue_order(packet, wire.security_id(), &entry, listener);
        }
        Some(Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        })
    }

    /// Replaces the top orders of an instrument (template 59). They state the whole book, so
    /// earlier losses do not matter.
    fn apply_top_orders(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Option<Root> {
        let mut scratch = codec::SnapshotRefreshTopOrders59::SCRATCH;
        let decoded =
            codec::SnapshotRefreshTopOrders59::decode(&message.header, message.body, &mut scratch)
                .ok()?;
        let security_id = decoded.security_id();
        let instrument = self.find_or_register(security_id, packet.sequence, listener)?;
        let head = self.instruments.orders.heads[instrument.as_usize()];
        if head.state == SyncState::InSync && packet.sequence <= head.snapshot_sequence {
            self.counters.orders_in_snapshot += 1;
            return None;
        }
        if head.state == SyncState::Unknown {
            self.handle_undefined_order(
                packet,
                (instrument, security_id),
                &OrderEntry::RESET,
                listener,
            );
            return None;
        }
        self.instruments.orders.clear(instrument);
        let mut entries = decoded.no_md_entries();
        let mut scratch = codec::snapshot_refresh_top_orders59::NoMDEntries::SCRATCH;
        while let Some(wire) = entries.next(&mut scratch) {
            let entry = OrderEntry::new(
                0,
                wire.md_entry_type().0,
                (wire.order_id(), Some(wire.md_order_priority())),
                (Some(wire.md_entry_px()), Some(wire.md_display_qty())),
            );
            if let Err(error) = self.instruments.orders.load(instrument, &entry) {
                self.handle_order_error(
                    packet,
                    (instrument, security_id),
                    (entry.id, error),
                    listener,
                );
                return None;
            }
        }
        self.counters.order_overlays += 1;
        // A snapshot from before a loss does not apply to later messages.
        self.instruments.orders.heads[instrument.as_usize()].snapshot_sequence = 0;
        self.mark_order_book_in_sync(instrument, listener);
        self.record_order_book_change(instrument, true);
        Some(Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        })
    }

    /// Empties the order books named by the message's BookReset entries.
    fn apply_order_resets(&mut self, packet: &Packet, listener: &mut impl Listener) {
        for position in 0..self.orders.references.len() {
            let PriceLevelReference { security_id, entry_type, .. } =
                self.orders.references[position];
            if EntryTarget::from_entry_type(entry_type) == EntryTarget::Reset {
                self.apply_or_queue_order(packet, security_id, &OrderEntry::RESET, listener);
            }
        }
    }

    /// Returns the price level with a ReferenceID, which counts from 1.
    fn find_reference(&self, reference_id: Option<u8>) -> Option<PriceLevelReference> {
        let position = usize::from(reference_id?).checked_sub(1)?;
        self.orders.references.get(position).copied()
    }

    /// Applies an entry that refers to a price level of its message.
    fn apply_referenced_order(
        &mut self,
        packet: &Packet,
        (reference, reference_id): (Option<PriceLevelReference>, u8),
        entry: &OrderEntry,
        listener: &mut impl Listener,
    ) {
        if self.settings.order_books != OrderBooks::Full {
            return;
        }
        let Some(reference) = reference else {
            let error = Error::DanglingOrder { order_id: entry.id, reference_id };
            self.report(Some(packet), &error, listener);
            // The instrument of the order is unknown.
            return self.mark_orders_lost(packet, listener);
        };
        self.apply_or_queue_order(packet, reference.security_id, entry, listener);
    }

    /// Marks all order books as possibly lacking an entry of this packet.
    fn mark_orders_lost(&mut self, packet: &Packet, listener: &mut impl Listener) {
        if self.settings.late_join == LateJoin::Nothing {
            return;
        }
        self.orders.floor = self.orders.floor.max(packet.sequence.saturating_add(1));
        self.mark_all_order_books_out_of_sync(listener);
    }

    /// Applies, queues or drops an entry, depending on the state of its order book.
    fn apply_or_queue_order(
        &mut self,
        packet: &Packet,
        security_id: i32,
        entry: &OrderEntry,
        listener: &mut impl Listener,
    ) {
        let met = self.find_or_register(security_id, packet.sequence, listener);
        let Some(instrument) = met else { return };
        let head = self.instruments.orders.heads[instrument.as_usize()];
        match head.state {
            SyncState::InSync if packet.sequence <= head.snapshot_sequence => {
                self.counters.orders_in_snapshot += 1;
            }
            SyncState::Unknown => {
                self.handle_undefined_order(packet, (instrument, security_id), entry, listener);
            }
            _ if entry.action == OrderAction::Reset => self.reset_orders(instrument, listener),
            SyncState::InSync => {
                self.apply_order(packet, (instrument, security_id), entry, listener);
            }
            _ => self.queue_order(packet, instrument, entry, listener),
        }
    }

    fn apply_order(
        &mut self,
        packet: &Packet,
        (instrument, security_id): (InstrumentIndex, i32),
        entry: &OrderEntry,
        listener: &mut impl Listener,
    ) {
        match self.instruments.orders.apply(instrument, entry) {
            Ok(change) => {
                self.counters.order_entries += 1;
                if let Some(change) = change
                    && self.orders.changes.len() < MAX_ENTRIES
                {
                    self.orders.changes.push(RecordedOrderChange { instrument, change });
                }
                self.record_order_book_change(instrument, false);
            }
            Err(error) => {
                self.handle_order_error(
                    packet,
                    (instrument, security_id),
                    (entry.id, error),
                    listener,
                );
            }
        }
    }

    /// Empties an instrument's order book at a BookReset. The book is then known, whatever was
    /// missed before.
    fn reset_orders(&mut self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        self.instruments.orders.clear(instrument);
        self.instruments.orders.heads[instrument.as_usize()].snapshot_sequence = 0;
        self.mark_order_book_in_sync(instrument, listener);
        self.record_order_book_change(instrument, true);
    }

    /// Handles an entry that could not be applied: the book differs from the exchange's.
    #[cold]
    fn handle_order_error(
        &mut self,
        packet: &Packet,
        (instrument, security_id): (InstrumentIndex, i32),
        (order_id, error): (u64, OrderError),
        listener: &mut impl Listener,
    ) {
        let error = match error {
            OrderError::Exists => Error::ExistingOrder { security_id, order_id },
            OrderError::Missing => Error::MissingOrder { security_id, order_id },
            OrderError::Invalid => Error::InvalidOrder { security_id, order_id },
            OrderError::NoRoom => {
                self.instruments.orders.clear(instrument);
                self.warn(&Warning::OrdersOverCapacity { security_id }, listener);
                let waiting_from = packet.sequence.saturating_add(1);
                return self.mark_order_book_out_of_sync(instrument, waiting_from, listener);
            }
        };
        self.report(Some(packet), &error, listener);
        let can_recover = self.settings.late_join != LateJoin::Nothing;
        if can_recover || self.settings.order_books == OrderBooks::Top {
            let waiting_from = packet.sequence.saturating_add(1);
            self.mark_order_book_out_of_sync(instrument, waiting_from, listener);
        }
    }

    /// Handles an entry of an instrument without a definition. During the first collection the
    /// entry is queued, because the definition may still arrive. Otherwise definitions are
    /// collected again.
    fn handle_undefined_order(
        &mut self,
        packet: &Packet,
        (instrument, security_id): (InstrumentIndex, i32),
        entry: &OrderEntry,
        listener: &mut impl Listener,
    ) {
        if !self.definition_loop.is_first() {
            self.request_definitions(security_id, listener);
        } else if self.settings.order_books == OrderBooks::Full {
            self.queue_order(packet, instrument, entry, listener);
        } else {
            // Top orders are not queued, so a snapshot has to contain these.
            let head = &mut self.instruments.orders.heads[instrument.as_usize()];
            head.waiting_from = head.waiting_from.max(packet.sequence.saturating_add(1));
        }
    }
}
