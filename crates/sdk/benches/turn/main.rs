//! Instructions from a tick to its order: through `Trader::turn`, and through a loop on the
//! low-level crates.
//!
//! `cargo xtask bench-instructions` runs each case under callgrind: `turn --count CASE`. The
//! exchange runs in the same process, outside of the count.
#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panicking")]

mod advanced;
mod case;
mod facade;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use case::run;
use support::Venue;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut venue = Venue::open("in_memory = true");
    match arguments[..] {
        ["--count", "turn-facade"] => {
            let mut case = facade::Facade::open(venue.folder.path());
            run(&mut venue, &mut case);
        }
        ["--count", "turn-advanced"] => {
            let mut case = advanced::Advanced::open(&venue);
            run(&mut venue, &mut case);
        }
        // Only counts are meaningful: the exchange shares the thread.
        _ => eprintln!("usage: turn --count turn-facade|turn-advanced"),
    }
    ExitCode::SUCCESS
}
