//! The socket of one line, with its counters.

use std::io;

use hairpin_endpoint::{
    Meta, MulticastGroup, Receive, ReceiveBuffer, Received, UdpOptions, UdpReceiver,
};
use hairpin_reactor::{Interest, Reactor, Ready, Token};

use crate::LineAddress;

/// A UDP socket, open and registered in its reactor until it is closed. The owner decides when it
/// joins its group and is polled.
#[derive(Debug)]
pub(crate) struct LineSocket {
    address: LineAddress,
    options: UdpOptions,
    receiver: UdpReceiver,
    token: Token,
    joined: bool,
    datagrams: u64,
    bytes: u64,
    /// The drops of earlier sockets of this line.
    drops_before: u64,
    truncated_before: u64,
}

impl LineSocket {
    /// Opens the socket without joining its group.
    pub(crate) fn open(
        address: LineAddress,
        options: UdpOptions,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let mut receiver = open_left(&address, options)?;
        let token = reactor.add(&mut receiver, Interest::NONE)?;
        Ok(Self {
            address,
            options,
            receiver,
            token,
            joined: false,
            datagrams: 0,
            bytes: 0,
            drops_before: 0,
            truncated_before: 0,
        })
    }

    pub(crate) fn address(&self) -> &LineAddress {
        &self.address
    }

    pub(crate) fn token(&self) -> Token {
        self.token
    }

    /// Returns `true` if the socket is joined and may have datagrams to read.
    #[inline]
    pub(crate) fn is_readable(&self, ready: Ready) -> bool {
        self.joined && ready.is_readable(self.token)
    }

    /// Returns `true` if the line is joined by its owner. The membership itself may be missing
    /// while the interface is lost.
    #[inline]
    pub(crate) fn is_joined(&self) -> bool {
        self.joined
    }

    /// Joins the group and polls the socket. Discards datagrams from before: packets after them are
    /// missing, which the channel would count as a loss.
    pub(crate) fn join(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        if self.joined {
            return Ok(());
        }
        // Set even if the join fails: the interface may return.
        self.joined = true;
        discard(&mut self.receiver);
        self.receiver.rejoin()?;
        self.set_interest(Interest::READABLE, reactor)
    }

    /// Leaves the group and stops polling the socket.
    pub(crate) fn leave(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        if !self.joined {
            return Ok(());
        }
        self.joined = false;
        // Leave the group even if the reactor fails: a membership costs network bandwidth.
        let outcome = self.set_interest(Interest::NONE, reactor);
        let left = if self.receiver.is_joined() { self.receiver.leave() } else { Ok(()) };
        outcome.and(left)
    }

    /// Removes the socket from the reactor before it is dropped.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        reactor.remove(self.token, &mut self.receiver)
    }

    /// Replaces the socket after its interface was lost and has returned. A membership does not
    /// survive the removal of its interface, and a socket cannot join the same group twice.
    ///
    /// # Errors
    /// The kernel's error. The old socket remains, unless the reactor failed.
    #[cold]
    pub(crate) fn reopen(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        let open = if self.joined { open_joined } else { open_left };
        let mut receiver = open(&self.address, self.options)?;
        // The old socket is closed below in any case; the reactor's error does not matter.
        let _ = reactor.remove(self.token, &mut self.receiver);
        let interest = if self.joined { Interest::READABLE } else { Interest::NONE };
        self.token = reactor.add(&mut receiver, interest)?;
        self.drops_before += self.receiver.dropped();
        self.truncated_before += self.receiver.truncated();
        self.receiver = receiver;
        Ok(())
    }

    /// Passes up to `budget` datagrams to `on`.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        let bytes = &mut self.bytes;
        let received = self.receiver.receive(budget, |meta, datagram| {
            *bytes += datagram.len() as u64;
            on(meta, datagram);
        })?;
        self.datagrams += received.count as u64;
        Ok(received)
    }

    pub(crate) fn datagrams(&self) -> u64 {
        self.datagrams
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn receive_buffer(&self) -> ReceiveBuffer {
        self.receiver.receive_buffer()
    }

    pub(crate) fn drops(&self) -> u64 {
        self.drops_before + self.receiver.dropped()
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.truncated_before + self.receiver.truncated()
    }

    fn set_interest(&mut self, interest: Interest, reactor: &mut Reactor) -> io::Result<()> {
        reactor.set_interest(self.token, &self.receiver, interest)
    }
}

