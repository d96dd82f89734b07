//! The trader of one `t2t` row: its set-up comes on standard input, its counts go out.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_time::Instant;
use hairpin_xdp::ReceiveStamps;

use super::counters;
pub(crate) use crate::harness::t2t_setup::ChildArguments as Arguments;
use crate::harness::t2t_setup::{self, TraderChildSetup, TraderOutcome, TraderStart};
use crate::harness::signals::Signals;
use crate::trader::{Counts, Turn};
use crate::harness::datapath::{Room, Way};

/// Runs the trader that standard input describes.
///
/// # Errors
/// No such core, a bad key, an interface that joins no group, a logon that is refused.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<TraderChildSetup>()?;
    let signals = Signals::take_as_child()?;
    let began_ns = t2t_setup::monotonic_ns();
    let addresses = setup.market_data.addresses(setup.interface, &setup.sources);
    let mut way =
        Way::at(&setup.trader.transport, setup.interface, Room::Ample, ReceiveStamps::Off)?;
    let mut trader = super::open(&setup.trader, addresses, &way)?;
    let mut live = counters::publish("t2t-trader", &setup.trader, &trader);
    let asked_to_stop = || page.asked_to_stop() || signals.asked_to_stop();
    let opened_ns = t2t_setup::monotonic_ns();
    let watch = |turn: &Turn<'_>| {
        way.tell_if_due(turn.now, turn.is_quiet);
        counters::update(&mut live, turn);
    };
    let counts = trader.run(asked_to_stop, watch)?;
    let in_sync_ns = counts.in_sync_at.map(Instant::as_nanos);
    t2t_setup::say(&outcome(counts, TraderStart { began_ns, opened_ns, in_sync_ns }))?;
    Ok(ExitCode::SUCCESS)
}

fn outcome(counts: Counts, start: TraderStart) -> TraderOutcome {
    let Counts {
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
