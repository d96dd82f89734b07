//! The subcommands of `hairpin` that measure, and those for their results and for live processes.
//!
//! Layer L3. Each module is one subcommand: its arguments, and a function `run` that returns the
//! exit status. The command line is in `hairpin-cli`; what subcommands share is in
//! `hairpin-cli-harness`. Statistics are in `hairpin-measure`. The exchange that `t2t` measures is
//! a child process whose subcommand is in `hairpin-cli-market`; this crate does not depend on it.
//!
//! | Module | Contents |
//! |---|---|
//! | [`ping`], [`pong`] | round trips of messages, and their answers |
//! | [`rds_stress`] | messages between many reliable datagram sockets, verified |
//! | [`t2t`] | tick-to-trade latency: an exchange and a trader as child processes |
//! | [`trader`] | the trader as a command, and as the child of a `t2t` row |
//! | [`strategy`] | the trader itself: a strategy between feed handler and session |
//! | [`mod@bench`] | the published tables, measured on this machine |
//! | [`lab`] | programs over kernel sockets and under `hairpin run`, compared |
//! | [`run`] | an unmodified program over AF_XDP |
//! | [`report`], [`bench_compare`] | results files as a page; two of them compared |
//! | [`stat`] | live counters of running processes |
//! | [`jitter`] | interruptions of cores |
//!
//! ```
//! use clap::{Args, Command};
//! use hairpin_cli_latency::ping::PingArgs;
//!
//! let command = PingArgs::augment_args(Command::new("ping"));
//! assert!(command.try_get_matches_from(["ping", "--quick"]).is_ok());
//! ```
#![forbid(unsafe_code)]

pub mod bench;
pub mod bench_compare;
pub mod jitter;
pub mod lab;
pub mod ping;
pub mod pong;
pub mod rds_stress;
pub mod report;
pub mod run;
pub mod stat;
pub mod strategy;
pub mod t2t;
pub mod trader;
