//! `cargo xtask sim NAME`: a simulation over many seeds, or over the one that failed.

mod feed_mutants;
mod mutant;
mod nursery;
mod order_mutants;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// What to simulate, and how much of it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The simulation
    name: Name,
    /// Runs, each with the next seed [default: t2t: an hour's worth of ticks at one a millisecond;
    /// feed and order: 10,000, with --mutants 50]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// The first seed
    #[arg(long, visible_alias = "first-seed", value_name = "SEED", default_value_t = 0)]
    from: u64,
    /// Ticks of each run of t2t; a seed fails again only with as many as it failed with
    #[arg(long, value_name = "N", default_value_t = 3_600)]
    ticks: u64,
    /// Print what happens, a line each (feed, order)
    #[arg(long)]
    trace: bool,
    /// Plant faults in copies of the crates, and demand that the simulation finds each (feed,
    /// order)
    #[arg(long, conflicts_with = "trace")]
    mutants: bool,
    /// Kill a trader's process so often with SIGKILL instead, and see what comes of its orders
    /// (order)
    #[arg(long, value_name = "N", conflicts_with_all = ["trace", "mutants", "seeds"])]
    kills: Option<u64>,
}

/// A simulation: the test that is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Exchange, three traders and the network between them
    T2t,
    /// Publisher and receivers of market data, and the network between them
    Feed,
    /// Gateway and trader, its journal, and the network between them
    Order,
}

/// Ticks of an hour, one a millisecond.
const HOUR: u64 = 3_600_000;
/// Runs of the simulations of the feed and of order entry, and with each planted fault.
const MANY_SEEDS: u64 = 10_000;
const MUTANT_SEEDS: u64 = 50;

/// Runs the simulation, optimised, with its output.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let &Arguments { name, from, ticks, trace, mutants, .. } = arguments;
    ensure!(name != Name::T2t || !mutants, "--mutants: of sim feed and sim order alone");
    ensure!(name != Name::T2t || !trace, "--trace: of sim feed and sim order alone");
    ensure!(name == Name::Order || arguments.kills.is_none(), "--kills: of sim order alone");
    if let Some(kills) = arguments.kills {
        return kill(workspace, kills);
    }
    if mutants {
        let subject = if name == Name::Order { nursery::ORDER } else { nursery::FEED };
        return nursery::run(workspace, subject, from, arguments.seeds.unwrap_or(MUTANT_SEEDS));
    }
    let usual = match name {
        Name::T2t => HOUR.div_ceil(ticks.max(1)),
        Name::Feed | Name::Order => MANY_SEEDS,
    };
    let seeds = arguments.seeds.unwrap_or(usual);
    let [package, test, only] = match name {
        Name::T2t => ["hairpin", "simulation", "nothing_is_lost_that_its_faults_do_not_explain"],
        Name::Feed => ["hairpin", "feed_simulation", "a_book_called_in_sync_is_what_was_published"],
        Name::Order => [
            "hairpin",
            "order_simulation",
            "every_message_is_told_once_and_every_order_is_accounted_for",
        ],
    };
    println!("sim: seeds {from} to {}", from.saturating_add(seeds.max(1) - 1));
    let words = ["test", "--release", "--package", package, "--test", test];
    let only = ["--", "--exact", only, "--nocapture"];
    let mut command = cargo(&workspace.root, words.into_iter().chain(only));
    command
        .env("HAIRPIN_SIM_FROM", from.to_string())
        .env("HAIRPIN_SIM_SEEDS", seeds.to_string())
        .env("HAIRPIN_SIM_TICKS", ticks.to_string())
        .env("HAIRPIN_SIM_TRACE", u64::from(trace).to_string());
    shell(&mut command)
}

/// Kills a process of a trader so often, and demands that each next one goes on rightly.
fn kill(workspace: &Workspace, kills: u64) -> Result<()> {
    let words = ["test", "--package", "hairpin", "--test", "order_deaths", "--"];
    let only = "what_a_killed_trader_has_sent_is_applied_once_or_told_not_to_be";
    let rest = ["--exact", only, "--nocapture"];
    let mut command = cargo(&workspace.root, words.into_iter().chain(rest));
    shell(command.env("HAIRPIN_ORDER_DEATHS", kills.to_string()))
}
