//! The messages of in-sequence incremental packets.

use hairpin_cme_codecs::mdp3::{
    MDIncrementalRefreshBook46, MDIncrementalRefreshBookLongQty64, MDUpdateAction,
};

use crate::book::apply_entry::{self, record_change};
use crate::book::book_slot::DirectBookSlot;
use crate::book::implied_book::ImpliedBookSlot;
use crate::market::Market;
use crate::message::entries::{self, Entry, EntryKind, Root, TradeEntry};
use crate::recovery::sync_state::State;
use crate::{
    BookUpdate, Changes, EndOfEvent, Error, EventEnd, InstrumentIndex, Listener, MatchEvent,
    Message, Messages, OrderBooks, Packet, Trade, UpdateSource, Volume,
};

/// An entry visitor that applies the entries of a message.
struct EntryApplier<'a, L> {
    market: &'a mut Market,
    packet: &'a Packet,
    /// The message from its SBE header on.
    bytes: &'a [u8],
    listener: &'a mut L,
}

impl<L: Listener> entries::EntryVisitor for EntryApplier<'_, L> {
    #[inline(always)]
    fn visit_entry(&mut self, root: Root, ids: (i32, u32), kind: impl Fn() -> EntryKind) {
        self.market.apply_entry((self.packet, self.bytes), root, (ids, kind), self.listener);
    }
}

impl Market {
    /// Processes the next packet of the incremental feed; `bytes` are its messages.
    #[inline]
    pub(crate) fn process_incremental(
        &mut self,
        packet: &Packet,
        bytes: &[u8],
        listener: &mut impl Listener,
    ) {
        self.next_sequence = packet.sequence.wrapping_add(1);
        self.last_sent = packet.sending_time;
        listener.on_packet(packet);
        let mut messages = Messages::new(bytes);
        while let Some(message) = messages.next_valid() {
            self.apply_incremental_message(packet, message, listener);
        }
        if let Some(error) = messages.error() {
            self.mark_contents_lost(packet, &error, listener);
        }
        listener.on_end_of_packet(packet);
    }

    #[inline]
    fn apply_incremental_message(
        &mut self,
        packet: &Packet,
        message: Message<'_>,
        listener: &mut impl Listener,
    ) {
        if self.needs_translation(&message) {
            return self.apply_translated_message(packet, message, listener);
        }
        self.apply_message(packet, message, listener);
        listener.on_end_of_message(packet, &message);
    }

    /// Applies a message that needs translation. This is a second compiled copy of
    /// [`Self::apply_message`], so that the common case spends no register on it.
    #[cold]
    #[inline(never)]
    fn apply_translated_message(
        &mut self,
        packet: &Packet,
        message: Message<'_>,
        listener: &mut impl Listener,
    ) {
        let message = self.translate(message, listener);
        self.apply_message(packet, message, listener);
        listener.on_end_of_message(packet, &message);
    }

    #[inline(always)]
    fn apply_message(
        &mut self,
        packet: &Packet,
        message: Message<'_>,
        listener: &mut impl Listener,
    ) {
        if !self.begin_message(packet, &message, listener) {
            return;
        }
        if !self.changed_in_event.is_empty()
            && entries::transact_time(&message) != Some(self.event_time)
        {
            // Passes a copy, so that the message itself need not be in memory.
            self.end_previous_event(packet, &{ message }, listener);
        }
        if self.settings.order_books != OrderBooks::None {
            self.apply_order_message(packet, &{ message }, listener);
        }
        let root = entries::visit_entries(
            message,
            EntryApplier { market: self, packet, bytes: message.bytes, listener },
        );
        match root {
            Ok(Some(root)) => self.finish_message(packet, root, listener),
            Ok(None) => self.apply_other_message(packet, message, listener),
            Err(error) => {
                let template_id = message.header.template_id;
                self.mark_contents_lost(
                    packet,
                    &Error::MalformedMessage { template_id, error },
                    listener,
                );
            }
        }
    }

    #[inline(always)]
    fn apply_entry(
        &mut self,
        (packet, bytes): (&Packet, &[u8]),
        root: Root,
        (ids, kind): ((i32, u32), impl Fn() -> EntryKind),
        listener: &mut impl Listener,
    ) {
        let (security_id, rpt_seq) = ids;
        let Some((instrument, slot)) = self.instruments.accept_next_entry(security_id, rpt_seq)
        else {
            return self.handle_out_of_order_entry(packet, bytes, root, ids, kind, listener);
        };
        match kind() {
            EntryKind::Book(entry) if apply_entry::apply_fast_path(slot, &entry) => {
                self.counters.book_entries += 1;
                record_change(
                    &mut self.changed_in_message,
                    instrument,
                    &mut slot.head.message_changes,
                    Changes::BOOK,
                );
                let ids = (instrument, security_id, rpt_seq);
                listener.on_book_entry(&entry.to_update(packet, root, ids));
            }
            EntryKind::Book(_) => {
                self.apply_book_entry_slow((packet, root), (instrument, rpt_seq), kind, listener);
            }
            kind => {
                let entry = Entry { security_id, rpt_seq, kind };
                self.notify_entry((packet, bytes), root, Some(instrument), entry, listener);
            }
        }
    }

