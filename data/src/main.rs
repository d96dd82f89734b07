//! The program `hairpin-data`, which the command `hairpin` executes for `hairpin export`.
//!
//! It is in a workspace of its own, so that the lock file of the core has nothing of the formats
//! that it writes.
//!
//! | module | contents |
//! |---|---|
//! | `export` | captures of market data as DBN, Parquet and Arrow |
#![forbid(unsafe_code)]

mod export;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Market data of Hairpin in other formats
#[derive(Parser)]
#[command(name = "hairpin", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Export(export::ExportArgs),
}

fn main() -> ExitCode {
    let Command::Export(arguments) = Cli::parse().command;
    match export::run(&arguments) {
        Ok(status) => status,
        Err(error) => {
            let _ = writeln!(io::stderr(), "hairpin: {error:#}");
            ExitCode::FAILURE
        }
    }
}
