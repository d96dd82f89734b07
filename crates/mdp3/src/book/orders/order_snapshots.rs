//! Market recovery of order books: snapshots in chunks (template 53), and the detection of order
//! books that a complete pass does not name.

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::SCHEMA_ID;
use hairpin_time::Utc;

use super::OrderBooks;
use super::order_book_head::{ChunkStatus, OrderBookHead};
use super::order_entry::{OrderEntry, OrderError};
use super::order_snapshot_pass::SnapshotKind;
use crate::feed::loop_tracker::PassPosition;
use crate::market::Market;
use crate::{
    Error, Feed, InstrumentIndex, Listener, Message, Messages, Packet, SyncState, Warning,
};

/// Decodes 369, TotNumReports and SecurityID of a price book snapshot.
macro_rules! report {
    ($message:ident, $type:ident) => {{
        let mut scratch = codec::$type::SCRATCH;
        let decoded = codec::$type::decode(&$message.header, $message.body, &mut scratch).ok()?;
        let sequence = decoded.last_msg_seq_num_processed();
        Some((sequence, decoded.tot_num_reports(), decoded.security_id()))
    }};
}

/// Returns 369, TotNumReports and SecurityID of a price book snapshot.
fn price_book_report(message: &Message<'_>) -> Option<(u32, u32, i32)> {
    match message.header.template_id {
        codec::SnapshotFullRefresh52::TEMPLATE_ID => report!(message, SnapshotFullRefresh52),
        codec::SnapshotFullRefreshLongQty69::TEMPLATE_ID => {
            report!(message, SnapshotFullRefreshLongQty69)
        }
        _ => None,
    }
}

impl Market {
    /// Processes a packet of the feed with order snapshots; `bytes` are its messages. On the feed
    /// of price books, the callbacks and counters of the packet itself are already done.
    #[cold]
    pub(crate) fn process_order_snapshots(
        &mut self,
        packet: &Packet,
        bytes: &[u8],
        listener: &mut impl Listener,
    ) {
        let is_own = self.settings.price_feed() != Some(packet.feed);
        let was_empty = self.orders.pass.was_empty();
        let lowest_if_without_orders = self.orders.pass.lowest_if_without_orders();
        let position = self.orders.pass.observe(packet);
        self.counters.order_snapshot_packets += u64::from(packet.feed == Feed::SnapshotOrders);
        if is_own && self.orders.pass.is_too_long() {
            self.warn(&Warning::LoopTooLong { feed: packet.feed }, listener);
        }
        match position {
            PassPosition::First => {
                let source = (packet, packet.sending_time);
                if was_empty {
                    self.conclude_pass_without_orders(packet, listener);
                } else if let Some(lowest) = lowest_if_without_orders {
                    self.clear_unnamed(source, lowest, |_| false, listener);
                }
                self.start_order_pass();
            }
            PassPosition::New => {}
            PassPosition::Duplicate => {
                self.counters.loop_duplicates += u64::from(is_own);
                return;
            }
        }
        if is_own {
            listener.on_packet(packet);
        }
        let mut transact_time = Utc::EPOCH;
        for message in Messages::new(bytes) {
            match message {
                Ok(message) if is_own => {
                    let message = self.translate(message, listener);
                    self.apply_order_loop_message(packet, &message, &mut transact_time, listener);
                    listener.on_end_of_message(packet, &message);
                }
                Ok(mut message) => {
                    // Its warnings were already reported.
                    let id = message.header.template_id;
                    message.header.template_id = self.settings.templates.template(id);
                    self.apply_order_loop_message(packet, &message, &mut transact_time, listener);
                }
                Err(error) => {
                    self.orders.pass.has_contents = true;
                    if is_own {
                        self.report(Some(packet), &error, listener);
                    }
                }
            }
        }
        while let Some((kind, lowest)) = self.orders.pass.take_complete_report() {
            let pass = self.orders.pass.number();
            self.conclude_order_pass((packet, transact_time), (kind, pass), lowest, listener);
        }
        if is_own {
            listener.on_end_of_packet(packet);
        }
    }

    fn start_order_pass(&mut self) {
        self.orders.pass.start();
        // If the stream has overtaken the loop, the pass may lack the latest packets.
        if self.begun && self.last_sent <= self.orders.pass.began() {
            self.orders.pass.sequence_before = Some(self.next_sequence.saturating_sub(1));
        }
    }