    /// Applies a book entry that is the next of its instrument but not on the fast path. It is
    /// decoded again, so that the fast path spends no register on it.
    #[cold]
    #[inline(never)]
    fn apply_book_entry_slow(
        &mut self,
        source: (&Packet, Root),
        ids: (InstrumentIndex, u32),
        kind: impl Fn() -> EntryKind,
        listener: &mut impl Listener,
    ) {
        if let EntryKind::Book(entry) = kind() {
            self.apply_book_entry(source, ids, &entry, listener);
        }
    }

    /// Handles an entry that is not the next one of a book in sync.
    #[cold]
    #[inline(never)]
    fn handle_out_of_order_entry(
        &mut self,
        packet: &Packet,
        bytes: &[u8],
        root: Root,
        (security_id, rpt_seq): (i32, u32),
        kind: impl Fn() -> EntryKind,
        listener: &mut impl Listener,
    ) {
        let entry = Entry { security_id, rpt_seq, kind: kind() };
        let instrument = self.instruments.find(security_id);
        let admitted = self.check_entry(packet, instrument, entry, listener);
        if let EntryKind::Book(book_entry) = &entry.kind {
            if let Some(instrument) = admitted {
                let ids = (instrument, rpt_seq);
                self.apply_book_entry((packet, root), ids, book_entry, listener);
            }
        } else {
            let instrument = instrument.or(admitted);
            self.notify_entry((packet, bytes), root, instrument, entry, listener);
        }
    }

    /// Notifies the listener of an entry other than a book entry.
    #[inline(always)]
    fn notify_entry(
        &mut self,
        (packet, bytes): (&Packet, &[u8]),
        root: Root,
        instrument: Option<InstrumentIndex>,
        entry: Entry,
        listener: &mut impl Listener,
    ) {
        let ids = (entry.security_id, entry.rpt_seq);
        match entry.kind {
            EntryKind::Book(_) => {}
            EntryKind::Trade(trade) => {
                self.notify_trade((packet, bytes), root, instrument, (entry, trade), listener);
            }
            EntryKind::Volume { quantity, action } => {
                let volume = Volume {
                    packet,
                    transact_time: root.transact_time,
                    match_event: root.match_event,
                    instrument,
                    security_id: entry.security_id,
                    rpt_seq: entry.rpt_seq,
                    quantity,
                    action,
                };
                self.notify_volume(&volume, listener);
            }
            EntryKind::Statistic(statistic) => {
                self.apply_statistic(packet, root, ids, statistic, listener)
            }
            EntryKind::Limits(limits) => self.apply_limits(packet, root, ids, limits, listener),
        }
    }

    #[inline]
    fn notify_volume(&mut self, volume: &Volume<'_>, listener: &mut impl Listener) {
        if self.is_unwanted(volume.instrument, volume.security_id) {
            return;
        }
        self.counters.volumes += 1;
        if let Some(instrument) = volume.instrument {
            let statistics = &mut self.instruments.statistics[instrument.as_usize()];
            statistics.record_volume(volume.packet.sequence, volume.quantity);
        }
        listener.on_volume(volume);
    }

    #[inline]
    fn notify_trade(
        &mut self,
        (packet, bytes): (&Packet, &[u8]),
        root: Root,
        instrument: Option<InstrumentIndex>,
        (entry, trade): (Entry, TradeEntry),
        listener: &mut impl Listener,
    ) {
        if self.is_unwanted(instrument, entry.security_id) {
            return;
        }
        self.counters.trades += 1;
        if let Some(instrument) = instrument
            && trade.action != MDUpdateAction::DELETE
        {
            let statistics = &mut self.instruments.statistics[instrument.as_usize()];
            statistics.record_trade(packet.sequence, trade.price, trade.quantity);
        }
        listener.on_trade(&Trade {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            instrument,
            security_id: entry.security_id,
            rpt_seq: entry.rpt_seq,
            price: trade.price,
            quantity: trade.quantity,
            orders: trade.orders,
            aggressor: trade.aggressor,
            action: trade.action,
            trade_entry_id: trade.trade_entry_id,
            instruments: &self.instruments,
            bytes,
            position: trade.position,
        });
    }

