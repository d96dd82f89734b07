//! The listener that turns callbacks of a channel into records.

use std::collections::BTreeSet;
use std::ffi::c_char;
use std::io;

use dbn::{
    Action, FlagSet, MboMsg, Mbp1Msg, Mbp10Msg, RecordHeader, Schema, Side, StatType, TradeMsg,
    UNDEF_PRICE, rtype,
};
use hairpin_feed_handler::{
    Book, BookEntryUpdate, BookSide, BookUpdate, Changes, ChannelReset, DefinitionUpdate,
    EndOfEvent, EventEnd, InstrumentIndex, InstrumentStateChange, LimitsUpdate, Listener,
    MDUpdateAction, Message, OrderBookStateChange, OrderChange, OrderUpdate, Packet,
    SecurityStatus, Statistic, StatusScope, SyncState, Trade, UpdateSource,
};

use super::event_buffer::EventBuffer;
use super::output::{Entry, Output, Written};
use super::rows::{self, Change, PUBLISHER, PacketFields};
use super::symbols::Symbols;
use super::unheld::{Unheld, UnheldCounts};
use super::{definition_rows, market_rows};

/// The listener that turns callbacks of a channel into records.
pub(super) struct Exporter {
    outputs: Outputs,
    pub(super) symbols: Symbols,
    pub(super) unheld: UnheldCounts,
    /// The number of the channel in `channel_id`, from 0.
    channel: u8,
    /// The packet that is being processed.
    packet: Option<PacketFields>,
    /// The time of the first packet.
    first: Option<u64>,
    /// The price entries of the message that is being processed.
    entries: Vec<(InstrumentIndex, Change)>,
    /// The instruments whose best level an entry of the message may have changed, beside those at
    /// depth 0: a removal through several levels.
    removed_through: Vec<InstrumentIndex>,
    /// The instruments that have had a book.
    books: BTreeSet<u32>,
    failure: Option<io::Error>,
}

/// The outputs of the schemas to write.
#[derive(Default)]
pub(super) struct Outputs {
    pub(super) mbo: Option<EventBuffer<MboMsg>>,
    pub(super) mbp1: Option<EventBuffer<Mbp1Msg>>,
    pub(super) mbp10: Option<EventBuffer<Mbp10Msg>>,
    pub(super) trades: Option<EventBuffer<TradeMsg>>,
    pub(super) statistics: Option<Output>,
    pub(super) status: Option<Output>,
    pub(super) definition: Option<Output>,
}

impl Outputs {
    /// Adds the output of a schema.
    pub(super) fn add(&mut self, schema: Schema, output: Output) {
        match schema {
            Schema::Mbo => self.mbo = Some(EventBuffer::new(output)),
            Schema::Mbp1 => self.mbp1 = Some(EventBuffer::new(output)),
            Schema::Mbp10 => self.mbp10 = Some(EventBuffer::new(output)),
            Schema::Trades => self.trades = Some(EventBuffer::new(output)),
            Schema::Statistics => self.statistics = Some(output),
            Schema::Status => self.status = Some(output),
            _ => self.definition = Some(output),
        }
    }

    fn has_books(&self) -> bool {
        self.mbp1.is_some() || self.mbp10.is_some()
    }
}

impl Exporter {
    pub(super) fn new(outputs: Outputs, channel: u8) -> Self {
        Self {
            outputs,
            symbols: Symbols::default(),
            unheld: UnheldCounts::default(),
            channel,
            packet: None,
            first: None,
            entries: Vec::new(),
            removed_through: Vec::new(),
            books: BTreeSet::new(),
            failure: None,
        }
    }

