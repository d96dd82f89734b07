//! 20,000 ticks through [`Trader::turn`]: nothing allocates after the start.
//!
//! Exchange and trader run in turn on one thread, over loopback; every allocation is counted.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::time::{Duration, Instant};

use hairpin::prelude::*;
use hairpin::{NotReady, Wait};
use hairpin_testbed::{CountingAllocator, allocations, scaled};
use support::Venue;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const TICKS: u64 = 20_000;
/// The ticks before the count: the first segment of memory of each part is touched.
const WARM_UP: u64 = 500;
/// The time limit of the start, and of the answers to one tick.
const TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Default)]
struct Quoter {
    sent: u64,
    canceled: u64,
    timers: u64,
    position: i64,
}

impl Strategy for Quoter {
    fn on_not_ready(&mut self, reason: NotReady, _: &mut Context<'_>) {
        panic!("{reason}");
    }

    fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {
        let Some(best) = book.best_bid().filter(|_| book.best_price_changed()) else { return };
        let Some(price) = book.instrument().add_ticks(best.price, -40) else { return };
        if ctx.is_ready() {
            ctx.buy(book.security_id(), Quantity(1), price).unwrap();
            self.sent += 1;
        }
    }

    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {
        match order.state() {
            OrderState::Working => {
                assert_eq!(ctx.working().count(), 1);
                assert!(ctx.book(order.security_id()).unwrap().best_bid().is_some());
                self.position += ctx.position(order.security_id());
                ctx.cancel(order.cl_ord_id()).unwrap();
                ctx.set_timer(7, hairpin::time::Duration::from_nanos(1)).unwrap();
            }
            OrderState::Canceled => self.canceled += 1,
            other => panic!("{other}"),
        }
    }

    fn on_timer(&mut self, timer: u64, _: &mut Context<'_>) {
        assert_eq!(timer, 7);
        self.timers += 1;
    }
}

#[test]
fn nothing_is_allocated_after_the_start() {
    let mut venue = Venue::open("folder = \"journal\"");
    let folder = venue.folder.path();
    let builder = Trader::builder(folder.join("config.xml"), folder.join("order.toml"));
    let mut trader = builder.channel(310).wait(Wait::Spin).open().unwrap();
    let mut quoter = Quoter::default();
    let until = Instant::now() + TIMEOUT;
    while !trader.is_ready() {
        assert!(Instant::now() < until, "not ready");
        venue.step();
        assert!(trader.turn(&mut quoter).unwrap());
    }
    venue.set_paced();
    let mut before = 0;
    for tick in 0..WARM_UP + scaled(TICKS) {
        if tick == WARM_UP {
            before = allocations();
        }
        venue.tick();
        let until = Instant::now() + TIMEOUT;
        while quoter.canceled <= tick || quoter.timers <= tick {
            assert!(Instant::now() < until, "no answer to tick {tick}");
            trader.turn(&mut quoter).unwrap();
            venue.step();
        }
    }
    assert_eq!(allocations() - before, 0, "{} orders", quoter.sent);
    assert_eq!(quoter.sent, quoter.canceled);
    assert_eq!(quoter.position, 0);
}
