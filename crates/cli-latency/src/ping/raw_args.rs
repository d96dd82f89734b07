//! The checks of `hairpin ping` arguments for raw frames.

use anyhow::Result;
use hairpin_cli_harness::usage::usage_error;

use super::args::PingArgs;
use super::setup::{Protocol, Stamping};
use crate::pong::Slowness;

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
        usage_error!("raw frames need --transport xdp");
    }
    if arguments.protocol.iter().any(|&protocol| protocol != Protocol::Raw) {
        usage_error!("raw frames have no addresses: --protocol raw must be the only protocol");
    }
    if let Some(remote) = arguments.remote {
        usage_error!(
            "raw frames have no address: use --interface IF and --peer MAC instead of \
                      {remote}"
        );
    }
    if arguments.connections > 1 {
        usage_error!("raw frames have no connections: --connections is for udp and tcp");
    }
    if arguments.timestamps != Stamping::None {
        usage_error!(
            "raw frames have no transmit timestamps: --timestamps is for the other protocols"
        );
    }
    arguments.interface.as_deref().map_or(Ok(()), |interface| check_elsewhere(arguments, interface))
}

/// Checks the arguments for a pong that runs elsewhere.
fn check_elsewhere(arguments: &PingArgs, interface: &str) -> Result<()> {
    if arguments.slowness() != Slowness::default() {
        usage_error!(
            "only the pong itself can be slowed: give --delay-ns to the pong at \
                      {interface}"
        );
    }
    if arguments.pong_wait.is_some() {
        usage_error!(
            "only the pong itself can choose its wait: give --wait to the pong at \
                      {interface}"
        );
    }
    if arguments.flood && arguments.peer.is_none() {
        usage_error!("a flood of raw frames needs one receiver: --peer MAC");
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
