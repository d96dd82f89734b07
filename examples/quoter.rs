//! Bids 40 ticks below each new best bid, and cancels the order as soon as it works.
//!
//! ```text
//! hairpin exchange
//! cargo run -p hairpin-examples --bin quoter
//! ```
#![forbid(unsafe_code)]

use hairpin::prelude::*;
use std::io::{Write, stdout};

struct Quoter;

impl Strategy for Quoter {
    fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {
        let Some(best) = book.best_bid().filter(|_| book.best_price_changed()) else { return };
        let Some(price) = book.instrument().add_ticks(best.price, -40) else { return };
        if ctx.is_ready()
            && let Err(error) = ctx.buy(book.security_id(), Quantity(1), price)
        {
            eprintln!("not sent: {error}");
        }
    }
    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {
        if order.state() == OrderState::Working
            && let Err(error) = ctx.cancel(order.cl_ord_id())
        {
            eprintln!("not canceled: {error}");
        }
    }
    fn on_fill(&mut self, fill: &Fill<'_>, ctx: &mut Context<'_>) {
        let position = ctx.position(fill.security_id());
        let line = writeln!(stdout(), "{fill}, position {position}");
        line.unwrap_or_else(|_| ctx.stop()); // the reader has closed the pipe
    }
}

fn main() -> hairpin::Result<()> {
    Trader::open("config.xml", 310, "order.toml")?.stop_on_signals()?.run(&mut Quoter)
}
