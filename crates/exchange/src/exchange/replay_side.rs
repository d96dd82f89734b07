//! The replay service on TCP: who has asked for packets, and what they have yet to take.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{Receive, Stream, TcpListener, TcpOptions};
use hairpin_reactor::{Interest, Reactor, Ready};
use hairpin_time::{Instant, Now};

use super::acceptor::{Accepted, Acceptor};
use super::connections::Connections;
use super::counters::ExchangeCounters;
use crate::{ConnectionId, ReplayId, ReplayServer, ReplaySettings};

/// Bytes of a request read at once.
const CHUNK_MAX: usize = 1 << 10;
/// Packets written to a connection in one turn: the market comes first.
const PACKETS: usize = 16;

/// A replay server, its listener and its connections.
#[derive(Debug)]
pub(super) struct ReplaySide {
    server: ReplayServer,
    acceptor: Acceptor,
    connections: Connections,
    /// By place: there is more to write, and whether there is room for it.
    waiting: Box<[Option<Room>]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// As far as is known.
    Some,
    /// The kernel has taken all it could.
    None,
}

impl ReplaySide {
    pub(super) fn new(
        settings: ReplaySettings,
        address: SocketAddrV4,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let options = TcpOptions { chunk_max: CHUNK_MAX, message_max: 0, ..TcpOptions::default() };
        let places = settings.sessions;
        Ok(Self {
            acceptor: Acceptor::new(listener, options, now, reactor)?,
            server: ReplayServer::new(settings),
            connections: Connections::new(places),
            waiting: vec![None; places as usize].into(),
        })
    }

    pub(super) fn server(&self) -> &ReplayServer {
        &self.server
    }

    pub(super) fn address(&self) -> SocketAddrV4 {
        self.acceptor.address()
    }

    /// A packet of the incremental feed leaves.
    pub(super) fn keep(&mut self, sequence: u32, packet: &[u8]) {
        self.server.keep(sequence, packet);
    }

    /// When [`ReplaySide::tend`] has something to do although nothing arrives.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        if self.waiting.contains(&Some(Room::Some)) {
            return Some(Instant::ZERO);
        }
        let deadlines = [self.acceptor.poll_timeout(), self.connections.poll_timeout()];
        deadlines.into_iter().flatten().min()
    }

    /// Reads requests, writes some packets, drops who has gone, and lets in who has come.
    pub(super) fn tend(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        for id in self.connections.places() {
            self.receive(id, ready, reactor)?;
            self.transmit(now, id, ready, reactor)?;
        }
        self.connections.linger(now.monotonic, ready, reactor)?;
        match self.acceptor.accept(now.monotonic, ready, reactor)? {
            Accepted::Nobody => {}
            Accepted::Failed => counters.failed_accepts += 1,
            Accepted::Stream(stream) => {
                // Without a place the stream is dropped, which closes it.
                let Some(ReplayId(place)) = self.server.handle_connected() else { return Ok(()) };
                if self.connections.insert(ConnectionId(place), stream, reactor).is_err() {
                    counters.failed_accepts += 1;
                    self.server.handle_closed(ReplayId(place));
                }
            }
        }
        Ok(())
    }

    fn receive(&mut self, id: ConnectionId, ready: Ready, reactor: &mut Reactor) -> io::Result<()> {
        let Some(connection) = self.connections.at(id) else { return Ok(()) };
        if !ready.is_readable(connection.token) {
            return Ok(());
        }
        let server = &mut self.server;
        let received = connection.stream.receive(1, |_, bytes| {
            server.handle_bytes(ReplayId(id.0), bytes);
        });
        if received.map_or(true, |received| received.closed) {
            self.forget(id);
            self.connections.drop(id, reactor)?;
        }
        Ok(())
    }

    fn transmit(
        &mut self,
        now: Now,
        id: ConnectionId,
        ready: Ready,
        reactor: &mut Reactor,
    ) -> io::Result<()> {
        let replay = ReplayId(id.0);
        let place = id.0 as usize;
        let Some(connection) = self.connections.at(id) else { return Ok(()) };
        let was_full = self.waiting[place] == Some(Room::None);
        if was_full && !ready.is_writable(connection.token) {
            return Ok(());
        }
        self.waiting[place] = None;
        for _ in 0..PACKETS {
            let Some(bytes) = self.server.poll_transmit(now, replay) else { break };
            let length = bytes.len();
            let sent = match connection.stream.write(bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(_) => {
                    self.forget(id);
                    return self.connections.drop(id, reactor);
                }
            };
            self.server.handle_sent(replay, sent);
            self.waiting[place] = Some(if sent < length { Room::None } else { Room::Some });
            if sent < length {
                break;
            }
        }
        if self.server.is_over(replay) {
            self.forget(id);
            return self.connections.finish(id, now.monotonic, reactor);
        }
        let is_full = self.waiting[place] == Some(Room::None);
        if is_full != was_full {
            let interest = if is_full { Interest::BOTH } else { Interest::READABLE };
            reactor.set_interest(connection.token, &connection.stream, interest)?;
        }
        Ok(())
    }

    fn forget(&mut self, id: ConnectionId) {
        self.waiting[id.0 as usize] = None;
        self.server.handle_closed(ReplayId(id.0));
    }
}
