//! The trader of one `t2t` row: its set-up comes on standard input, its counts go out.

use std::process::ExitCode;

use anyhow::Result;

use super::figures;
pub(crate) use crate::setup::ChildArguments as Arguments;
use crate::setup::{self, TraderChildSetup, TraderOutcome};
use crate::signals::Signals;
use crate::trader::Counts;

/// Runs the trader that standard input describes.
///
/// # Errors
/// No such core, a bad key, an interface that joins no group, a logon that is refused.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<TraderChildSetup>()?;
    let signals = Signals::take_as_child()?;
    let addresses = setup.market_data.addresses(setup.interface, &setup.sources);
    let mut trader = super::open(&setup.trader, addresses)?;
    let mut live = figures::publish("t2t-trader", &setup.trader, &trader);
    let asked_to_stop = || page.asked_to_stop() || signals.asked_to_stop();
    let counts = trader.run(asked_to_stop, |turn| figures::update(&mut live, turn))?;
    setup::say(&outcome(counts))?;
    Ok(ExitCode::SUCCESS)
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
