//! The `hairpin` command: the command line over all subcommands.
//!
//! The subcommands run the other crates of this workspace, measure them and print results. They
//! contain no protocol logic: the feed handler is `hairpin-feed-handler`, order entry is
//! `hairpin-order-entry`, the simulated exchange is `hairpin-exchange`, and statistics are in
//! `hairpin-measure`. Layer L3: those libraries take time as a parameter and never print; the
//! command reads the clock, prints, handles signals and chooses the exit status: 0 done, 1 failed,
//! 2 wrong arguments, 130 interrupted, 143 terminated.
//!
//! | Module or crate | Contents |
//! |---|---|
//! | `cli` | the command line, and the dispatch to subcommands |
//! | `cmd` | the subcommands under one name, and the call of the program `hairpin-data` |
//! | `completion` | completions of shells, and manual pages |
//! | [`hairpin_cli_market`] | `decode`, `exchange`, `feed`, `generate`, `order` |
//! | [`hairpin_cli_latency`] | `ping`, `pong`, `t2t`, `trader`, `bench`, `stat`, `run`, … |
//! | [`hairpin_cli_harness`] | what subcommands share: hosts, child processes, datapaths, output |
//!
//! The two crates of subcommands do not depend on each other, so that cargo compiles them side by
//! side.
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
mod completion;

pub use cli::run;
