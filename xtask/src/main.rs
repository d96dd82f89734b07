//! Developer commands of the workspace (layer T), run as `cargo xtask NAME`.
//!
//! Each command is a module with a function `run`. To add a check to CI, add a step to the list in
//! `ci.rs`. To add a rule on the text or layout of the workspace, add a module to `tidy`.
//!
//! | module | command |
//! |---|---|
//! | `quick` | the checks to run before a commit |
//! | `ci` | the checks that every commit on main passes |
//! | `test` | builds and runs the tests |
//! | `tidy` | rules on source files, manifests and layers |
//! | `codegen` | generates the codecs from the schemas |
//! | `deny` | licenses, banned crates, sources and advisories of dependencies |
//! | `data` | tests the workspace `data/` |
//! | `fuzz` | runs the fuzz targets |
//! | `header` | generates the C header |
//! | `dist` | builds the files of a release |
//! | `install` | installs the C and C++ library |
//! | `interop` | runs programs of others with and without `hairpin run` |
//! | `packetdrill` | runs packet scripts of the kernel against the TCP engine |
//! | `no_std` | links the L0 and L1 crates without std |
//! | `public_api` | finds third-party types in the API of the crate `hairpin` |
//! | `python` | builds the Python package and runs its tests |
//! | `reference` | writes the reference of counters from the code |
//! | `rule_mutants` | breaks CME's rules one at a time; the named test must fail |
//! | `sim` | runs simulations over many seeds, or against mutants |
//! | `vm` | runs tests on Debian's kernels and emulated network cards in QEMU |
//! | `bench_instructions` | counts instructions on the hot path |
#![forbid(unsafe_code)]

mod bench_instructions;
mod ci;
mod codegen;
mod data;
mod deny;
mod dist;
mod fuzz;
mod header;
mod install;
mod interop;
mod no_std;
mod packetdrill;
mod public_api;
mod python;
mod quick;
mod reference;
mod rule_mutants;
mod shell;
mod sim;
mod test;
mod tidy;
mod vm;
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
    /// Check format and tidy, then lint and test the packages changed since the commit before last
    Quick,
    /// Run every test; as root also the tests that need root
    Test,
    /// Run every check of CI, the tests last
    Ci,
    /// Check the machine-checkable rules of ARCHITECTURE.md and STYLE.md
    Tidy,
    /// Generate the codecs from the schemas, or compare them
    Codegen(codegen::Arguments),
    /// Test the workspace data/, also with the Python packages that read its files
    Data,
    /// Check licenses, bans, sources and advisories of every dependency
    Deny,
    /// Search for inputs that break a decoder or a state machine
    Fuzz(fuzz::Arguments),
    /// Generate the C header, or compare it; installs cbindgen below target if it is missing
    Header(header::Arguments),
    /// Build the files of a release: an archive and a Debian package
    Dist(dist::Arguments),
    /// Build and install the C and C++ library: headers, hairpin.pc and CMake package too
    Install(install::Arguments),
    /// Run packetdrill's scripts for the kernel against the TCP engine (needs PACKETDRILL_DIR)
    Packetdrill,
    /// Run programs of others between two hosts with and without `hairpin run`, and compare
    Interop(interop::Arguments),
    /// Link the L0 and L1 crates into a program without std
    NoStd,
    /// Find third-party types in the API of the crate `hairpin`; needs a nightly compiler
    PublicApi,
    /// Build the Python package, and run its tests in a fresh environment
    Python,
    /// Write docs/reference/counters.md from the counters' doc comments
    Reference,
    /// Run a simulation over many seeds
    Sim(sim::Arguments),
    /// Break CME's rules one at a time; fail unless the test that the rules page names detects it
    RuleMutants(rule_mutants::Arguments),
    /// Run tests on Debian's kernels with emulated network cards in QEMU; installs QEMU if missing
    Vm(vm::Arguments),
    /// Count instructions on the hot path and compare them with the committed counts
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
        Command::Data => data::run(&workspace),
        Command::Deny => deny::run(&workspace),
        Command::Fuzz(arguments) => fuzz::run(&workspace, &arguments),
        Command::Header(arguments) => header::run(&workspace, &arguments),
        Command::Dist(arguments) => dist::run(&workspace, &arguments),
        Command::Install(arguments) => install::run(&workspace, &arguments),
        Command::Packetdrill => packetdrill::run(&workspace),
        Command::Interop(arguments) => interop::run(&workspace, &arguments),
        Command::NoStd => no_std::run(&workspace),
        Command::PublicApi => public_api::run(&workspace),
        Command::Python => python::run(&workspace),
        Command::Reference => reference::run(&workspace),
        Command::Sim(arguments) => sim::run(&workspace, &arguments),
        Command::RuleMutants(arguments) => rule_mutants::run(&workspace, &arguments),
        Command::Vm(arguments) => vm::run(&workspace, &arguments),
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
