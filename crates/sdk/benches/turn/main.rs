//! Instructions from a tick to its order: through `Trader::turn`, and through a loop on the
//! low-level crates.
//!
//! `cargo xtask bench-instructions` runs each case under callgrind: `turn --count CASE`. The
//! exchange runs in the same process, outside of the count.
#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panicking")]

mod advanced;
mod facade;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use support::Venue;

/// The ticks that are counted.
const TICKS: u64 = 2_000;
/// The ticks before the count.
const WARM_UP: u64 = 200;

/// A trader that answers ticks, one call per wakeup.
trait Case {
    /// Runs one iteration of the loop.
    fn turn(&mut self);
    /// Runs one iteration of the loop, which is counted.
    fn measured_turn(&mut self);
    /// Returns `true` if the trader can answer a tick.
    fn is_ready(&self) -> bool;
    /// Returns the numbers of orders sent and canceled.
    fn counts(&self) -> (u64, u64);
}

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

fn run(venue: &mut Venue, case: &mut impl Case) {
    while !case.is_ready() {
        venue.step();
        case.turn();
    }
    venue.set_paced();
    let mut late = 0;
    for tick in 0..WARM_UP + TICKS {
        venue.tick();
        if tick < WARM_UP {
            case.turn()
        } else {
            case.measured_turn()
        }
        late += u64::from(case.counts().0 <= tick);
        while case.counts().1 <= tick {
            case.turn();
            venue.step();
        }
    }
    assert_eq!(late, 0, "a tick was not in the sockets when its turn began");
    println!("events={TICKS}");
}
