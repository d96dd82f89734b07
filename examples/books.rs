//! Prints the best bid and ask of one instrument on every change.
//!
//! Prices are wire prices (PRICE9), as CME sends them. A display price is the wire price times the
//! instrument's DisplayFactor: `Definition::display_price`.
//!
//! ```text
//! cargo run -p hairpin-examples --bin books -- config.xml SECURITY_ID
//! ```
#![forbid(unsafe_code)]

use std::io::{Write, stdout};
use std::net::Ipv4Addr;
use std::process::exit;

use anyhow::{Context, Result, bail};
use hairpin_feed_handler::config::Config;
use hairpin_feed_handler::{
    BookUpdate, Changes, Definition, FeedHandler, Level, Listener, Settings,
};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};

/// The SecurityID of the instrument to print.
struct Printer(i32);

impl Listener for Printer {
    // Also called when a snapshot delivers the book.
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let best = Changes::BEST_BID.union(Changes::BEST_ASK);
        if update.book.security_id() == self.0 && update.changes.intersects(best) {
            let definition = update.instruments.definition(update.instrument);
            let levels = [update.book.best_bid(), update.book.best_ask()];
            let [bid, ask] = levels.map(|level| format_level(level, definition));
            let line = writeln!(stdout(), "{} {bid} | {ask}", update.transact_time);
            line.unwrap_or_else(|_| exit(0)); // the reader has closed the pipe
        }
    }
}

/// Formats a level as quantity, wire price and display price. A side of the book may be empty, and
/// the definition may be unknown.
fn format_level(level: Option<&Level>, definition: Option<&Definition>) -> String {
    let Some(Level { quantity, price, .. }) = level else { return "-".to_owned() };
    let display = definition.map_or("-".to_owned(), |it| it.display_price(*price).to_string());
    format!("{quantity} x {price} ({display})")
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, id] = &arguments[..] else { bail!("usage: books config.xml SECURITY_ID") };
    let config: Config = std::fs::read_to_string(config).context(config.clone())?.parse()?;
    let channel = config.channels.first().context("cannot read config.xml: no channel")?;
    let mut printer = Printer(id.parse().context("SECURITY_ID must be a number")?);

    let (mut clock, mut reactor) = (Clock::new(), Reactor::new(Wait::Epoll)?);
    let addresses = channel.addresses(Ipv4Addr::UNSPECIFIED)?;
    let mut feed = FeedHandler::new(Settings::default(), addresses, &mut reactor)?;
    loop {
        let ready = reactor.wait(clock.now().monotonic, feed.next_deadline())?;
        let now = clock.now();
        feed.process(now, ready, &mut reactor, &mut printer)?;
        clock.recalibrate_if_due(now.monotonic);
    }
}
