//! The `hairpin` command: one module per subcommand, and the parts they share.
//!
//! The subcommands run the other crates of this workspace, measure them and print results. This
//! crate contains no protocol logic: the feed handler is `hairpin-feed-handler`, order entry is
//! `hairpin-order-entry`, the simulated exchange is `hairpin-exchange`, and statistics are in
//! `hairpin-measure`. Layer L3: those libraries take time as a parameter and never print; this
//! crate reads the clock, prints, handles signals and chooses the exit status: 0 done, 1 failed,
//! 2 wrong arguments, 130 interrupted, 143 terminated.
//!
//! | Module | Contents |
//! |---|---|
//! | `cli` | the command line, and the dispatch to subcommands |
//! | `cmd` | one module per subcommand: `ping`, `pong`, `t2t`, `exchange`, `feed`, `order`, … |
//! | `harness` | host pairs, child processes, the run loop, datapaths, checks, counters, output |
//! | [`trader`] | the trader of `trader` and `t2t`: a strategy between feed handler and session |
//!
//! A command that measures starts this program again as two child processes, with a core and
//! usually a network namespace each. While they run, only packets pass between them:
//!
//! ```text
//!                    hairpin t2t
//!        setup, counters │ ▲ result        (JSON lines on standard input and output,
//!           ┌────────────┴─┴────────────┐   one shared page of counters per child)
//!           ▼                           ▼
//!   hairpin t2t-exchange ◀─ orders ─ hairpin t2t-trader
//!                         ─ ticks ─▶
//! ```
//!
//! The program is one call, with the shared library that `hairpin run` preloads:
//!
//! ```no_run
//! let library: &[u8] = &[];
//! let status: std::process::ExitCode = hairpin_cli::run(library);
//! ```
#![forbid(unsafe_code)]

mod cli;
mod cmd;
mod harness;
pub mod trader;

pub use cli::run;
