//! Packets of the incremental feed, in order and once.

use hairpin_cme_codecs::mdp3::MDUpdateAction;
use hairpin_time::Utc;

use crate::book::apply_entry::{self, note};
use crate::book::book_slot::DirectCell;
use crate::book::implied_book::ImpliedCell;
use crate::market::Market;
use crate::message::entries::{self, Entry, Kind, Root, TradeEntry};
use crate::recovery::sync_state::State;
use crate::{
    BookUpdate, Changes, EndOfEvent, Error, InstrumentIndex, Listener, Message, Messages,
    OrderBooks, Packet, Trade, UpdateSource, Volume,
};

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
    fn take(&mut self, root: Root, ids: (i32, u32), kind: impl Fn() -> Kind) {
        self.market.entry((self.packet, self.bytes), root, (ids, kind), self.listener);
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
        (ids, kind): ((i32, u32), impl Fn() -> Kind),
        listener: &mut impl Listener,
    ) {
        let (security_id, rpt_seq) = ids;
        let Some((instrument, cell)) = self.instruments.admit_next(security_id, rpt_seq) else {
            return self.entry_out_of_turn(packet, bytes, root, ids, kind, listener);
        };
        match kind() {
            Kind::Book(entry) if apply_entry::apply_usual(cell, &entry) => {
                self.counters.book_entries += 1;
                note(&mut self.touched, instrument, &mut cell.head.touched, Changes::BOOK);
            }
            Kind::Book(_) => self.unusual_entry(packet, instrument, kind, listener),
            kind => {
                let entry = Entry { security_id, rpt_seq, kind };
                self.tell_entry((packet, bytes), root, Some(instrument), entry, listener);
            }
        }
    }

    /// A book entry that is the next of its instrument, but not one of the usual. It is read anew:
    /// what only this needs takes no registers from those.
    #[cold]
    #[inline(never)]
    fn unusual_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        kind: impl Fn() -> Kind,
        listener: &mut impl Listener,
    ) {
        if let Kind::Book(entry) = kind() {
            self.book_entry(packet, instrument, &entry, listener);
        }
    }

    /// An entry that is not the next of a book in sync.
    #[cold]
    #[inline(never)]
    fn entry_out_of_turn(
        &mut self,
        packet: &Packet,
        bytes: &[u8],
        root: Root,
        (security_id, rpt_seq): (i32, u32),
        kind: impl Fn() -> Kind,
        listener: &mut impl Listener,
    ) {
        let entry = Entry { security_id, rpt_seq, kind: kind() };
        let instrument = self.instruments.find(security_id);
        let admitted = self.admit(packet, instrument, entry, listener);
        if let Kind::Book(book_entry) = &entry.kind {
            if let Some(instrument) = admitted {
                self.book_entry(packet, instrument, book_entry, listener);
            }
        } else {
            let instrument = instrument.or(admitted);
            self.tell_entry((packet, bytes), root, instrument, entry, listener);
        }
    }

    /// Tells an entry that is of no book.
    #[inline(always)]
    fn tell_entry(
        &mut self,
        (packet, bytes): (&Packet, &[u8]),
        root: Root,
        instrument: Option<InstrumentIndex>,
        entry: Entry,
        listener: &mut impl Listener,
    ) {
        let of = (entry.security_id, entry.rpt_seq);
        match entry.kind {
            Kind::Book(_) => {}
            Kind::Trade(trade) => {
                self.tell_trade((packet, bytes), root, instrument, (entry, trade), listener);
            }
            Kind::Volume { quantity, action } => {
                let volume = Volume {
                    packet,
                    transact_time: root.transact_time,
                    instrument,
                    security_id: entry.security_id,
                    rpt_seq: entry.rpt_seq,
                    quantity,
                    action,
                };
                self.tell_volume(&volume, listener);
            }
            Kind::Statistic(statistic) => self.statistic(packet, root, of, statistic, listener),
            Kind::Limits(limits) => self.limits(packet, root, of, limits, listener),
        }
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
    pub(crate) fn finish_message(
        &mut self,
        packet: &Packet,
        root: Root,
        listener: &mut impl Listener,
    ) {
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

    /// Something in the packet could not be read: whatever it was about may lack it now.
    #[cold]
    pub(crate) fn lose_contents(
        &mut self,
        packet: &Packet,
        error: &Error,
        listener: &mut impl Listener,
    ) {
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

/// Takes the best levels where the message has touched the implied book, or more than levels.
fn settle_both(cell: &mut DirectCell, implied: &mut ImpliedCell, touched: Changes) -> Changes {
    let implied = implied.settle_best().of_implied();
    if touched == Changes::IMPLIED {
        implied
    } else {
        cell.settle_best().union(implied).union(touched)
    }
}
