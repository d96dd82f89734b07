//! Instructions of a round trip of 64 bytes in memory: between two connections of `hairpin-tcp`,
//! and between two of smoltcp. Both write and check all checksums.
//!
//! `cargo xtask bench-instructions` runs each case under callgrind: `echo --count CASE`.
#![allow(clippy::unwrap_used, reason = "a benchmark may fail by panicking")]
#![allow(dead_code, reason = "the tests use all of the hosts")]

mod engines;
#[path = "../../tests/it/host.rs"]
mod host;
#[path = "../../tests/it/smoltcp_host.rs"]
mod smoltcp_host;
mod smoltcp_pair;

use std::process::ExitCode;

use hairpin_time::{Duration, Instant};

/// The round trips that are counted.
const ROUND_TRIPS: u64 = 10_000;
/// The round trips before the count.
const WARM_UP: u64 = 1_000;
/// The time of a round trip.
const STEP: Duration = Duration::from_micros(10);
const START: Instant = Instant::from_nanos(1_000_000_000);
const MESSAGE: usize = 64;

/// Two connected ends.
trait Pair {
    /// Sends a message from the first end, answers it with the same bytes, and receives the answer.
    fn round_trip(&mut self, now: Instant, message: &[u8; MESSAGE]) -> [u8; MESSAGE];
    /// The same, counted.
    fn measured_round_trip(&mut self, now: Instant, message: &[u8; MESSAGE]) -> [u8; MESSAGE];
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--count", "tcp-echo"] => run(&mut engines::Engines::new()),
        ["--count", "tcp-echo-smoltcp"] => run(&mut smoltcp_pair::SmoltcpPair::new()),
        _ => eprintln!("usage: echo --count tcp-echo|tcp-echo-smoltcp"),
    }
    ExitCode::SUCCESS
}

fn run(pair: &mut impl Pair) {
    let mut now = START;
    for number in 0..WARM_UP + ROUND_TRIPS {
        now += STEP;
        let mut message = [number as u8; MESSAGE];
        message[..8].copy_from_slice(&number.to_le_bytes());
        let answer = if number < WARM_UP {
            pair.round_trip(now, &message)
        } else {
            pair.measured_round_trip(now, &message)
        };
        assert_eq!(answer, message);
    }
    println!("events={ROUND_TRIPS}");
}
