//! The program `hairpin-data`, which the command `hairpin` executes for `hairpin export` and
//! `hairpin drop-copy`.
//!
//! It is in a workspace of its own, so that the lock file of the core has nothing of the formats
//! that it writes.
//!
//! | module | contents |
//! |---|---|
//! | `drop_copy` | the reports in a journal of orders, for FIX clients and as a file |
//! | `fix` | messages of FIX 4.4 |
//! | `ilink` | messages of iLink 3 by tag |
//! | `export` | captures of market data as DBN, Parquet and Arrow |
#![forbid(unsafe_code)]

mod drop_copy;
mod export;
mod fix;
mod ilink;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Market data and reports of Hairpin in other formats
#[derive(Parser)]
#[command(name = "hairpin", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    DropCopy(drop_copy::DropCopyArgs),
    Export(export::ExportArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::DropCopy(arguments) => drop_copy::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => {
            let _ = writeln!(io::stderr(), "hairpin: {error:#}");
            ExitCode::FAILURE
        }
    }
}