/// Opens a socket that has joined the line's group.
fn open_joined(address: &LineAddress, options: UdpOptions) -> io::Result<UdpReceiver> {
    let LineAddress { group, interface, ref sources, ref transport } = *address;
    UdpReceiver::join_with(transport, MulticastGroup { group, interface, sources }, options)
}

/// Opens a socket that has left the line's group again. The join proves that joining is possible.
/// Datagrams received in between are discarded.
fn open_left(address: &LineAddress, options: UdpOptions) -> io::Result<UdpReceiver> {
    let mut receiver = open_joined(address, options)?;
    receiver.leave()?;
    discard(&mut receiver);
    Ok(receiver)
}

/// Discards the datagrams in the buffer of a socket that is not joined, so that none are added.
#[cold]
fn discard(receiver: &mut UdpReceiver) {
    const BUDGET: usize = 1_024;
    while receiver.receive(BUDGET, |_, _| {}).is_ok_and(|received| !received.drained) {}
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddrV4};

    use hairpin_endpoint::{Transmit, Transport, UdpSender};
    use hairpin_reactor::Wait;
    use hairpin_time::Instant;

    use super::*;

    fn line(port: u16, reactor: &mut Reactor) -> LineSocket {
        let group = SocketAddrV4::new(Ipv4Addr::new(239, 192, 77, 1), port);
        let (interface, sources) = (Ipv4Addr::LOCALHOST, Vec::new());
        let address = LineAddress { group, interface, sources, transport: Transport::Kernel };
        let mut line = LineSocket::open(address, UdpOptions::default(), reactor).unwrap();
        line.join(reactor).unwrap();
        line
    }

    #[test]
    fn leaves_group_even_if_the_reactor_fails() {
        let [mut reactor, mut other] = [(); 2].map(|()| Reactor::new(Wait::Epoll).unwrap());
        let (mut line, _of_other) = (line(27_701, &mut reactor), line(27_702, &mut other));
        assert!(line.receiver.is_joined());
        // The second reactor uses the same token for another socket.
        assert!(line.leave(&mut other).is_err());
        assert!(!line.receiver.is_joined());
    }

    /// Delivering old datagrams would appear as a sequence gap before the new ones.
    #[test]
    fn rejoin_discards_datagrams_from_before_the_leave() {
        for wait in Wait::ALL {
            if let Err(reason) = wait.probe() {
                println!("skipped: {wait}: {reason}");
                continue;
            }
            let mut reactor = Reactor::new(wait).unwrap();
            let mut line = line(27_704, &mut reactor);
            let mut sender = UdpSender::new(line.address.group, Ipv4Addr::LOCALHOST, 0).unwrap();
            let mut send = |number| sender.transmit(1, |buffer| buffer[0] = number).unwrap();
            // The first datagram arrives while joined, the second while not joined.
            send(1);
            line.leave(&mut reactor).unwrap();
            send(2);
            line.join(&mut reactor).unwrap();
            send(3);
            let mut numbers = Vec::new();
            while numbers.is_empty() {
                let ready = reactor.wait(Instant::ZERO, None).unwrap();
                if line.is_readable(ready) {
                    line.receive(8, |_, datagram| numbers.push(datagram[0])).unwrap();
                }
            }
            assert_eq!((numbers, line.datagrams()), (vec![3], 1), "{wait}");
            line.close(&mut reactor).unwrap();
        }
    }

    #[test]
    fn reopened_socket_keeps_membership_and_interest() {
        let mut reactor = Reactor::new(Wait::Epoll).unwrap();
        let mut line = line(27_703, &mut reactor);
        line.reopen(&mut reactor).unwrap();
        assert!(line.receiver.is_joined() && line.is_joined());
        assert_eq!(reactor.count(), 1);
        line.leave(&mut reactor).unwrap();
        line.reopen(&mut reactor).unwrap();
        assert!(!line.receiver.is_joined());
        line.close(&mut reactor).unwrap();
        assert_eq!(reactor.count(), 0);
    }
}
