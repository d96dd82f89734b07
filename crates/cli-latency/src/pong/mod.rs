//! `hairpin pong`: answers the pings of this or other hosts.

mod args;
pub mod child;
mod flood_stats;
mod raw_responder;
mod response_delay;
mod server;
mod tcp_responder;
mod udp_responder;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use hairpin_endpoint::{TcpListener, UdpSocket};
use hairpin_host::Clock;
use hairpin_measure::counted;
use hairpin_reactor::Wait;
use hairpin_xdp::ReceiveStamps;

pub use args::PongArgs;
pub(crate) use args::{DEFAULT_PORT, SlownessArgs};
pub(crate) use flood_stats::FloodReceived;
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::raw_port::RawPort;
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::stdout;
use hairpin_cli_harness::transport::TransportArgs;
use raw_responder::RawResponder;
#[cfg(test)]
pub(crate) use response_delay::ResponseDelay;
pub(crate) use response_delay::{Slowness, Stall};

use server::{PongServer, PongState, Responder};
use tcp_responder::TcpResponder;
use udp_responder::{FLOOD_BATCH, UdpResponder};

use crate::ping::rds_transport::{self, RdsTransport};
use crate::ping::{
    Multicast, PongAddress, PongOutcome, PongReady, PongSetup, Protocol, answers_to,
    datagrams as options, raw_frame,
};

/// Serves until a signal.
///
/// # Errors
/// An address that cannot be used, a core that cannot be used.
pub fn run(arguments: &PongArgs) -> Result<ExitCode> {
    let setup = arguments.setup()?;
    let signals = Signals::take()?;
    let listening = |PongReady { place, datapath }| {
        let protocol = setup.protocol.name();
        let done = if setup.is_flood { "counts floods" } else { "answers" };
        datapath.map_or(Ok(()), |datapath| writeln!(std::io::stderr(), "{datapath}"))?;
        writeln!(stdout::lock(), "pong {done} over {protocol} at {place}").map_err(Into::into)
    };
    // A closed standard output does not stop the pong.
    let flooded = |flood| drop(write!(stdout::lock(), "{}", describe(&flood)));
    let outcome = serve(&setup, listening, || signals.stop_requested(), flooded)?;
    match outcome.flood {
        Some(FloodReceived { messages: 0, .. }) => {}
        Some(flood) => write!(stdout::lock(), "{}", describe(&flood))?,
        None => {
            let PongOutcome { answered, refused, .. } = outcome;
            writeln!(
                stdout::lock(),
                "{answered} answered, {} refused",
                counted(refused, "answer")
            )?;
        }
    }
    Ok(signals.exit_status().unwrap_or(ExitCode::SUCCESS))
}

/// Describes a flood that has ended: its rate, missing messages, and each second.
fn describe(flood: &FloodReceived) -> String {
    let FloodReceived { messages, nanos, by_second, numbered, .. } = flood;
    let per_second = *messages as f64 / (*nanos).max(1) as f64 * 1e9;
    let lost = numbered.saturating_sub(*messages);
    let mut text = counted(*messages, "message");
    text += &format!(", {per_second:.0} messages/s, {lost} missing\n");
    for (second, messages) in by_second.iter().enumerate() {
        text += &format!("  second {}: {}\n", second + 1, counted(*messages, "message"));
    }
    text
}

