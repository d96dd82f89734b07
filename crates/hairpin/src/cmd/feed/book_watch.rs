//! Books and rates on a terminal.

use std::io::{self, Write};

use hairpin_feed_handler::{Channel, Counters, EndOfEvent, InstrumentIndex, Level};
use hairpin_sbe::Value;
use hairpin_time::{Duration, Instant, Now};

use super::screen::{Screen, Size};
use super::statistics::Traffic;

/// The interval between two drawings: as fast as a person can read changing numbers.
const INTERVAL: Duration = Duration::from_millis(250);
/// The number of lines above the books.
const HEADING: usize = 5;

/// The state of the display.
#[derive(Debug)]
pub(super) struct BookWatch<O: Write> {
    screen: Screen<O>,
    title: String,
    due: Instant,
    before: Option<(Instant, Traffic, Counters)>,
    /// Changes of each book since the last drawing, and their recent average.
    changes: Vec<(u32, f64)>,
}

impl<O: Write> BookWatch<O> {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn begin(out: O, title: String) -> io::Result<Self> {
        let screen = Screen::enter(out)?;
        Ok(Self { screen, title, due: Instant::ZERO, before: None, changes: Vec::new() })
    }

    /// Counts the changes of an event.
    pub(super) fn count(&mut self, event: &EndOfEvent<'_>) {
        for (index, ..) in event.changed() {
            let place = index.as_usize();
            if place >= self.changes.len() {
                self.changes.resize(place + 1, (0, 0.0));
            }
            self.changes[place].0 += 1;
        }
    }

    /// Returns when the next drawing is due, on this host's clock.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Draws if a drawing is due at `wall` on this host's clock; `now` is the feed's.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn draw_if_due(
        &mut self,
        wall: Instant,
        now: Now,
        traffic: &Traffic,
        channel: &Channel,
    ) -> io::Result<()> {
        if wall < self.due {
            return Ok(());
        }
        self.due = wall + INTERVAL;
        self.draw(now, traffic, channel, Size::of_terminal())
    }

    fn draw(
        &mut self,
        now: Now,
        traffic: &Traffic,
        channel: &Channel,
        size: Size,
    ) -> io::Result<()> {
        let mut lines = self.heading(now, traffic, channel);
        for (recent, late) in &mut self.changes {
            *late = *late * 0.8 + f64::from(std::mem::take(recent));
        }
        let places = size.rows.saturating_sub(HEADING);
        let mut order: Vec<_> = channel.instruments().iter().collect();
        let of_late = |index: &InstrumentIndex| {
            self.changes.get(index.as_usize()).map_or(0.0, |(_, late)| *late)
        };
        // The busiest; of equally busy ones, the first.
        order.sort_by(|one, other| of_late(other).total_cmp(&of_late(one)));
        order.truncate(places);
        // In a constant order, so that lines keep their places.
        order.sort();
        lines.extend(order.into_iter().map(|index| book(channel, index)));
        self.before = Some((now.monotonic, *traffic, *channel.counters()));
        self.screen.draw(&lines, size)
    }

    fn heading(&self, now: Now, traffic: &Traffic, channel: &Channel) -> Vec<String> {
        let counters = channel.counters();
        let none = (now.monotonic, *traffic, *counters);
        let (since, before, old) = self.before.as_ref().unwrap_or(&none);
        let seconds = now.monotonic.saturating_since(*since).as_nanos() as f64 / 1e9;
        let rate = |now: u64, before: u64| match seconds > 0.0 {
            true => now.saturating_sub(before) as f64 / seconds,
            false => 0.0,
        };
        let instruments = channel.instruments();
        let in_sync = |index: &InstrumentIndex| instruments.book(*index).is_in_sync();
        let mut time = now.utc.to_string();
        time.truncate("2026-11-22T08:00:00.000".len());
        vec![
            format!("{}  {time}Z  {:?}", self.title, channel.state()),
            format!(
                "{:.0} packets/s  {:.3} Mbit/s  {:.0} messages/s  {:.0} events/s",
                rate(traffic.packets, before.packets),
                rate(traffic.bytes, before.bytes) * 8.0 / 1e6,
                rate(counters.messages, old.messages),
                rate(counters.events, old.events),
            ),
            format!(
                "A {} first {}  B {} first {}  {} gaps  {} missed  {} dropped  {} of {} in sync",
                counters.packets_a,
                counters.first_a,
                counters.packets_b,
                counters.first_b,
                counters.gaps,
                counters.missed_packets,
                traffic.drops,
                instruments.iter().filter(in_sync).count(),
                instruments.len(),
            ),
            String::new(),
            format!(
                "{:>11} {:<20} {:>7} {:>9} {:>16} {:<16} {:<9} {:<7}",
                "security", "symbol", "orders", "quantity", "bid", "ask", "quantity", "orders"
            ),
        ]
    }
}

/// Returns the best prices of a book as text.
fn book(channel: &Channel, index: InstrumentIndex) -> String {
    let book = channel.book(index);
    let symbol = channel.definition(index).map(|definition| definition.symbol.to_string());
    let [bid, ask] = [book.best_bid(), book.best_ask()].map(words);
    let sync = if book.is_in_sync() { "" } else { " not in sync" };
    let id = book.security_id();
    let symbol = symbol.unwrap_or_default();
    format!(
        "{id:>11} {symbol:<20} {:>7} {:>9} {:>16} {:<16} {:<9} {:<7}{sync}",
        bid[2], bid[1], bid[0], ask[0], ask[1], ask[2]
    )
    .trim_end()
    .to_owned()
}

/// Returns price, quantity and orders as text, with dashes for a missing level.
fn words(level: Option<&Level>) -> [String; 3] {
    match level {
        None => ["-".to_owned(), String::new(), String::new()],
        Some(Level { price, quantity, orders, .. }) => {
            let orders = if *orders == 0 { String::new() } else { orders.to_string() };
            [Value::from(*price).to_string(), quantity.to_string(), orders]
        }
    }
}
