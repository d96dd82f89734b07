//! `hairpin pong`: answers the pings of this or other hosts.

mod arguments;
pub(crate) mod child;
mod datagrams;
mod pause;
mod raw_answers;
mod received;
mod server;
mod streams;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use hairpin_endpoint::{TcpListener, UdpSocket};
use hairpin_host::Clock;
use hairpin_reactor::Wait;
use hairpin_xdp::ReceiveStamps;

pub(crate) use arguments::{Arguments, SlownessArguments};
use datagrams::{Datagrams, FLOOD_BATCH};
#[cfg(test)]
pub(crate) use pause::Pause;
pub(crate) use pause::{Slowness, Stall};
use raw_answers::RawAnswers;
pub(crate) use received::Received;
use server::{Desk, Serve, Server};
use streams::Streams;

use crate::ping::{
    Multicast, Place, PongOutcome, PongReady, PongSetup, Protocol, answers_to,
    datagrams as options, raw_frame,
};
use crate::raw_port::RawPort;
use crate::signals::Signals;
use crate::way::{Room, Way};

/// Serves until a signal comes.
///
/// # Errors
/// An address that cannot be listened on, a core that cannot be used.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let setup = arguments.setup()?;
    let signals = Signals::take()?;
    let listening = |PongReady { place, way }| {
        let protocol = setup.protocol.name();
        let done = if setup.is_flood { "counts floods" } else { "answers" };
        way.map_or(Ok(()), |way| writeln!(std::io::stderr(), "{way}"))?;
        writeln!(std::io::stdout(), "pong {done} by {protocol} at {place}").map_err(Into::into)
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
    listening: impl FnOnce(PongReady) -> Result<()>,
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
            let way = Way::open(&setup.transport, &setup.device, Room::Usual, ReceiveStamps::Off)?;
            let socket = UdpSocket::bind_with(way.transport(), address, options)?;
            let at = PongReady::at(socket.local_address());
            let server =
                Server::new(wait, desk, |reactor| Ok(Datagrams::new(socket, size, reactor)?))?;
            let server = server.by(way);
            finish(server, title, at, listening, asked_to_stop, flooded)
        }
        Protocol::Multicast => {
            let way = Way::open(&setup.transport, &setup.device, Room::Usual, ReceiveStamps::Off)?;
            let (answers, interface) = (answers_to(address), setup.interface);
            let socket = Multicast::open(address, answers, interface, way.transport(), options)?;
            let server =
                Server::new(wait, desk, |reactor| Ok(Datagrams::new(socket, size, reactor)?))?;
            let server = server.by(way);
            finish(server, title, PongReady::at(address), listening, asked_to_stop, flooded)
        }
        Protocol::Tcp => {
            let listener = TcpListener::bind(address)?;
            let at = PongReady::at(listener.local_address());
            let server = Server::new(wait, desk, |reactor| Ok(Streams::new(listener, reactor)?))?;
            finish(server, title, at, listening, asked_to_stop, flooded)
        }
        Protocol::Raw => {
            let port = RawPort::open(&setup.device, &setup.transport, raw_frame::ETHER_TYPE)?;
            let place = Place::of_raw(Some(port.own.0));
            let at = PongReady { place, way: Some(port.way.clone()) };
            let server = Server::new(wait, desk, |reactor| Ok(RawAnswers::new(port, reactor)?))?;
            finish(server, title, at, listening, asked_to_stop, flooded)
        }
    }
}

fn finish<S: Serve>(
    mut server: Server<S>,
    title: &str,
    at: PongReady,
    listening: impl FnOnce(PongReady) -> Result<()>,
    asked_to_stop: impl Fn() -> bool,
    flooded: impl FnMut(Received),
) -> Result<PongOutcome> {
    let place = at.place;
    server.publish(&format!("{title} --listen {place}"));
    listening(at)?;
    server.run(asked_to_stop, flooded).map_err(|error| anyhow!("{place}: {error}"))?;
    let flood = server.desk.is_flood.then(|| server.desk.tally.take());
    let counts = server.desk.counts;
    Ok(PongOutcome { answered: counts.answered, refused: counts.refused, flood })
}
