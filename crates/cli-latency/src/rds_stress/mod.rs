//! `hairpin rds-stress`: exchanges messages between many reliable datagram sockets of two hosts.

mod args;
mod control;
mod message;
mod session;
mod statistics;
mod task;

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hairpin_endpoint::rds::{RdsSocket, RdsTransport};
use hairpin_measure::counted;
use hairpin_xdp::ReceiveStamps;

pub use args::RdsStressArgs;
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::output;
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::stdout;
use hairpin_cli_harness::transport::TransportArgs;

use control::{Answer, Control, Interrupted, POLL_INTERVAL, Request, TIMEOUT, VERSION};
use session::Session;
use statistics::Totals;

use crate::ping::rds_transport;

/// Runs one side.
///
/// # Errors
/// No listening side; an address or interface that cannot be used; a message that is missing, out
/// of order or changed.
pub fn run(arguments: &RdsStressArgs) -> Result<ExitCode> {
    arguments.check()?;
    let signals = Signals::take()?;
    let side = Side::open(arguments)?;
    let ended = match (arguments.remote, arguments.listen) {
        (Some(remote), _) => side.connect(remote, &signals),
        (None, Some(listen)) => side.listen(listen, &signals),
        (None, None) => bail!("no address"),
    };
    match ended {
        Ok(()) => Ok(signals.exit_status().unwrap_or(ExitCode::SUCCESS)),
        // A session that never started has nothing to report.
        Err(error) if error.is::<Interrupted>() => {
            Ok(signals.exit_status().unwrap_or(ExitCode::FAILURE))
        }
        Err(error) => Err(error),
    }
}

/// A side of the sessions, with the carrier of its sockets.
struct Side<'a> {
    arguments: &'a RdsStressArgs,
    transport: OpenTransport,
    carrier: RdsTransport,
}

impl<'a> Side<'a> {
    fn open(arguments: &'a RdsStressArgs) -> Result<Self> {
        let device = arguments.interface.as_deref().unwrap_or_default();
        let kernel = TransportArgs::default();
        let udp = if arguments.ethernet { &kernel } else { &arguments.transport };
        let transport = OpenTransport::open(udp, device, BufferSize::Default, ReceiveStamps::Off)?;
        let carrier = rds_transport::carrier(
            arguments.ethernet,
            &arguments.transport,
            device,
            transport.transport(),
        );
        Ok(Self { arguments, transport, carrier })
    }

    /// Returns the title of the live counters.
    fn title(&self, place: SocketAddr) -> String {
        let wait = self.arguments.wait;
        match self.arguments.listen {
            Some(_) => format!("rds-stress --wait {wait} --listen {place}"),
            None => format!("rds-stress {place} --wait {wait}"),
        }
    }

    /// Connects to the listening side and runs a session.
    fn connect(&self, remote: SocketAddr, signals: &Signals) -> Result<()> {
        let stream = TcpStream::connect_timeout(&remote, TIMEOUT)
            .with_context(|| format!("cannot connect to {remote}"))?;
        let mut control = Control::new(stream)?;
        let parameters = self.arguments.parameters();
        let local = SocketAddr::new(control.local_ip()?, 0);
        let sockets = session::bind(&self.carrier, local, &parameters)?;
        print_carrier(&sockets);
        let addresses = addresses(&sockets);
        control.send(&Request::Hello { version: VERSION, parameters, addresses })?;
        let peers = match control.wait(signals)? {
            Answer::Ready { addresses } => addresses,
            Answer::Refused { reason } => bail!("{remote}: {reason}"),
            Answer::Drained { .. } => bail!("{remote}: not an rds-stress of this version"),
        };
        if peers.len() != sockets.len() {
            bail!("{remote}: not an rds-stress of this version");
        }
        control.send(&Request::Start)?;
        let wait = self.arguments.wait;
        let session = Session::start(sockets, &peers, parameters, wait, &self.title(remote))?;
        self.lead(session, &mut control, signals)
    }

    /// Runs the session of the connecting side until its end.
    fn lead(&self, mut session: Session, control: &mut Control, signals: &Signals) -> Result<()> {
        let length = self.arguments.seconds.map(Duration::from_secs);
        while !signals.stop_requested() && length.is_none_or(|length| session.elapsed() < length) {
            self.poll(&mut session)?;
            // The listening side sends nothing, but its end is an error.
            if control.poll::<Answer>()?.is_some() {
                bail!("{}: not an rds-stress of this version", control.peer());
            }
        }
        session.print_average()?;
        session.drain();
        control.send(&Request::Drain)?;
        let deadline = Instant::now() + 2 * TIMEOUT;
        let mut theirs = None;
        while (theirs.is_none() || session.totals().unanswered() > 0) && Instant::now() < deadline {
            session.poll()?;
            if let Some(Answer::Drained { totals }) = control.poll()? {
                theirs = Some(totals);
            }
        }
        let ours = session.totals();
        session.end()?;
        control.send(&Request::End)?;
        let Some(theirs) = theirs else {
            bail!("{}: no totals within {:?}", control.peer(), 2 * TIMEOUT);
        };
        print_totals(&ours, &theirs)?;
        if ours.unanswered() + theirs.unanswered() > 0 {
            bail!("requests were not acknowledged within {:?}", 2 * TIMEOUT);
        }
        Ok(())
    }

