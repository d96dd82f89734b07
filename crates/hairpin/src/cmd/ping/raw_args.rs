//! The checks of `hairpin ping` arguments for raw frames.

use anyhow::Result;

use super::args::PingArgs;
use super::setup::{Protocol, Stamping};
use crate::cmd::pong::Slowness;
use crate::harness::usage::usage_error;

/// Checks for arguments that conflict with raw frames.
///
/// # Errors
/// One line for each conflict.
pub(super) fn check(arguments: &PingArgs) -> Result<()> {
    let is_xdp = arguments.transport.is_xdp();
    if !arguments.is_raw() {
        return check_others(arguments);
    }
    if !is_xdp {
        usage_error!("raw frames go past the kernel: --transport xdp");
    }
    if arguments.protocol.iter().any(|&protocol| protocol != Protocol::Raw) {
        usage_error!("raw frames have no addresses: --protocol raw goes alone");
    }
    if let Some(remote) = arguments.remote {
        usage_error!("raw frames know no {remote}: --interface IF, and --peer MAC if it is known");
    }
    if arguments.connections > 1 {
        usage_error!("raw frames have no connections: --connections is for udp and tcp");
    }
    if arguments.timestamps != Stamping::None {
        usage_error!(
            "nobody stamps raw frames that leave: --timestamps is for the other protocols"
        );
    }
    arguments.interface.as_deref().map_or(Ok(()), |interface| check_elsewhere(arguments, interface))
}

/// Checks the arguments for a pong that runs elsewhere.
fn check_elsewhere(arguments: &PingArgs, interface: &str) -> Result<()> {
    if arguments.slowness() != Slowness::default() {
        usage_error!("the pong behind {interface} is told by its own words how slow to be");
    }
    if arguments.pong_wait.is_some() {
        usage_error!("the pong behind {interface} is told by its own words how to wait");
    }
    if arguments.flood && arguments.peer.is_none() {
        usage_error!("a flood of raw frames is for one host: --peer MAC");
    }
    Ok(())
}

/// Checks the arguments of the other protocols.
fn check_others(arguments: &PingArgs) -> Result<()> {
    if arguments.peer.is_some() {
        usage_error!("--peer is for --protocol raw");
    }
    Ok(())
}
