//! Books and rates on a terminal.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, Write};

use hairpin_feed_handler::{Channel, Counters, EndOfEvent, InstrumentIndex, Level};
use hairpin_measure::{Style, TextTable, counted};
use hairpin_sbe::Value;
use hairpin_time::{Duration, Instant, Now};

use super::screen::{Keyboard, Screen, Size};
use super::statistics::Traffic;

/// The interval between two drawings: as fast as a person can read changing numbers.
const INTERVAL: Duration = Duration::from_millis(250);
/// A hidden instrument replaces a shown one if it changes this many times as often, so that lines
/// keep their places.
const PREFERENCE: f64 = 2.0;
/// The last line until the first packet.
const NOTHING_RECEIVED: &str = "no packet yet: check --interface and the sender";

/// The state of the display.
#[derive(Debug)]
pub(super) struct BookWatch<'a, O: Write> {
    screen: Screen<O>,
    keyboard: Keyboard,
    /// Set once `q` was typed.
    quit: &'a Cell<bool>,
    title: String,
    due: Instant,
    before: Option<(Instant, Traffic, Counters)>,
    /// Changes of each book since the last drawing, and their recent average.
    changes: Vec<(u32, f64)>,
    /// The instruments of the last drawing.
    shown: Vec<InstrumentIndex>,
}

impl<'a, O: Write> BookWatch<'a, O> {
    /// Takes over the terminal, and sets `quit` when `q` is typed.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn begin(out: O, title: String, quit: &'a Cell<bool>) -> io::Result<Self> {
        Ok(Self {
            screen: Screen::enter(out)?,
            keyboard: Keyboard::open(),
            quit,
            title,
            due: Instant::ZERO,
            before: None,
            changes: Vec::new(),
            shown: Vec::new(),
        })
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
        if self.keyboard.typed(b'q') {
            self.quit.set(true);
        }
        self.draw(now, traffic, channel, Size::of_terminal())
    }

    fn draw(
        &mut self,
        now: Now,
        traffic: &Traffic,
        channel: &Channel,
        size: Size,
    ) -> io::Result<()> {
        for (recent, late) in &mut self.changes {
            *late = *late * 0.8 + f64::from(std::mem::take(recent));
        }
        let style = Style::Terminal { columns: size.columns };
        let heading = style.wrap(&self.heading(now, traffic, channel));
        let busiest = self.busiest(channel, size.rows);
        let all = channel.instruments().len();
        let mut places = busiest.len();
        let text = loop {
            self.shown = in_order(channel, &busiest[..places]);
            let footer = self.footer(traffic, all - places);
            let text =
                format!("{heading}\n{}{}", table(channel, &self.shown).render(style), footer);
            let excess = text.lines().count().saturating_sub(size.rows);
            if excess == 0 || places == 0 {
                break text;
            }
            places = places.saturating_sub(excess);
        };
        self.before = Some((now.monotonic, *traffic, *channel.counters()));
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        self.screen.draw(&lines, size)
    }

    /// Returns at most `count` instruments, the most frequently changed first; of equal ones, the
    /// shown before hidden ones, and else the first.
    fn busiest(&self, channel: &Channel, count: usize) -> Vec<InstrumentIndex> {
        let shown: HashSet<usize> = self.shown.iter().map(|index| index.as_usize()).collect();
        let weight = |index: InstrumentIndex| {
            let late = self.changes.get(index.as_usize()).map_or(0.0, |(_, late)| *late);
            let is_shown = shown.contains(&index.as_usize());
            (if is_shown { late * PREFERENCE } else { late }, is_shown, index)
        };
        let mut order: Vec<_> = channel.instruments().iter().map(weight).collect();
        order.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        order.into_iter().take(count).map(|(.., index)| index).collect()
    }

    /// Returns the last line: the number of hidden instruments, or what to check if nothing is
    /// received; and the key that ends the display.
    fn footer(&self, traffic: &Traffic, hidden: usize) -> String {
        let hidden = match hidden {
            0 if traffic.packets == 0 => NOTHING_RECEIVED.to_owned(),
            0 => String::new(),
            count => format!("{count} less frequently changed instruments hidden"),
        };
        let key = if self.keyboard.is_open() { "q ends" } else { "" };
        [hidden.as_str(), key]
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join("; ")
    }

    fn heading(&self, now: Now, traffic: &Traffic, channel: &Channel) -> String {
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
        [
            format!("{}  {time}Z  {:?}\n", self.title, channel.state()),
            format!(
                "{:.0} packets/s  {:.3} Mbit/s  {:.0} messages/s  {:.0} events/s\n",
                rate(traffic.packets, before.packets),
                rate(traffic.bytes, before.bytes) * 8.0 / 1e6,
                rate(counters.messages, old.messages),
                rate(counters.events, old.events),
            ),
            format!(
                "A {} first {}  B {} first {}  {}  {} missed  {} dropped  {} of {} in sync\n",
                counters.packets_a,
                counters.first_a,
                counters.packets_b,
                counters.first_b,
                counted(counters.gaps, "gap"),
                counters.missed_packets,
                traffic.drops,
                instruments.iter().filter(in_sync).count(),
                instruments.len(),
            ),
        ]
        .concat()
    }
}

