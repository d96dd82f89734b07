//! Price books of 10 to 100,000 instruments, without sockets: packet to callback.
//!
//! `cargo bench --package hairpin-cli` times it, markets of 100,000 active instruments a second
//! time with huge pages ([`pages`]). `cargo xtask bench-instructions` runs the same code under
//! callgrind, one market after the other: `markets --count MARKET`.
#![allow(clippy::expect_used, reason = "a benchmark may fail by panicking")]

mod market;
mod pages;

use std::process::ExitCode;

use criterion::Criterion;

use market::{Market, MarketRun};

/// `--count MARKET` processes some packets of a market and prints what they contained; any other
/// argument is for criterion.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ["--count", name] = &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        time();
        return ExitCode::SUCCESS;
    };
    let Some(market) = Market::ALL.into_iter().find(|market| market.name == *name) else {
        eprintln!("no such market: {name}");
        return ExitCode::from(2);
    };
    println!("{}", MarketRun::new(market).counted());
    ExitCode::SUCCESS
}

fn time() {
    let mut criterion = Criterion::default().configure_from_args();
    let are_huge = pages::are_huge();
    let suffix = if are_huge { "-huge-pages" } else { "" };
    for market in Market::ALL.into_iter().filter(|market| !are_huge || market.is_large()) {
        bench_market(&mut criterion, market, suffix);
    }
    criterion.final_summary();
    if !are_huge {
        pages::again_with_huge();
    }
}

/// Times a packet of a market.
fn bench_market(criterion: &mut Criterion, market: Market, suffix: &str) {
    let name = format!("{}{suffix}", market.name);
    let mut bench_market = None;
    criterion.bench_function(&name, |bencher| {
        // Only for a requested market: a large one takes a while.
        let bench_market = bench_market.get_or_insert_with(|| {
            let bench_market = MarketRun::new(market);
            if market.is_large() {
                println!("{name}: {}", pages::describe());
            }
            bench_market
        });
        bencher.iter_custom(|packets| bench_market.time(packets));
    });
    if let Some(bench_market) = bench_market {
        bench_market.check();
    }
}