    /// Returns the error of the file system, if one occurred.
    ///
    /// # Errors
    /// That error.
    pub(super) fn outcome(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Returns `true` if a packet was processed.
    pub(super) fn has_packets(&self) -> bool {
        self.first.is_some()
    }

    /// Completes all files. An event at the end of the capture stays without its flag LAST.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn finish(self) -> io::Result<(Vec<Written>, UnheldCounts)> {
        let (symbols, time) = (&self.symbols, self.first.unwrap_or(0));
        let Outputs { mbo, mbp1, mbp10, trades, statistics, status, definition } = self.outputs;
        let buffered = [
            mbo.map(|it| it.into_output(symbols)),
            mbp1.map(|it| it.into_output(symbols)),
            mbp10.map(|it| it.into_output(symbols)),
            trades.map(|it| it.into_output(symbols)),
        ];
        let others = [statistics, status, definition].into_iter().flatten().map(Ok);
        // An error of one file leaves the others complete.
        let finish = |output: io::Result<Output>| output?.finish(time, symbols);
        let finished: Vec<_> = buffered.into_iter().flatten().chain(others).map(finish).collect();
        let mut written = Vec::new();
        for files in finished {
            written.extend(files?);
        }
        Ok((written, self.unheld))
    }

    fn fields(&mut self, packet: &Packet) -> PacketFields {
        PacketFields::new(packet, &mut self.unheld)
    }

    fn record_failure(&mut self, outcome: io::Result<bool>) {
        match outcome {
            Ok(true) => {}
            Ok(false) => self.unheld.add(Unheld::EventLength),
            Err(error) => self.failure = self.failure.take().or(Some(error)),
        }
    }

    /// Adds a change to the outputs of price books. `changes` are those of the best prices.
    fn push_prices(&mut self, change: &Change, is_best: bool, book: Option<Book<'_>>) {
        let mut change = *change;
        change.flags.set_mbp();
        if let Some(output) = &mut self.outputs.mbp10 {
            let record = change.mbp10(book, &mut self.unheld);
            let outcome = output.push(change.packet.time, record, &self.symbols);
            self.record_failure(outcome);
        }
        if let Some(output) = self.outputs.mbp1.as_mut().filter(|_| is_best) {
            let record = change.mbp1(book, &mut self.unheld);
            let outcome = output.push(change.packet.time, record, &self.symbols);
            self.record_failure(outcome);
        }
    }

    /// Adds a record of orders.
    fn push_order(&mut self, change: &Change, order_id: u64) {
        let Some(output) = &mut self.outputs.mbo else { return };
        let (id, ts_event) = (change.instrument, change.ts_event);
        let record = MboMsg {
            hd: RecordHeader::new::<MboMsg>(rtype::MBO, PUBLISHER, id, ts_event),
            order_id,
            price: change.price,
            size: change.size,
            flags: change.flags,
            channel_id: self.channel,
            action: change.action as c_char,
            side: change.side as c_char,
            ts_recv: change.packet.ts_recv,
            ts_in_delta: change.packet.ts_in_delta,
            sequence: change.packet.sequence,
        };
        let outcome = output.push(change.packet.time, record, &self.symbols);
        self.record_failure(outcome);
    }

    /// Ends the event in all outputs.
    fn end_event(&mut self, is_complete: bool) {
        let symbols = &self.symbols;
        let Outputs { mbo, mbp1, mbp10, trades, .. } = &mut self.outputs;
        macro_rules! end {
            ($($output:ident),*) => {
                [$($output.as_mut().map_or(Ok(()), |it| {
                    if is_complete { it.end_event(symbols) } else { it.write(symbols) }
                })),*]
            };
        }
        for outcome in end!(mbo, mbp1, mbp10, trades) {
            self.record_failure(outcome.map(|()| true));
        }
    }

    /// Writes a record that belongs to no event.
    fn write(
        output: Option<&mut Output>,
        symbols: &Symbols,
        (time, instrument): (u64, u32),
        bytes: &[u8],
    ) -> io::Result<bool> {
        let entry = Entry { time, instrument, bytes };
        output.map_or(Ok(true), |output| output.write(&entry, symbols).map(|()| true))
    }

