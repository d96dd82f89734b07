//! Prints and counts the callbacks of the channel.

use std::collections::HashSet;
use std::io::{self, Write};

use hairpin_feed_handler::{
    Book, Channel, ChannelReset, ChannelState, Collateral, DefinitionUpdate, EndOfEvent, Error,
    Gap, InstrumentIndex, InstrumentStateChange, Instruments, LateJoin, Level, LimitsUpdate,
    Listener, Message, OrderBookStateChange, OrderUpdate, Packet, QuoteRequest, ReplayUpdate,
    SecurityStatus, Silence, SilenceScope, Statistic, StatusScope, Trade, Volume, Warning, Workup,
};
use hairpin_measure::counted;
use hairpin_sbe::{CharArray, Value};
use hairpin_time::{Instant, Now};

use super::PrintOptions;
use super::book_watch::BookWatch;
use super::callback_lines::{self, Record};
use super::message_filter::MessageFilter;
use super::selection_check::SelectionCheck;
use super::statistics::{Statistics, Traffic};
use super::throughput::Throughput;
use crate::decode::error_lines::ErrorLines;
use crate::decode::message_line::{self, MessageLine};
use crate::decode::other_traffic::OtherTraffic;
use crate::decode::{DecodeCounts, Format};

/// A listener that prints and counts, or displays on the terminal.
pub(super) struct Printer<'a, O, E> {
    options: PrintOptions<'a>,
    late_join: LateJoin,
    pub(super) counts: &'a mut DecodeCounts,
    out: O,
    err: E,
    /// The current packet: sequence number and sending time.
    packet: (u32, u64),
    /// The current message could not be printed, and the error was reported.
    is_malformed: bool,
    /// Events in which the best price of any book changed.
    best_price_changes: u64,
    /// Entries for unknown levels of books that began empty.
    unstated: u64,
    outcome: io::Result<()>,
    /// Errors belong to no packet of a file.
    is_of_network: bool,
    errors: ErrorLines,
    /// Packets of a file that are neither UDP nor TCP.
    pub(super) others: OtherTraffic,
    /// Messages of templates that version 9 of the schema removed, and the first one's id.
    removed: (u64, u16),
    statistics: Option<Statistics>,
    /// With statistics: the totals for the last lines.
    throughput: Option<Throughput>,
    watch: Option<BookWatch<'a, io::Stdout>>,
    selection: MessageFilter,
    selection_check: SelectionCheck,
    /// Instruments for which there was no room.
    over_capacity: HashSet<i32>,
}

impl<'a, O: Write, E: Write> Printer<'a, O, E> {
    /// Creates a printer; with a display of books it takes over the terminal.
    pub(super) fn new(
        options: PrintOptions<'a>,
        title: &str,
        late_join: LateJoin,
        counts: &'a mut DecodeCounts,
        (out, err): (O, E),
    ) -> io::Result<Self> {
        let selection = MessageFilter::new(options.filter.clone());
        let begin = |quit| BookWatch::begin(io::stdout(), title.to_owned(), quit);
        let watch = options.watch.map(begin).transpose()?;
        Ok(Self {
            options,
            late_join,
            counts,
            out,
            err,
            packet: (0, 0),
            is_malformed: false,
            best_price_changes: 0,
            unstated: 0,
            outcome: Ok(()),
            is_of_network: false,
            errors: ErrorLines::default(),
            others: OtherTraffic::default(),
            removed: (0, 0),
            statistics: options.statistics.map(Statistics::new),
            throughput: options.statistics.map(|_| Throughput::begin()),
            watch,
            selection,
            selection_check: SelectionCheck::new(options.names.clone()),
            over_capacity: HashSet::new(),
        })
    }

    /// Marks the input as coming from the network, not from a file.
    pub(super) fn of_network(self) -> Self {
        Self { is_of_network: true, ..self }
    }

    /// Returns when [`Printer::tick`] is due even if nothing arrives.
    pub(super) fn due(&self) -> Option<Instant> {
        let statistics = self.statistics.as_ref().and_then(Statistics::due);
        let watch = self.watch.as_ref().map(BookWatch::due);
        statistics.into_iter().chain(watch).min()
    }

    /// Prints statistics and draws if that is due; `wall` is this host's clock, `now` the feed's.
    /// Flushes the output of a channel on the network.
    #[inline]
    pub(super) fn tick(
        &mut self,
        wall: Instant,
        now: Now,
        traffic: &Traffic,
        channel: &Channel,
    ) -> io::Result<()> {
        let is_due = self.statistics.as_ref().is_some_and(|it| it.is_due(now.monotonic));
        match is_due || self.watch.is_some() || self.is_of_network {
            true => self.tick_now(wall, now, traffic, channel),
            false => Ok(()),
        }
    }

