//! Captures as columns.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use hairpin::Changes;
use hairpin::feed_handler::{
    AggressorSide, Book, BookSide, CaptureGroups, Channel, DefinitionAction, DefinitionUpdate,
    EndOfEvent, Filter, Input, Level, Listener, MDUpdateAction, OrderBooks, Packet, Price9, Text,
    Trade,
};
use hairpin::time::{Instant, Now, Utc};
use hairpin_endpoint::capture::{
    CaptureInput, CaptureReader as Frames, MergedCaptures, Payload, Replay, Speed, Step,
};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;

use crate::columns::{
    Column, DefinitionRow, Definitions, Letter, Mbp, Side, TEXT, Table, Trades, TradesRow,
};
use crate::errors::error;

/// The frames between two checks for Python's signals.
const FRAMES_PER_CHECK: usize = 1 << 16;
/// DBN's values of undefined prices and times.
const UNDEFINED_PRICE: i64 = i64::MAX;
const UNDEFINED_TIME: u64 = u64::MAX;
/// DBN's id of CME Globex.
const PUBLISHER: u16 = 1;
/// DBN's record types.
const MBP_0: u8 = 0;
const MBP_1: u8 = 1;
const MBP_10: u8 = 10;
const DEFINITION: u8 = 19;
/// DBN's flag for the last record of an event.
const LAST: u8 = 1 << 7;

/// The rows of one schema.
enum Kind {
    Mbp(Mbp),
    Trades(Trades),
    Definitions(Definitions),
}

impl Kind {
    fn new(schema: &str) -> PyResult<Self> {
        match schema {
            "mbp-1" => Ok(Self::Mbp(Mbp::new(1))),
            "mbp-10" => Ok(Self::Mbp(Mbp::new(10))),
            "trades" => Ok(Self::Trades(Trades::default())),
            "definition" => Ok(Self::Definitions(Definitions::default())),
            _ => {
                let schemas = "'mbp-1', 'mbp-10', 'trades' or 'definition'";
                let text = format!("there is no schema '{schema}': {schemas}");
                Err(PyValueError::new_err(text))
            }
        }
    }

    fn table(&mut self) -> &mut dyn Table {
        match self {
            Self::Mbp(table) => table,
            Self::Trades(table) => table,
            Self::Definitions(table) => table,
        }
    }
}

/// The selected rows of one schema.
struct Rows {
    kind: Kind,
    /// The times of the packets whose rows are kept, in nanoseconds.
    range: Range<u64>,
    /// The symbols that were asked for and that no definition has had so far.
    missing: Vec<Text<20>>,
}

impl Rows {
    /// Returns `true` if rows of a packet are kept: by its receive time, or without one by its
    /// SendingTime.
    #[inline]
    fn keeps(&self, packet: &Packet) -> bool {
        self.range.contains(&packet.received.unwrap_or(packet.sending_time).as_nanos())
    }
}

/// The columns that the records of all schemas have.
struct Header {
    ts_recv: u64,
    ts_in_delta: i32,
    sequence: u32,
}

impl From<&Packet> for Header {
    #[inline]
    fn from(packet: &Packet) -> Self {
        let sent = packet.sending_time.as_nanos();
        let (ts_recv, delta) = packet.received.map_or((UNDEFINED_TIME, 0), |received| {
            let received = received.as_nanos();
            (received, received as i64 - sent as i64)
        });
        let ts_in_delta = delta.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        Self { ts_recv, ts_in_delta, sequence: packet.sequence }
    }
}

/// Returns a quantity; DBN's have 32 bits.
fn size(quantity: u64) -> u32 {
    u32::try_from(quantity).unwrap_or(u32::MAX)
}

/// Returns the values of a level that may not exist.
fn side(level: Option<&Level>) -> Side {
    level.map_or((UNDEFINED_PRICE, 0, 0), |it| (it.price.0, size(it.quantity), it.orders))
}

/// Adds a row with the levels of a book.
#[inline]
fn push_levels(table: &mut Mbp, head: TradesRow, book: Option<Book<'_>>) {
    let rtype = if table.depth() == 1 { MBP_1 } else { MBP_10 };
    table.push(TradesRow { rtype, ..head }, |level| {
        // The book counts its levels from 1.
        let of = |of| side(book.and_then(|book| book.level(of, level + 1)));
        [of(BookSide::Bid), of(BookSide::Ask)]
    });
}

