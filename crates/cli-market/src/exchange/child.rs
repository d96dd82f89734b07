//! The exchange of one `t2t` row: reads its setup from standard input and runs one round.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::child_protocol::{self, ChildArgs};
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::t2t_setup::{self, ExchangeOutcome, ExchangeSetup, ExchangeStart, Ready};
use hairpin_host::Clock;
use hairpin_time::{Duration, Instant};
use hairpin_xdp::ReceiveStamps;

use super::counters;
use super::exchange_run::ExchangeRun;
use super::measurement::Measurement;
use super::open_exchange;
use super::trader_stats::TickCounts;

/// The limit for the trader to get in sync and log on.
const LOGON_TIMEOUT: Duration = Duration::from_secs(15);
/// The number of traders.
const TRADERS: u32 = 1;

/// Runs the row described on standard input.
///
/// # Errors
/// No free core, a busy port, a bad key, or no trader that logs on.
pub fn run(arguments: &ChildArgs) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<ExchangeSetup>()?;
    let began_ns = t2t_setup::monotonic_ns();
    let signals = Signals::take_as_child()?;
    let clock = Clock::new();
    let datapath = OpenTransport::open_at(
        &setup.transport.for_tcp(),
        setup.interface,
        BufferSize::Default,
        ReceiveStamps::Off,
    )?;
    let open = open_exchange::open(&setup, TRADERS, &clock, datapath)?;
    let listened_ns = t2t_setup::monotonic_ns();
    child_protocol::print_line(&Ready { gateway: open.gateway, market_data: open.market_data })?;

    let measurement = Measurement::new(clock, &setup.load, TRADERS);
    let title = counters::title("t2t-exchange", &setup, open.gateway);
    let parts = (open.exchange, open.reactor, open.datapath);
    let mut run = ExchangeRun::new(parts, measurement, setup.load, 1, Some(LOGON_TIMEOUT));
    run.publish(&title);
    run.round(|| page.stop_requested() || signals.stop_requested(), |ticks| page.set_ticks(ticks))?;
    let joined_ns = run.joined.map(Instant::as_nanos);
    let start = ExchangeStart { began_ns, listened_ns, joined_ns };
    let outcome = outcome(&run, &setup, start);
    run.finish()?;
    child_protocol::print_line(&outcome)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the rows and counts for the parent.
fn outcome(run: &ExchangeRun, setup: &ExchangeSetup, start: ExchangeStart) -> ExchangeOutcome {
    let trader = &run.measurement.traders()[0];
    let TickCounts { lost, orders, acknowledgements, cancels, rejects, .. } = trader.counts;
    let sockets = run.exchange.counters();
    ExchangeOutcome {
        rows: run.measurement.rows(trader, setup).into(),
        ticks: run.measurement.ticks(),
        lost,
        orders,
        acknowledgements,
        cancels,
        rejects,
        unexpected_orders: trader.counts.unexpected_orders + trader.counts.early_orders,
        refused_samples: trader.intended_to_order.refused(),
        lost_datagrams: sockets.lost_datagrams_a + sockets.lost_datagrams_b,
        muted_datagrams: [sockets.muted_a, sockets.muted_b],
        interrupted: run.interrupted,
        start,
    }
}
