//! `hairpin bench NAME`: measures a published table on this machine, or all of them.

mod all;
mod bench_case;
mod bench_context;
mod comparison_table;
pub mod feed;
pub mod order;
mod progress;
mod rds;
mod rounds;
mod run;
mod sockets;
mod t2t;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::usage::{self, usage_error};

/// Measure a published table on this machine and print it next to the published figures.
#[derive(clap::Args, Debug, Clone)]
#[command(disable_help_subcommand = true, arg_required_else_help = false)]
pub struct BenchArgs {
    #[command(subcommand)]
    table: Table,
}

/// The tables.
#[derive(clap::Subcommand, Debug, Clone)]
enum Table {
    T2t(t2t::BenchT2tArgs),
    Feed(feed::BenchFeedArgs),
    Order(order::BenchOrderArgs),
    Rds(rds::BenchRdsArgs),
    Sockets(sockets::BenchSocketsArgs),
    All(all::BenchAllArgs),
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// Measures the named table and prints it.
///
/// # Errors
/// Those of the table.
pub fn run(arguments: &BenchArgs) -> Result<ExitCode> {
    match &arguments.table {
        Table::All(arguments) => all::run(arguments),
        Table::T2t(arguments) => t2t::run(arguments),
        Table::Feed(arguments) => feed::run(arguments),
        Table::Order(arguments) => order::run(arguments),
        Table::Rds(arguments) => rds::run(arguments),
        Table::Sockets(arguments) => sockets::run(arguments),
        Table::Other(words) => {
            let name = words.first().map(|name| name.to_string_lossy()).unwrap_or_default();
            let tables = ["t2t", "feed", "order", "rds", "sockets", "all"];
            let nearest = usage::nearest_is(usage::nearest(&name, tables.into_iter()));
            let known = usage::alternatives(&tables);
            usage_error!("unknown table '{name}'{nearest}; use {known}; try --help");
        }
    }
}
