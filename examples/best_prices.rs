//! Prints the best wire prices of a book after each update.
//!
//! ```text
//! cargo run -p hairpin-examples --bin best_prices -- config.xml
//! ```
#![forbid(unsafe_code)]

use std::net::Ipv4Addr;

use anyhow::{Context, Result};
use hairpin_feed_handler::config::Config;
use hairpin_feed_handler::{BookUpdate, FeedHandler, Listener, Settings};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};

struct BestPrices;

impl Listener for BestPrices {
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        if let (Some(bid), Some(ask)) = (update.book.best_bid(), update.book.best_ask()) {
            println!("{} {} | {}", update.book.security_id(), bid.price, ask.price);
        }
    }
}

fn main() -> Result<()> {
    let file = std::env::args().nth(1).context("usage: best_prices config.xml")?;
    let config: Config = std::fs::read_to_string(file)?.parse()?;
    let addresses = config.channel(None)?.addresses(Ipv4Addr::UNSPECIFIED)?;
    let (clock, mut reactor) = (Clock::new(), Reactor::new(Wait::Epoll)?);
    let mut feed = FeedHandler::new(Settings::default(), addresses, &mut reactor)?;
    loop {
        let ready = reactor.wait(clock.now().monotonic, feed.next_deadline())?;
        feed.process(clock.now(), ready, &mut reactor, &mut BestPrices)?;
    }
}