/// Returns the columns that rows of prices begin with.
#[inline]
fn head(
    packet: &Packet,
    (ts_event, instrument_id): (Utc, i32),
    (action, side, price, size, flags): (u8, u8, i64, u32, u8),
) -> TradesRow {
    let Header { ts_recv, ts_in_delta, sequence } = packet.into();
    TradesRow {
        ts_recv,
        ts_event: ts_event.as_nanos(),
        rtype: MBP_0,
        publisher_id: PUBLISHER,
        instrument_id: instrument_id as u32,
        action: Letter(action),
        side: Letter(side),
        depth: 0,
        price,
        size,
        flags,
        ts_in_delta,
        sequence,
    }
}

/// Returns a text followed by zeros; a longer one than any definition has is cut.
fn text(text: &str) -> [u8; TEXT] {
    let mut bytes = [0; TEXT];
    bytes.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    bytes
}

/// Returns the row of a definition.
fn definition(update: &DefinitionUpdate<'_>) -> DefinitionRow {
    let Header { ts_recv, .. } = update.packet.into();
    let it = update.definition;
    let price = |price: Option<Price9>| price.map_or(UNDEFINED_PRICE, |price| price.0);
    let time = |time: Option<Utc>| time.map_or(UNDEFINED_TIME, Utc::as_nanos);
    DefinitionRow {
        ts_recv,
        ts_event: it.last_update_time.as_nanos(),
        rtype: DEFINITION,
        publisher_id: PUBLISHER,
        instrument_id: it.security_id as u32,
        security_update_action: Letter(match it.action {
            DefinitionAction::Modify => b'M',
            DefinitionAction::Delete => b'D',
            _ => b'A',
        }),
        raw_symbol: text(it.symbol.as_str()),
        group: text(it.security_group.as_str()),
        asset: text(it.asset.as_str()),
        exchange: text(it.security_exchange.as_str()),
        security_type: text(it.security_type.as_str()),
        cfi: text(it.cfi_code.as_str()),
        currency: text(it.currency.as_str()),
        market_segment_id: it.market_segment_id.into(),
        min_price_increment: price(it.min_price_increment),
        display_factor: it.display_factor.0,
        activation: time(it.activation),
        expiration: time(it.last_trade),
        high_limit_price: price(it.high_limit_price),
        low_limit_price: price(it.low_limit_price),
        max_price_variation: price(it.max_price_variation),
        trading_reference_price: price(it.trading_reference_price),
        unit_of_measure_qty: price(it.unit_of_measure_qty),
        market_depth: it.depth.into(),
        min_trade_vol: it.min_trade_vol,
        max_trade_vol: it.max_trade_vol,
        maturity_year: it.maturity.year.unwrap_or(u16::MAX),
        maturity_month: it.maturity.month.unwrap_or(u8::MAX),
    }
}

impl Listener for Rows {
    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        self.missing.retain(|symbol| *symbol != update.definition.symbol);
        let keeps = self.keeps(update.packet);
        if let Kind::Definitions(table) = &mut self.kind
            && keeps
        {
            table.push(definition(update));
        }
    }

    fn on_trade(&mut self, trade: &Trade<'_>) {
        if !self.keeps(trade.packet) {
            return;
        }
        let side = match trade.aggressor {
            Some(AggressorSide::BUY) => b'B',
            Some(AggressorSide::SELL) => b'A',
            _ => b'N',
        };
        let action = match trade.action {
            MDUpdateAction::CHANGE => b'M',
            MDUpdateAction::DELETE => b'C',
            _ => b'T',
        };
        let of = (trade.transact_time, trade.security_id);
        let values = (action, side, trade.price.0, size(trade.quantity), 0);
        let head = head(trade.packet, of, values);
        match &mut self.kind {
            Kind::Mbp(table) => {
                let book = trade.instrument.map(|index| trade.instruments.book(index));
                push_levels(table, head, book.filter(|book| book.is_in_sync()));
            }
            Kind::Trades(table) => table.push(head),
            Kind::Definitions(_) => {}
        }
    }

    #[inline]
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let keeps = self.keeps(event.packet);
        let Kind::Mbp(table) = &mut self.kind else { return };
        if !keeps {
            return;
        }
        for (_, book, changes) in event.changed() {
            let bids = changes.intersects(Changes::BEST_BID);
            let asks = changes.intersects(Changes::BEST_ASK);
            let (side, changed) = match (bids, asks) {
                // A level below the best.
                (false, false) if table.depth() > 1 && changes.intersects(Changes::BOOK) => {
                    (b'N', None)
                }
                (false, false) => continue,
                (true, false) => (b'B', book.best_bid()),
                (false, true) => (b'A', book.best_ask()),
                (true, true) => (b'N', None),
            };
            let (price, size, _) = self::side(changed);
            let of = (event.transact_time, book.security_id());
            push_levels(table, head(event.packet, of, (b'M', side, price, size, LAST)), Some(book));
        }
    }
}

