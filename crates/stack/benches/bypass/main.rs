//! What the way past the kernel costs: half round trips of 64-byte messages between two hosts
//! joined by a veth, five ways, in one sitting. In each round all are open at once, and take turns
//! by blocks of 2,000 messages; each round opens them anew.
//!
//! ```text
//! cargo bench -p hairpin-stack --bench bypass                      # as root
//! cargo bench -p hairpin-stack --bench bypass -- --rounds 5 --way raw,minimal --json FILE
//! ```
//!
//! | way | is |
//! |---|---|
//! | `kernel-udp` | connected UDP sockets of the kernel, which never block |
//! | `minimal` | an AF_XDP socket with as little around it as can be: the floor |
//! | `raw` | frames of an EtherType of one's own, as the crate hands them out |
//! | `raw-shared` | the same of a stack, which other sockets could share |
//! | `udp` | UDP sockets of the crate |
//!
//! Ping and pong are a thread each, pinned to a core each, and spin; there is no third. Nothing is
//! asserted. On a machine that others share, ratios of one round are worth more than times.
//!
//! `--count WAY N` has one thread do N round trips from both ends and prints what came of them: to
//! count instructions by.
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*measured_*' BENCH --count raw 10000
//! ```
#![allow(clippy::expect_used, reason = "a benchmark may fail by panicking")]

mod arguments;
mod frame;
mod kernel_udp;
mod minimal;
mod port;
mod rally;
mod raw;
mod results;
mod stand;
mod table;
mod udp;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arguments::Arguments;
use clap::Parser;
use results::Results;
use stand::{Side, Stand};

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::from(130),
        Ok(false) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bypass: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether a signal has cut it short; what was done by then is printed all the same.
fn run(arguments: &Arguments) -> io::Result<bool> {
    let signalled = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // A second one ends the process, and with it all that was set up.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&signalled))?;
        signal_hook::flag::register(signal, Arc::clone(&signalled))?;
    }
    if let Some((way, round_trips)) = arguments.count() {
        println!("{}", Stand::set_up(arguments, 1)?.count(way, round_trips)?);
        return Ok(false);
    }
    let sides = Side::all(arguments);
    let stand = Stand::set_up(arguments, sides.len())?;
    let mut results = Results::new(&sides);
    for round in 0..arguments.rounds {
        if signalled.load(Ordering::Relaxed) {
            break;
        }
        results.add(stand.round(&sides, &signalled)?);
        eprint!("\rround {} of {}", round + 1, arguments.rounds);
    }
    eprintln!();
    print!("{}\n{}", stand.describe(), table::render(&results));
    arguments.json.as_ref().map_or(Ok(()), |file| results.save(file, &stand))?;
    Ok(signalled.load(Ordering::Relaxed))
}