    #[cold]
    fn tick_now(
        &mut self,
        wall: Instant,
        now: Now,
        traffic: &Traffic,
        channel: &Channel,
    ) -> io::Result<()> {
        let others = self.over_capacity.len();
        if let Some(statistics) = &mut self.statistics
            && let Some(line) =
                statistics.line(now, traffic, (channel, others), self.options.format)
        {
            self.print(&line);
        }
        if let Some(watch) = &mut self.watch {
            watch.draw_if_due(wall, now, traffic, channel)?;
        }
        if self.is_of_network { self.out.flush() } else { Ok(()) }
    }

    /// Reports each name of the filter that no instrument has, once. Returns `true` if there is
    /// one. Called when all definitions should have been received.
    pub(super) fn check_selection(&mut self, channel: &Channel) -> bool {
        let missing = self.selection_check.missing(channel);
        self.counts.errors += missing.len() as u64;
        for what in &missing {
            let written = writeln!(self.err, "hairpin: {what}");
            self.record_outcome(written);
        }
        !missing.is_empty()
    }

    /// Returns `true` if the names of the filter are still to be checked.
    pub(super) fn has_unchecked_names(&self) -> bool {
        self.selection_check.is_due()
    }

    /// Returns the outcome of printing since the last call: callbacks cannot return it.
    pub(super) fn outcome(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.outcome, Ok(()))
    }

    /// Reports an error in the last packet of the file.
    pub(super) fn error(&mut self, what: &str) {
        self.counts.errors += 1;
        let is_first = self.errors.record(self.counts.packets, what);
        // It would overwrite the display.
        if self.is_of_network && is_first && self.watch.is_none() {
            let written = writeln!(self.err, "hairpin: {what}");
            self.record_outcome(written);
        }
    }

    /// Writes the errors of a file, one line for each kind, and what was not decoded. Of a network,
    /// the kinds that were repeated.
    pub(super) fn write_errors(&mut self) -> io::Result<()> {
        // The terminal is restored before anything is printed on it.
        let is_reported = self.is_of_network && self.watch.take().is_none();
        self.watch = None;
        match is_reported {
            true => self.errors.write_repeated(&mut self.err)?,
            false => self.errors.write("", &mut self.err)?,
        }
        self.others.write(&mut self.err)?;
        let (count, template) = std::mem::take(&mut self.removed);
        if count > 0 {
            self.counts.errors += 1;
            writeln!(
                self.err,
                "hairpin: {} not processed: version 9 of the schema removed their templates, such \
                 as {template}; `decode --schema` prints them",
                counted(count, "message")
            )?;
        }
        Ok(())
    }

    /// Prints the last lines.
    pub(super) fn finish(mut self, channel: &Channel, traffic: &Traffic) -> io::Result<()> {
        self.outcome()?;
        let throughput = self.throughput.take();
        if let Some(lines) = throughput.map(|it| it.lines(traffic, self.options.format)) {
            writeln!(self.out, "{lines}")?;
        }
        self.write_errors()?;
        let instruments = channel.instruments();
        let in_sync = |index: &InstrumentIndex| instruments.book(*index).is_in_sync();
        let others = self.over_capacity.len();
        let count = instruments.len() + others;
        let in_sync = instruments.iter().filter(in_sync).count();
        if others > 0 {
            let limit = self.options.instruments;
            let remedy = format!("more than {limit}: use --instruments {count}");
            writeln!(
                self.err,
                "hairpin: ignored {others} of {}, {remedy}",
                counted(count, "instrument")
            )?;
        }
        let (gaps, events) = (channel.counters().gaps, channel.counters().events);
        let Self { best_price_changes, unstated, .. } = self;
        match self.options.format {
            Format::Text => writeln!(
                self.out,
                "{in_sync} of {} in sync, {}, {}, {}, {} for unknown levels",
                counted(count, "instrument"),
                counted(gaps, "gap"),
                counted(events, "event"),
                counted(best_price_changes, "best-price change"),
                counted(unstated, "entry")
            )?,
            Format::Json => writeln!(
                self.out,
                "{{\"instruments\":{count},\"in_sync\":{in_sync},\"gaps\":{gaps},\
                 \"events\":{events},\"best_price_changes\":{best_price_changes},\
                 \"unseen_levels\":{unstated}}}"
            )?,
        }
        self.counts.write(self.options.format, &mut self.out)?;
        self.out.flush()
    }

    fn record_outcome(&mut self, written: io::Result<()>) {
        if self.outcome.is_ok() {
            self.outcome = written;
        }
    }

    fn print(&mut self, text: &str) {
        let written = writeln!(self.out, "{text}");
        self.record_outcome(written);
    }

    /// Prints a line of the channel, if such lines are enabled.
    fn print_line(&mut self, name: &str, values: &[(&str, Value<'_>)]) {
        if self.options.books {
            self.print(&message_line::record(name, self.packet, values, self.options.format));
        }
    }

    /// Prints a record, if lines of the channel are enabled.
    fn print_record(&mut self, record: &Record<'_>) {
        if self.options.books {
            self.print(&record.line(self.packet, self.options.format));
        }
    }

    /// Prints a callback, if callbacks are enabled.
    fn call(&mut self, packet: &Packet, record: &Record<'_>) {
        self.packet = callback_lines::position(packet);
        self.print(&record.line(self.packet, self.options.format));
    }

    fn print_message(&mut self, (text, is_known): (&str, bool)) {
        let DecodeCounts { messages, unknown, .. } = &mut *self.counts;
        *(if is_known { messages } else { unknown }) += 1;
        self.print(text);
    }

    fn tell_book(&mut self, instruments: &Instruments, index: InstrumentIndex, book: Book<'_>) {
        let symbol = instruments.definition(index).map(|definition| definition.symbol);
        let symbol = symbol.as_ref().map_or(&[][..], |symbol| symbol.as_bytes());
        let [bid, ask] = [book.best_bid(), book.best_ask()].map(|level| values(level.copied()));
        self.print_line(
            "TopOfBook",
            &[
                ("SecurityID", Value::Signed(book.security_id().into())),
                ("Symbol", Value::Text(CharArray::new(symbol))),
                ("BidPx", bid[0]),
                ("BidSize", bid[1]),
                ("BidOrders", bid[2]),
                ("AskPx", ask[0]),
                ("AskSize", ask[1]),
                ("AskOrders", ask[2]),
            ],
        );
    }
}

/// Returns price, quantity and number of orders.
fn values(level: Option<Level>) -> [Value<'static>; 3] {
    let Some(Level { price, quantity, orders }) = level else { return [Value::Null; 3] };
    // The number of orders is 0 if the exchange does not publish it.
    let orders = if orders == 0 { Value::Null } else { Value::Unsigned(orders.into()) };
    [price.into(), quantity.into(), orders]
}

/// Returns `true` for the templates of schema versions before 9 that later ones lack: books,
/// trades,
/// statistics, limits, snapshots and definitions.
#[inline]
fn is_removed(template: u16) -> bool {
    matches!(template, 27 | 29 | 32..=36 | 38 | 41..=44)
}

impl<O: Write, E: Write> Listener for Printer<'_, O, E> {
    fn on_message(&mut self, packet: &Packet, message: &Message<'_>) {
        self.packet = (packet.sequence, packet.sending_time.as_nanos());
        let PrintOptions { codecs, format, messages, .. } = self.options;
        if let Some(throughput) = &mut self.throughput {
            throughput.count(message);
        }
        if is_removed(message.header.template_id) {
            let (count, first) = self.removed;
            self.removed = (count + 1, if count == 0 { message.header.template_id } else { first });
        }
        self.selection_check.record(message);
        if !messages {
            self.is_malformed = false;
            self.counts.messages += 1;
            return;
        }
        let line = message_line::line(message.bytes, Some(self.packet), codecs, format);
        self.is_malformed = line.is_err();
        match line {
            Ok(MessageLine { text, is_known, security_ids }) => {
                let of = (message.header.template_id, is_known);
                if let Some(text) = self.selection.choose(text, of, &security_ids) {
                    self.print_message((&text, is_known));
                }
            }
            Err(what) => self.error(&what),
        }
    }

    fn on_end_of_message(&mut self, _: &Packet, _: &Message<'_>) {
        self.selection.end();
    }

    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        if let Some((text, is_known)) = self.selection.on_definition(update.definition) {
            self.print_message((&text, is_known));
        }
        if self.options.callbacks {
            let action = format!("{:?}", update.definition.action);
            self.call(update.packet, &callback_lines::definition(update, &action));
        }
    }

    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        if self.options.callbacks {
            let symbol = self.selection.symbol(update.book.security_id());
            for record in callback_lines::orders(update, symbol.as_bytes()) {
                self.call(update.packet, &record);
            }
        }
    }

    fn on_order_book_state(&mut self, change: &OrderBookStateChange<'_>) {
        if self.options.callbacks {
            let id = change.book.security_id();
            let (symbol, state) = (self.selection.symbol(id), format!("{:?}", change.state));
            let name = "OrderBookState";
            self.print_record(&callback_lines::state(name, id, symbol.as_bytes(), &state));
        }
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        if self.options.callbacks {
            let id = change.book.security_id();
            let (symbol, state) = (self.selection.symbol(id), format!("{:?}", change.state));
            let name = "InstrumentState";
            self.print_record(&callback_lines::state(name, id, symbol.as_bytes(), &state));
        }
    }

    fn on_trade(&mut self, trade: &Trade<'_>) {
        if self.options.callbacks {
            let symbol = self.selection.symbol(trade.security_id);
            self.call(trade.packet, &callback_lines::trade(trade, symbol.as_bytes()));
        }
    }

    fn on_volume(&mut self, volume: &Volume<'_>) {
        if self.options.callbacks {
            let symbol = self.selection.symbol(volume.security_id);
            self.call(volume.packet, &callback_lines::volume(volume, symbol.as_bytes()));
        }
    }

    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        if self.options.callbacks {
            let symbol = match status.scope {
                StatusScope::Instrument { security_id, .. } => self.selection.symbol(security_id),
                _ => self.selection.symbol(0),
            };
            self.call(status.packet, &callback_lines::status(status, symbol.as_bytes()));
        }
    }

    fn on_statistic(&mut self, statistic: &Statistic<'_>) {
        if self.options.callbacks {
            let symbol = self.selection.symbol(statistic.security_id);
            let kind = format!("{:?}", statistic.kind);
            self.call(
                statistic.packet,
                &callback_lines::statistic(statistic, symbol.as_bytes(), &kind),
            );
        }
    }

    fn on_limits(&mut self, limits: &LimitsUpdate<'_>) {
        if self.options.callbacks {
            let symbol = self.selection.symbol(limits.security_id);
            self.call(limits.packet, &callback_lines::limits(limits, symbol.as_bytes()));
        }
    }

    fn on_quote_request(&mut self, request: &QuoteRequest<'_>) {
        if self.options.callbacks {
            callback_lines::quotes(request, |record| self.call(request.packet, record));
        }
    }

    fn on_workup(&mut self, workup: &Workup<'_>) {
        if self.options.callbacks {
            let symbol = self.selection.symbol(workup.security_id);
            callback_lines::workup(workup, symbol.as_bytes(), |record| {
                self.call(workup.packet, record);
            });
        }
    }

    fn on_collateral(&mut self, collateral: &Collateral<'_>) {
        if self.options.callbacks {
            callback_lines::collateral(collateral, |record| self.call(collateral.packet, record));
        }
    }

    fn on_replay(&mut self, update: &ReplayUpdate) {
        let reason = match update {
            ReplayUpdate::GivenUp { reason, .. } => format!("{reason:?}"),
            _ => String::new(),
        };
        self.print_record(&callback_lines::replay(update, &reason));
    }

    fn on_silence(&mut self, silence: &Silence) {
        let feed = match silence.scope {
            SilenceScope::FeedLine { feed, .. } | SilenceScope::Feed(feed) => feed.to_string(),
            _ => String::new(),
        };
        let state = format!("{:?}", silence.state);
        self.print_record(&callback_lines::silence(silence, &feed, &state));
    }

    fn on_warning(&mut self, warning: &Warning) {
        let text = warning.to_string();
        self.print_record(&Record::new("Warning").text("Text", &text));
    }

    fn on_instrument_over_capacity(&mut self, security_id: i32) {
        let is_first = self.over_capacity.is_empty();
        self.over_capacity.insert(security_id);
        if is_first && self.is_of_network && self.watch.is_none() {
            let limit = self.options.instruments;
            let written = writeln!(
                self.err,
                "hairpin: instruments beyond {limit} are ignored: use --instruments"
            );
            self.record_outcome(written);
        }
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let is_change = event.changed().any(|(.., changes)| changes.best_price());
        self.best_price_changes += u64::from(is_change);
        if let Some(watch) = &mut self.watch {
            watch.count(event);
        }
        if self.options.books {
            self.packet = (event.packet.sequence, event.packet.sending_time.as_nanos());
            for (index, book, _) in event.changed() {
                self.tell_book(event.instruments, index, book);
            }
        }
    }

    fn on_channel_reset(&mut self, _: &ChannelReset<'_>) {
        self.print_line("ChannelReset", &[]);
    }

    fn on_gap(&mut self, gap: &Gap) {
        let values = [("First", u64::from(gap.first)), ("Count", gap.count.into())];
        self.print_line("Gap", &values.map(|(name, value)| (name, value.into())));
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        let name = format!("{state:?}");
        self.print_line("ChannelState", &[("State", Value::Text(CharArray::new(name.as_bytes())))]);
    }

    fn on_error(&mut self, _: Option<&Packet>, error: &Error) {
        match error {
            // Already reported by its line; one of another schema was printed as unknown.
            Error::MalformedMessage { .. } if self.is_malformed => {}
            Error::ForeignSchema { .. } => {}
            Error::InapplicableEntry { .. } if self.late_join == LateJoin::Nothing => {
                self.unstated += 1;
            }
            _ => self.error(&error.to_string()),
        }
    }
}
