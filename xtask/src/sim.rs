//! `cargo xtask sim NAME`: runs a simulation over many seeds, or repeats a failed seed.
//!
//! | module | contents |
//! |---|---|
//! | `mutants` | builds and runs a simulation against copies of crates with a mutant |
//! | `mutant` | a change of source text that breaks a rule |
//! | `feed_mutants`, `order_mutants`, `rds_mutants`, `tcp_mutants` | the tables of mutants |

mod feed_mutants;
pub(crate) mod mutant;
mod mutants;
mod order_mutants;
mod rds_mutants;
mod tcp_mutants;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// The arguments of `sim`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The simulation to run
    name: Name,
    /// Number of runs, each with the next seed [default: t2t: one hour of ticks at one per
    /// millisecond; feed, order, tcp, programs: 10,000; rds: 20,000;
    /// keeper: 400; with --mutants 50, tcp: 200]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// First seed
    #[arg(long, visible_alias = "first-seed", value_name = "SEED", default_value_t = 0)]
    from: u64,
    /// Ticks per run of t2t; a failed seed repeats only with the same number
    #[arg(long, value_name = "N", default_value_t = 3_600)]
    ticks: u64,
    /// Print each event on a line (feed, order, rds, tcp, programs, keeper)
    #[arg(long)]
    trace: bool,
    /// Build copies of the crates with a mutant each, and fail unless the simulation detects it
    /// (feed, order, rds, tcp)
    #[arg(long, conflicts_with = "trace")]
    mutants: bool,
    /// Instead kill a trader's process N times with SIGKILL, and account for its orders (order)
    #[arg(long, value_name = "N", conflicts_with_all = ["trace", "mutants", "seeds"])]
    kills: Option<u64>,
}

/// A simulation, which is a test of the crate `hairpin`, `hairpin-rds` or `hairpin-tcp`; or random
/// or hostile programs on real sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Exchange, three traders and the network between them
    T2t,
    /// Publisher and receivers of market data, and the network between them
    Feed,
    /// Gateway and trader, its journal, and the network between them
    Order,
    /// Sockets of reliable datagrams and the network between them
    Rds,
    /// Two TCP connections, or one and smoltcp, their snapshots, and the network between them
    Tcp,
    /// Random programs on the kernel and under hairpin run, as root
    Programs,
    /// Hostile programs at the keeper of hairpin run, as root
    Keeper,
}

/// The ticks of one hour, one per millisecond.
const HOUR: u64 = 3_600_000;
/// The default number of runs of the feed and order simulations.
const MANY_SEEDS: u64 = 10_000;
/// The default number of runs of the simulation of reliable datagrams, which are shorter.
const RDS_SEEDS: u64 = 20_000;
/// The default number of runs of the simulation of hostile programs: some ten minutes.
const KEEPER_SEEDS: u64 = 400;
/// The default number of runs against each mutant.
const MUTANT_SEEDS: u64 = 50;
/// The same for TCP, whose runs are shorter: as many as the tests run.
const TCP_MUTANT_SEEDS: u64 = 200;

/// Runs the simulation, optimized, and prints its output.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let &Arguments { name, from, ticks, trace, .. } = arguments;
    ensure!(
        !matches!(name, Name::T2t | Name::Programs | Name::Keeper) || !arguments.mutants,
        "--mutants requires sim feed, order, rds or tcp"
    );
    ensure!(name != Name::T2t || !trace, "--trace requires another simulation than t2t");
    ensure!(name == Name::Order || arguments.kills.is_none(), "--kills requires sim order");
    if let Some(kills) = arguments.kills {
        return kill(workspace, kills);
    }
    if arguments.mutants {
        let (subject, default) = match name {
            Name::Order => (mutants::ORDER, MUTANT_SEEDS),
            Name::Rds => (mutants::RDS, MUTANT_SEEDS),
            Name::Tcp => (mutants::TCP, TCP_MUTANT_SEEDS),
            Name::Feed | Name::T2t | Name::Programs | Name::Keeper => (mutants::FEED, MUTANT_SEEDS),
        };
        return mutants::run(workspace, subject, from, arguments.seeds.unwrap_or(default));
    }
    let default = match name {
        Name::T2t => HOUR.div_ceil(ticks.max(1)),
        Name::Feed | Name::Order | Name::Tcp | Name::Programs => MANY_SEEDS,
        Name::Rds => RDS_SEEDS,
        Name::Keeper => KEEPER_SEEDS,
    };
    let seeds = arguments.seeds.unwrap_or(default);
    let (package, test, only): (_, _, &[&str]) = match name {
        Name::T2t => ("hairpin-cli", "simulation", &["messages_are_lost_only_through_faults"]),
        Name::Feed => {
            ("hairpin-cli", "feed_simulation", &["synchronized_books_equal_published_books"])
        }
        Name::Order => (
            "hairpin-cli",
            "order_simulation",
            &["messages_are_delivered_once_and_orders_accounted_for"],
        ),
        Name::Rds => {
            ("hairpin-rds", "it", &["simulation::messages_are_delivered_once_and_in_order"])
        }
        Name::Tcp => (
            "hairpin-tcp",
            "it",
            &[
                "simulation::bytes_arrive_once_and_in_order",
                "simulation::bytes_arrive_once_and_in_order_with_smoltcp",
            ],
        ),
        Name::Programs => (
            "hairpin-cli",
            "random_programs",
            &["random_programs_print_the_same_as_with_the_kernel"],
        ),
        Name::Keeper => {
            ("hairpin-stack", "keeper", &["hostile_programs_gain_nothing_from_the_keeper"])
        }
    };
    println!("sim: seeds {from} to {}", from.saturating_add(seeds.max(1) - 1));
    let test = ["test", "--release", "--package", package, "--test", test];
    let only = ["--", "--exact", "--nocapture", "--include-ignored"]
        .into_iter()
        .chain(only.iter().copied());
    let mut command = cargo(&workspace.root, test.into_iter().chain(only));
    command
        .env("HAIRPIN_SIM_FROM", from.to_string())
        .env("HAIRPIN_SIM_SEEDS", seeds.to_string())
        .env("HAIRPIN_SIM_TICKS", ticks.to_string())
        .env("HAIRPIN_SIM_TRACE", u64::from(trace).to_string());
    shell(&mut command)
}

/// Runs the test that kills a process of a trader `kills` times.
fn kill(workspace: &Workspace, kills: u64) -> Result<()> {
    let test = ["test", "--package", "hairpin-cli", "--test", "order_deaths", "--"];
    let only = "killed_trader_messages_are_applied_once_or_reported";
    let rest = ["--exact", only, "--nocapture"];
    let mut command = cargo(&workspace.root, test.into_iter().chain(rest));
    shell(command.env("HAIRPIN_ORDER_DEATHS", kills.to_string()))
}
