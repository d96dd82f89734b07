//! The strategy on `Trader`.

use std::path::Path;

use hairpin::Wait;
use hairpin::prelude::*;

use crate::case::Case;

#[derive(Default)]
struct Quoter {
    sent: u64,
    canceled: u64,
}

impl Strategy for Quoter {
    fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {
        let Some(best) = book.best_bid().filter(|_| book.best_price_changed()) else { return };
        let Some(price) = book.instrument().add_ticks(best.price, -40) else { return };
        if ctx.is_ready() {
            self.sent += u64::from(ctx.buy(book.security_id(), Quantity(1), price).is_ok());
        }
    }

    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {
        match order.state() {
            OrderState::Working => ctx.cancel(order.cl_ord_id()).unwrap(),
            _ => self.canceled += 1,
        }
    }
}

pub(crate) struct Facade {
    trader: Trader,
    quoter: Quoter,
}

impl Facade {
    pub(crate) fn open(folder: &Path) -> Self {
        let builder = Trader::builder(folder.join("config.xml"), folder.join("order.toml"));
        let trader = builder.channel(310).wait(Wait::Spin).open().unwrap();
        Self { trader, quoter: Quoter::default() }
    }

    #[inline(never)]
    fn measured_facade(&mut self) {
        self.trader.turn(&mut self.quoter).unwrap();
    }
}

impl Case for Facade {
    fn turn(&mut self) {
        self.trader.turn(&mut self.quoter).unwrap();
    }

    fn measured_turn(&mut self) {
        self.measured_facade();
    }

    fn is_ready(&self) -> bool {
        self.trader.is_ready()
    }

    fn counts(&self) -> (u64, u64) {
        (self.quoter.sent, self.quoter.canceled)
    }
}
