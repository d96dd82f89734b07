//! `hairpin exchange --events SCRIPT`: market events at given times.
//!
//! ```text
//! # time    event          instrument
//! +2s       channel-reset
//! +3.5s     book-reset     1001
//! +4s       status         all           halt
//! +500ms    limits         HPZ5          990 1010
//! ```
//!
//! `docs/reference/simulated-market-data.md` describes the events. An error names the line.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::str::SplitWhitespace;

use anyhow::{Context, Result};
use hairpin_exchange::{Instrument, Limits, Publication, SimulatedMarket, TradingStatus};
use hairpin_order_entry::Price9;
use hairpin_time::{Duration, Instant, Now};

use crate::order::script::values;

/// The trading states by name.
const STATES: [(&str, TradingStatus); 9] = [
    ("halt", TradingStatus::TradingHalt),
    ("close", TradingStatus::Close),
    ("new-price-indication", TradingStatus::NewPriceIndication),
    ("open", TradingStatus::ReadyToTrade),
    ("not-available", TradingStatus::NotAvailable),
    ("pre-open", TradingStatus::PreOpen),
    ("pre-cross", TradingStatus::PreCross),
    ("cross", TradingStatus::Cross),
    ("post-close", TradingStatus::PostClose),
];

/// The instruments of an event: one of them by its index, or all with `None`.
type Scope = Option<u32>;

/// An event of the market.
#[derive(Debug, Clone, Copy, PartialEq)]
enum MarketEvent {
    /// Template 4; with `restarts`, the packets after it are numbered from 1.
    ChannelReset { restarts: bool },
    /// Entry type J, of one instrument.
    BookReset(u32),
    /// Packets are numbered from 1 without a reset, sessions end.
    NewWeek,
    /// Template 30.
    Status(Scope, TradingStatus),
    /// Template 50, of one instrument.
    Limits(u32, Limits),
    /// Template 30 with SecurityTradingEvent 4.
    StatisticsReset(Scope),
    /// Day orders expire.
    EndSession,
}

/// An event, its time from the start on, and its line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimedEvent {
    at: Duration,
    event: MarketEvent,
    line: usize,
    /// The line without comments.
    text: String,
}

/// The events that are still to come, earliest first.
#[derive(Debug, Default)]
pub(super) struct Events {
    pending: VecDeque<TimedEvent>,
    started: Option<Instant>,
}

/// An error in a script.
#[derive(Debug, PartialEq, Eq)]
struct EventError {
    line: usize,
    cause: String,
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.cause)
    }
}

impl std::error::Error for EventError {}

impl Events {
    /// Reads a script for a market of these instruments.
    ///
    /// # Errors
    /// A file that cannot be read, or its first wrong line.
    pub(super) fn read(path: &Path, instruments: &[Instrument]) -> Result<Self> {
        let named = || format!("cannot read events from {}", path.display());
        let text = std::fs::read_to_string(path).with_context(named)?;
        let pending = parse(&text, instruments).with_context(named)?;
        Ok(Self { pending, started: None })
    }

    /// Returns the next event that is due. The first call starts the clock of the script.
    #[inline]
    pub(super) fn next_due(&mut self, now: Now) -> Option<TimedEvent> {
        let first = self.pending.front()?;
        let started = *self.started.get_or_insert(now.monotonic);
        if now.monotonic < started + first.at {
            return None;
        }
        self.pending.pop_front()
    }

    /// Returns the time of the next event, once the clock of the script runs.
    pub(super) fn next_at(&self) -> Option<Instant> {
        Some(self.started? + self.pending.front()?.at)
    }

    /// Returns `true` if the line of an event continues with another instrument.
    pub(super) fn continues(&self, event: &TimedEvent) -> bool {
        self.pending.front().is_some_and(|next| next.line == event.line)
    }
}

impl TimedEvent {
    /// Returns `true` if the sessions of the gateway end too.
    pub(super) fn begins_week(&self) -> bool {
        self.event == MarketEvent::NewWeek
    }

