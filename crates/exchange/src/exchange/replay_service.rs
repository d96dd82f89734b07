//! The replay service on TCP: connections, pending responses and flow control.

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
/// Packets written to one connection per loop iteration. The number is small so that the market
/// goes first.
const PACKETS: usize = 16;

/// A replay server, its listener and its connections.
#[derive(Debug)]
pub(super) struct ReplayService {
    server: ReplayServer,
    acceptor: Acceptor,
    connections: Connections,
    /// The slots with more packets to write, with the state of the kernel's send buffer.
    pending: Box<[Option<SendBuffer>]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendBuffer {
    /// Not known to be full.
    Available,
    /// Full: the last write was partial.
    Full,
}

impl ReplayService {
    pub(super) fn new(
        settings: ReplaySettings,
        address: SocketAddrV4,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let options = TcpOptions { chunk_max: CHUNK_MAX, message_max: 0, ..TcpOptions::default() };
        let slots = settings.sessions;
        Ok(Self {
            acceptor: Acceptor::new(listener, options, now, reactor)?,
            server: ReplayServer::new(settings),
            connections: Connections::new(slots),
            pending: vec![None; slots as usize].into(),
        })
    }

    pub(super) fn server(&self) -> &ReplayServer {
        &self.server
    }

    pub(super) fn address(&self) -> SocketAddrV4 {
        self.acceptor.address()
    }

    /// Stores a packet of the incremental feed for replay.
    pub(super) fn store(&mut self, sequence: u32, packet: &[u8]) {
        self.server.store(sequence, packet);
    }

    /// Returns the time at which [`ReplayService::poll`] has work to do even if nothing arrives.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        if self.pending.contains(&Some(SendBuffer::Available)) {
            return Some(Instant::ZERO);
        }
        let deadlines = [
            self.acceptor.poll_timeout(),
            self.connections.poll_timeout(),
            self.server.poll_timeout(),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Reads requests, writes some packets, drops closed connections and accepts new ones.
    pub(super) fn poll(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        for id in self.connections.slots() {
            self.receive(id, ready, reactor)?;
            self.transmit(now, id, ready, reactor)?;
        }
        while let Some(ReplayId(slot)) = self.server.handle_timeout(now.monotonic) {
            self.connections.drop(ConnectionId(slot), reactor)?;
        }
        self.connections.poll_lingering(now.monotonic, ready, reactor)?;
        self.accept(now.monotonic, ready, reactor, counters)
    }

    /// Accepts a connection if one is pending. The oldest one without a logon gives way if all
    /// slots or descriptors are taken.
    fn accept(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        let stream = loop {
            match self.acceptor.accept(now, ready, reactor)? {
                Accepted::Stream(stream) => break stream,
                Accepted::None => return Ok(()),
                // The descriptor of the closed connection is for the new one, so accept again now.
                Accepted::Exhausted
                    if self.connections.drop_lingering(reactor)? || self.close_idle(reactor)? =>
                {
                    self.acceptor.retry(now, reactor)?;
                }
                Accepted::Exhausted | Accepted::Failed => {
                    counters.failed_accepts += 1;
                    return Ok(());
                }
            }
        };
        if !self.server.has_room() {
            self.close_idle(reactor)?;
        }
        // Dropping the stream closes the connection.
        let Some(ReplayId(slot)) = self.server.handle_connected(now) else { return Ok(()) };
        if self.connections.insert(ConnectionId(slot), stream, reactor).is_err() {
            counters.failed_accepts += 1;
            self.server.handle_closed(ReplayId(slot));
        }
        Ok(())
    }

    fn receive(&mut self, id: ConnectionId, ready: Ready, reactor: &mut Reactor) -> io::Result<()> {
        let Some(connection) = self.connections.connection_mut(id) else { return Ok(()) };
        if !ready.is_readable(connection.token) {
            return Ok(());
        }
        let server = &mut self.server;
        let received = connection.stream.receive(1, |_, bytes| {
            server.handle_bytes(ReplayId(id.0), bytes);
        });
        if received.map_or(true, |received| received.closed) {
            self.close(id);
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
        let slot = id.0 as usize;
        let Some(connection) = self.connections.connection_mut(id) else { return Ok(()) };
        let was_full = self.pending[slot] == Some(SendBuffer::Full);
        if was_full && !ready.is_writable(connection.token) {
            return Ok(());
        }
        self.pending[slot] = None;
        for _ in 0..PACKETS {
            let Some(bytes) = self.server.poll_transmit(now, replay) else { break };
            let length = bytes.len();
            let sent = match connection.stream.write(bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(_) => {
                    self.close(id);
                    return self.connections.drop(id, reactor);
                }
            };
            self.server.handle_sent(replay, sent);
            self.pending[slot] =
                Some(if sent < length { SendBuffer::Full } else { SendBuffer::Available });
            if sent < length {
                break;
            }
        }
        if self.server.is_finished(replay) {
            self.close(id);
            return self.connections.finish(id, now.monotonic, reactor);
        }
        let is_full = self.pending[slot] == Some(SendBuffer::Full);
        if is_full != was_full {
            let interest = if is_full { Interest::BOTH } else { Interest::READABLE };
            reactor.set_interest(connection.token, &connection.stream, interest)?;
        }
        Ok(())
    }

    /// Closes the oldest connection without a logon. Returns `false` if each has logged on.
    #[cold]
    fn close_idle(&mut self, reactor: &mut Reactor) -> io::Result<bool> {
        let Some(ReplayId(slot)) = self.server.close_idle() else { return Ok(false) };
        self.pending[slot as usize] = None;
        self.connections.drop(ConnectionId(slot), reactor)?;
        Ok(true)
    }

    fn close(&mut self, id: ConnectionId) {
        self.pending[id.0 as usize] = None;
        self.server.handle_closed(ReplayId(id.0));
    }
}
