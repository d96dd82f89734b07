//! The trader process of one `t2t` row.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::child_protocol::{self, ChildArgs};
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::t2t_setup::{self, TraderChildSetup, TraderOutcome, TraderStart};
use hairpin_time::Instant;
use hairpin_xdp::ReceiveStamps;

use crate::strategy::TraderCounts;

/// Runs the trader whose setup is on standard input.
///
/// # Errors
/// A core that cannot be used, an invalid key, an interface that cannot join a group, a rejected
/// logon.
pub fn run(arguments: &ChildArgs) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<TraderChildSetup>()?;
    let signals = Signals::take_as_child()?;
    let began_ns = t2t_setup::monotonic_ns();
    let addresses = setup.market_data.addresses(setup.interface, &setup.sources);
    let transport = OpenTransport::open_at(
        &setup.trader.transport.for_tcp(),
        setup.interface,
        BufferSize::Large,
        ReceiveStamps::Off,
    )?;
    let mut task = super::open(&setup.trader, addresses, &transport)?;
    let stop_requested = || page.stop_requested() || signals.stop_requested();
    let opened_ns = t2t_setup::monotonic_ns();
    let counts =
        super::run_trader(&mut task, "t2t-trader", &setup.trader, transport, stop_requested)?;
    let in_sync_ns = counts.in_sync_at.map(Instant::as_nanos);
    child_protocol::print_line(&outcome(counts, TraderStart { began_ns, opened_ns, in_sync_ns }))?;
    Ok(ExitCode::SUCCESS)
}

fn outcome(counts: TraderCounts, start: TraderStart) -> TraderOutcome {
    let TraderCounts {
        orders,
        acknowledgements,
        cancels,
        rejects,
        gaps,
        first_gap,
        unsynced,
        errors,
        first_error,
        kernel_drops,
        packets,
        in_sync_at: _,
    } = counts;
    TraderOutcome {
        orders,
        acknowledgements,
        cancels,
        rejects,
        gaps,
        first_gap,
        unsynced,
        errors,
        first_error,
        kernel_drops,
        packets,
        start,
    }
}
