//! Logs on, sends one order and prints the exchange's answer.
//!
//! ```text
//! hairpin exchange
//! cargo run -p hairpin-examples --bin buyer
//! ```
//!
//! Resumes the session in the journal; negotiates a new one if this week has none.
#![forbid(unsafe_code)]

use hairpin::prelude::*;

struct Buyer(SecurityId, Price);

impl Strategy for Buyer {
    fn on_ready(&mut self, ctx: &mut Context<'_>) {
        if let Err(error) = ctx.buy(self.0, Quantity(1), self.1) {
            eprintln!("not sent: {error}");
            ctx.stop();
        }
    }
    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {
        println!("{order}");
        ctx.stop(); // terminates the session; then run() returns
    }
}

fn main() -> hairpin::Result<()> {
    let session = Session::open("order.toml")?;
    let instrument = session.security_id("HP001")?;
    session.run(&mut Buyer(instrument, "900".parse()?)) // a wire price
}
