//! Prints the best prices of each book that changes.
//!
//! ```text
//! hairpin exchange
//! cargo run -p hairpin-examples --bin best_prices
//! ```
#![forbid(unsafe_code)]

use hairpin::prelude::*;

struct BestPrices;

impl Strategy for BestPrices {
    fn on_book(&mut self, book: &BookEvent<'_>, _: &mut Context<'_>) {
        if book.best_price_changed() {
            println!("{} {} | {}", book.symbol(), book.bid(), book.ask());
        }
    }
}

fn main() -> hairpin::Result<()> {
    Feed::open("config.xml", 310)?.run(&mut BestPrices)
}
