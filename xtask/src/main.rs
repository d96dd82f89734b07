//! Developer commands of the workspace: quick, test, ci, tidy, codegen, deny, fuzz, no-std, sim,
//! bench-instructions.
//!
//! One module per command, each with a `run`. What CI runs is a list in `ci.rs`.
#![forbid(unsafe_code)]

mod bench_instructions;
mod ci;
mod codegen;
mod deny;
mod fuzz;
mod no_std;
mod quick;
mod shell;
mod sim;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer commands of the workspace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Format, lints and tests of the crates changed since the commit before last, and tidy
    Quick,
    /// Every test; as root those that need root too
    Test,
    /// Everything CI checks, tests last
    Ci,
    /// The rules of ARCHITECTURE.md and STYLE.md that a machine can check
    Tidy,
    /// Write the codecs from the schemas, or compare them
    Codegen(codegen::Arguments),
    /// Licences, banned crates and sources of every dependency, against deny.toml
    Deny,
    /// Look for inputs that break a decoder or a state machine
    Fuzz(fuzz::Arguments),
    /// Link the L0 and L1 crates into a program that has no std
    NoStd,
    /// A simulation over many seeds
    Sim(sim::Arguments),
    /// Instructions on the hot path, compared with the committed counts
    BenchInstructions(bench_instructions::Arguments),
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let outcome = Workspace::find().and_then(|workspace| match command {
        Command::Quick => quick::run(&workspace),
        Command::Test => test::run(&workspace),
        Command::Ci => ci::run(&workspace),
        Command::Tidy => tidy::run(&workspace),
        Command::Codegen(arguments) => codegen::run(&arguments),
        Command::Deny => deny::run(&workspace),
        Command::Fuzz(arguments) => fuzz::run(&workspace, &arguments),
        Command::NoStd => no_std::run(&workspace),
        Command::Sim(arguments) => sim::run(&workspace, &arguments),
        Command::BenchInstructions(arguments) => bench_instructions::run(&workspace, &arguments),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<test::TestsFailed>() => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