    fn apply_order_loop_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        transact_time: &mut Utc,
        listener: &mut impl Listener,
    ) {
        let header = &message.header;
        if header.template_id != codec::AdminHeartbeat12::TEMPLATE_ID {
            self.orders.pass.has_contents = true;
        }
        let is_own = self.settings.price_feed() != Some(packet.feed);
        let begin_message = if is_own {
            self.begin_message(packet, message, listener)
        } else {
            header.schema_id == SCHEMA_ID
        };
        if !begin_message {
            return;
        }
        if header.template_id == codec::SnapshotFullRefreshOrderBook53::TEMPLATE_ID {
            self.apply_order_chunk(packet, message, transact_time, listener);
        } else if let Some((sequence, total, security_id)) = price_book_report(message) {
            let instrument = self.instruments.find(security_id);
            let heads = &mut self.instruments.orders.heads;
            let head = instrument.and_then(|instrument| heads.get_mut(instrument.as_usize()));
            let mark = head.map(|head| &mut head.price_pass).ok_or(true);
            self.orders.pass.count(SnapshotKind::Prices, (sequence, total), mark);
        } else if is_own {
            self.handle_other_loop_message(packet, message, listener);
        }
    }

    /// Processes a chunk of an instrument's order book.
    fn apply_order_chunk(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        transact_time: &mut Utc,
        listener: &mut impl Listener,
    ) {
        let mut scratch = codec::SnapshotFullRefreshOrderBook53::SCRATCH;
        let decoded = codec::SnapshotFullRefreshOrderBook53::decode(
            &message.header,
            message.body,
            &mut scratch,
        );
        let decoded = match decoded {
            Ok(decoded) => decoded,
            Err(error) => {
                let template_id = message.header.template_id;
                let error = Error::MalformedMessage { template_id, error };
                return self.report(Some(packet), &error, listener);
            }
        };
        *transact_time = Utc::from_nanos(decoded.transact_time());
        let sequence = decoded.last_msg_seq_num_processed();
        let (chunk, chunks) = (decoded.current_chunk(), decoded.no_chunks());
        let instrument = self.find_snapshot_instrument(decoded.security_id(), listener);
        let heads = &mut self.instruments.orders.heads;
        let head = instrument.and_then(|instrument| heads.get_mut(instrument.as_usize()));
        let mark = head.map(|head| &mut head.pass).ok_or(chunk == 1);
        self.orders.pass.count(SnapshotKind::Orders, (sequence, decoded.tot_num_reports()), mark);
        let Some(instrument) = instrument else { return };
        if !self.accept_chunk(packet, instrument, (sequence, chunk, chunks), listener) {
            return;
        }
        let mut entries = decoded.no_md_entries();
        let mut scratch = codec::snapshot_full_refresh_order_book53::NoMDEntries::SCRATCH;
        while let Some(wire) = entries.next(&mut scratch) {
            let entry = OrderEntry::new(
                0,
                wire.md_entry_type().0,
                (wire.order_id(), wire.md_order_priority()),
                (Some(wire.md_entry_px()), Some(wire.md_display_qty())),
            );
            if let Err(error) = self.instruments.orders.load(instrument, &entry) {
                return self.reject_order_snapshot(packet, instrument, error, listener);
            }
        }
        if self.instruments.orders.heads[instrument.as_usize()].chunk_tracker.is_complete() {
            self.counters.order_snapshots_applied += 1;
            self.finish_order_snapshot((packet, *transact_time), instrument, sequence, listener);
        }
    }

    /// Returns `true` if the instrument waits for this chunk. The first chunk of a snapshot empties
    /// the book.
    fn accept_chunk(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        (sequence, chunk, chunks): (u32, u32, u32),
        listener: &mut impl Listener,
    ) -> bool {
        if self.instruments.orders.sync_state(instrument) != SyncState::OutOfSync {
            return false;
        }
        if !self.is_order_snapshot_contiguous(instrument, sequence) {
            self.counters.order_snapshots_too_old += 1;
            return false;
        }
        if sequence > self.max_snapshot_sequence() {
            self.counters.order_snapshots_too_far_ahead += 1;
            return false;
        }
        if chunk == 0 || chunk > chunks {
            self.reject_order_snapshot(packet, instrument, OrderError::Invalid, listener);
            return false;
        }
        let pass = self.orders.pass.number();
        let head = &mut self.instruments.orders.heads[instrument.as_usize()];
        match head.chunk_tracker.record_chunk(sequence, chunk, chunks, pass) {
            ChunkStatus::Ignored => return false,
            ChunkStatus::New => {}
            ChunkStatus::First(was_incomplete) => {
                self.counters.order_snapshots_torn += u64::from(was_incomplete);
                self.instruments.orders.clear(instrument);
                self.instruments.orders.heads[instrument.as_usize()].early = false;
            }
        }
        true
    }

    /// Returns `true` if all entries after packet `sequence` are available or still to come.
    fn is_order_snapshot_contiguous(&self, instrument: InstrumentIndex, sequence: u32) -> bool {
        let waiting_from = self.instruments.orders.heads[instrument.as_usize()].waiting_from;
        let first = waiting_from.max(self.floor).max(self.orders.floor);
        !self.begun || sequence.saturating_add(1) >= first
    }

    /// Rejects a snapshot that cannot be loaded, and its remaining chunks.
    fn reject_order_snapshot(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        error: OrderError,
        listener: &mut impl Listener,
    ) {
        let pass = self.orders.pass.number();
        self.instruments.orders.clear(instrument);
        self.instruments.orders.heads[instrument.as_usize()].chunk_tracker.reject(pass);
        let security_id = self.instruments.book(instrument).security_id();
        if error == OrderError::NoRoom {
            self.warn(&Warning::OrdersOverCapacity { security_id }, listener);
        } else {
            self.report(Some(packet), &Error::InvalidOrderSnapshot { security_id }, listener);
        }
    }

    /// Concludes a complete pass of one kind of snapshot: each waiting instrument that it did not
    /// name has no orders. If only the price books are complete, neither kind must have named it.
    fn conclude_order_pass(
        &mut self,
        source: (&Packet, Utc),
        (kind, pass): (SnapshotKind, u32),
        lowest: u32,
        listener: &mut impl Listener,
    ) {
        let was_named = |head: &OrderBookHead| {
            head.pass == pass || (kind == SnapshotKind::Prices && head.price_pass == pass)
        };
        self.clear_unnamed(source, lowest, was_named, listener);
    }

    /// Concludes a pass that named no instrument: no instrument has orders as of the packet before
    /// the pass, unless later entries are known.
    fn conclude_pass_without_orders(&mut self, packet: &Packet, listener: &mut impl Listener) {
        let Some(before) = self.orders.pass.sequence_before else { return };
        let is_full = self.settings.order_books == OrderBooks::Full;
        if is_full && self.orders.queue.oldest().is_some_and(|oldest| oldest <= before) {
            // An instrument was active before the pass began; the loop will still name it.
            return;
        }
        self.clear_unnamed((packet, packet.sending_time), before, |_| false, listener);
    }

    /// Marks all waiting instruments that were not named as empty and in sync as of packet
    /// `lowest`.
    fn clear_unnamed(
        &mut self,
        source: (&Packet, Utc),
        lowest: u32,
        was_named: impl Fn(&OrderBookHead) -> bool,
        listener: &mut impl Listener,
    ) {
        for position in 0..self.instruments.orders.heads.len() {
            let instrument = InstrumentIndex(position as u32);
            let head = &self.instruments.orders.heads[position];
            let waits = head.state == SyncState::OutOfSync && !was_named(head);
            if waits
                && self.is_order_snapshot_contiguous(instrument, lowest)
                && lowest <= self.max_snapshot_sequence()
            {
                self.instruments.orders.clear(instrument);
                self.counters.order_books_empty_by_absence += 1;
                self.finish_order_snapshot(source, instrument, lowest, listener);
            }
        }
        self.finish_order_pass(lowest);
    }

    /// Ends a late join with a complete pass as of packet `lowest` or later, if nothing was lost
    /// since.
    fn finish_order_pass(&mut self, lowest: u32) {
        if !self.begun {
            self.orders.early_lowest = Some(lowest);
        } else if lowest.saturating_add(1) >= self.floor.max(self.orders.floor) {
            self.orders.pass.joining = false;
        }
    }

    /// Judges the order snapshots received before the first packet of the incremental feed, now
    /// that its number is known.
    #[cold]
    pub(crate) fn finish_early_order_snapshots(
        &mut self,
        packet: &Packet,
        listener: &mut impl Listener,
    ) {
        for position in 0..self.instruments.orders.heads.len() {
            let instrument = InstrumentIndex(position as u32);
            let head = &mut self.instruments.orders.heads[position];
            if !core::mem::take(&mut head.early) || head.state != SyncState::OutOfSync {
                continue;
            }
            let sequence = head.snapshot_sequence;
            if self.is_order_snapshot_contiguous(instrument, sequence)
                && sequence <= self.max_snapshot_sequence()
            {
                let source = (packet, packet.sending_time);
                self.finish_order_snapshot(source, instrument, sequence, listener);
            } else {
                self.counters.order_snapshots_too_old += 1;
                self.instruments.orders.heads[position].snapshot_sequence = 0;
                self.instruments.orders.clear(instrument);
            }
        }
        let limit = self.max_snapshot_sequence();
        if let Some(lowest) = self.orders.early_lowest.take().filter(|it| *it <= limit) {
            self.finish_order_pass(lowest);
        }
    }
}