    /// Finishes a message after its last entry: notifies the listener of all changed books.
    #[inline]
    pub(crate) fn finish_message(
        &mut self,
        packet: &Packet,
        root: Root,
        listener: &mut impl Listener,
    ) {
        let Root { transact_time, match_event } = root;
        for &instrument in &self.changed_in_message {
            let slot = &mut self.instruments.direct[instrument.as_usize()];
            let changes = match core::mem::take(&mut slot.head.message_changes) {
                Changes::BOOK => slot.update_best(),
                touched => {
                    let implied = &mut self.instruments.implied[instrument.as_usize()];
                    update_best_both(slot, implied, touched)
                }
            };
            record_change(
                &mut self.changed_in_event,
                instrument,
                &mut slot.head.event_changes,
                changes,
            );
            if slot.head.state.is_in_sync() {
                let (instruments, source) = (&self.instruments, UpdateSource::Incremental);
                let book = instruments.book(instrument);
                listener.on_book_update(&BookUpdate {
                    packet,
                    transact_time,
                    match_event,
                    instrument,
                    book,
                    instruments,
                    changes,
                    source,
                });
            } else if slot.head.state == State::Refreshing {
                self.notify_refreshed(packet, root, instrument, changes, listener);
            }
        }
        self.changed_in_message.clear();
        self.end_parts(packet, root, listener);
        if !root.ends_event() {
            (self.event_time, self.event_packet) = (transact_time, *packet);
        }
    }

    /// Ends the parts of the event that a message is the last of, and the event.
    #[inline(always)]
    pub(crate) fn end_parts(&mut self, packet: &Packet, root: Root, listener: &mut impl Listener) {
        let Root { transact_time, match_event } = root;
        let (instruments, changed) = (&self.instruments, &self.changed_in_event[..]);
        let end = EventEnd::Indicator;
        let event = EndOfEvent { packet, transact_time, match_event, end, instruments, changed };
        if match_event.is_last_quote() {
            listener.on_end_of_quotes(&event);
        }
        if match_event.is_last_implied() {
            listener.on_end_of_implied(&event);
        }
        if root.ends_event() {
            self.end_event(packet, root, EventEnd::Indicator, listener);
        }
    }

    #[inline]
    fn end_event(
        &mut self,
        packet: &Packet,
        Root { transact_time, match_event }: Root,
        end: EventEnd,
        listener: &mut impl Listener,
    ) {
        self.counters.events += 1;
        let (instruments, changed) = (&self.instruments, &self.changed_in_event[..]);
        listener.on_end_of_event(&EndOfEvent {
            packet,
            transact_time,
            match_event,
            end,
            instruments,
            changed,
        });
        self.clear_event();
    }

    /// Ends an unfinished event before a book message, if the books of the event have another
    /// TransactTime. Other messages may belong to it: on conflated feeds a trade has the time of
    /// its match. Their time is kept apart, because it replaces `event_time`.
    #[cold]
    #[inline(never)]
    fn end_previous_event(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) {
        let events = self.counters.events;
        let kept = self.book_time.filter(|(event, _)| *event == events);
        let time = kept.map_or(self.event_time, |(_, time)| time);
        if !matches!(
            message.header.template_id,
            MDIncrementalRefreshBook46::TEMPLATE_ID
                | MDIncrementalRefreshBookLongQty64::TEMPLATE_ID
        ) {
            self.book_time = Some((events, time));
        } else if entries::transact_time(message) != Some(time) {
            self.event_time = time;
            self.end_unfinished_event(packet, EventEnd::TransactTime, listener);
        }
    }

    /// Ends an event whose last message is missing.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_unfinished_event(
        &mut self,
        packet: &Packet,
        end: EventEnd,
        listener: &mut impl Listener,
    ) {
        self.counters.unfinished_events += 1;
        let root = Root { transact_time: self.event_time, match_event: MatchEvent::NONE };
        self.end_event(packet, root, end, listener);
    }

    /// Reports contents that could not be decoded and marks everything suspect, since any book may
    /// lack an entry now.
    #[cold]
    pub(crate) fn mark_contents_lost(
        &mut self,
        packet: &Packet,
        error: &Error,
        listener: &mut impl Listener,
    ) {
        self.report(Some(packet), error, listener);
        // Entries before the error were applied, but the message was not finished.
        for instrument in self.changed_in_message.drain(..) {
            self.instruments.direct[instrument.as_usize()].head.message_changes = Changes::NONE;
            self.instruments.update_best(instrument);
        }
        self.mark_all_suspect(1, packet.sequence.saturating_add(1), listener);
    }

    /// Clears the changes of the current event, whose end may be lost.
    pub(crate) fn clear_event(&mut self) {
        for instrument in &self.changed_in_event {
            let head = &mut self.instruments.direct[instrument.as_usize()].head;
            head.event_changes = Changes::NONE;
        }
        self.changed_in_event.clear();
    }
}

/// Updates the best levels when the message has changed the implied book, or more than levels.
fn update_best_both(
    slot: &mut DirectBookSlot,
    implied: &mut ImpliedBookSlot,
    touched: Changes,
) -> Changes {
    let implied = implied.update_best().to_implied();
    if touched == Changes::IMPLIED {
        implied
    } else {
        slot.update_best().union(implied).union(touched)
    }
}