/// Opens a capture, or several as one in the order of their packets' times.
fn open(paths: &[PathBuf]) -> io::Result<Box<dyn Read + Send>> {
    match paths {
        [path] => Ok(Box::new(File::open(path)?)),
        _ => {
            let inputs = paths.iter().cloned().map(CaptureInput::File);
            Ok(Box::new(MergedCaptures::new(inputs)?))
        }
    }
}

/// Returns the name of captures for messages.
fn name_of(paths: &[PathBuf]) -> String {
    match paths {
        [path] => path.display().to_string(),
        _ => format!("{} captures", paths.len()),
    }
}

/// A path, or several.
#[derive(FromPyObject)]
enum Paths {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

/// A capture that is being read.
struct Reading {
    replay: Replay<Box<dyn Read + Send>>,
    channel: Channel,
    groups: CaptureGroups,
    rows: Rows,
    is_over: bool,
    /// The error at which the file ends.
    failure: Option<String>,
    has_warned: bool,
}

impl Reading {
    fn open(paths: &[PathBuf], rows: Rows) -> Result<Self, String> {
        let filter = rows.missing.iter().fold(Filter::default(), |it, at| it.with_symbol(*at));
        let named = |error: String| format!("cannot read {}: {error}", name_of(paths));
        let open = || open(paths).map_err(|error| named(error.to_string()));
        let groups = CaptureGroups::detect(open()?).map_err(|error| named(error.to_string()))?;
        let frames = Frames::new(open()?).map_err(|error| named(error.to_string()))?;
        Ok(Self {
            replay: Replay::new(frames, Speed::FlatOut),
            channel: Channel::new_with_filter(groups.settings(OrderBooks::None), filter),
            groups,
            rows,
            is_over: false,
            failure: None,
            has_warned: false,
        })
    }

    /// Returns a warning about messages that no row was made of; once.
    fn take_warning(&mut self) -> Option<String> {
        let count = self.channel.counters().unknown_templates;
        let is_due = count > 0 && !std::mem::replace(&mut self.has_warned, true);
        is_due.then(|| {
            format!(
                "{count} messages not processed: schema 1 version 13 has no such templates; those \
                 of versions before 9 are printed by `hairpin decode --schema`"
            )
        })
    }

    /// Returns the error of a symbol that no definition has.
    fn take_missing(&mut self) -> Option<String> {
        let missing = std::mem::take(&mut self.rows.missing);
        let names: Vec<&str> = missing.iter().map(Text::as_str).collect();
        (!names.is_empty()).then(|| format!("no definition has the symbol {}", names.join(", ")))
    }

    /// Reads on until there are so many rows, until the end, or until a check for signals is due.
    fn advance(&mut self, rows: usize) {
        for _ in 0..FRAMES_PER_CHECK {
            if self.is_over || self.rows.kind.table().rows() >= rows {
                return;
            }
            match self.replay.step(Instant::ZERO, self.channel.poll_timeout()) {
                Ok(Step::Frame(at)) => self.handle_frame(at),
                Ok(Step::Timeout(at)) => {
                    self.channel.handle_timeout(without_utc(at), &mut self.rows);
                }
                Ok(Step::Wait(_)) => {}
                Ok(Step::End) => self.is_over = true,
                Err(error) => self.failure = Some(error.to_string()),
            }
        }
    }

