//! Measures kernel bypass: half round trips of 64-byte messages between two hosts joined by a veth,
//! over seven transports. In each round all transports are open at once and take turns in blocks of
//! 2,000 messages; each round opens them again.
//!
//! ```text
//! cargo bench -p hairpin-stack --bench bypass                      # as root
//! cargo bench -p hairpin-stack --bench bypass -- --rounds 5 --way raw,minimal --json FILE
//! ```
//!
//! | way | transport |
//! |---|---|
//! | `kernel-udp` | connected, non-blocking kernel UDP sockets |
//! | `minimal` | an AF_XDP socket with minimal code around it: the lower bound |
//! | `raw` | raw frames of a dedicated interface |
//! | `raw-shared` | raw frames of a stack, which other sockets could share |
//! | `udp` | UDP sockets of the crate |
//! | `kernel-tcp` | connected, non-blocking kernel TCP sockets |
//! | `tcp` | TCP connections taken over from the kernel, at both ends |
//!
//! Ping and pong are one spinning thread each, pinned to one core each. Nothing is asserted. On a
//! shared machine, ratios within a round are more reliable than times.
//!
//! `--transitions N` prints the times of takeovers and handbacks of TCP connections, and of the
//! kernel's calls in them alone. `--bulk N` prints the rates of bulk transfers.
//!
//! `--count WAY N` does N round trips from both ends on one thread and prints the result, for
//! counting instructions:
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*measured_*' BENCH --count raw 10000
//! ```
#![allow(clippy::expect_used, reason = "a benchmark may fail by panicking")]

mod args;
mod bulk;
mod floor;
mod frame;
mod kernel_udp;
mod minimal;
mod ping_loop;
mod port;
mod raw;
mod results;
mod run_context;
mod table;
mod tcp;
mod udp;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use args::BenchArgs;
use clap::Parser;
use results::Results;
use run_context::{BenchCase, RunContext};

fn main() -> ExitCode {
    match run(&BenchArgs::parse()) {
        Ok(true) => ExitCode::from(130),
        Ok(false) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bypass: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns `true` if a signal ended the run early; completed rounds are printed in any case.
fn run(args: &BenchArgs) -> io::Result<bool> {
    let signalled = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // A second signal ends the process.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&signalled))?;
        signal_hook::flag::register(signal, Arc::clone(&signalled))?;
    }
    if let Some((transport, round_trips)) = args.count() {
        let context = RunContext::new(args, 1)?;
        println!("{}", context.count(transport, round_trips, args.connections)?);
        return Ok(false);
    }
    if let Some(count) = args.transitions {
        print!("{}", RunContext::new(args, 2)?.transitions(count)?);
        return Ok(false);
    }
    if let Some(rounds) = args.bulk {
        print!("{}", RunContext::new(args, 3)?.bulk(rounds)?);
        return Ok(false);
    }
    let cases = BenchCase::all(args);
    let run_context = RunContext::new(args, cases.len())?;
    let mut results = Results::new(&cases);
    for round in 0..args.rounds {
        if signalled.load(Ordering::Relaxed) {
            break;
        }
        results.add(run_context.round(&cases, &signalled)?);
        eprint!("\rround {} of {}", round + 1, args.rounds);
    }
    eprintln!();
    print!("{}\n{}", run_context.describe(), table::render(&results));
    args.json.as_ref().map_or(Ok(()), |file| results.save(file, &run_context))?;
    Ok(signalled.load(Ordering::Relaxed))
}
