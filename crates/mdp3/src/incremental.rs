//! Packets of the incremental feed, in order and once.

use hairpin_cme_codecs::mdp3::MDUpdateAction;
use hairpin_time::Utc;

use crate::book_entry::note;
use crate::cell::DirectCell;
use crate::entries::{self, Entry, Kind, Root, TradeEntry};
use crate::implied_book::ImpliedCell;
use crate::market::Market;
use crate::sync::State;
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