    #[inline]
    fn handle_frame(&mut self, at: Now) {
        let Some(frame) = self.replay.frame() else { return };
        // A packet that cannot be decoded is of another program.
        let Ok(Payload::Datagram { destination, bytes, .. }) = frame.payload() else { return };
        let Some((feed, line)) = self.groups.find(destination) else { return };
        let received = frame.time.map(|time| time.utc);
        if received.is_some_and(|received| received.as_nanos() >= self.rows.range.end) {
            self.is_over = true;
            return;
        }
        let input = Input { feed, line, received };
        self.channel.handle_packet(without_utc(at), input, bytes, &mut self.rows);
        while self.channel.poll_action().is_some() {}
    }
}

/// The capture's clock is unknown, so the channel must not compare SendingTime with it.
fn without_utc(now: Now) -> Now {
    Now { utc: Utc::EPOCH, ..now }
}

/// A capture, read in parts.
#[pyclass(frozen, module = "hairpin._native")]
pub(crate) struct CaptureReader {
    reading: Mutex<Reading>,
    name: String,
}

impl CaptureReader {
    /// Issues a `UserWarning` at the line that has called `hairpin.read`.
    fn warn(&self, py: Python<'_>, cause: &str) -> PyResult<()> {
        let text = CString::new(format!("{}: {cause}", self.name))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)
    }
}

#[pymethods]
impl CaptureReader {
    #[new]
    #[pyo3(signature = (path, schema, symbols=Vec::new(), start=0, end=u64::MAX))]
    fn new(
        py: Python<'_>,
        path: Paths,
        schema: &str,
        symbols: Vec<String>,
        start: u64,
        end: u64,
    ) -> PyResult<Self> {
        let kind = Kind::new(schema)?;
        let symbol = |it: &String| {
            let text = || format!("'{it}' is no symbol: 1 to 20 characters");
            let symbol = Text::new(it).filter(|it: &Text<20>| !it.as_str().is_empty());
            symbol.ok_or_else(|| PyValueError::new_err(text()))
        };
        let missing = symbols.iter().map(symbol).collect::<PyResult<_>>()?;
        let rows = Rows { kind, range: start..end, missing };
        let paths = match path {
            Paths::One(path) => vec![path],
            Paths::Several(paths) if paths.is_empty() => {
                return Err(PyValueError::new_err("there is no path"));
            }
            Paths::Several(paths) => paths,
        };
        let reading = py.detach(|| Reading::open(&paths, rows));
        let reading = reading.map_err(|cause| error(py, &cause))?;
        Ok(Self { reading: Mutex::new(reading), name: name_of(&paths) })
    }

    /// Returns the columns of the next rows; fewer at the end, and `None` after it.
    #[pyo3(signature = (rows=None))]
    fn next_part(
        &self,
        py: Python<'_>,
        rows: Option<usize>,
    ) -> PyResult<Option<Vec<(&'static str, Column)>>> {
        let rows = rows.unwrap_or(usize::MAX);
        loop {
            let part = py.detach(|| {
                let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
                reading.advance(rows);
                let is_complete = reading.is_over || reading.rows.kind.table().rows() >= rows;
                is_complete.then(|| reading.rows.kind.table().take(rows))
            });
            py.check_signals()?;
            let Some(part) = part else { continue };
            if part.iter().all(|(_, values)| values.is_empty()) {
                let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
                let (failure, warning) = (reading.failure.take(), reading.take_warning());
                let missing = reading.take_missing();
                drop(reading);
                warning.map_or(Ok(()), |cause| self.warn(py, &cause))?;
                missing.map_or(Ok(()), |cause| {
                    Err(error(py, &format!("cannot read {}: {cause}", self.name)))
                })?;
                return failure.map_or(Ok(None), |cause| {
                    let text = format!("cannot read {}: {cause}", self.name);
                    Err(error(py, &text))
                });
            }
            let columns = part.into_iter().map(|(name, values)| (name, values.into()));
            return Ok(Some(columns.collect()));
        }
    }

    /// Returns the numbers of gaps and of messages without a known template so far.
    fn counts(&self) -> (u64, u64) {
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let counters = reading.channel.counters();
        (counters.gaps, counters.unknown_templates)
    }

    /// Returns the columns without rows.
    fn no_rows(&self) -> Vec<(&'static str, Column)> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let columns = reading.rows.kind.table().take(0);
        columns.into_iter().map(|(name, values)| (name, values.into())).collect()
    }
}
