//! Runs rounds: the setup of the two processes, and the resulting rows.

use std::net::SocketAddrV4;

use anyhow::{Result, bail};
use hairpin_cli_harness::args::FeedTransport;
use hairpin_cli_harness::cores::Cores;
use hairpin_cli_harness::host_pair::{HostPair, Role};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::t2t_setup::{
    self, ExchangeSetup, Load, MarketData, Ready, TraderChildSetup, TraderSetup,
};
use hairpin_host::Clock;
use hairpin_measure::Row;
use hairpin_reactor::Wait;

use super::progress::RunProgress;
use super::rounds::Runner;
use super::run_context::RunArgs;
use super::run_counters::RunCounters;
use super::run_plan::{RunPlan, T2tCase};
use super::start_times::StartSummary;
use super::{round, row_checks};

/// Runs each round with its own exchange and trader.
pub(super) struct RoundRunner<'a> {
    arguments: &'a RunArgs,
    hosts: &'a HostPair,
    cores: Cores,
    signals: &'a Signals,
    progress: &'a RunProgress,
    counters: RunCounters,
    starts: StartSummary,
    /// Nothing is measured yet that could be lost.
    is_first: bool,
}

impl<'a> RoundRunner<'a> {
    pub(super) fn new(
        arguments: &'a RunArgs,
        hosts: &'a HostPair,
        cores: Cores,
        signals: &'a Signals,
        (progress, counters): (&'a RunProgress, RunCounters),
    ) -> Self {
        let starts = StartSummary::default();
        Self { arguments, hosts, cores, signals, progress, counters, starts, is_first: true }
    }

    /// Returns the start times of the rounds.
    pub(super) fn into_starts(self) -> StartSummary {
        self.starts
    }

    fn rows(&mut self, case: &T2tCase, outcome: round::Outcome) -> Vec<Row> {
        self.starts.record(outcome.start);
        let failed = row_checks::reason_to_fail(&case.load, &outcome.exchange, &outcome.trader);
        let interrupted = outcome.exchange.interrupted;
        let start_ns = outcome.start.map(|start| start.in_sync().as_nanos());
        let described =
            |row| Row { failed: failed.clone(), interrupted, start_ns, ..self.describe(case, row) };
        outcome.exchange.rows.into_iter().map(described).collect()
    }

    /// Adds the hosts and cores of the row.
    fn describe(&self, case: &T2tCase, row: Row) -> Row {
        let tick = hairpin_host::kernel_tick();
        Row {
            cores: self.cores.exchange.zip(self.cores.trader).map(|(a, b)| [a, b]),
            seed: Some(case.load.seed),
            ground: Some(self.hosts.describe().to_owned()),
            block_deadline_ns: (case.wait == Wait::Block).then(|| tick.as_nanos()),
            ..row
        }
    }

    fn exchange_setup(&self, case: &T2tCase) -> ExchangeSetup {
        let interface = self.hosts.address(Role::Exchange);
        ExchangeSetup {
            market_data: match case.feed {
                FeedTransport::Multicast => MarketData::Multicast(self.hosts.groups),
                FeedTransport::Tcp => MarketData::Tcp([SocketAddrV4::new(interface, 0); 2]),
            },
            interface,
            transport: case.transport,
            gateway: self.arguments.gateway.unwrap_or(SocketAddrV4::new(interface, 0)),
            core: self.cores.exchange,
            wait: case.wait.to_string(),
            load: case.load,
            key: self.arguments.key.clone(),
        }
    }

    fn trader_setup(&self, case: &T2tCase, ready: Ready) -> TraderChildSetup {
        let source = self.hosts.address(Role::Exchange);
        TraderChildSetup {
            trader: TraderSetup {
                id: 1,
                transport: case.transport,
                gateway: ready.gateway,
                wait: case.wait.to_string(),
                core: self.cores.trader,
                key: self.arguments.key.clone(),
                journal_bytes: journal_bytes(&case.load),
            },
            market_data: ready.market_data,
            interface: self.hosts.address(Role::Trader),
            sources: if self.arguments.any_source { Vec::new() } else { vec![source] },
        }
    }
}

impl Runner for RoundRunner<'_> {
    fn round(&mut self, case: &T2tCase) -> Result<Vec<Row>> {
        self.progress.begin(case);
        let trader = |ready| self.trader_setup(case, ready);
        let told = |ticks| self.progress.advance(ticks);
        let outcome =
            round::run(self.hosts, &self.exchange_setup(case), trader, self.signals, told);
        self.progress.end();
        let is_first = std::mem::take(&mut self.is_first);
        let rows = match outcome {
            Ok(outcome) => self.rows(case, outcome),
            // A wrong host setup (a busy port, a bad key) is wrong for every row: report it once.
            Err(error) if is_first && error.is::<round::NotReady>() => bail!("{error:#}"),
            Err(error) => {
                let T2tCase { feed, transport, wait, load } = case;
                let source = Clock::new().source();
                let (feed, transport) = (feed.name(), transport.transport);
                let settings =
                    t2t_setup::settings(feed, transport, &wait.to_string(), load, source);
                let reason = format!("{error:#}");
                let failed = |setting| self.describe(case, Row::failed(setting, &*reason));
                settings.map(failed).into()
            }
        };
        self.counters.record_round(rows.iter().any(|row| row.failed.is_some()));
        Ok(rows)
    }

    fn extend_plan(&mut self, plan: &RunPlan) {
        self.progress.extend(plan);
        self.counters.add(plan);
    }

    fn stop_requested(&self) -> bool {
        self.signals.stop_requested()
    }
}

/// Returns room for an order and its cancel per tick (152 and 116 bytes with their record headers),
/// and for logon and logout.
fn journal_bytes(load: &Load) -> usize {
    let ticks = usize::try_from(load.warm_up + load.samples).unwrap_or(usize::MAX);
    ticks.saturating_mul(320).saturating_add(1 << 16)
}