    fn write_statistic(&mut self, packet: &PacketFields, record: &dbn::StatMsg) {
        let (place, output) = ((packet.time, record.hd.instrument_id), &mut self.outputs);
        let bytes = record.as_ref();
        let outcome = Self::write(output.statistics.as_mut(), &self.symbols, place, bytes);
        self.record_failure(outcome);
    }

    /// Returns a change without prices: a clear, or a record that only has flags.
    fn bare(packet: PacketFields, instrument: u32, action: Action, flags: FlagSet) -> Change {
        Change {
            packet,
            ts_event: packet.time,
            instrument,
            action,
            side: Side::None,
            price: UNDEF_PRICE,
            size: 0,
            flags,
            depth: 0,
        }
    }

    /// Adds the orders of a book after a clear.
    fn push_restated(&mut self, update: &OrderUpdate<'_>) {
        let packet = self.fields(update.packet);
        let flags = rows::source_flags(update.source);
        let id = update.book.security_id() as u32;
        let ts_event = update.transact_time.as_nanos();
        let clear = Change { ts_event, ..Self::bare(packet, id, Action::Clear, flags) };
        let count = update.book.len();
        // A snapshot is complete by itself.
        let ends = |place: usize| place == count && update.source == UpdateSource::Snapshot;
        let with_end = |mut change: Change, place| {
            if ends(place) {
                change.flags.set_last();
            }
            change
        };
        self.push_order(&with_end(clear, 0), 0);
        let mut place = 0;
        for side in [BookSide::Bid, BookSide::Ask] {
            for order in update.book.orders(side) {
                place += 1;
                let size = rows::size(order.quantity, &mut self.unheld);
                let (action, price) = (Action::Add, order.price.0);
                let change = Change { action, side: rows::side(side), price, size, ..clear };
                self.push_order(&with_end(change, place), order.id);
            }
        }
    }

    fn push_order_change(&mut self, head: &Change, change: &OrderChange) {
        let action = match (change.action, change.before) {
            (MDUpdateAction::DELETE, _) => Action::Cancel,
            (_, Some(_)) => Action::Modify,
            (_, None) => Action::Add,
        };
        // A removed order leaves with the quantity that it had.
        let order = match action {
            Action::Cancel => change.before.unwrap_or(change.order),
            _ => change.order,
        };
        let size = rows::size(order.quantity, &mut self.unheld);
        let side = rows::side(change.side);
        let change = Change { action, side, price: order.price.0, size, ..*head };
        self.push_order(&change, order.id);
    }

    /// Adds a trade to mbo, and the orders that it filled.
    fn push_fills(&mut self, trade: &Trade<'_>, head: &Change) {
        if head.action != Action::Trade {
            if self.outputs.mbo.is_some() {
                self.unheld.add(Unheld::TradeCorrection);
            }
            return;
        }
        let in_sync =
            trade.instrument.is_some_and(|it| trade.instruments.order_book(it).is_in_sync());
        let flags = if in_sync { FlagSet::empty() } else { FlagSet::empty().set_maybe_bad_book() };
        let head = Change { flags, ..*head };
        let mut orders = trade.orders();
        // The aggressor's order comes first.
        let aggressor = if head.side == Side::None { None } else { orders.next() };
        self.push_order(&head, aggressor.map_or(0, |order| order.order_id));
        for order in orders {
            let size = rows::size(order.quantity, &mut self.unheld);
            let side = rows::opposite(head.side);
            let fill = Change { action: Action::Fill, side, size, ..head };
            self.push_order(&fill, order.order_id);
        }
    }
}