/// Opens the sockets of `setup`, reports their addresses to `listening`, and serves until stopped.
///
/// # Errors
/// Those of opening and of the network; those of `listening`.
fn serve(
    setup: &PongSetup,
    listening: impl FnOnce(PongReady) -> Result<()>,
    stop_requested: impl Fn() -> bool,
    flooded: impl FnMut(FloodReceived),
) -> Result<PongOutcome> {
    hairpin_host::set_timer_slack(hairpin_time::Duration::from_nanos(1))?;
    hairpin_host::name_thread("pong")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let wait: Wait = setup.wait.parse()?;
    let title = &format!("pong --protocol {} --wait {wait}", setup.protocol.name());
    let state = PongState::new(Clock::new(), setup.slowness, setup.is_flood);
    let batch = if setup.is_flood { FLOOD_BATCH } else { 1 };
    let (size, address) = (setup.size_max, setup.address);
    let options = options(size, batch);
    match setup.protocol {
        Protocol::Udp => {
            let datapath = open_transport(&setup.transport, &setup.device)?;
            let socket = UdpSocket::bind_with(datapath.transport(), address, options)?;
            let at = PongReady::new(socket.local_address());
            let server = PongServer::new(wait, state, |reactor| {
                Ok(UdpResponder::new(socket, size, reactor)?)
            })?;
            let server = server.with_transport(datapath);
            finish(server, title, at, listening, stop_requested, flooded)
        }
        Protocol::Multicast => {
            let datapath = open_transport(&setup.transport, &setup.device)?;
            let (answers, interface) = (answers_to(address), setup.interface);
            let socket =
                Multicast::open(address, answers, interface, datapath.transport(), options)?;
            let server = PongServer::new(wait, state, |reactor| {
                Ok(UdpResponder::new(socket, size, reactor)?)
            })?;
            let server = server.with_transport(datapath);
            finish(server, title, PongReady::new(address), listening, stop_requested, flooded)
        }
        Protocol::Tcp => {
            let datapath = open_transport(&setup.transport.for_tcp(), &setup.device)?;
            let listener = TcpListener::bind_with(datapath.transport(), address)?;
            let at = PongReady::new(listener.local_address());
            let server =
                PongServer::new(wait, state, |reactor| Ok(TcpResponder::new(listener, reactor)?))?;
            let server = server.with_transport(datapath);
            finish(server, title, at, listening, stop_requested, flooded)
        }
        Protocol::Rds | Protocol::RdsEthernet => {
            let (socket, datapath, at) = open_rds(setup)?;
            let server = PongServer::new(wait, state, |reactor| {
                Ok(UdpResponder::new(socket, size, reactor)?)
            })?;
            let server = server.with_transport(datapath);
            finish(server, title, at, listening, stop_requested, flooded)
        }
        Protocol::Raw => {
            let port = RawPort::open(&setup.device, &setup.transport, raw_frame::ETHER_TYPE)?;
            let place = PongAddress::raw(Some(port.own.0));
            let at = PongReady { place, datapath: Some(port.datapath.clone()) };
            let server =
                PongServer::new(wait, state, |reactor| Ok(RawResponder::new(port, reactor)?))?;
            finish(server, title, at, listening, stop_requested, flooded)
        }
    }
}

/// Opens a transport without receive timestamps.
///
/// # Errors
/// Those of the stack.
fn open_transport(args: &TransportArgs, device: &str) -> Result<OpenTransport> {
    OpenTransport::open(args, device, BufferSize::Default, ReceiveStamps::Off)
}

/// Opens a socket for reliable datagrams, and describes where it listens.
///
/// # Errors
/// Those of the carrier.
fn open_rds(setup: &PongSetup) -> Result<(RdsTransport, OpenTransport, PongReady)> {
    let is_ethernet = setup.protocol == Protocol::RdsEthernet;
    let kernel = TransportArgs::default();
    let udp = if is_ethernet { &kernel } else { &setup.transport };
    let datapath = open_transport(udp, &setup.device)?;
    let carrier =
        rds_transport::carrier(is_ethernet, &setup.transport, &setup.device, datapath.transport());
    let socket = RdsTransport::bind(&carrier, setup.address, setup.size_max)?;
    let place = PongAddress::from(socket.local_address());
    let at = PongReady { place, datapath: is_ethernet.then(|| socket.describe()) };
    Ok((socket, datapath, at))
}

fn finish<S: Responder>(
    mut server: PongServer<S>,
    title: &str,
    at: PongReady,
    listening: impl FnOnce(PongReady) -> Result<()>,
    stop_requested: impl Fn() -> bool,
    flooded: impl FnMut(FloodReceived),
) -> Result<PongOutcome> {
    let place = at.place;
    server.publish(&format!("{title} --listen {place}"));
    listening(at)?;
    server.run(stop_requested, flooded).map_err(|error| anyhow!("{place}: {error}"))?;
    let flood = server.state.is_flood.then(|| server.state.tally.take());
    let counts = server.state.counts;
    counts.print_unusual(&place)?;
    Ok(PongOutcome { answered: counts.answered, refused: counts.refused, flood })
}
