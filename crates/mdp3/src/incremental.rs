//! Packets of the incremental feed, in order and once.

use crate::book::{BookSide, Changes};
use crate::book_entry::{self, Outcome, Target};
use crate::definition_decoder;
use crate::entries::{self, BookEntry, Entry, Kind, Root, TradeEntry};
use crate::market::Market;
use crate::sync::State;
use crate::{
    BookUpdate, ChannelReset, EndOfEvent, Error, InstrumentIndex, LateJoin, Listener, Message,
    Messages, Packet, Trade, UpdateSource, Volume, Warning,
};

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_time::Utc;

/// Applies the entries of a message.
struct Taker<'a, L> {
    market: &'a mut Market,
    packet: &'a Packet,
    listener: &'a mut L,
}

impl<L: Listener> entries::Take for Taker<'_, L> {
    #[inline(always)]
    fn take(&mut self, root: &Root, entry: &Entry) {
        self.market.entry(self.packet, root, entry, self.listener);
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
        for message in Messages::new(bytes) {
            match message {
                Ok(message) => self.incremental_message(packet, &message, listener),
                Err(error) => self.lose_contents(packet, &error, listener),
            }
        }
    }

    #[inline]
    fn incremental_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) {
        if !self.is_readable(packet, message, listener) {
            return;
        }
        let root = entries::read(message, &mut Taker { market: self, packet, listener });
        match root {
            Ok(Some(root)) => self.finish_message(packet, root, listener),
            Ok(None) => self.other_message(packet, message, listener),
            Err(error) => {
                let template_id = message.header.template_id;
                self.lose_contents(
                    packet,
                    &Error::MalformedMessage { template_id, error },
                    listener,
                );
            }
        }
    }

    #[inline(always)]
    fn entry(&mut self, packet: &Packet, root: &Root, entry: &Entry, listener: &mut impl Listener) {
        let instrument = self.instruments.find(entry.security_id);
        let admitted = match instrument {
            Some(instrument) if self.is_next(instrument, entry.rpt_seq) => Some(instrument),
            _ => self.admit(packet, instrument, entry, listener),
        };
        match &entry.kind {
            Kind::Book(book_entry) => {
                if let Some(instrument) = admitted {
                    self.book_entry(packet, instrument, book_entry, listener);
                }
            }
            Kind::Trade(trade) => self.tell_trade(packet, root, instrument, entry, trade, listener),
            Kind::Volume { quantity, action } => {
                self.counters.volumes += 1;
                listener.on_volume(&Volume {
                    packet,
                    transact_time: root.transact_time,
                    instrument,
                    security_id: entry.security_id,
                    rpt_seq: entry.rpt_seq,
                    quantity: *quantity,
                    action: *action,
                });
            }
            Kind::Other => {}
        }
    }

    #[inline(always)]
    fn book_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &BookEntry,
        listener: &mut impl Listener,
    ) {
        let side = match entry.entry_type {
            b'0' => BookSide::Bid,
            b'1' => BookSide::Ask,
            _ => return self.rare_entry(packet, instrument, entry, listener),
        };
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        let outcome = book_entry::apply(cell, side, entry);
        if !matches!(outcome, Outcome::Changed)
            && !self.odd_entry(packet, instrument, outcome, entry, listener)
        {
            return;
        }
        self.counters.book_entries += 1;
        self.touch(instrument, Changes::BOOK);
    }

    /// A book entry that is not of the direct book.
    #[cold]
    fn rare_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &BookEntry,
        listener: &mut impl Listener,
    ) {
        let outcome = match Target::of(entry.entry_type) {
            Target::Implied(side) => {
                book_entry::apply(&mut self.instruments.implied[instrument.as_usize()], side, entry)
            }
            Target::Reset => return self.reset_book(instrument, listener),
            Target::MarketBest => return,
            Target::Direct(_) | Target::Invalid => Outcome::Invalid,
        };
        if matches!(outcome, Outcome::Changed)
            || self.odd_entry(packet, instrument, outcome, entry, listener)
        {
            self.counters.implied_entries += 1;
            self.touch(instrument, Changes::IMPLIED);
        }
    }

    /// The exchange has emptied an instrument's books. CME does not say whether its RptSeq counts
    /// on from here or begins again, so the next entry may carry any.
    fn reset_book(&mut self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        self.counters.book_resets += 1;
        // What a snapshot stated is no more, so its number says nothing of entries to come.
        let recovery = &mut self.recovery[instrument.as_usize()];
        (recovery.snapshot_sequence, recovery.snapshot_rpt_seq) = (0, 0);
        self.instruments.empty(instrument);
        let changes = self.instruments.settle(instrument);
        let head = &mut self.instruments.cells[instrument.as_usize()].head;
        if head.state.needs_snapshot() {
            self.come_in(instrument, State::Fresh, listener);
        } else {
            head.state = State::Fresh;
        }
        self.touch(instrument, changes);
    }

    /// Notes that the message has changed books of an instrument, and what of them it is known to
    /// have changed.
    #[inline]
    fn touch(&mut self, instrument: InstrumentIndex, changes: Changes) {
        let head = &mut self.instruments.cells[instrument.as_usize()].head;
        if head.touched == Changes::NONE {
            self.touched.push(instrument);
        }
        head.touched = head.touched.union(changes);
    }

    /// An entry that did not simply change the book; whether it has changed it all the same.
    #[cold]
    fn odd_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        outcome: Outcome,
        entry: &BookEntry,
        listener: &mut impl Listener,
    ) -> bool {
        let security_id = self.instruments.book(instrument).security_id();
        let &BookEntry { action, level, .. } = entry;
        let error = match outcome {
            Outcome::Changed => return true,
            Outcome::PriceChanged => {
                self.warn(&Warning::PriceChanged { security_id, level }, listener);
                return true;
            }
            Outcome::BeyondDepth => {
                self.warn(&Warning::BeyondDepth { security_id, level }, listener);
                return false;
            }
            Outcome::Invalid => Error::InvalidEntry { security_id, action, level },
            Outcome::Inapplicable => Error::InapplicableEntry { security_id, action, level },
        };
        self.report(Some(packet), &error, listener);
        if self.settings.late_join != LateJoin::Nothing {
            // The book is not what the exchange has; only a snapshot after this packet is.
            self.fall_out(instrument, packet.sequence.saturating_add(1), listener);
        }
        false
    }

    fn tell_trade(
        &mut self,
        packet: &Packet,
        root: &Root,
        instrument: Option<InstrumentIndex>,
        entry: &Entry,
        trade: &TradeEntry,
        listener: &mut impl Listener,
    ) {
        self.counters.trades += 1;
        listener.on_trade(&Trade {
            packet,
            transact_time: root.transact_time,
            instrument,
            security_id: entry.security_id,
            rpt_seq: entry.rpt_seq,
            price: trade.price,
            quantity: trade.quantity,
            orders: trade.orders,
            aggressor: trade.aggressor,
            action: trade.action,
            trade_entry_id: trade.trade_entry_id,
        });
    }

    /// All entries of the message are applied: tells the books they have changed.
    #[inline]
    fn finish_message(&mut self, packet: &Packet, root: Root, listener: &mut impl Listener) {
        for position in 0..self.touched.len() {
            let instrument = self.touched[position];
            let changes = self.settle_touched(instrument);
            let head = &mut self.instruments.cells[instrument.as_usize()].head;
            if head.event_changes == Changes::NONE {
                self.changed.push(instrument);
            }
            head.event_changes = head.event_changes.union(changes);
            let book = self.instruments.book(instrument);
            if book.is_in_sync() {
                listener.on_book_update(&BookUpdate {
                    packet,
                    transact_time: root.transact_time,
                    instrument,
                    book,
                    instruments: &self.instruments,
                    changes,
                    source: UpdateSource::Incremental,
                });
            }
        }
        self.touched.clear();
        if root.ends_event() {
            self.end_event(packet, root.transact_time, listener);
        }
    }

    /// Takes the best levels of the books that the message has touched; what of them has changed.
    #[inline]
    fn settle_touched(&mut self, instrument: InstrumentIndex) -> Changes {
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        match core::mem::take(&mut cell.head.touched) {
            Changes::BOOK => cell.settle_best(),
            Changes::IMPLIED => self.instruments.settle_implied(instrument),
            touched => self.instruments.settle(instrument).union(touched),
        }
    }

    #[inline]
    fn end_event(&mut self, packet: &Packet, transact_time: Utc, listener: &mut impl Listener) {
        self.counters.events += 1;
        let (instruments, changed) = (&self.instruments, &self.changed[..]);
        listener.on_end_of_event(&EndOfEvent { packet, transact_time, instruments, changed });
        self.forget_event();
    }

    /// A message without numbered entries.
    fn other_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) {
        let template_id = message.header.template_id;
        let decoded = definition_decoder::decode(&message.header, message.body, &mut self.related);
        let root = match decoded {
            Some(Ok(decoded)) => {
                self.define(packet, &decoded, true, listener);
                Ok(Some(Root {
                    transact_time: decoded.definition.last_update_time,
                    match_event_indicator: decoded.match_event_indicator,
                }))
            }
            Some(Err(error)) => Err(error),
            None if template_id == codec::SecurityStatus30::TEMPLATE_ID => {
                self.security_status(packet, message, listener).map(Some)
            }
            None => entries::read_root(message),
        };
        match root {
            Ok(Some(root)) => {
                if template_id == codec::ChannelReset4::TEMPLATE_ID {
                    self.reset_channel(packet, root.transact_time, listener);
                }
                self.finish_message(packet, root, listener);
            }
            Ok(None) if template_id == codec::AdminHeartbeat12::TEMPLATE_ID => {
                self.counters.heartbeats += 1;
            }
            Ok(None) => self.warn(&Warning::UnknownTemplate { template_id }, listener),
            Err(error) => {
                self.lose_contents(
                    packet,
                    &Error::MalformedMessage { template_id, error },
                    listener,
                );
            }
        }
    }

    /// The exchange has emptied all books; their RptSeq begin again.
    #[cold]
    fn reset_channel(&mut self, packet: &Packet, transact_time: Utc, listener: &mut impl Listener) {
        self.counters.resets += 1;
        self.was_reset = true;
        self.forget_event();
        self.queue.clear();
        self.floor = packet.sequence.saturating_add(1);
        self.snapshot_loop.end_join();
        self.snapshot_loop.abandon_pass();
        for instrument in self.instruments.iter() {
            let recovery = &mut self.recovery[instrument.as_usize()];
            (recovery.snapshot_sequence, recovery.snapshot_rpt_seq) = (0, 0);
            self.instruments.empty(instrument);
            self.instruments.settle(instrument);
            let cell = &mut self.instruments.cells[instrument.as_usize()];
            cell.head.next_rpt_seq = 0;
            match cell.head.state {
                State::Unknown => {}
                state if state.needs_snapshot() => self.come_in(instrument, State::Fresh, listener),
                _ => cell.head.state = State::Fresh,
            }
        }
        listener.on_channel_reset(&ChannelReset { packet, transact_time });
    }

    /// Something in the packet could not be read: whatever it was about may lack it now.
    #[cold]
    fn lose_contents(&mut self, packet: &Packet, error: &Error, listener: &mut impl Listener) {
        self.report(Some(packet), error, listener);
        // Entries before the error have been applied, but the message was not finished.
        for instrument in self.touched.drain(..) {
            self.instruments.cells[instrument.as_usize()].head.touched = Changes::NONE;
            self.instruments.settle(instrument);
        }
        self.doubt_all(1, packet.sequence.saturating_add(1), listener);
    }
}
