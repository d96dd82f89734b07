//! The hot path without sockets: packet to callback, and tick to order bytes.
//!
//! `cargo bench --package hairpin-cli` times it. `cargo xtask bench-instructions` runs the same
//! code under callgrind, one case after the other: `hot_path --count CASE`.
#![allow(clippy::expect_used, reason = "a benchmark may fail by panicking")]

mod case;
mod recording;
mod session;

use std::process::ExitCode;

use criterion::Criterion;

use case::{Case, Walk};

/// `--count CASE` processes a case once and prints what it contained; any other argument is for
/// criterion.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ["--count", name] = &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        time();
        return ExitCode::SUCCESS;
    };
    let Some(case) = Case::ALL.into_iter().find(|case| case.name() == *name) else {
        eprintln!("no such case: {name}");
        return ExitCode::from(2);
    };
    let mut walk = Walk::new(case);
    walk.whole();
    println!("{}", walk.census());
    ExitCode::SUCCESS
}

fn time() {
    let mut criterion = Criterion::default().configure_from_args();
    for case in Case::ALL {
        let mut walk = Walk::new(case);
        criterion.bench_function(case.name(), |bencher| {
            bencher.iter_custom(|events| walk.time(events));
        });
        // A case that was not processed to its end has not been checked yet.
        walk.whole();
    }
    criterion.final_summary();
}