    /// Listens for connecting sides, one after another.
    fn listen(&self, listen: SocketAddr, signals: &Signals) -> Result<()> {
        let listener =
            TcpListener::bind(listen).with_context(|| format!("cannot listen at {listen}"))?;
        listener.set_nonblocking(true)?;
        let place = listener.local_addr()?;
        let mut connections = Connections { listener, failed: false };
        writeln!(stdout::lock(), "rds-stress listens at {place}")?;
        while !signals.stop_requested() {
            let Some(control) = connections.accept() else {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            };
            let peer = control.peer();
            writeln!(stdout::lock(), "session with {peer}")?;
            if let Err(error) = self.serve(control, &mut connections, place, signals)
                && !signals.stop_requested()
            {
                writeln!(io::stderr(), "hairpin: {error:#}")?;
            }
        }
        Ok(())
    }

    /// Runs a session of the listening side.
    fn serve(
        &self,
        mut control: Control,
        connections: &mut Connections,
        place: SocketAddr,
        signals: &Signals,
    ) -> Result<()> {
        let Request::Hello { version, parameters, addresses: peers } = control.wait(signals)?
        else {
            bail!("{}: not an rds-stress of this version", control.peer());
        };
        if version != VERSION || !parameters.is_valid() || peers.len() != parameters.tasks {
            return refuse(&mut control, "other version or invalid parameters");
        }
        if self.arguments.ethernet && parameters.tasks > 1 {
            return refuse(&mut control, "--ethernet has one task");
        }
        let first = SocketAddr::new(control.local_ip()?, place.port());
        let sockets = match session::bind(&self.carrier, first, &parameters) {
            Ok(sockets) => sockets,
            Err(error) => return refuse(&mut control, &format!("{error:#}")),
        };
        print_carrier(&sockets);
        control.send(&Answer::Ready { addresses: addresses(&sockets) })?;
        let Request::Start = control.wait(signals)? else {
            bail!("{}: not an rds-stress of this version", control.peer());
        };
        let wait = self.arguments.wait;
        let session = Session::start(sockets, &peers, parameters, wait, &self.title(place))?;
        self.follow(session, &mut control, connections, signals)
    }

    /// Runs the session until the connecting side ends it.
    fn follow(
        &self,
        mut session: Session,
        control: &mut Control,
        connections: &mut Connections,
        signals: &Signals,
    ) -> Result<()> {
        let mut drain_until = None;
        while !signals.stop_requested() {
            self.poll(&mut session)?;
            if let Some(mut other) = connections.accept() {
                let reason = format!("busy with {}", control.peer());
                let _ = other.send(&Answer::Refused { reason });
            }
            match control.poll()? {
                Some(Request::Drain) => {
                    session.print_average()?;
                    session.drain();
                    drain_until = Some(Instant::now() + TIMEOUT);
                }
                Some(Request::End) => return session.end(),
                Some(_) => bail!("{}: not an rds-stress of this version", control.peer()),
                None => {}
            }
            let totals = session.totals();
            if drain_until.is_some_and(|until| totals.unanswered() == 0 || Instant::now() > until) {
                control.send(&Answer::Drained { totals })?;
                drain_until = None;
            }
        }
        session.print_average()
    }

    fn poll(&self, session: &mut Session) -> Result<()> {
        self.transport.print_notices();
        session.poll()
    }
}

/// Connections of connecting sides.
struct Connections {
    listener: TcpListener,
    /// `true` if the last attempt has failed, which was reported.
    failed: bool,
}

impl Connections {
    /// Accepts a connection if one is waiting. A failure, such as too many open files, is reported
    /// once; the connection waits until an attempt succeeds.
    fn accept(&mut self) -> Option<Control> {
        let accepted = match self.listener.accept() {
            Ok((stream, _)) => Control::new(stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            Err(error) => Err(error.into()),
        };
        match accepted {
            Ok(control) => {
                self.failed = false;
                Some(control)
            }
            Err(error) => {
                if !std::mem::replace(&mut self.failed, true) {
                    let line = format!("cannot accept a connection: {error:#}");
                    let _ = writeln!(io::stderr(), "hairpin: {line}");
                }
                None
            }
        }
    }
}

/// Reports the reason to the connecting side and to the caller.
fn refuse(control: &mut Control, reason: &str) -> Result<()> {
    control.send(&Answer::Refused { reason: reason.to_owned() })?;
    bail!("cannot start a session with {}: {reason}", control.peer())
}

fn addresses(sockets: &[RdsSocket]) -> Vec<SocketAddr> {
    sockets.iter().filter_map(RdsSocket::local_address).collect()
}

/// Prints the carrier of the first socket.
fn print_carrier(sockets: &[RdsSocket]) {
    if let Some(line) = sockets.first().and_then(RdsSocket::describe) {
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// Prints the messages of both sides.
fn print_totals(ours: &Totals, theirs: &Totals) -> io::Result<()> {
    let requests = ours.requests_sent + theirs.requests_sent;
    let lost = ours.unanswered() + theirs.unanswered();
    let requests = counted(requests, "request");
    output::print(&format!("{requests}, {lost} without an acknowledgment\n"))
}
