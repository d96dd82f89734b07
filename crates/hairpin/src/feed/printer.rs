//! What the channel tells, printed and counted.

use std::io::{self, Write};

use hairpin_feed_handler::{
    Book, Channel, ChannelReset, ChannelState, EndOfEvent, Error, Gap, InstrumentIndex,
    Instruments, LateJoin, Level, Listener, Message, Packet,
};
use hairpin_sbe::{CharArray, Value};

use super::How;
use crate::decode::line::{self, Line};
use crate::decode::{Counts, Format};

/// Prints and counts.
pub(super) struct Printer<'a, O, E> {
    how: How<'a>,
    late_join: LateJoin,
    pub(super) counts: &'a mut Counts,
    out: O,
    err: E,
    /// The packet that was told last: sequence and sending time.
    packet: (u32, u64),
    /// The message told last could not be printed, which was said.
    is_malformed: bool,
    /// Events in which the best price of some book has changed.
    best_price_changes: u64,
    /// Entries for levels that books of unknown beginning do not have.
    unstated: u64,
    outcome: io::Result<()>,
}

impl<'a, O: Write, E: Write> Printer<'a, O, E> {
    pub(super) fn new(
        how: How<'a>,
        late_join: LateJoin,
        counts: &'a mut Counts,
        out: O,
        err: E,
    ) -> Self {
        Self {
            how,
            late_join,
            counts,
            out,
            err,
            packet: (0, 0),
            is_malformed: false,
            best_price_changes: 0,
            unstated: 0,
            outcome: Ok(()),
        }
    }

    /// What came of printing since this was asked last: callbacks cannot return it.
    pub(super) fn outcome(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.outcome, Ok(()))
    }

    /// Says what is wrong with the packet of the file that was read last.
    pub(super) fn error(&mut self, what: &str) {
        self.counts.errors += 1;
        let written = writeln!(self.err, "hairpin: packet {}: {what}", self.counts.packets);
        self.note(written);
    }

    /// Prints the last lines.
    pub(super) fn finish(mut self, channel: &Channel) -> io::Result<()> {
        self.outcome()?;
        let instruments = channel.instruments();
        let in_sync = |index: &InstrumentIndex| instruments.book(*index).is_in_sync();
        let (count, in_sync) = (instruments.len(), instruments.iter().filter(in_sync).count());
        let (gaps, events) = (channel.counters().gaps, channel.counters().events);
        let Self { best_price_changes, unstated, .. } = self;
        match self.how.format {
            Format::Text => writeln!(
                self.out,
                "{in_sync} of {count} instruments in sync, {gaps} gaps, {events} events, \
                 {best_price_changes} best-price changes, {unstated} entries for levels not seen"
            )?,
            Format::Json => writeln!(
                self.out,
                "{{\"instruments\":{count},\"in_sync\":{in_sync},\"gaps\":{gaps},\
                 \"events\":{events},\"best_price_changes\":{best_price_changes},\
                 \"unseen_levels\":{unstated}}}"
            )?,
        }
        self.counts.write(self.how.format, &mut self.out)?;
        self.out.flush()
    }

    fn note(&mut self, written: io::Result<()>) {
        if self.outcome.is_ok() {
            self.outcome = written;
        }
    }

    fn print(&mut self, text: &str) {
        let written = writeln!(self.out, "{text}");
        self.note(written);
    }

    /// Prints what the channel tells, if that is wanted.
    fn tell(&mut self, name: &str, values: &[(&str, Value<'_>)]) {
        if self.how.books {
            self.print(&line::record(name, self.packet, values, self.how.format));
        }
    }

    fn tell_book(&mut self, instruments: &Instruments, index: InstrumentIndex, book: Book<'_>) {
        let symbol = instruments.definition(index).map(|definition| definition.symbol);
        let symbol = symbol.as_ref().map_or(&[][..], |symbol| symbol.as_bytes());
        let [bid, ask] = [book.best_bid(), book.best_ask()].map(|level| values(level.copied()));
        self.tell(
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

/// Price, quantity and number of orders.
fn values(level: Option<Level>) -> [Value<'static>; 3] {
    let Some(Level { price, quantity, orders }) = level else { return [Value::Null; 3] };
    // Where the exchange does not tell the number of orders it is 0.
    let orders = if orders == 0 { Value::Null } else { Value::Unsigned(orders.into()) };
    [price.into(), quantity.into(), orders]
}

impl<O: Write, E: Write> Listener for Printer<'_, O, E> {
    fn on_message(&mut self, packet: &Packet, message: &Message<'_>) {
        self.packet = (packet.sequence, packet.sending_time.as_nanos());
        let How { codecs, format, .. } = self.how;
        let line = line::line(message.bytes, Some(self.packet), codecs, format);
        self.is_malformed = line.is_err();
        match line {
            Ok(Line { text, is_known }) => {
                let Counts { messages, unknown, .. } = &mut *self.counts;
                *(if is_known { messages } else { unknown }) += 1;
                self.print(&text);
            }
            Err(what) => self.error(&what),
        }
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let is_change = event.changed().any(|(.., changes)| changes.best_price());
        self.best_price_changes += u64::from(is_change);
        if self.how.books {
            self.packet = (event.packet.sequence, event.packet.sending_time.as_nanos());
            for (index, book, _) in event.changed() {
                self.tell_book(event.instruments, index, book);
            }
        }
    }

    fn on_channel_reset(&mut self, _: &ChannelReset<'_>) {
        self.tell("ChannelReset", &[]);
    }

    fn on_gap(&mut self, gap: &Gap) {
        let values = [("First", u64::from(gap.first)), ("Count", gap.count.into())];
        self.tell("Gap", &values.map(|(name, value)| (name, value.into())));
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        let name = format!("{state:?}");
        self.tell("ChannelState", &[("State", Value::Text(CharArray::new(name.as_bytes())))]);
    }

    fn on_error(&mut self, _: Option<&Packet>, error: &Error) {
        match error {
            // Its line said so already; one of another schema was printed as unknown.
            Error::MalformedMessage { .. } if self.is_malformed => {}
            Error::ForeignSchema { .. } => {}
            Error::InapplicableEntry { .. } if self.late_join == LateJoin::Nothing => {
                self.unstated += 1;
            }
            _ => self.error(&error.to_string()),
        }
    }
}
