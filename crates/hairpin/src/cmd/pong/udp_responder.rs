//! Answers pings over UDP, unicast and multicast.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{Receive, Source, Transmit, UdpSocket};
use hairpin_mapped::CounterWriter;
use hairpin_reactor::{Interest, Reactor, Ready, Token};

use super::server::{PongState, Responder};
use crate::cmd::ping::ping_transport::PingTransport;
use crate::cmd::ping::rds_transport::RdsTransport;
use crate::cmd::ping::{Multicast, message};

/// The number of flood datagrams received at once.
pub(super) const FLOOD_BATCH: usize = 32;

/// A socket that datagrams can be answered from.
pub(super) trait Reply: Receive + Source {
    /// Returns the address that answers come from.
    fn own_address(&self) -> SocketAddrV4;

    /// Sends a datagram back to its source.
    ///
    /// # Errors
    /// Those of the kernel; the datagram is lost.
    fn reply(&mut self, to: SocketAddrV4, bytes: &[u8]) -> io::Result<()>;

    /// Writes the counters of its protocol, if it has any.
    fn write_counters(&self, _writer: &mut CounterWriter<'_>) {}
}

impl Reply for UdpSocket {
    fn own_address(&self) -> SocketAddrV4 {
        self.local_address()
    }

    #[inline]
    fn reply(&mut self, to: SocketAddrV4, bytes: &[u8]) -> io::Result<()> {
        self.transmit_to(to, bytes.len(), |buffer| buffer.copy_from_slice(bytes))
    }
}

impl Reply for RdsTransport {
    fn own_address(&self) -> SocketAddrV4 {
        self.local_address()
    }

    #[inline]
    fn reply(&mut self, to: SocketAddrV4, bytes: &[u8]) -> io::Result<()> {
        self.send(to.into(), bytes.len(), |buffer| buffer.copy_from_slice(bytes))
    }

    fn write_counters(&self, writer: &mut CounterWriter<'_>) {
        PingTransport::write_counters(self, "rds", writer);
    }
}

/// Sends to the group of the answers, whatever the source.
impl Reply for Multicast {
    fn own_address(&self) -> SocketAddrV4 {
        self.source_address()
    }

    #[inline]
    fn reply(&mut self, _to: SocketAddrV4, bytes: &[u8]) -> io::Result<()> {
        self.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes))
    }
}

/// Answers each datagram with its own bytes.
pub(super) struct UdpResponder<R> {
    socket: R,
    token: Token,
    own: SocketAddrV4,
    /// The copy of the datagram being answered: the socket cannot send while it lends the datagram.
    bytes: Box<[u8]>,
}

impl<R: Reply> UdpResponder<R> {
    /// Adds the socket to the reactor; datagrams have up to `length` bytes.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn new(mut socket: R, length: usize, reactor: &mut Reactor) -> io::Result<Self> {
        let token = reactor.add(&mut socket, Interest::READABLE)?;
        let (own, bytes) = (socket.own_address(), vec![0; length].into_boxed_slice());
        Ok(Self { socket, token, own, bytes })
    }

    #[inline]
    fn answer(&mut self, state: &mut PongState) -> io::Result<()> {
        let Self { socket, bytes, own, .. } = self;
        let mut arrived = None;
        socket.receive(1, |meta, datagram| {
            let length = datagram.len().min(bytes.len());
            bytes[..length].copy_from_slice(&datagram[..length]);
            arrived = Some((meta.source, length));
        })?;
        if let Some((source, length)) = arrived
            && state.is_ping(source, *own, &bytes[..length])
        {
            state.before_answer();
            message::mark_answer(&mut bytes[..length]);
            let outcome = socket.reply(source, &bytes[..length]);
            state.answered(&outcome);
        }
        Ok(())
    }

    #[inline]
    fn count(&mut self, state: &mut PongState) -> io::Result<()> {
        let received = self.socket.receive(FLOOD_BATCH, |_, datagram| state.number(datagram))?;
        if received.count > 0 {
            state.tally.count(received.count as u64, state.clock.instant());
        }
        Ok(())
    }
}

impl<R: Reply> Responder for UdpResponder<R> {
    #[inline]
    fn serve(&mut self, ready: Ready, _: &mut Reactor, state: &mut PongState) -> io::Result<()> {
        if !ready.is_readable(self.token) {
            return Ok(());
        }
        let outcome = if state.is_flood { self.count(state) } else { self.answer(state) };
        state.tolerate(outcome)
    }

    fn write_counters(&self, writer: &mut CounterWriter<'_>) {
        self.socket.write_counters(writer);
    }
}
