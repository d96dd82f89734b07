//! Captures as columns.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use hairpin::Changes;
use hairpin::feed_handler::{
    AggressorSide, Book, CaptureGroups, Channel, EndOfEvent, Input, Level, Listener,
    MDUpdateAction, OrderBooks, Packet, Trade,
};
use hairpin::time::{Instant, Now, Utc};
use hairpin_endpoint::capture::{
    CaptureInput, CaptureReader as Frames, MergedCaptures, Payload, Replay, Speed, Step,
};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;

use crate::columns::{Column, Letter, Mbp1, Mbp1Row, Table, Trades, TradesRow};
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
/// DBN's flag for the last record of an event.
const LAST: u8 = 1 << 7;

/// The rows of one schema.
enum Rows {
    Mbp1(Mbp1),
    Trades(Trades),
}

impl Rows {
    fn new(schema: &str) -> PyResult<Self> {
        match schema {
            "mbp-1" => Ok(Self::Mbp1(Mbp1::default())),
            "trades" => Ok(Self::Trades(Trades::default())),
            _ => {
                let text = format!("there is no schema '{schema}': 'mbp-1' or 'trades'");
                Err(PyValueError::new_err(text))
            }
        }
    }

    fn table(&mut self) -> &mut dyn Table {
        match self {
            Self::Mbp1(table) => table,
            Self::Trades(table) => table,
        }
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

/// Returns price, quantity and number of orders of a level.
#[inline]
fn level(level: Option<&Level>) -> (i64, u32, u32) {
    level.map_or((UNDEFINED_PRICE, 0, 0), |it| (it.price.0, size(it.quantity), it.orders))
}

/// Returns a quantity; DBN's have 32 bits.
fn size(quantity: u64) -> u32 {
    u32::try_from(quantity).unwrap_or(u32::MAX)
}

impl Rows {
    /// Adds a row with the best prices of a book.
    #[inline]
    fn push_best(
        table: &mut Mbp1,
        packet: &Packet,
        (ts_event, instrument_id): (Utc, i32),
        (action, side, price, size, flags): (u8, u8, i64, u32, u8),
        book: Option<Book<'_>>,
    ) {
        let Header { ts_recv, ts_in_delta, sequence } = packet.into();
        let bid = level(book.and_then(|book| book.best_bid()));
        let ask = level(book.and_then(|book| book.best_ask()));
        table.push(Mbp1Row {
            ts_recv,
            ts_event: ts_event.as_nanos(),
            rtype: MBP_1,
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
            bid_px_00: bid.0,
            ask_px_00: ask.0,
            bid_sz_00: bid.1,
            ask_sz_00: ask.1,
            bid_ct_00: bid.2,
            ask_ct_00: ask.2,
        });
    }
}

impl Listener for Rows {
    fn on_trade(&mut self, trade: &Trade<'_>) {
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
        let (price, quantity) = (trade.price.0, size(trade.quantity));
        match self {
            Self::Mbp1(table) => {
                let book = trade.instrument.map(|index| trade.instruments.book(index));
                let of = (trade.transact_time, trade.security_id);
                let book = book.filter(|book| book.is_in_sync());
                Self::push_best(table, trade.packet, of, (action, side, price, quantity, 0), book);
            }
            Self::Trades(table) => {
                let Header { ts_recv, ts_in_delta, sequence } = trade.packet.into();
                table.push(TradesRow {
                    ts_recv,
                    ts_event: trade.transact_time.as_nanos(),
                    rtype: MBP_0,
                    publisher_id: PUBLISHER,
                    instrument_id: trade.security_id as u32,
                    action: Letter(action),
                    side: Letter(side),
                    depth: 0,
                    price,
                    size: quantity,
                    flags: 0,
                    ts_in_delta,
                    sequence,
                });
            }
        }
    }

    #[inline]
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let Self::Mbp1(table) = self else { return };
        for (_, book, changes) in event.changed() {
            let bids = changes.intersects(Changes::BEST_BID);
            let asks = changes.intersects(Changes::BEST_ASK);
            let (side, changed) = match (bids, asks) {
                (false, false) => continue,
                (true, false) => (b'B', book.best_bid()),
                (false, true) => (b'A', book.best_ask()),
                (true, true) => (b'N', None),
            };
            let (price, size, _) = level(changed);
            let of = (event.transact_time, book.security_id());
            Self::push_best(table, event.packet, of, (b'M', side, price, size, LAST), Some(book));
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
        let named = |error: String| format!("cannot read {}: {error}", name_of(paths));
        let open = || open(paths).map_err(|error| named(error.to_string()));
        let groups = CaptureGroups::detect(open()?).map_err(|error| named(error.to_string()))?;
        let frames = Frames::new(open()?).map_err(|error| named(error.to_string()))?;
        Ok(Self {
            replay: Replay::new(frames, Speed::FlatOut),
            channel: Channel::new(groups.settings(OrderBooks::None)),
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

    /// Reads on until there are so many rows, until the end, or until a check for signals is due.
    fn advance(&mut self, rows: usize) {
        for _ in 0..FRAMES_PER_CHECK {
            if self.is_over || self.rows.table().rows() >= rows {
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
    fn new(py: Python<'_>, path: Paths, schema: &str) -> PyResult<Self> {
        let rows = Rows::new(schema)?;
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
                let is_complete = reading.is_over || reading.rows.table().rows() >= rows;
                is_complete.then(|| reading.rows.table().take(rows))
            });
            py.check_signals()?;
            let Some(part) = part else { continue };
            if part.iter().all(|(_, values)| values.is_empty()) {
                let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
                let (failure, warning) = (reading.failure.take(), reading.take_warning());
                drop(reading);
                warning.map_or(Ok(()), |cause| self.warn(py, &cause))?;
                return failure.map_or(Ok(None), |cause| {
                    let text = format!("cannot read {}: {cause}", self.name);
                    Err(error(py, &text))
                });
            }
            let columns = part.into_iter().map(|(name, values)| (name, values.into()));
            return Ok(Some(columns.collect()));
        }
    }

    /// Returns the columns without rows.
    fn no_rows(&self) -> Vec<(&'static str, Column)> {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let columns = reading.rows.table().take(0);
        columns.into_iter().map(|(name, values)| (name, values.into())).collect()
    }
}