impl Listener for Exporter {
    fn on_packet(&mut self, packet: &Packet) {
        let time = packet.received.unwrap_or(packet.sending_time).as_nanos();
        self.first.get_or_insert(time);
        // What it cannot hold is counted by record.
        self.packet = Some(PacketFields::new(packet, &mut UnheldCounts::default()));
    }

    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        self.symbols.record(update.definition);
        if self.outputs.definition.is_none() {
            return;
        }
        let packet = self.fields(update.packet);
        let known = (self.channel, &self.symbols);
        for record in definition_rows::records(update, &packet, known, &mut self.unheld) {
            let place = (packet.time, record.hd.instrument_id);
            let output = self.outputs.definition.as_mut();
            let outcome = Self::write(output, &self.symbols, place, record.as_ref());
            self.record_failure(outcome);
        }
    }

    fn on_book_entry(&mut self, entry: &BookEntryUpdate<'_>) {
        if !self.outputs.has_books() {
            return;
        }
        if entry.implied {
            self.unheld.add(Unheld::ImpliedEntry);
            return;
        }
        let change = Change {
            packet: self.fields(entry.packet),
            ts_event: entry.transact_time.as_nanos(),
            instrument: entry.security_id as u32,
            action: rows::level_action(entry.action),
            side: rows::side(entry.side),
            price: rows::price(entry.price),
            size: rows::size(entry.quantity.unwrap_or(0), &mut self.unheld),
            flags: FlagSet::empty(),
            depth: entry.level.saturating_sub(1),
        };
        if entry.action == MDUpdateAction::DELETE_THRU {
            self.removed_through.push(entry.instrument);
        }
        self.entries.push((entry.instrument, change));
    }

    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        if !self.outputs.has_books() || !update.changes.intersects(Changes::BOOK) {
            return;
        }
        let (book, id) = (update.book, update.book.security_id() as u32);
        self.books.insert(id);
        let is_best = update.changes.intersects(Changes::BEST_BID)
            || update.changes.intersects(Changes::BEST_ASK);
        let entries = std::mem::take(&mut self.entries);
        let mut has_entry = false;
        if update.source == UpdateSource::Incremental {
            for (_, change) in entries.iter().filter(|(of, _)| *of == update.instrument) {
                has_entry = true;
                let is_through = change.action == Action::Cancel
                    && self.removed_through.contains(&update.instrument);
                let reaches_best = change.depth == 0 || is_through;
                self.push_prices(change, is_best && reaches_best, Some(book));
            }
        }
        self.entries = entries;
        if has_entry {
            return;
        }
        // A snapshot, or a reset of the book.
        let packet = self.fields(update.packet);
        let mut flags = rows::source_flags(update.source);
        if update.source == UpdateSource::Snapshot {
            flags.set_last();
        }
        let ts_event = update.transact_time.as_nanos();
        let clear = Change { ts_event, ..Self::bare(packet, id, Action::Clear, flags) };
        self.push_prices(&clear, true, Some(book));
    }

    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        if self.outputs.mbo.is_none() {
            return;
        }
        self.books.insert(update.book.security_id() as u32);
        if update.restated {
            self.push_restated(update);
            return;
        }
        let packet = self.fields(update.packet);
        let id = update.book.security_id() as u32;
        let ts_event = update.transact_time.as_nanos();
        let bare = Self::bare(packet, id, Action::None, FlagSet::empty());
        let head = Change { ts_event, ..bare };
        for change in update.changes() {
            self.push_order_change(&head, change);
        }
    }

    fn on_trade(&mut self, trade: &Trade<'_>) {
        let Outputs { mbo, mbp1, mbp10, trades, .. } = &self.outputs;
        if mbo.is_none() && mbp1.is_none() && mbp10.is_none() && trades.is_none() {
            return;
        }
        let book = trade.instrument.map(|index| trade.instruments.book(index));
        let is_certain = book.is_some_and(Book::is_in_sync);
        let flags =
            if is_certain { FlagSet::empty() } else { FlagSet::empty().set_maybe_bad_book() };
        let head = Change {
            packet: self.fields(trade.packet),
            ts_event: trade.transact_time.as_nanos(),
            instrument: trade.security_id as u32,
            action: match trade.action {
                MDUpdateAction::CHANGE => Action::Modify,
                MDUpdateAction::DELETE => Action::Cancel,
                _ => Action::Trade,
            },
            side: rows::aggressor(trade.aggressor),
            price: trade.price.0,
            size: rows::size(trade.quantity, &mut self.unheld),
            flags,
            depth: 0,
        };
        if let Some(output) = &mut self.outputs.trades {
            let outcome = output.push(head.packet.time, head.trade(), &self.symbols);
            self.record_failure(outcome);
        }
        self.push_prices(&head, true, book);
        self.push_fills(trade, &head);
    }

    fn on_statistic(&mut self, statistic: &Statistic<'_>) {
        if self.outputs.statistics.is_none() {
            return;
        }
        let packet = self.fields(statistic.packet);
        let unheld = &mut self.unheld;
        if let Some(record) = market_rows::statistic(statistic, &packet, self.channel, unheld) {
            self.write_statistic(&packet, &record);
        }
    }

    fn on_limits(&mut self, update: &LimitsUpdate<'_>) {
        if self.outputs.statistics.is_none() {
            return;
        }
        let packet = self.fields(update.packet);
        let of = (update.security_id as u32, update.transact_time.as_nanos());
        let limits = &update.limits;
        for (kind, value) in
            [(StatType::UpperPriceLimit, limits.high), (StatType::LowerPriceLimit, limits.low)]
        {
            let value = (kind, rows::price(value));
            self.write_statistic(&packet, &market_rows::limit(of, value, &packet, self.channel));
        }
        if limits.max_price_variation.is_some() {
            self.unheld.add(Unheld::Statistic);
        }
    }

    fn on_volume(&mut self, _: &hairpin_feed_handler::Volume<'_>) {
        if self.outputs.statistics.is_some() {
            self.unheld.add(Unheld::Statistic);
        }
    }

    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        if self.outputs.status.is_none() {
            return;
        }
        let instruments = self.symbols.in_scope(&status.scope);
        if instruments.is_empty() && matches!(status.scope, StatusScope::Group { .. }) {
            self.unheld.add(Unheld::GroupStatus);
        }
        let packet = self.fields(status.packet);
        for id in instruments {
            let record = market_rows::status(status, id, &packet, &mut self.unheld);
            let output = self.outputs.status.as_mut();
            let place = (packet.time, id);
            let outcome = Self::write(output, &self.symbols, place, record.as_ref());
            self.record_failure(outcome);
        }
    }

    fn on_end_of_message(&mut self, _: &Packet, _: &Message<'_>) {
        self.entries.clear();
        self.removed_through.clear();
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.end_event(event.end != EventEnd::Gap);
    }

    fn on_channel_reset(&mut self, reset: &ChannelReset<'_>) {
        let packet = self.fields(reset.packet);
        let ts_event = reset.transact_time.as_nanos();
        for id in std::mem::take(&mut self.books) {
            let flags = FlagSet::empty().set_last();
            let clear = Change { ts_event, ..Self::bare(packet, id, Action::Clear, flags) };
            self.push_prices(&clear, true, None);
            self.push_order(&clear, 0);
        }
        self.end_event(true);
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        let Some(packet) = self.packet else { return };
        let Some((action, flags)) = lost(change.state) else { return };
        let id = change.book.security_id() as u32;
        let bare = Self::bare(packet, id, action, flags);
        let book = (action != Action::Clear).then_some(change.book);
        self.push_prices(&bare, true, book);
    }

    fn on_order_book_state(&mut self, change: &OrderBookStateChange<'_>) {
        let Some(packet) = self.packet else { return };
        let Some((action, flags)) = lost(change.state) else { return };
        let bare = Self::bare(packet, change.book.security_id() as u32, action, flags);
        self.push_order(&bare, 0);
    }
}

/// Returns the action and flags of a record for a book that is not in sync any more, or deleted.
fn lost(state: SyncState) -> Option<(Action, FlagSet)> {
    let flags = FlagSet::empty().set_last();
    match state {
        SyncState::OutOfSync => Some((Action::None, { flags }.set_maybe_bad_book())),
        SyncState::Unknown => Some((Action::Clear, flags)),
        _ => None,
    }
}
