//! Runs the three programs of the guide against `hairpin exchange`.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support;

use support::{Program, Venue, check_length_and_guide, checks};

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
fn buyer_resumes_the_session_in_its_journal() {
    checks::buyer_resumes_the_session_in_its_journal(&buyer());
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
