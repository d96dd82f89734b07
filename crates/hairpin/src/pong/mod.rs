//! `hairpin pong`: answers the pings of this or other hosts.

mod arguments;
pub(crate) mod child;
mod datagrams;
mod pause;
mod received;
mod server;
mod streams;

use std::io::Write;
use std::net::SocketAddrV4;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use hairpin_endpoint::{TcpListener, UdpSocket};
use hairpin_host::Clock;
use hairpin_reactor::Wait;

pub(crate) use arguments::{Arguments, SlownessArguments};
use datagrams::{Datagrams, FLOOD_BATCH};
#[cfg(test)]
pub(crate) use pause::Pause;
pub(crate) use pause::{Slowness, Stall};
pub(crate) use received::Received;
use server::{Desk, Serve, Server};
use streams::Streams;

use crate::ping::{Multicast, PongOutcome, PongSetup, Protocol, answers_to, datagrams as options};
use crate::signals::Signals;

/// Serves until a signal comes.
///
/// # Errors
/// An address that cannot be listened on, a core that cannot be used.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let setup = arguments.setup()?;
    let signals = Signals::take()?;
    let listening = |address: SocketAddrV4| {
        let protocol = setup.protocol.name();
        let done = if setup.is_flood { "counts floods" } else { "answers" };
        writeln!(std::io::stdout(), "pong {done} by {protocol} at {address}").map_err(Into::into)
    };
    // Whoever reads this may have read enough; the pong goes on.
    let flooded = |flood| drop(write!(std::io::stdout(), "{}", describe(&flood)));
    let outcome = serve(&setup, listening, || signals.asked_to_stop(), flooded)?;
    match outcome.flood {
        Some(Received { messages: 0, .. }) => {}
        Some(flood) => write!(std::io::stdout(), "{}", describe(&flood))?,
        None => {
            let PongOutcome { answered, refused, .. } = outcome;
            writeln!(std::io::stdout(), "{answered} answered, {refused} answers refused")?;
        }
    }
    Ok(signals.exit_status().unwrap_or(ExitCode::SUCCESS))
}

/// A flood that is over, for a person: its rate, what is missing, and each second.
fn describe(flood: &Received) -> String {
    let Received { messages, nanos, by_second, numbered, .. } = flood;
    let per_second = *messages as f64 / (*nanos).max(1) as f64 * 1e9;
    let lost = numbered.saturating_sub(*messages);
    let mut text = format!("{messages} messages, {per_second:.0} messages/s, {lost} missing\n");
    for (second, messages) in by_second.iter().enumerate() {
        text += &format!("  second {}: {messages} messages\n", second + 1);
    }
    text
}

/// Opens what `setup` asks for, says where that is, and serves until told to stop.
///
/// # Errors
/// Those of opening it; the network's; `listening`'s.
fn serve(
    setup: &PongSetup,
    listening: impl FnOnce(SocketAddrV4) -> Result<()>,
    asked_to_stop: impl Fn() -> bool,
    flooded: impl FnMut(Received),
) -> Result<PongOutcome> {
    hairpin_host::set_timer_slack(hairpin_time::Duration::from_nanos(1))?;
    hairpin_host::name_thread("pong")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let wait: Wait = setup.wait.parse()?;
    let title = &format!("pong --protocol {} --wait {wait}", setup.protocol.name());
    let desk = Desk::new(Clock::new(), setup.slowness, setup.is_flood);
    let batch = if setup.is_flood { FLOOD_BATCH } else { 1 };
    let (size, address) = (setup.size_max, setup.address);
    let options = options(size, batch);
    match setup.protocol {
        Protocol::Udp => {
            let socket = UdpSocket::bind(address, options)?;
            let at = socket.local_address();
            let server =
                Server::new(wait, desk, |reactor| Ok(Datagrams::new(socket, size, reactor)?))?;
            finish(server, title, at, listening, asked_to_stop, flooded)
        }
        Protocol::Multicast => {
            let socket = Multicast::open(address, answers_to(address), setup.interface, options)?;
            let server =
                Server::new(wait, desk, |reactor| Ok(Datagrams::new(socket, size, reactor)?))?;
            finish(server, title, address, listening, asked_to_stop, flooded)
        }
        Protocol::Tcp => {
            let listener = TcpListener::bind(address)?;
            let at = listener.local_address();
            let server = Server::new(wait, desk, |reactor| Ok(Streams::new(listener, reactor)?))?;
            finish(server, title, at, listening, asked_to_stop, flooded)
        }
    }
}

fn finish<S: Serve>(
    mut server: Server<S>,
    title: &str,
    at: SocketAddrV4,
    listening: impl FnOnce(SocketAddrV4) -> Result<()>,
    asked_to_stop: impl Fn() -> bool,
    flooded: impl FnMut(Received),
) -> Result<PongOutcome> {
    server.publish(&format!("{title} --listen {at}"));
    listening(at)?;
    server.run(asked_to_stop, flooded).map_err(|error| anyhow!("{at}: {error}"))?;
    let flood = server.desk.is_flood.then(|| server.desk.tally.take());
    let counts = server.desk.counts;
    Ok(PongOutcome { answered: counts.answered, refused: counts.refused, flood })
}
