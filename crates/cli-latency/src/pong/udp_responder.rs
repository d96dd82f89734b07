//! Answers pings over UDP, unicast and multicast.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{Receive, Source, Transmit, UdpSocket};
use hairpin_mapped::CounterWriter;
use hairpin_reactor::{Interest, Reactor, Ready, Token};

use super::server::{PongState, Responder};
use crate::ping::ping_transport::PingTransport;
use crate::ping::rds_transport::RdsTransport;
use crate::ping::{Multicast, message};

/// The number of flood datagrams received at once.
pub(super) const FLOOD_BATCH: usize = 32;

/// A socket that datagrams can be answered from.
pub(super) trait Reply: Receive + Source {
    /// The lowest source port of a ping. Services such as echo (7) and chargen (19) answer each
    /// datagram from lower ports, also an answer.
    const PORT_MIN: u16 = 1_024;

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
    /// No services have RDS ports. Over raw Ethernet a ping has the first free one.
    const PORT_MIN: u16 = 0;

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
        let Some((source, length)) = arrived else { return Ok(()) };
        let bytes = &mut bytes[..length];
        if !is_ping::<R>(source, *own, bytes) {
            state.ignore(source);
            return Ok(());
        }
        state.before_answer();
        message::mark_answer(bytes);
        let outcome = socket.reply(source, bytes);
        state.answered(&outcome);
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

/// Returns `true` if a message is a ping: not the answer of another pong, and not from this pong's
/// address `own` or the port of a service. Two of these would answer each other without end.
#[inline]
fn is_ping<R: Reply>(source: SocketAddrV4, own: SocketAddrV4, message: &[u8]) -> bool {
    !message::is_answer(message) && source.port() >= R::PORT_MIN && source != own
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_are_not_from_this_pong_or_a_service() {
        let address = |ip: [u8; 4], port| SocketAddrV4::new(ip.into(), port);
        let (own, other) = (address([10, 0, 0, 1], 9_200), [10, 0, 0, 2]);
        let ping = [0; 14];
        assert!(is_ping::<UdpSocket>(address(other, 9_200), own, &ping));
        assert!(is_ping::<UdpSocket>(address(other, 1_024), own, &ping));
        assert!(!is_ping::<UdpSocket>(own, own, &ping));
        for port in [0, 7, 19, 53, 1_023] {
            assert!(!is_ping::<UdpSocket>(address(other, port), own, &ping), "{port}");
            assert!(is_ping::<RdsTransport>(address(other, port), own, &ping), "{port}");
        }
        let mut answer = ping;
        message::mark_answer(&mut answer);
        assert!(!is_ping::<UdpSocket>(address(other, 40_000), own, &answer));
        assert!(!is_ping::<RdsTransport>(address(other, 40_000), own, &answer));
    }
}
