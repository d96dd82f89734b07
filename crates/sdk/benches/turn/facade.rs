//! The strategies on `Trader`.

use hairpin::prelude::*;

use crate::case::Case;
use crate::support::Venue;

#[derive(Default)]
pub(crate) struct Quoter {
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

/// Reads the best bid in its callback, and sends nothing.
#[derive(Default)]
pub(crate) struct Reader {
    books: u64,
    sum: i64,
}

impl Strategy for Reader {
    fn on_book(&mut self, book: &BookEvent<'_>, _: &mut Context<'_>) {
        let Some(best) = book.best_bid().filter(|_| book.best_price_changed()) else { return };
        self.sum = self.sum.wrapping_add(best.price.mantissa());
        self.books += 1;
    }
}

/// Reads the best bid in each callback of a run, and publishes the next tick there. So each wakeup
/// of the run has one callback.
pub(crate) struct RunReader {
    venue: Venue,
    ticks: u64,
    sum: i64,
}

impl Strategy for RunReader {
    fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {
        let Some(best) = book.best_bid().filter(|_| book.best_price_changed()) else { return };
        self.sum = self.sum.wrapping_add(best.price.mantissa());
        if self.ticks == 0 {
            return ctx.stop();
        }
        self.ticks -= 1;
        self.measured_pause();
    }
}

impl RunReader {
    /// Opens an exchange and a feed in sync.
    pub(crate) fn open(ticks: u64) -> (Self, Feed) {
        let mut venue = Venue::open("in_memory = true");
        let builder = Feed::builder(venue.folder.path().join("config.xml")).channel(310);
        let mut feed = builder.wait(Wait::Spin).open().unwrap();
        while !feed.is_ready() {
            venue.step();
            feed.turn(&mut Reader::default()).unwrap();
        }
        venue.set_paced();
        venue.tick();
        (Self { venue, ticks, sum: 0 }, feed)
    }

    /// Publishes a tick. Callgrind does not count in a measured function within another.
    #[inline(never)]
    fn measured_pause(&mut self) {
        self.venue.tick();
    }

    #[inline(never)]
    pub(crate) fn measured_run(&mut self, feed: Feed) {
        feed.run(self).unwrap();
    }
}

/// A strategy of a benchmark.
pub(crate) trait Counts: Strategy + Default {
    /// Returns the numbers of answered ticks, and of those whose orders are canceled.
    fn counts(&self) -> (u64, u64);
}

impl Counts for Quoter {
    fn counts(&self) -> (u64, u64) {
        (self.sent, self.canceled)
    }
}

impl Counts for Reader {
    fn counts(&self) -> (u64, u64) {
        (self.books, self.books)
    }
}

pub(crate) struct Facade<S> {
    trader: Trader,
    strategy: S,
}

impl<S: Counts> Facade<S> {
    pub(crate) fn open(venue: &Venue) -> Self {
        let folder = venue.folder.path();
        let builder = Trader::builder(folder.join("config.xml"), folder.join("order.toml"));
        let trader = builder.channel(310).wait(Wait::Spin).open().unwrap();
        Self { trader, strategy: S::default() }
    }

    #[inline(never)]
    fn measured_facade(&mut self) {
        self.trader.turn(&mut self.strategy).unwrap();
    }
}

impl<S: Counts> Case for Facade<S> {
    fn turn(&mut self) {
        self.trader.turn(&mut self.strategy).unwrap();
    }

    fn measured_turn(&mut self) {
        self.measured_facade();
    }

    fn is_ready(&self) -> bool {
        self.trader.is_ready()
    }

    fn counts(&self) -> (u64, u64) {
        self.strategy.counts()
    }
}
