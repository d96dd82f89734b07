//! Prints the best prices of each book that changes.
//!
//! ```text
//! hairpin exchange
//! cargo run -p hairpin-examples --bin best_prices
//! ```
#![forbid(unsafe_code)]

use hairpin::prelude::*;
use std::io::{Write, stdout};

struct BestPrices;

impl Strategy for BestPrices {
    fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {
        if book.best_price_changed() {
            let line = writeln!(stdout(), "{} {} | {}", book.symbol(), book.bid(), book.ask());
            line.unwrap_or_else(|_| ctx.stop()); // the reader has closed the pipe
        }
    }
}

fn main() -> hairpin::Result<()> {
    Feed::open("config.xml", 310)?.run(&mut BestPrices)
}
