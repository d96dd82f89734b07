//! The context of a run: hosts, cores, key and signals.

use std::net::SocketAddrV4;
use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::args::FeedTransport;
use hairpin_cli_harness::cores::{self, Cores};
use hairpin_cli_harness::host_checks::HostChecks;
use hairpin_cli_harness::host_pair::HostPair;
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::usage::usage_error;
use hairpin_cli_harness::{output, secret_key, transport};
use hairpin_host::Clock;
use hairpin_measure::Results;

use super::progress::RunProgress;
use super::rounds;
use super::run_counters::RunCounters;
use super::run_plan::RunPlan;
use super::runner::RoundRunner;

/// The arguments shared by the commands that run exchange and trader.
#[derive(clap::Args, Debug, Clone)]
#[group(skip)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) cores: cores::CoreArgs,

    /// Run over loopback with the address of this interface, not between namespaces
    #[arg(long, value_name = "IF")]
    pub(crate) interface: Option<String>,

    #[command(flatten)]
    pub(crate) transport: transport::TransportArgs,

    /// Where the exchange's gateway listens [default: a free port]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) gateway: Option<SocketAddrV4>,

    /// Join groups from any source instead of from the exchange only
    #[arg(long)]
    pub(crate) any_source: bool,

    #[command(flatten)]
    pub(crate) key: secret_key::KeyArgs,

    #[command(flatten)]
    pub(crate) output: output::OutputArgs,
}

impl RunArgs {
    /// Returns the transports of market data: those in `asked`, or all.
    pub(crate) fn feeds<'a>(&self, asked: &'a [FeedTransport]) -> &'a [FeedTransport] {
        match (asked.is_empty(), self.transport.is_xdp()) {
            (false, _) => asked,
            (true, false) => &FeedTransport::ALL,
            (true, true) => &[FeedTransport::Multicast],
        }
    }

    /// Checks for arguments that conflict with each other or with the permissions of this process;
    /// called before hosts are created.
    ///
    /// # Errors
    /// One line for each.
    pub(crate) fn check(&self, asked: &[FeedTransport]) -> Result<()> {
        if self.transport.is_xdp() && asked.contains(&FeedTransport::Tcp) {
            usage_error!(
                "market data over TCP needs kernel sockets: --transport xdp is for multicast"
            );
        }
        self.transport.check_between_hosts(self.interface.as_deref())
    }
}

/// Everything that exists before the first round.
pub(crate) struct RunContext<'a> {
    command: &'static str,
    arguments: &'a RunArgs,
    hosts: HostPair,
    cores: Cores,
    is_test_key: bool,
    signals: Signals,
    clock: Clock,
}

/// The outcome of a plan.
pub(crate) struct Measured {
    pub(crate) results: Results,
    /// Lines under the table that no results file keeps: dropped packets, and start times.
    pub(crate) said: String,
    /// The error of saving the results, to be returned once they are printed.
    pub(crate) saved: Result<()>,
}

impl<'a> RunContext<'a> {
    /// Creates the hosts for `command`, chooses the cores, reads the key and installs signal
    /// handlers.
    ///
    /// Must be called while the process has one thread: an ordinary user's namespaces need that.
    ///
    /// # Errors
    /// A condition that prevents every round: no such interface, core or folder, or a bad key.
    pub(crate) fn new(command: &'static str, arguments: &'a RunArgs) -> Result<Self> {
        let hosts = HostPair::new(arguments.interface.as_deref())?;
        hosts.check(&arguments.transport)?;
        let cores = arguments.cores.choose()?;
        let is_test_key = secret_key::read(&arguments.key)?.is_test_key;
        arguments.output.check()?;
        let signals = Signals::take()?;
        Ok(Self { command, arguments, hosts, cores, is_test_key, signals, clock: Clock::new() })
    }

    /// Runs the plan and saves the results; prints `said` first, with the hosts and cores.
    ///
    /// # Errors
    /// A condition in which no round can run. A failure within a round fails its row.
    pub(crate) fn measure(&self, plan: &RunPlan, said: &str) -> Result<Measured> {
        let mut results = output::results(&self.clock, self.hosts.nic());
        let checks = HostChecks::start(&self.clock, &self.cores.chosen())?;
        let progress = RunProgress::new(plan, self.introduction() + said);
        let (arguments, hosts, cores) = (self.arguments, &self.hosts, self.cores);
        let counters = RunCounters::publish(self.command, plan);
        let watched = (&progress, counters);
        let mut runner = RoundRunner::new(arguments, hosts, cores, &self.signals, watched);
        let rows = rounds::measure(plan, &mut runner);
        let starts = runner.into_starts();
        progress.finish();
        results.rows = rows?;
        results.truth = Some(checks.after());
        let saved = self.arguments.output.save(&results);
        Ok(Measured { results, said: checks.describe_drops() + &starts.to_string(), saved })
    }

    /// Returns failure if a row has failed, 130 or 143 after a signal.
    pub(crate) fn exit_status(&self, results: &Results) -> ExitCode {
        let failed = results.rows.iter().any(|row| row.failed.is_some());
        let status = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        self.signals.exit_status().unwrap_or(status)
    }

    fn introduction(&self) -> String {
        let key = if self.is_test_key { "\niLink key: the published test key" } else { "" };
        let tick = hairpin_host::kernel_tick();
        format!(
            "{}; {}\ngateway without rate limits; \
             wait block rounds deadlines up to the kernel's tick ({tick}){key}",
            self.hosts.describe(),
            self.cores.describe(),
        )
    }
}
