//! `cargo xtask sim NAME`: a simulation over many seeds, or over the one that failed.

use anyhow::Result;
use clap::ValueEnum;

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// What to simulate, and how much of it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The simulation
    name: Name,
    /// Runs, each with the next seed [default: an hour's worth of ticks at one a millisecond]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    from: u64,
    /// Ticks of each run; a seed fails again only with as many as it failed with
    #[arg(long, value_name = "N", default_value_t = 3_600)]
    ticks: u64,
}

/// A simulation: the test that is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Exchange, three traders and the network between them
    T2t,
}

/// Ticks of an hour, one a millisecond.
const HOUR: u64 = 3_600_000;

/// Runs the simulation, optimised, with its output.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let seeds = arguments.seeds.unwrap_or_else(|| HOUR.div_ceil(arguments.ticks.max(1)));
    let [package, test] = match arguments.name {
        Name::T2t => ["hairpin", "simulation"],
    };
    println!(
        "sim: seeds {} to {}",
        arguments.from,
        arguments.from.saturating_add(seeds.max(1) - 1)
    );
    let words = ["test", "--release", "--package", package, "--test", test];
    let only = ["--", "--exact", "nothing_is_lost_that_its_faults_do_not_explain", "--nocapture"];
    let mut command = cargo(&workspace.root, words.into_iter().chain(only));
    command
        .env("HAIRPIN_SIM_FROM", arguments.from.to_string())
        .env("HAIRPIN_SIM_SEEDS", seeds.to_string())
        .env("HAIRPIN_SIM_TICKS", arguments.ticks.to_string());
    shell(&mut command)
}
