//! One row: starts an exchange and a trader as two processes, watches them and reads the result.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hairpin_cli_harness::child_process::ChildProcess;
use hairpin_cli_harness::child_protocol::ChildPage;
use hairpin_cli_harness::host_pair::{HostPair, Role};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::t2t_setup::{
    self, ExchangeOutcome, ExchangeSetup, Load, Ready, TraderChildSetup, TraderOutcome,
};

use super::start_times::StartTimes;

/// The interval at which the parent checks progress and signals. It is long because, on a host with
/// two cores, the parent takes its time from one of the processes it watches.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The limit for the exchange to listen, and for either process to end after the last tick.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The outcome of one row.
pub(super) struct Outcome {
    pub(super) exchange: ExchangeOutcome,
    pub(super) trader: TraderOutcome,
    /// `None` if the round ended before it began.
    pub(super) start: Option<StartTimes>,
}

/// The exchange ended before it listened: no row can run on this host.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the exchange")]
pub(super) struct NotReady;

/// Runs one row on `hosts`. Reports the number of ticks sent so far to `progress`.
///
/// # Errors
/// A child that cannot be started, that fails (with its own message), or that does not end.
pub(super) fn run(
    hosts: &HostPair,
    exchange: &ExchangeSetup,
    trader: impl FnOnce(Ready) -> TraderChildSetup,
    signals: &Signals,
    mut progress: impl FnMut(u64),
) -> Result<Outcome> {
    // A page each: only packets pass between the two.
    let (page, trader_page) = (ChildPage::create()?, ChildPage::create()?);
    let exchange_started_ns = t2t_setup::monotonic_ns();
    let transport = exchange.transport;
    let mut exchange_side = ChildProcess::start(hosts, Role::Exchange, &page, transport, exchange)?;
    let ready: Ready = exchange_side.line(TIMEOUT).map_err(|error| error.context(NotReady))?;
    progress(0);
    let started_ns = [exchange_started_ns, t2t_setup::monotonic_ns()];
    let setup = trader(ready);
    let transport = setup.trader.transport;
    let mut trader_side =
        ChildProcess::start(hosts, Role::Trader, &trader_page, transport, &setup)?;

    let mut deadline = Instant::now() + length(&exchange.load) + TIMEOUT;
    let mut asked = false;
    let outcome: ExchangeOutcome = loop {
        match exchange_side.poll_line(POLL_INTERVAL)? {
            Some(outcome) => break outcome,
            None => progress(page.ticks()),
        }
        if let Some(words) = trader_side.failed()? {
            bail!("trader: {words}");
        }
        if signals.stop_requested() && !asked {
            // The exchange alone: it receives the last orders, then terminates the session.
            page.request_stop();
            deadline = Instant::now() + TIMEOUT;
            asked = true;
        }
        if Instant::now() > deadline {
            bail!("cannot end the row: no report from the exchange in time");
        }
    };
    progress(page.ticks());
    trader_side.request_stop(&trader_page);
    let trader: TraderOutcome = trader_side.line(TIMEOUT)?;
    trader_side.end()?;
    exchange_side.end()?;
    let start = StartTimes::new(started_ns, &outcome.start, &trader.start);
    Ok(Outcome { exchange: outcome, trader, start })
}

/// Returns how long a row's ticks take if none waits.
fn length(load: &Load) -> Duration {
    let ticks = load.warm_up + load.samples;
    // Without a pause the exchange sends as fast as it can: a tick takes well under 100 us.
    Duration::from_micros(ticks.saturating_mul(load.interval_us.max(100)))
}
