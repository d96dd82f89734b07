//! The exchange of one `t2t` row: its set-up comes on standard input, one round is run.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_host::Clock;
use hairpin_time::{Duration, Instant};
use hairpin_xdp::ReceiveStamps;

use super::trader_stats::Counts;
use super::counters;
use super::measurement::Recording;
use super::exchange_run::Run;
use super::open_exchange;
pub(crate) use crate::harness::t2t_setup::ChildArguments as Arguments;
use crate::harness::t2t_setup::{self, ExchangeOutcome, ExchangeSetup, ExchangeStart, Ready};
use crate::harness::signals::Signals;
use crate::harness::datapath::{Room, Way};

/// For the trader to come in sync and log on.
const LOGON_PATIENCE: Duration = Duration::from_secs(15);
/// One trader trades.
const TRADERS: u32 = 1;

/// Runs the row that standard input describes.
///
/// # Errors
/// No free core, a busy port, a bad key, or no trader that logs on.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<ExchangeSetup>()?;
    let began_ns = t2t_setup::monotonic_ns();
    let signals = Signals::take_as_child()?;
    let clock = Clock::new();
    let way = Way::at(&setup.transport, setup.interface, Room::Usual, ReceiveStamps::Off)?;
    let venue = open_exchange::open(&setup, TRADERS, &clock, way)?;
    let listened_ns = t2t_setup::monotonic_ns();
    t2t_setup::say(&Ready { gateway: venue.gateway, market_data: venue.market_data })?;

    let recording = Recording::new(clock, &setup.load, TRADERS);
    let title = counters::title("t2t-exchange", &setup, venue.gateway);
    let parts = (venue.exchange, venue.reactor, venue.way);
    let mut run = Run::new(parts, recording, setup.load, 1, Some(LOGON_PATIENCE));
    run.publish(&title);
    run.round(|| page.asked_to_stop() || signals.asked_to_stop(), |ticks| page.tell_ticks(ticks))?;
    let joined_ns = run.joined.map(Instant::as_nanos);
    let start = ExchangeStart { began_ns, listened_ns, joined_ns };
    let outcome = outcome(&run, &setup, start);
    run.finish()?;
    t2t_setup::say(&outcome)?;
    Ok(ExitCode::SUCCESS)
}

/// The rows and counts, for the parent.
fn outcome(run: &Run, setup: &ExchangeSetup, start: ExchangeStart) -> ExchangeOutcome {
    let desk = &run.recording.desks()[0];
    let Counts { lost, orders, acknowledgements, cancels, rejects, .. } = desk.counts;
    let sockets = run.exchange.counters();
    ExchangeOutcome {
        rows: run.recording.rows(desk, setup).into(),
        ticks: run.recording.ticks(),
        lost,
        orders,
        acknowledgements,
        cancels,
        rejects,
        unexpected_orders: desk.counts.unexpected_orders + desk.counts.early_orders,
        refused_samples: desk.intended_to_order.refused(),
        lost_datagrams: sockets.lost_datagrams_a + sockets.lost_datagrams_b,
        muted_datagrams: [sockets.muted_a, sockets.muted_b],
        interrupted: run.interrupted,
        start,
    }
}
