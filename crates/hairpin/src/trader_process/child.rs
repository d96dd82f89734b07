//! The trader of one `t2t` row: its set-up comes on standard input, its counts go out.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_feed_handler::{Addresses, Group, Lines, Multicast, TcpLines};

pub(crate) use crate::setup::ChildArguments as Arguments;
use crate::setup::{self, MarketData, TraderChildSetup, TraderOutcome};
use crate::signals::Signals;
use crate::trader::Counts;

/// Runs the trader that standard input describes.
///
/// # Errors
/// No such core, a bad key, an interface that joins no group, a logon that is refused.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<TraderChildSetup>()?;
    let signals = Signals::take_as_child()?;
    let mut trader = super::open(&setup.trader, addresses(&setup))?;
    let counts = trader.run(|| page.asked_to_stop() || signals.asked_to_stop())?;
    setup::say(&outcome(counts))?;
    Ok(ExitCode::SUCCESS)
}

fn addresses(setup: &TraderChildSetup) -> Addresses {
    let group = |address| Group::new(address, &setup.sources);
    let lines = |[a, b]: [_; 2]| Lines::both(group(a), group(b));
    let interface = setup.interface;
    match setup.market_data {
        MarketData::Multicast(groups) => Addresses::Multicast(Multicast {
            incremental: lines(groups.incremental),
            instrument: lines(groups.instrument),
            snapshot: lines(groups.snapshot),
            interface,
        }),
        MarketData::Tcp([a, b]) => Addresses::Tcp(TcpLines { a: Some(a), b: Some(b), interface }),
    }
}

fn outcome(counts: Counts) -> TraderOutcome {
    let Counts {
        orders,
        acknowledgements,
        cancels,
        rejects,
        gaps,
        unsynced,
        errors,
        first_error,
        kernel_drops,
        packets,
    } = counts;
    TraderOutcome {
        orders,
        acknowledgements,
        cancels,
        rejects,
        gaps,
        unsynced,
        errors,
        first_error,
        kernel_drops,
        packets,
    }
}
