//! The sockets of all sessions, on one thread.
//!
//! Each session reads the journal at its own pace, so that a slow client delays no other one. A
//! client that accepts no bytes for some time is disconnected.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration as StdDuration;

use anyhow::{Context, Result};
use hairpin_host::{Clock, stop_signal};
use hairpin_time::{Duration, Now};

use super::converter::Converter;
use super::link::Link;
use super::session::Session;
use crate::fix::{Message, Scan, scan};

/// The wait of the loop if nothing happens.
const IDLE: StdDuration = StdDuration::from_millis(2);
/// The most bytes read from a client before they are processed.
const INPUT_MAX: usize = 1 << 17;
/// Bytes that wait for a client above which none of its messages are read.
const OUTPUT_MAX: usize = 1 << 18;
/// How long a client may accept nothing.
const STALL: Duration = Duration::from_secs(30);
/// How long a connection may exist without a Logon.
const LOGON_TIMEOUT: Duration = Duration::from_secs(10);
/// The most connections without a Logon.
const STRANGERS_MAX: usize = 16;

/// A connection.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    input: Vec<u8>,
    since: hairpin_time::Instant,
    /// `true` if the peer has closed or reset the connection.
    closed: bool,
    /// The number of garbled messages.
    garbled: u64,
}

/// The listener and the connections.
pub(super) struct Acceptor {
    listener: TcpListener,
    clock: Clock,
    /// Connections before their Logon.
    strangers: Vec<Connection>,
    /// The sessions, with their connection.
    sessions: Vec<(Session, Option<Connection>)>,
    converter: Converter,
}

impl Acceptor {
    /// Binds the address.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn bind(
        address: SocketAddr,
        sessions: Vec<Session>,
        converter: Converter,
    ) -> Result<Self> {
        let listener =
            TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
        listener.set_nonblocking(true)?;
        let sessions = sessions.into_iter().map(|session| (session, None)).collect();
        Ok(Self {
            listener,
            clock: Clock::from_kernel(),
            strangers: Vec::new(),
            sessions,
            converter,
        })
    }

    /// Returns the address, with the port that the system has chosen.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Serves clients until a signal asks the process to stop, then logs them out.
    ///
    /// # Errors
    /// Those of the stores: a number that is not on disk must not be used.
    pub(super) fn run(mut self) -> Result<()> {
        while stop_signal().is_none() {
            let now = self.clock.now();
            self.clock.recalibrate_if_due(now.monotonic);
            let mut is_busy = self.accept(now);
            for (session, connection) in &mut self.sessions {
                is_busy |= process(now, session, connection, &mut self.converter)?;
            }
            is_busy |= self.admit(now)?;
            if !is_busy {
                thread::sleep(IDLE);
            }
        }
        let now = self.clock.now();
        for (session, connection) in &mut self.sessions {
            session.end(now, "the drop copy is stopped")?;
            process(now, session, connection, &mut self.converter)?;
        }
        Ok(())
    }

    /// Accepts connections.
    fn accept(&mut self, now: Now) -> bool {
        let Ok((stream, peer)) = self.listener.accept() else { return false };
        if self.strangers.len() >= STRANGERS_MAX {
            super::log(format_args!("{peer}: refused: too many connections without a Logon"));
            return true;
        }
        let is_ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        if let Err(error) = is_ready {
            super::log(format_args!("{peer}: refused: {error}"));
            return true;
        }
        let (since, input) = (now.monotonic, Vec::new());
        let (closed, garbled) = (false, 0);
        self.strangers.push(Connection { stream, peer, input, since, closed, garbled });
        true
    }

    /// Gives connections with a complete first message to their sessions.
    fn admit(&mut self, now: Now) -> Result<bool> {
        let mut is_busy = false;
        let mut at = 0;
        while let Some(stranger) = self.strangers.get_mut(at) {
            is_busy |= stranger.read();
            stranger.skip_garbled();
            if let Scan::Message(length) = scan(&stranger.input) {
                let connection = self.strangers.swap_remove(at);
                self.log_on(now, connection, length)?;
                is_busy = true;
            } else if stranger.closed
                || stranger.garbled > 0
                || now.monotonic.saturating_since(stranger.since) > LOGON_TIMEOUT
            {
                super::log(format_args!("{}: closed: no Logon", stranger.peer));
                self.strangers.swap_remove(at);
            } else {
                at += 1;
            }
        }
        Ok(is_busy)
    }

    fn log_on(&mut self, now: Now, connection: Connection, length: usize) -> Result<()> {
        let peer = connection.peer;
        let message = Message(&connection.input[..length]);
        let session = self.sessions.iter_mut().find(|(session, _)| session.accepts(&message));
        match session {
            _ if message.msg_type() != b"A" => {
                super::log(format_args!("{peer}: closed: the first message is not a Logon"));
            }
            None => {
                let [client, ours] = [49, 56].map(|tag| message.text(tag));
                super::log(format_args!(
                    "{peer}: closed: no session {client:?} to {ours:?}: --fix-client names clients"
                ));
            }
            Some((session, Some(_))) => {
                super::log(format_args!("{peer}: closed: {} is logged on", session.client()));
            }
            Some((session, to @ None)) => {
                super::log(format_args!("{}: connected from {peer}", session.client()));
                session.link = Some(Link::new(now.monotonic));
                *to = Some(connection);
                process(now, session, to, &mut self.converter)?;
            }
        }
        Ok(())
    }
}

