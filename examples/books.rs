//! Prints the best bid and ask of one instrument whenever they change.
//!
//! ```text
//! cargo run -p hairpin-examples --bin books -- config.xml SECURITY_ID
//! ```
#![forbid(unsafe_code)]

use std::net::Ipv4Addr;

use anyhow::{Context, Result, bail};
use hairpin_feed_handler::config::Config;
use hairpin_feed_handler::{BookUpdate, Changes, FeedHandler, Level, Listener, Settings};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};

/// The instrument to print, by SecurityID.
struct Printer(i32);

impl Listener for Printer {
    // Also called when a snapshot brings the book: nobody waits for the first change to see it.
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let best = Changes::BEST_BID.union(Changes::BEST_ASK);
        if update.book.security_id() == self.0 && update.changes.intersects(best) {
            let [bid, ask] = [update.book.best_bid(), update.book.best_ask()].map(side);
            println!("{} {bid} | {ask}", update.transact_time);
        }
    }
}

/// A side may be empty.
fn side(level: Option<&Level>) -> String {
    level.map_or("-".to_owned(), |level| format!("{} x {}", level.quantity, level.price))
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [config, id] = &arguments[..] else { bail!("usage: books config.xml SECURITY_ID") };
    let config: Config = std::fs::read_to_string(config).context(config.clone())?.parse()?;
    let channel = config.channels.first().context("config.xml names no channel")?;
    let mut printer = Printer(id.parse().context("SECURITY_ID is a number")?);

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
