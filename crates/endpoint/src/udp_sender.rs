//! Datagrams to a kernel UDP socket.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::context::Context;
use crate::outgoing::Outgoing;
use crate::{Blocker, Source, Transmit, address, multicast};

/// A kernel UDP socket that sends to one multicast group or one host.
///
/// A datagram is encoded in the sender's own buffer and leaves with one send(2).
#[derive(Debug)]
pub struct UdpSender {
    socket: Socket,
    outgoing: Outgoing,
    local_address: SocketAddrV4,
    remote_address: SocketAddrV4,
}

impl UdpSender {
    /// Sends to a multicast group, from the interface whose local address is `interface`
    /// (unspecified: the kernel's choice), across `ttl - 1` routers. Receivers on this host get
    /// the datagrams too.
    ///
    /// # Errors
    /// The kernel's, with the group and interface; `InvalidInput` if the address is not one of
    /// multicast.
    pub fn new(group: SocketAddrV4, interface: Ipv4Addr, ttl: u8) -> io::Result<Self> {
        if !group.ip().is_multicast() {
            let reason = format!("{} is not a multicast address (224.0.0.0/4)", group.ip());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let socket = Self::socket(interface)?;
        multicast::send_from(&socket, interface, ttl)?;
        Self::connected(socket, group)
    }

    /// Sends to one host, from `local` (unspecified: the kernel's choice).
    ///
    /// # Errors
    /// The kernel's, with the addresses.
    pub fn connect(remote: SocketAddrV4, local: Ipv4Addr) -> io::Result<Self> {
        Self::connected(Self::socket(local)?, remote)
    }

    fn socket(local: Ipv4Addr) -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket
            .bind(&SocketAddrV4::new(local, 0).into())
            .context(format_args!("send from {local}"))?;
        Ok(socket)
    }

    fn connected(socket: Socket, remote: SocketAddrV4) -> io::Result<Self> {
        socket.connect(&remote.into()).context(format_args!("send to {remote}"))?;
        Ok(Self {
            local_address: address::local(&socket)?,
            remote_address: remote,
            outgoing: Outgoing::new(),
            socket,
        })
    }

    /// The address datagrams leave from, which receivers see as their source.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        self.local_address
    }

    /// The address datagrams are sent to.
    #[must_use]
    pub fn remote_address(&self) -> SocketAddrV4 {
        self.remote_address
    }
}

impl Transmit for UdpSender {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.outgoing.transmit(&self.socket, length, fill)
    }
}

impl AsFd for UdpSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for UdpSender {
    /// A sender has no receive to block in.
    fn set_blocking(&mut self, _timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
