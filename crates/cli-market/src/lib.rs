//! The subcommands of `hairpin` for market data and orders: of a user, and of a simulated exchange.
//!
//! Layer L3. Each module is one subcommand: its arguments, and a function `run` that returns the
//! exit status. The command line is in `hairpin-cli`; what subcommands share is in
//! `hairpin-cli-harness`. The crate contains no protocol logic. Benchmarks are in
//! `hairpin-cli-latency`, which does not depend on this crate.
//!
//! | Module | Contents |
//! |---|---|
//! | [`decode`] | captures to messages, as lines or JSON; [`feed`] and [`order`] read them too |
//! | [`feed`] | the feed handler, live or on a capture |
//! | [`generate`] | a capture of an exchange's market data, without a network |
//! | [`exchange`] | the simulated exchange, also as the child of a `t2t` row |
//! | [`order`] | an order entry session from a script or by hand; the audit trail |
//! | [`wire`] | latencies and losses from captures, of any program |
//!
//! ```
//! use clap::{Args, Command};
//! use hairpin_cli_market::decode::DecodeArgs;
//!
//! let command = DecodeArgs::augment_args(Command::new("decode"));
//! assert!(command.try_get_matches_from(["decode", "capture.pcap"]).is_ok());
//! ```
#![forbid(unsafe_code)]

pub mod decode;
pub mod exchange;
pub mod feed;
pub mod generate;
pub mod order;
pub mod wire;
