//! Packets of the incremental feed, in order and once.

use alloc::vec::Vec;

use crate::book_entry::{self, Outcome, Target};
use crate::cell::DirectCell;
use crate::definition_decoder;
use crate::entries::{self, BookEntry, Entry, Kind, Root, TradeEntry};
use crate::implied_book::ImpliedCell;
use crate::market::Market;
use crate::sync::State;
use crate::{
    BookSide, BookUpdate, Changes, EndOfEvent, Error, InstrumentIndex, LateJoin, Listener, Message,
    Messages, OrderBooks, Packet, Trade, UpdateSource, Volume, Warning,
};

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::MDUpdateAction;
use hairpin_sbe::DecodeError;
use hairpin_time::Utc;

/// Applies the entries of a message.
struct Taker<'a, L> {
    market: &'a mut Market,
    packet: &'a Packet,
    /// The message from its SBE header on.
    bytes: &'a [u8],
    listener: &'a mut L,
}

impl<L: Listener> entries::Take for Taker<'_, L> {
    #[inline(always)]
    fn take(&mut self, root: Root, entry: Entry) {
        self.market.entry((self.packet, self.bytes), root, entry, self.listener);
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
        while let Some(message) = messages.next_sound() {
            self.incremental_message(packet, message, listener);
        }
        if let Some(error) = messages.flaw() {
            self.lose_contents(packet, &error, listener);
        }
        listener.on_end_of_packet(packet);
    }

    #[inline]
    fn incremental_message(
        &mut self,
        packet: &Packet,
        message: Message<'_>,
        listener: &mut impl Listener,
    ) {
        if self.is_odd(&message) {
            return self.odd_message(packet, message, listener);
        }
        self.take_message(packet, message, listener);
        listener.on_end_of_message(packet, &message);
    }

    /// One of a newer version, or where templates have other ids than usual, any. What it means is
    /// compiled twice, so that the usual one is not even in a register less.
    #[cold]
    #[inline(never)]
    fn odd_message(&mut self, packet: &Packet, message: Message<'_>, listener: &mut impl Listener) {
        let message = self.translate(message, listener);
        self.take_message(packet, message, listener);
        listener.on_end_of_message(packet, &message);
    }

    #[inline(always)]
    fn take_message(
        &mut self,
        packet: &Packet,
        message: Message<'_>,
        listener: &mut impl Listener,
    ) {
        if !self.is_readable(packet, &message, listener) {
            return;
        }
        if self.settings.order_books != OrderBooks::None {
            // Of a copy, so that the usual message need not be in memory.
            self.order_message(packet, &{ message }, listener);
        }
        let root =
            entries::read(message, Taker { market: self, packet, bytes: message.bytes, listener });
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
    fn entry(
        &mut self,
        (packet, bytes): (&Packet, &[u8]),
        root: Root,
        entry: Entry,
        listener: &mut impl Listener,
    ) {
        let instrument = self.instruments.find(entry.security_id);
        let admitted = match instrument {
            Some(instrument) if self.is_next(instrument, entry.rpt_seq) => Some(instrument),
            _ => self.admit(packet, instrument, entry, listener),
        };
        match entry.kind {
            Kind::Book(book_entry) => {
                if let Some(instrument) = admitted {
                    self.book_entry(packet, instrument, book_entry, listener);
                }
            }
            Kind::Trade(trade) => {
                let instrument = instrument.or(admitted);
                self.tell_trade((packet, bytes), root, instrument, (entry, trade), listener);
            }
            Kind::Volume { quantity, action } => {
                let volume = Volume {
                    packet,
                    transact_time: root.transact_time,
                    instrument: instrument.or(admitted),
                    security_id: entry.security_id,
                    rpt_seq: entry.rpt_seq,
                    quantity,
                    action,
                };
                self.tell_volume(&volume, listener);
            }
            Kind::Statistic(statistic) => {
                let of = (entry.security_id, entry.rpt_seq);
                self.statistic(packet, root, of, statistic, listener);
            }
            Kind::Limits(limits) => {
                let of = (entry.security_id, entry.rpt_seq);
                self.limits(packet, root, of, limits, listener);
            }
        }
    }

    #[inline(always)]
    fn book_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: BookEntry,
        listener: &mut impl Listener,
    ) {
        let side = match entry.entry_type {
            b'0' => BookSide::Bid,
            b'1' => BookSide::Ask,
            // Of a copy, so that the usual entry need not be in memory.
            _ => return self.rare_entry(packet, instrument, &{ entry }, listener),
        };
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        let outcome = book_entry::apply(cell, side, &entry);
        if matches!(outcome, Outcome::Changed) {
            self.counters.book_entries += 1;
            note(&mut self.touched, instrument, &mut cell.head.touched, Changes::BOOK);
        } else if self.odd_entry(packet, instrument, outcome, (entry.action, entry.level), listener)
        {
            self.counters.book_entries += 1;
            self.touch(instrument, Changes::BOOK);
        }
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
                let cell = &mut self.instruments.implied[instrument.as_usize()];
                book_entry::apply(cell, side, entry)
            }
            Target::Reset => return self.reset_book(instrument, listener),
            Target::MarketBest => return,
            Target::Direct(_) | Target::Invalid => Outcome::Invalid,
        };
        if matches!(outcome, Outcome::Changed)
            || self.odd_entry(packet, instrument, outcome, (entry.action, entry.level), listener)
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

    /// Notes that the message has changed books of an instrument, and what of them is known to have
    /// changed.
    pub(crate) fn touch(&mut self, instrument: InstrumentIndex, changes: Changes) {
        let head = &mut self.instruments.cells[instrument.as_usize()].head;
        note(&mut self.touched, instrument, &mut head.touched, changes);
    }

    /// An entry that did not simply change the book; whether it has changed it all the same.
    #[cold]
    fn odd_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        outcome: Outcome,
        (action, level): (u8, u8),
        listener: &mut impl Listener,
    ) -> bool {
        let security_id = self.instruments.book(instrument).security_id();
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

    #[inline]
    fn tell_volume(&mut self, volume: &Volume<'_>, listener: &mut impl Listener) {
        if self.is_unwanted(volume.instrument, volume.security_id) {
            return;
        }
        self.counters.volumes += 1;
        if let Some(instrument) = volume.instrument {
            let statistics = &mut self.instruments.statistics[instrument.as_usize()];
            statistics.note_volume(volume.packet.sequence, volume.quantity);
        }
        listener.on_volume(volume);
    }

    #[inline]
    fn tell_trade(
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
            statistics.note_trade(packet.sequence, trade.price, trade.quantity);
        }
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
            bytes,
            place: trade.place,
        });
    }

    /// All entries of the message are applied: tells the books they have changed.
    #[inline]
    fn finish_message(&mut self, packet: &Packet, root: Root, listener: &mut impl Listener) {
        let transact_time = root.transact_time;
        for &instrument in &self.touched {
            let cell = &mut self.instruments.cells[instrument.as_usize()];
            let changes = match core::mem::take(&mut cell.head.touched) {
                Changes::BOOK => cell.settle_best(),
                touched => {
                    let implied = &mut self.instruments.implied[instrument.as_usize()];
                    settle_both(cell, implied, touched)
                }
            };
            note(&mut self.changed, instrument, &mut cell.head.event_changes, changes);
            if cell.head.state.is_in_sync() {
                let (instruments, source) = (&self.instruments, UpdateSource::Incremental);
                let book = instruments.book(instrument);
                listener.on_book_update(&BookUpdate {
                    packet,
                    transact_time,
                    instrument,
                    book,
                    instruments,
                    changes,
                    source,
                });
            } else if cell.head.state == State::Refreshing {
                self.tell_refreshed(packet, transact_time, instrument, changes, listener);
            }
        }
        self.touched.clear();
        if root.ends_event() {
            self.end_event(packet, transact_time, listener);
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
        message: Message<'_>,
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
            None => self.message_without_entries(packet, &message, listener),
        };
        match root {
            Ok(Some(root)) => {
                if template_id == codec::ChannelReset4::TEMPLATE_ID {
                    self.reset_channel(packet, root.transact_time, listener);
                }
                self.finish_message(packet, root, listener);
            }
            Ok(None) if template_id == codec::AdminHeartbeat12::TEMPLATE_ID => {
                self.heartbeat(packet, listener);
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

    /// A message of neither entries nor a definition; its root block.
    fn message_without_entries(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Result<Option<Root>, DecodeError> {
        let root = match message.header.template_id {
            codec::SecurityStatus30::TEMPLATE_ID => {
                self.security_status(packet, message, listener)?
            }
            codec::SecurityStatusWorkup60::TEMPLATE_ID => self.workup(packet, message, listener)?,
            codec::QuoteRequest39::TEMPLATE_ID => self.quote_request(packet, message, listener)?,
            codec::CollateralMarketValue62::TEMPLATE_ID => {
                self.collateral(packet, message, listener)?
            }
            _ => return entries::read_root(message),
        };
        Ok(Some(root))
    }

    /// The feed is alive and has nothing to say.
    pub(crate) fn heartbeat(&mut self, packet: &Packet, listener: &mut impl Listener) {
        self.counters.heartbeats += 1;
        listener.on_heartbeat(packet);
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

    /// Forgets what the event being processed has changed: its end may be lost.
    pub(crate) fn forget_event(&mut self) {
        for instrument in &self.changed {
            let head = &mut self.instruments.cells[instrument.as_usize()].head;
            head.event_changes = Changes::NONE;
        }
        self.changed.clear();
    }
}

/// Adds to what has changed of an instrument, and if it is the first, the instrument to the list.
#[inline(always)]
fn note(
    list: &mut Vec<InstrumentIndex>,
    instrument: InstrumentIndex,
    known: &mut Changes,
    changes: Changes,
) {
    if *known == Changes::NONE {
        list.push(instrument);
    }
    *known = known.union(changes);
}

/// Takes the best levels where the message has touched the implied book, or more than levels.
fn settle_both(cell: &mut DirectCell, implied: &mut ImpliedCell, touched: Changes) -> Changes {
    let implied = implied.settle_best().of_implied();
    if touched == Changes::IMPLIED {
        implied
    } else {
        cell.settle_best().union(implied).union(touched)
    }
}
