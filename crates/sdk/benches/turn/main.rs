//! Instructions and times from a tick to its order: through `Trader::turn`, and through a loop on
//! the low-level crates.
//!
//! `cargo xtask bench-instructions` runs each case under callgrind: `turn --count CASE`. `turn
//! --time ROUNDS` compares times. The exchange runs in the same process, outside of the
//! measurement.
#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panicking")]

mod advanced;
mod case;
mod facade;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use advanced::Advanced;
use case::{Bench, TICKS, compare};
use facade::{Facade, Quoter, Reader, RunReader};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--count", "turn-facade"] => Bench::start("facade", Facade::<Quoter>::open).count(),
        ["--count", "book-facade"] => Bench::start("facade", Facade::<Reader>::open).count(),
        ["--count", "turn-advanced"] => Bench::start("advanced", Advanced::<true>::open).count(),
        ["--count", "turn-untracked"] => Bench::start("untracked", Advanced::<false>::open).count(),
        ["--count", "run-facade"] => {
            let (mut reader, feed) = RunReader::open(TICKS);
            reader.measured_run(feed);
            println!("events={TICKS}");
        }
        ["--time", rounds] => {
            let mut advanced = Bench::start("advanced", Advanced::<true>::open);
            let mut facade = Bench::start("facade", Facade::<Quoter>::open);
            compare(rounds.parse().unwrap(), &mut advanced, &mut facade);
        }
        _ => eprintln!("usage: turn --count CASE, or turn --time ROUNDS"),
    }
    ExitCode::SUCCESS
}
