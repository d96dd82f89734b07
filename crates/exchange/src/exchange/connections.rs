//! The gateway's TCP connections, including those that linger after close.

use std::io;

use hairpin_endpoint::{Receive, Stream, TcpStream};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Duration, Instant};

use crate::ConnectionId;

/// The time for which a connection closed by this side stays open for the peer to read the
/// remaining bytes. Closing at once with unread input would send a reset, and the peer might never
/// read the reason for the close.
const LINGER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) token: Token,
    /// The last write was partial: the reactor reports when the next one can succeed.
    pub(super) blocked: bool,
}

/// The streams by connection slot, and the lingering ones.
#[derive(Debug)]
pub(super) struct Connections {
    open: Box<[Option<Connection>]>,
    lingering: Vec<(Connection, Instant)>,
}

impl Connections {
    pub(super) fn new(slots: u32) -> Self {
        Self {
            open: (0..slots).map(|_| None).collect(),
            lingering: Vec::with_capacity(slots as usize),
        }
    }

    /// Returns the ids of all slots, used or free.
    pub(super) fn slots(&self) -> impl Iterator<Item = ConnectionId> + use<> {
        // The number was given as a `u32`.
        (0..self.open.len() as u32).map(ConnectionId)
    }

    /// Returns the number of slots.
    pub(super) fn count(&self) -> u32 {
        // The number was given as a `u32`.
        self.open.len() as u32
    }

    /// Returns the ids of the streams that can be written to.
    pub(super) fn unblocked(&self) -> impl Iterator<Item = ConnectionId> {
        let is_unblocked = |slot: &Option<Connection>| slot.as_ref().is_some_and(|it| !it.blocked);
        self.slots().zip(&self.open).filter(move |(_, slot)| is_unblocked(slot)).map(|(id, _)| id)
    }

    pub(super) fn connection_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.open.get_mut(id.0 as usize)?.as_mut()
    }

    /// Returns `true` if no stream is left, open or lingering.
    pub(super) fn is_empty(&self) -> bool {
        self.lingering.is_empty() && self.open.iter().all(Option::is_none)
    }

    /// Returns the time at which [`Connections::poll_lingering`] drops a stream.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.lingering.iter().map(|(_, until)| *until).min()
    }

    pub(super) fn insert(
        &mut self,
        id: ConnectionId,
        mut stream: TcpStream,
        reactor: &mut Reactor,
    ) -> io::Result<()> {
        let token = reactor.add(&mut stream, Interest::READABLE)?;
        self.open[id.0 as usize] = Some(Connection { stream, token, blocked: false });
        Ok(())
    }

    /// Drops a stream that the peer has closed or that has failed.
    pub(super) fn drop(&mut self, id: ConnectionId, reactor: &mut Reactor) -> io::Result<()> {
        match self.open[id.0 as usize].take() {
            Some(connection) => remove(connection, reactor),
            None => Ok(()),
        }
    }

    /// Shuts down this side of a stream: the peer reads all bytes that were sent, then the end.
    pub(super) fn finish(
        &mut self,
        id: ConnectionId,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<()> {
        let Some(mut connection) = self.open[id.0 as usize].take() else { return Ok(()) };
        if connection.stream.shutdown().is_err() {
            return remove(connection, reactor);
        }
        reactor.set_interest(connection.token, &connection.stream, Interest::READABLE)?;
        if self.lingering.len() == self.lingering.capacity() {
            self.drop_lingering(reactor)?;
        }
        self.lingering.push((connection, now + LINGER));
        Ok(())
    }

    /// Drops the oldest lingering stream. Returns `false` if no stream lingers.
    pub(super) fn drop_lingering(&mut self, reactor: &mut Reactor) -> io::Result<bool> {
        let oldest = (0..self.lingering.len()).min_by_key(|&index| self.lingering[index].1);
        let Some(oldest) = oldest else { return Ok(false) };
        let (connection, _) = self.lingering.swap_remove(oldest);
        remove(connection, reactor)?;
        Ok(true)
    }

    /// Reads lingering streams to their end, and drops them after [`LINGER`].
    pub(super) fn poll_lingering(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
    ) -> io::Result<()> {
        let mut index = 0;
        while let Some((connection, until)) = self.lingering.get_mut(index) {
            let is_readable = ready.is_readable(connection.token);
            let is_finished = now >= *until
                || is_readable
                    && connection.stream.receive(1, |_, _| {}).map_or(true, |r| r.closed);
            if is_finished {
                let (connection, _) = self.lingering.swap_remove(index);
                remove(connection, reactor)?;
            } else {
                index += 1;
            }
        }
        Ok(())
    }
}

fn remove(mut connection: Connection, reactor: &mut Reactor) -> io::Result<()> {
    reactor.remove(connection.token, &mut connection.stream)
}
