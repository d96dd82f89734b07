//! Runs the three programs of the guide against `hairpin exchange`.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use hairpin::Builder;
use hairpin::prelude::*;
use support::{Program, Venue, check_length_and_guide, checks, workspace};

fn best_prices() -> Program {
    Program::new(env!("CARGO_BIN_EXE_best_prices"))
}

fn buyer() -> Program {
    Program::new(env!("CARGO_BIN_EXE_buyer"))
}

fn quoter() -> Program {
    Program::new(env!("CARGO_BIN_EXE_quoter"))
}

#[test]
fn best_prices_prints_each_book_with_quantities() {
    checks::best_prices_prints_each_book(&best_prices());
}

#[test]
fn best_prices_ends_when_its_reader_has_closed_the_pipe() {
    let venue = Venue::open(&["--traders", "0"]);
    let mut program = venue.start(&best_prices());
    program.lines().next().unwrap().unwrap();
    assert!(program.wait().success());
}

#[test]
fn buyer_resumes_the_session_in_its_journal() {
    checks::buyer_resumes_the_session_in_its_journal(&buyer());
}

#[test]
fn orders_left_are_reported_or_canceled() {
    checks::orders_left_are_reported_or_canceled(&buyer());
}

#[test]
fn quoter_cancels_each_order_and_stops_on_a_signal() {
    checks::quoter_cancels_each_order_and_stops_on_a_signal(&quoter());
}

#[test]
fn programs_are_as_short_as_the_guide_states() {
    for (name, max) in [("best_prices.rs", 15), ("buyer.rs", 20), ("quoter.rs", 30)] {
        check_length_and_guide(name, "use hairpin", max);
    }
}

#[test]
fn bad_input_is_an_error_of_one_line() {
    checks::bad_input_is_an_error_of_one_line(&best_prices(), &buyer());
}

#[test]
fn wrong_secret_ends_the_run_without_showing_it() {
    checks::wrong_secret_ends_the_run_without_showing_it(&buyer());
}

#[test]
fn journal_in_use_is_an_error_of_one_line() {
    checks::journal_in_use_is_an_error_of_one_line(&buyer());
}

#[test]
fn wrong_interface_is_an_error_of_one_line() {
    let venue = Venue::open(&[]);
    let config = venue.folder.path().join("config.xml");
    let open = |a, b| {
        let feed = hairpin::Feed::builder(&config).channel(310).interfaces(a, b).open();
        feed.unwrap_err().to_string()
    };
    let expected = "cannot use interface nope0: interface nope0 does not exist";
    assert_eq!(open("nope0", "lo"), expected);
    let expected = "cannot use interface 192.0.2.1: no interface has the address 192.0.2.1";
    assert_eq!(open("lo", "192.0.2.1"), expected);
}

/// Orders in an instrument of each channel, canceled when they work.
#[derive(Default)]
struct BothSegments {
    ids: Vec<SecurityId>,
    working: usize,
    canceled: usize,
}

impl Strategy for BothSegments {
    fn on_ready(&mut self, ctx: &mut Context<'_>) {
        let ids = ["HP001", "ZN"].map(|symbol| ctx.security_id(symbol).unwrap());
        self.ids = ids.to_vec();
        for id in ids {
            let book = ctx.book(id).unwrap();
            let price = book.instrument().add_ticks(book.best_bid().unwrap().price, -40).unwrap();
            ctx.buy(id, Quantity(1), price).unwrap();
        }
    }

    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {
        match order.state() {
            OrderState::Working => {
                assert!(self.ids.iter().all(|&id| ctx.book(id).unwrap().is_in_sync()));
                self.working += 1;
                ctx.cancel(order.cl_ord_id()).unwrap();
            }
            OrderState::Canceled => self.canceled += 1,
            other => panic!("{other}"),
        }
        if self.canceled == 2 {
            ctx.stop();
        }
    }
}

#[test]
fn one_trader_has_several_channels_segments_and_caches() {
    let venue = Venue::open_two();
    let folder = venue.folder.path();
    for is_cached in [false, true] {
        let builder: Builder<Trader> =
            Trader::builder(folder.join("config.xml"), folder.join("order.toml"));
        let builder = builder.channel(310).channel(311).definition_cache(folder);
        let trader = builder.open().unwrap();
        assert_eq!(trader.security_id("ZN").is_ok(), is_cached, "only the cache knows ZN");
        let mut both = BothSegments::default();
        trader.run(&mut both).unwrap();
        assert_eq!((both.working, both.canceled), (2, 2));
    }
    checks::each_segment_has_orders(&venue, 2);
}

/// Checks the table of display prices when all definitions are known.
struct DisplayPrices(usize);

impl Strategy for DisplayPrices {
    fn on_ready(&mut self, ctx: &mut Context<'_>) {
        let table = workspace().join("examples/tests/display-prices.txt");
        let table = std::fs::read_to_string(table).unwrap();
        for row in table.lines().filter(|row| !row.starts_with('#')) {
            let [symbol, text, expected] = row.split('|').collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let instrument = ctx.instrument(ctx.security_id(symbol).unwrap()).unwrap();
            match (instrument.parse(text), expected.strip_prefix("! ")) {
                (Ok(price), None) => assert_eq!(price, expected.parse::<Price>().unwrap(), "{row}"),
                (Err(error), Some(expected)) => assert_eq!(error.to_string(), expected, "{row}"),
                (outcome, _) => panic!("{row}: {outcome:?}"),
            }
            self.0 += 1;
        }
        ctx.stop();
    }
}

#[test]
fn display_prices_are_those_of_the_table() {
    let venue = Venue::open(&["--traders", "0", "--display-formats"]);
    let feed = Feed::open(venue.folder.path().join("config.xml"), 310).unwrap();
    let mut prices = DisplayPrices(0);
    feed.run(&mut prices).unwrap();
    assert!(prices.0 >= 30, "{} rows", prices.0);
}
