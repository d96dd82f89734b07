//! The end of a run with working orders.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use hairpin::prelude::*;
use hairpin_exchange::{ConnectionId, Listener, OrderId as ExchangeOrderId};
use support::Venue;

/// The time limit of a run.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The orders on the exchange's book.
#[derive(Default)]
struct Book {
    working: usize,
}

impl Listener for Book {
    fn on_acknowledged(&mut self, _: ConnectionId, _: &[u8], _: ExchangeOrderId) {
        self.working += 1;
    }

    fn on_cancelled(&mut self, _: ConnectionId, _: &[u8], _: ExchangeOrderId) {
        self.working -= 1;
    }
}

/// Enters two orders that do not trade, stops when both work, and tries to enter a third when one
/// is canceled.
#[derive(Default)]
struct Stops {
    working: usize,
    canceled: usize,
    refused: Vec<String>,
    left: Vec<String>,
}

impl Strategy for Stops {
    fn on_ready(&mut self, ctx: &mut Context<'_>) {
        for price in ["900", "901"] {
            ctx.buy(SecurityId(1001), Quantity(1), price.parse().unwrap()).unwrap();
        }
    }

    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {
        match order.state() {
            OrderState::Working => self.working += 1,
            OrderState::Canceled => {
                self.canceled += 1;
                let again = ctx.buy(order.security_id(), Quantity(1), "900".parse().unwrap());
                self.refused.extend(again.map_err(|error| error.to_string()).err());
            }
            other => panic!("{other}"),
        }
        if self.working == 2 {
            ctx.stop();
        }
    }

    fn on_problem(&mut self, problem: &Problem<'_>, _: &mut Context<'_>) {
        match problem {
            Problem::OrdersLeft(left) => self.left.push(left.to_string()),
            other => panic!("{other}"),
        }
    }
}

fn open(venue: &Venue, cancel: Option<bool>) -> Trader {
    let builder = Session::builder(venue.folder.path().join("order.toml"));
    let builder = match cancel {
        Some(cancel) => builder.cancel_on_quit(cancel),
        None => builder,
    };
    builder.open().unwrap().into()
}

/// Runs a strategy and the exchange until the strategy's run has ended.
fn run(venue: &mut Venue, trader: &mut Trader, strategy: &mut Stops, book: &mut Book) {
    let until = Instant::now() + TIMEOUT;
    while trader.turn(strategy).unwrap() {
        assert!(Instant::now() < until, "the run did not end");
        venue.step_with(book);
    }
}

#[test]
fn stop_reports_the_orders_that_stay() {
    let (mut venue, mut book) = (Venue::open("in_memory = true"), Book::default());
    let (mut trader, mut strategy) = (open(&venue, None), Stops::default());
    run(&mut venue, &mut trader, &mut strategy, &mut book);
    assert_eq!((book.working, strategy.canceled), (2, 0));
    let [left] = &strategy.left[..] else { panic!("{:?}", strategy.left) };
    assert!(left.starts_with("2 orders stay working at the exchange: CME's"), "{left}");
}

#[test]
fn cancel_on_quit_cancels_and_enters_nothing() {
    let (mut venue, mut book) = (Venue::open("in_memory = true"), Book::default());
    let (mut trader, mut strategy) = (open(&venue, Some(true)), Stops::default());
    run(&mut venue, &mut trader, &mut strategy, &mut book);
    assert_eq!((book.working, strategy.canceled), (0, 2));
    assert_eq!(strategy.refused, ["the run is ending: all orders are being canceled"; 2]);
    assert!(strategy.left.is_empty(), "{:?}", strategy.left);
}

#[test]
fn file_and_builder_choose() {
    for (cancel, expected) in [(None, 0), (Some(false), 2)] {
        let (mut venue, mut book) = (Venue::open("in_memory = true"), Book::default());
        let path = venue.folder.path().join("order.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}[conduct]\ncancel_on_quit = true\n")).unwrap();
        let (mut trader, mut strategy) = (open(&venue, cancel), Stops::default());
        run(&mut venue, &mut trader, &mut strategy, &mut book);
        assert_eq!(book.working, expected, "{cancel:?}");
        assert_eq!(strategy.left.len(), expected.min(1));
    }
}

#[test]
fn dropped_trader_sends_the_cancel() {
    let (mut venue, mut book) = (Venue::open("in_memory = true"), Book::default());
    let (mut trader, mut strategy) = (open(&venue, Some(true)), Stops::default());
    let until = Instant::now() + TIMEOUT;
    while strategy.working < 1 {
        assert!(trader.turn(&mut strategy).unwrap() && Instant::now() < until);
        venue.step_with(&mut book);
    }
    drop(trader);
    while book.working > 0 {
        assert!(Instant::now() < until, "the cancel did not arrive");
        venue.step_with(&mut book);
    }
}

/// Ends a run within the callback of a report.
struct Panics;

impl Strategy for Panics {
    fn on_ready(&mut self, ctx: &mut Context<'_>) {
        ctx.buy(SecurityId(1001), Quantity(1), "900".parse().unwrap()).unwrap();
    }

    fn on_order(&mut self, _: &OrderEvent<'_>, _: &mut Context<'_>) {
        panic!("ends before the report is marked as delivered");
    }
}

/// Records the text of each report.
#[derive(Default)]
struct Records(Vec<String>);

impl Strategy for Records {
    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {
        self.0.push(order.to_string());
        ctx.stop();
    }
}

#[test]
fn redelivered_event_has_that_in_its_text() {
    let mut venue = Venue::open("folder = \"journal\"");
    let mut trader = open(&venue, None);
    let until = Instant::now() + TIMEOUT;
    while catch_unwind(AssertUnwindSafe(|| trader.turn(&mut Panics).unwrap())).is_ok() {
        assert!(Instant::now() < until, "no report");
        venue.step();
    }
    drop(trader);
    let (mut trader, mut records) = (open(&venue, None), Records::default());
    while trader.turn(&mut records).unwrap() {
        assert!(Instant::now() < until, "the run did not end");
        venue.step();
    }
    let [text] = &records.0[..] else { panic!("{:?}", records.0) };
    assert!(text.ends_with(" (redelivered: an earlier run received it)"), "{text}");
}
