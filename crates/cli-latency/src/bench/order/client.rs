//! The client process of one round.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::child_protocol::{self, ChildArgs};
use hairpin_cli_harness::signals::Signals;
use hairpin_time::Duration;

use super::order_case::Subject;
use super::setup::ClientSetup;
use super::{bare_sockets, batch, closed_loop_session};
use crate::bench::run::calibrated;

/// Measures the round whose setup is on standard input.
///
/// # Errors
/// No such core or wait; a rejected logon; those of the network.
pub fn run(arguments: &ChildArgs) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<ClientSetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::set_timer_slack(Duration::from_nanos(1))?;
    hairpin_host::name_thread("trader")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let stop_requested = || page.stop_requested() || signals.stop_requested();
    // All times of a round are read from one clock, which is not recalibrated during the round.
    let clock = calibrated();
    let measure = match setup.subject {
        Subject::Gateway | Subject::BareGateway => closed_loop_session::measure,
        Subject::BareSockets => bare_sockets::measure,
        Subject::Batch => batch::measure,
    };
    let mut outcome = measure(&setup, &clock, &page, &stop_requested)?;
    outcome.interrupted = signals.stop_requested() || page.stop_requested();
    child_protocol::print_line(&outcome)?;
    Ok(ExitCode::SUCCESS)
}
