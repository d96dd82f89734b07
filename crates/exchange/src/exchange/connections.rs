//! The gateway's connections on TCP, and their last moments.

use std::io;

use hairpin_endpoint::{Receive, Stream, TcpStream};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Duration, Instant};

use crate::ConnectionId;

/// How long a connection that was ended from this side is kept for the peer to read what was
/// sent. Closed at once, with bytes of the peer still unread, it would be reset, and the peer
/// might never see why it was ended.
const LINGER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) token: Token,
}

/// Streams by their place at the gateway, and those that have left it.
#[derive(Debug)]
pub(super) struct Connections {
    open: Box<[Option<Connection>]>,
    lingering: Vec<(Connection, Instant)>,
}

impl Connections {
    pub(super) fn new(places: u32) -> Self {
        Self {
            open: (0..places).map(|_| None).collect(),
            lingering: Vec::with_capacity(places as usize),
        }
    }

    /// All places, taken or not.
    pub(super) fn places(&self) -> impl Iterator<Item = ConnectionId> + use<> {
        // As many as settings asked for in a `u32`.
        (0..self.open.len() as u32).map(ConnectionId)
    }

    /// How many places there are.
    pub(super) fn count(&self) -> u32 {
        // As many as settings asked for in a `u32`.
        self.open.len() as u32
    }

    pub(super) fn at(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.open.get_mut(id.0 as usize)?.as_mut()
    }

    /// Whether any stream is left, open or lingering.
    pub(super) fn is_empty(&self) -> bool {
        self.lingering.is_empty() && self.open.iter().all(Option::is_none)
    }

    /// When [`Connections::linger`] has to end one.
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
        self.open[id.0 as usize] = Some(Connection { stream, token });
        Ok(())
    }

    /// Drops a stream: the peer has ended it, or it has failed.
    pub(super) fn drop(&mut self, id: ConnectionId, reactor: &mut Reactor) -> io::Result<()> {
        match self.open[id.0 as usize].take() {
            Some(connection) => remove(connection, reactor),
            None => Ok(()),
        }
    }

    /// Ends a stream from this side: the peer reads all that was sent, and then its end.
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
            let (oldest, _) = self.lingering.remove(0);
            remove(oldest, reactor)?;
        }
        self.lingering.push((connection, now + LINGER));
        Ok(())
    }

    /// Reads lingering streams to their end, or drops them when it is time.
    pub(super) fn linger(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
    ) -> io::Result<()> {
        let mut index = 0;
        while let Some((connection, until)) = self.lingering.get_mut(index) {
            let is_readable = ready.is_readable(connection.token);
            let is_over = now >= *until
                || is_readable
                    && connection.stream.receive(1, |_, _| {}).map_or(true, |r| r.closed);
            if is_over {
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