/// Returns the instruments in the order of their symbols and ids.
fn in_order(channel: &Channel, busiest: &[InstrumentIndex]) -> Vec<InstrumentIndex> {
    let mut shown = busiest.to_vec();
    shown.sort_by_cached_key(|&index| (symbol(channel, index), channel.book(index).security_id()));
    shown
}

fn symbol(channel: &Channel, index: InstrumentIndex) -> String {
    channel.definition(index).map(|definition| definition.symbol.to_string()).unwrap_or_default()
}

/// Returns the best prices of these books. Narrow terminals drop orders, then ids, then quantities;
/// bid and ask stay.
fn table(channel: &Channel, shown: &[InstrumentIndex]) -> TextTable {
    let books: Vec<_> = shown.iter().map(|&index| channel.book(index)).collect();
    let bids: Vec<_> = books.iter().map(|book| words(book.best_bid())).collect();
    let asks: Vec<_> = books.iter().map(|book| words(book.best_ask())).collect();
    let prices =
        |side: &[[String; 3]]| aligned(side.iter().map(|words| words[0].clone()).collect());
    let (bid_prices, ask_prices) = (prices(&bids), prices(&asks));
    let mut table = TextTable::default().without_borders();
    table.add_words("symbol", 0);
    table.add_figures("security", 2);
    table.add_figures("orders", 3);
    table.add_figures("quantity", 1);
    // Wide enough for most prices, so that columns keep their places.
    table.add_figures(&format!("{:>10}", "bid"), 0);
    table.add_figures(&format!("{:>10}", "ask"), 0);
    table.add_figures("quantity", 1);
    table.add_figures("orders", 3);
    table.add_words("", 0);
    for (place, (&index, book)) in shown.iter().zip(&books).enumerate() {
        let [[_, bid_quantity, bid_orders], [_, ask_quantity, ask_orders]] =
            [&bids[place], &asks[place]];
        table.add_row([
            symbol(channel, index),
            book.security_id().to_string(),
            bid_orders.clone(),
            bid_quantity.clone(),
            bid_prices[place].clone(),
            ask_prices[place].clone(),
            ask_quantity.clone(),
            ask_orders.clone(),
            if book.is_in_sync() { String::new() } else { "not in sync".to_owned() },
        ]);
    }
    table
}

/// Adds spaces so that right-aligned prices have their decimal points below each other.
fn aligned(mut prices: Vec<String>) -> Vec<String> {
    let decimals = |price: &str| price.find('.').map_or(0, |point| price.len() - point);
    let most = prices.iter().map(|price| decimals(price)).max().unwrap_or(0);
    for price in &mut prices {
        let missing = most - decimals(price);
        price.extend(std::iter::repeat_n(' ', missing));
    }
    prices
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_points_are_below_each_other() {
        let prices = ["6050.25", "-0.5", "12", "-"].map(str::to_owned).to_vec();
        assert_eq!(aligned(prices), ["6050.25", "-0.5 ", "12   ", "-   "].map(str::to_owned));
    }
}
