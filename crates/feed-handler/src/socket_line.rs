//! A socket that receives one line, and what it has counted.

use std::io;

use hairpin_endpoint::{
    Meta, MulticastGroup, Receive, ReceiveBuffer, Received, UdpOptions, UdpReceiver,
};
use hairpin_reactor::{Interest, Reactor, Ready, Token};

use crate::LineAddress;

/// A socket, open and known to its reactor until it is closed. Whether it is a member of its group,
/// and waited for, is the wish of whoever uses it.
#[derive(Debug)]
pub(crate) struct SocketLine {
    address: LineAddress,
    options: UdpOptions,
    receiver: UdpReceiver,
    token: Token,
    is_wanted: bool,
    datagrams: u64,
    bytes: u64,
    /// Of sockets that this one has followed.
    drops_before: u64,
    truncated_before: u64,
}

impl SocketLine {
    /// Opens a socket that is not a member of its group yet.
    pub(crate) fn open(
        address: LineAddress,
        options: UdpOptions,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let mut receiver = left(&address, options)?;
        let token = reactor.add(&mut receiver, Interest::NONE)?;
        Ok(Self {
            address,
            options,
            receiver,
            token,
            is_wanted: false,
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

    /// Whether there may be something to read.
    #[inline]
    pub(crate) fn is_readable(&self, ready: Ready) -> bool {
        self.is_wanted && ready.is_readable(self.token)
    }

    /// Whether it should be a member of its group.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Is a member from now on, and waited for. What the socket has from before is thrown away: it
    /// has not what came behind that, and a channel would take this for a loss.
    pub(crate) fn join(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        if self.is_wanted {
            return Ok(());
        }
        // Also if it fails: the interface may come back.
        self.is_wanted = true;
        discard(&mut self.receiver);
        self.receiver.rejoin()?;
        self.wait_for(Interest::READABLE, reactor)
    }

    /// Is no longer a member, nor waited for.
    pub(crate) fn leave(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        if !self.is_wanted {
            return Ok(());
        }
        self.is_wanted = false;
        // The group is left even if the reactor will not have it: it costs the network.
        let ignored = self.wait_for(Interest::NONE, reactor);
        let left = if self.receiver.is_joined() { self.receiver.leave() } else { Ok(()) };
        ignored.and(left)
    }

    /// Takes the socket from the reactor, before it is dropped.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        reactor.remove(self.token, &mut self.receiver)
    }

    /// Takes the place of a socket whose interface has gone and returned: a membership does not
    /// outlive its interface, and cannot be joined twice.
    ///
    /// # Errors
    /// The kernel's. The old socket stays unless it was the reactor that failed.
    #[cold]
    pub(crate) fn renew(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        let open = if self.is_wanted { joined } else { left };
        let mut receiver = open(&self.address, self.options)?;
        // The old one is closed below, whatever the reactor says of it.
        let _ = reactor.remove(self.token, &mut self.receiver);
        let interest = if self.is_wanted { Interest::READABLE } else { Interest::NONE };
        self.token = reactor.add(&mut receiver, interest)?;
        self.drops_before += self.receiver.dropped();
        self.truncated_before += self.receiver.truncated();
        self.receiver = receiver;
        Ok(())
    }

    /// Hands up to `budget` datagrams to `on`.
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

    fn wait_for(&mut self, interest: Interest, reactor: &mut Reactor) -> io::Result<()> {
        reactor.set_interest(self.token, &self.receiver, interest)
    }
}

/// A new socket that is a member of the line's group.
fn joined(address: &LineAddress, options: UdpOptions) -> io::Result<UdpReceiver> {
    let LineAddress { group, interface, ref sources, ref transport } = *address;
    UdpReceiver::join_by(transport, MulticastGroup { group, interface, sources }, options)
}

/// A new socket that has been a member of the line's group, so that it is known to be possible, and
/// has nothing of what came meanwhile.
fn left(address: &LineAddress, options: UdpOptions) -> io::Result<UdpReceiver> {
    let mut receiver = joined(address, options)?;
    receiver.leave()?;
    discard(&mut receiver);
    Ok(receiver)
}

/// Throws away what a socket that is no member still has: nothing is added to it meanwhile.
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

    fn line(port: u16, reactor: &mut Reactor) -> SocketLine {
        let group = SocketAddrV4::new(Ipv4Addr::new(239, 192, 77, 1), port);
        let (interface, sources) = (Ipv4Addr::LOCALHOST, Vec::new());
        let address = LineAddress { group, interface, sources, transport: Transport::Kernel };
        let mut line = SocketLine::open(address, UdpOptions::default(), reactor).unwrap();
        line.join(reactor).unwrap();
        line
    }

    #[test]
    fn a_group_is_left_though_the_reactor_fails() {
        let [mut reactor, mut other] = [(); 2].map(|()| Reactor::new(Wait::Epoll).unwrap());
        let (mut line, _of_other) = (line(27_701, &mut reactor), line(27_702, &mut other));
        assert!(line.receiver.is_joined());
        // This one waits for another socket by that token.
        assert!(line.leave(&mut other).is_err());
        assert!(!line.receiver.is_joined());
    }

    /// It would be followed by a hole that the line has made itself.
    #[test]
    fn what_came_before_a_group_was_left_is_not_handed_over_when_it_is_joined_again() {
        for wait in Wait::ALL {
            if let Err(reason) = wait.probe() {
                println!("skipped: {wait}: {reason}");
                continue;
            }
            let mut reactor = Reactor::new(wait).unwrap();
            let mut line = line(27_704, &mut reactor);
            let mut sender = UdpSender::new(line.address.group, Ipv4Addr::LOCALHOST, 0).unwrap();
            let mut send = |number| sender.transmit(1, |buffer| buffer[0] = number).unwrap();
            // The first comes while it is a member, the second while it is not.
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
    fn a_renewed_socket_is_a_member_and_waited_for_if_the_old_one_should_be() {
        let mut reactor = Reactor::new(Wait::Epoll).unwrap();
        let mut line = line(27_703, &mut reactor);
        line.renew(&mut reactor).unwrap();
        assert!(line.receiver.is_joined() && line.is_wanted());
        assert_eq!(reactor.count(), 1);
        line.leave(&mut reactor).unwrap();
        line.renew(&mut reactor).unwrap();
        assert!(!line.receiver.is_joined());
        line.close(&mut reactor).unwrap();
        assert_eq!(reactor.count(), 0);
    }
}
