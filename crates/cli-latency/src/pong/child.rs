//! The pong process of one round of `ping`.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::child_protocol::{self, ChildArgs};
use hairpin_cli_harness::signals::Signals;

use crate::ping::{PongReady, PongSetup};

/// Serves until the parent requests a stop, and prints the counts.
///
/// # Errors
/// An address that cannot be used, a core that cannot be used.
pub fn run(arguments: &ChildArgs) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<PongSetup>()?;
    let signals = Signals::take_as_child()?;
    let listening = |ready: PongReady| child_protocol::print_line(&ready);
    let stop_requested = || page.stop_requested() || signals.stop_requested();
    // A flood with a silent interval in the middle is still one flood.
    let mut floods = Vec::new();
    let mut outcome = super::serve(&setup, listening, stop_requested, |flood| floods.push(flood))?;
    if let Some(last) = outcome.flood.take() {
        floods.push(last);
        outcome.flood = floods.into_iter().max_by_key(|flood| flood.messages);
    }
    child_protocol::print_line(&outcome)?;
    Ok(ExitCode::SUCCESS)
}