/// Reads, processes, and writes what a session has to send. Returns `true` if anything happened.
fn process(
    now: Now,
    session: &mut Session,
    slot: &mut Option<Connection>,
    converter: &mut Converter,
) -> Result<bool> {
    let Some(connection) = slot else { return Ok(false) };
    let waiting = session.link.as_ref().map_or(0, |link| link.waiting().len());
    let mut is_busy = waiting < OUTPUT_MAX && connection.read();
    loop {
        connection.skip_garbled();
        let Scan::Message(length) = scan(&connection.input) else { break };
        session.handle_message(now, &Message(&connection.input[..length]))?;
        connection.input.drain(..length);
    }
    session.handle_timeout(now)?;
    is_busy |= session.fill(now, converter)?;
    session.sync()?;
    let client = session.client().to_owned();
    let Some(link) = &mut session.link else { return Ok(is_busy) };
    while !link.waiting().is_empty() && !connection.closed {
        match connection.stream.write(link.waiting()) {
            Ok(count) if count > 0 => link.wrote(now.monotonic, count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => connection.closed = true,
        }
        is_busy = true;
    }
    let is_stalled = link.stalled_for(now.monotonic) > STALL;
    if is_stalled {
        super::log(format_args!("{client}: connection closed: it reads nothing for {STALL}"));
    } else if connection.closed && !link.closing {
        super::log(format_args!("{client}: connection closed by the client"));
    }
    if is_stalled || connection.closed || link.closing && link.waiting().is_empty() {
        session.link = None;
        *slot = None;
    }
    Ok(is_busy)
}

impl Connection {
    /// Reads what has arrived. Returns `true` if that is anything.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 1 << 14];
        let mut has_read = false;
        while self.input.len() < INPUT_MAX && !self.closed {
            match self.stream.read(&mut buffer) {
                Ok(count) if count > 0 => {
                    self.input.extend_from_slice(&buffer[..count]);
                    has_read = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => self.closed = true,
            }
        }
        has_read
    }

    /// Removes bytes that are no message: FIX ignores garbled messages. Logs the first, second,
    /// fourth and so on.
    fn skip_garbled(&mut self) {
        while let Scan::Garbled(length) = scan(&self.input) {
            self.garbled += 1;
            if self.garbled.is_power_of_two() {
                let Self { peer, garbled, .. } = self;
                super::log(format_args!(
                    "{peer}: garbled message {garbled} ignored: {length} bytes"
                ));
            }
            self.input.drain(..length);
        }
    }
}