    /// Publishes the event.
    pub(super) fn apply(&self, market: &mut SimulatedMarket, now: Now) -> Publication {
        match self.event {
            MarketEvent::ChannelReset { restarts } => market.reset_channel(now, restarts),
            MarketEvent::BookReset(instrument) => market.reset_book(now, instrument),
            MarketEvent::NewWeek => market.begin_week(now),
            MarketEvent::Status(scope, status) => market.set_status(now, scope, status),
            MarketEvent::Limits(instrument, limits) => {
                market.announce(now, |publisher| publisher.set_limits(now, instrument, limits))
            }
            MarketEvent::StatisticsReset(scope) => market.reset_statistics(now, scope),
            MarketEvent::EndSession => market.end_session(now),
        }
    }
}

impl fmt::Display for TimedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

/// Parses a script. Events of one time keep their order.
fn parse(text: &str, instruments: &[Instrument]) -> Result<VecDeque<TimedEvent>, EventError> {
    let mut events = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let parsed = parse_line(text, instruments);
        let (at, parsed) = parsed.map_err(|cause| EventError { line, cause })?;
        let timed = |event| TimedEvent { at, event, line, text: text.to_owned() };
        events.extend(parsed.into_iter().map(timed));
    }
    events.sort_by_key(|event| event.at);
    Ok(events.into())
}

/// Parses a line. Resets and limits of all instruments are an event for each, so that a publisher
/// with a full queue can send between them.
fn parse_line(
    text: &str,
    instruments: &[Instrument],
) -> Result<(Duration, Vec<MarketEvent>), String> {
    const EVENTS: &str = "channel-reset, book-reset, new-week, status, limits, statistics-reset or \
                          end-session";
    let mut words = text.split_whitespace();
    let at = words.next().unwrap_or_default();
    let time = at.strip_prefix('+').and_then(parse_time);
    let time = time.ok_or_else(|| format!("expected a time such as +1.5s, found `{at}`"))?;
    let scope = |words: &mut SplitWhitespace<'_>| {
        let word = words.next();
        let scope = word.and_then(|word| parse_scope(word, instruments));
        scope
            .ok_or_else(|| format!("expected a symbol, a SecurityID or all, found {}", found(word)))
    };
    // The number was given as a `u32`.
    let count = instruments.len() as u32;
    let each = |scope: Scope| scope.map_or(0..count, |index| index..index + 1);
    let events = match words.next() {
        Some("channel-reset") => {
            let restarts = words.clone().next() == Some("restart");
            words.by_ref().take(usize::from(restarts)).for_each(drop);
            vec![MarketEvent::ChannelReset { restarts }]
        }
        Some("book-reset") => each(scope(&mut words)?).map(MarketEvent::BookReset).collect(),
        Some("new-week") => vec![MarketEvent::NewWeek],
        Some("status") => {
            let scope = scope(&mut words)?;
            let word = words.next();
            let state = STATES.iter().find(|(name, _)| Some(*name) == word);
            let state = state.ok_or_else(|| {
                let names = STATES.map(|(name, _)| name).join(", ");
                format!("expected one of {names}, found {}", found(word))
            })?;
            vec![MarketEvent::Status(scope, state.1)]
        }
        Some("limits") => {
            let scope = scope(&mut words)?;
            let limits = parse_limits(&mut words)?;
            each(scope).map(|instrument| MarketEvent::Limits(instrument, limits)).collect()
        }
        Some("statistics-reset") => vec![MarketEvent::StatisticsReset(scope(&mut words)?)],
        Some("end-session") => vec![MarketEvent::EndSession],
        word => return Err(format!("expected {EVENTS}, found {}", found(word))),
    };
    match words.next() {
        None => Ok((time, events)),
        Some(word) => Err(format!("expected the end of the line, found `{word}`")),
    }
}

/// Describes an unexpected word, or the end of the line.
fn found(word: Option<&str>) -> String {
    word.map_or("the end".to_owned(), |word| format!("`{word}`"))
}

/// Parses the low and the high limit, and the maximum variation if there is one.
fn parse_limits(words: &mut SplitWhitespace<'_>) -> Result<Limits, String> {
    let mut price = |name: &str| {
        let word = words.next();
        let price = word.and_then(parse_price);
        price.ok_or_else(|| format!("expected {name} or -, found {}", found(word)))
    };
    let (low, high) = (price("the low limit")?, price("the high limit")?);
    let max_variation = match words.next() {
        None => None,
        word => word
            .and_then(parse_price)
            .ok_or_else(|| format!("expected the maximum variation or -, found {}", found(word)))?,
    };
    Ok(Limits { high, low, max_variation })
}

/// Parses a time: a number with up to nine decimals and its unit.
fn parse_time(text: &str) -> Option<Duration> {
    let unit_at = text.find(|character: char| character.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let unit_ns: i128 = match unit {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        _ => return None,
    };
    let number = i128::from(values::price(number).filter(|number| number.0 >= 0)?.0);
    let nanos = number.checked_mul(unit_ns)? / 1_000_000_000;
    // Within the range of a clock that starts now.
    u64::try_from(nanos).ok().filter(|&nanos| nanos < u64::MAX / 4).map(Duration::from_nanos)
}

/// Parses a price in units of 10^-9; `-` is no price.
fn parse_price(text: &str) -> Option<Option<Price9>> {
    match text {
        "-" => Some(None),
        text => values::price(text).map(Some),
    }
}

fn parse_scope(word: &str, instruments: &[Instrument]) -> Option<Scope> {
    if word == "all" {
        return Some(None);
    }
    let is_named = |it: &Instrument| it.symbol == word || word.parse() == Ok(it.security_id);
    // The number was given as a `u32`.
    instruments.iter().position(is_named).map(|index| Some(index as u32))
}

#[cfg(test)]
mod tests {
    use hairpin_order_entry::Decimal;

    use super::*;

    fn events(text: &str) -> Result<Vec<(u64, MarketEvent)>, String> {
        let parsed = parse(text, &Instrument::numbered(2)).map_err(|error| error.to_string())?;
        Ok(parsed.iter().map(|it| (it.at.as_nanos() / 1_000, it.event)).collect())
    }

    #[test]
    fn parses_events_in_the_order_of_their_times() {
        let symbol = &Instrument::numbered(2)[1].symbol;
        let text = format!(
            "# a script\n+1.5s channel-reset # why\n\n+250ms status all pre-open\n\
             +1.5s channel-reset restart\n+2m new-week\n+3s book-reset {symbol}\n\
             +3s limits 1001 990.25 - 5\n+3s statistics-reset all\n+3s end-session\n"
        );
        let price = |units: i64| Some(Decimal(units * 10_000_000));
        let limits = Limits { low: price(99_025), high: None, max_variation: price(500) };
        assert_eq!(
            events(&text).unwrap(),
            [
                (250_000, MarketEvent::Status(None, TradingStatus::PreOpen)),
                (1_500_000, MarketEvent::ChannelReset { restarts: false }),
                (1_500_000, MarketEvent::ChannelReset { restarts: true }),
                (3_000_000, MarketEvent::BookReset(1)),
                (3_000_000, MarketEvent::Limits(0, limits)),
                (3_000_000, MarketEvent::StatisticsReset(None)),
                (3_000_000, MarketEvent::EndSession),
                (120_000_000, MarketEvent::NewWeek),
            ]
        );
        // Each instrument is a book of its own.
        let each = [0, 1].map(|index| (0, MarketEvent::BookReset(index)));
        assert_eq!(events("+0s book-reset all").unwrap(), each);
    }

    #[test]
    fn error_names_line_and_cause() {
        for (text, error) in [
            ("\n1s new-week", "line 2: expected a time such as +1.5s, found `1s`"),
            ("+1 new-week", "line 1: expected a time such as +1.5s, found `+1`"),
            ("+-1s new-week", "line 1: expected a time such as +1.5s, found `+-1s`"),
            ("+99999999999999m new-week", "line 1: expected a time such as +1.5s, found `+9"),
            ("+1s", "line 1: expected channel-reset,"),
            ("+1s reset", "line 1: expected channel-reset,"),
            ("+1s channel-reset now", "line 1: expected the end of the line, found `now`"),
            ("+1s book-reset", "line 1: expected a symbol, a SecurityID or all, found the end"),
            ("+1s book-reset 77", "line 1: expected a symbol, a SecurityID or all, found `77`"),
            ("+1s status all", "line 1: expected one of halt, close,"),
            ("+1s status 1001 shut", "line 1: expected one of halt, close,"),
            ("+1s limits all 1", "line 1: expected the high limit or -, found the end"),
            ("+1s limits all x 2", "line 1: expected the low limit or -, found `x`"),
            ("+1s limits all 1 2 x", "line 1: expected the maximum variation or -, found `x`"),
        ] {
            let found = events(text).unwrap_err();
            assert!(found.starts_with(error), "{text}: {found}");
        }
    }
}
