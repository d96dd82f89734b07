//! A UDP socket past the kernel, as an endpoint has it.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hairpin_stack::SocketOptions;
use hairpin_time::Duration;

use crate::context::Context;
use crate::destinations::Destinations;
use crate::inbox::Inbox;
use crate::outgoing::DATAGRAM_MAX;
use crate::transport::is_of;
use crate::xdp::Stack;
use crate::xdp_datagrams::XdpDatagrams;
use crate::xdp_stamps::XdpStamps;
use crate::{
    Blocker, Meta, Receive, ReceiveBuffer, Received, Source, Timestamping, Transmit, UdpOptions,
};

/// A socket of a stack and what it receives into.
pub(crate) struct XdpSocket {
    inbox: Inbox<XdpDatagrams>,
    destinations: Destinations,
    /// The socket's own descriptor once more: the socket may be lent to a blocker.
    readiness: OwnedFd,
    stack: Stack,
    stamps: XdpStamps,
    local_address: SocketAddrV4,
    receive_buffer: ReceiveBuffer,
}

impl XdpSocket {
    /// Binds a socket of a stack to a local address or a group.
    ///
    /// # Errors
    /// The kernel's; `Unsupported` if the stack is strict and nothing could come past the kernel.
    pub(crate) fn bind(
        stack: &Stack,
        address: SocketAddrV4,
        options: UdpOptions,
        socket: SocketOptions,
    ) -> io::Result<Self> {
        let of_socket = SocketOptions { receive_buffer: options.receive_buffer, ..socket };
        let socket = stack.bind(SocketAddr::V4(address), &of_socket)?;
        let stamps = XdpStamps::new(options.timestamping, stack.receive_stamps())?;
        Ok(Self {
            readiness: socket.as_fd().try_clone_to_owned()?,
            destinations: Destinations::new(),
            stack: stack.clone(),
            stamps,
            local_address: v4(socket.local_address()),
            receive_buffer: ReceiveBuffer {
                asked: options.receive_buffer,
                granted: socket.receive_buffer()?,
            },
            inbox: Inbox::new(XdpDatagrams::new(socket, options.datagram_max, stamps)),
        })
    }

    /// Receives from `remote` alone, and sends there.
    pub(crate) fn connect(&mut self, remote: SocketAddrV4) -> io::Result<()> {
        let mut datagrams = self.inbox.open();
        datagrams.socket().connect(SocketAddr::V4(remote))?;
        self.local_address = v4(datagrams.socket().local_address());
        Ok(())
    }

    pub(crate) fn join(&mut self, group: Ipv4Addr, sources: &[Ipv4Addr]) -> io::Result<()> {
        let sources: Vec<_> = sources.iter().copied().map(IpAddr::V4).collect();
        self.inbox.open().socket().join(group.into(), &sources)
    }

    pub(crate) fn leave(&mut self, group: Ipv4Addr) -> io::Result<()> {
        self.inbox.open().socket().leave(group.into())
    }

    /// Has what is sent to groups go across `ttl - 1` routers.
    ///
    /// # Errors
    /// `AddrNotAvailable` if the address is none of the stack's interface, by which everything
    /// leaves; `InvalidInput` if it is to leave the host by no way.
    pub(crate) fn set_multicast(&mut self, interface: Ipv4Addr, ttl: u8) -> io::Result<()> {
        let refused = |kind, reason| Err(io::Error::new(kind, reason));
        let outcome = if !is_of(&self.stack, interface) {
            refused(io::ErrorKind::AddrNotAvailable, "the stack is of another interface")
        } else if ttl == 0 {
            refused(io::ErrorKind::InvalidInput, "a TTL of 0 leaves no host")
        } else {
            self.inbox.open().socket().set_multicast_ttl(ttl)
        };
        outcome.context(format_args!("send to groups on interface {interface}"))
    }

    /// Sends to another address than the peer's.
    #[inline]
    pub(crate) fn transmit_to(
        &mut self,
        to: SocketAddrV4,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        check(length)?;
        let mut datagrams = self.inbox.open();
        let socket = datagrams.socket();
        let destination = self.destinations.find(to, |to| socket.destination(to))?;
        socket.transmit_to(destination, length, fill)
    }

    pub(crate) fn local_address(&self) -> SocketAddrV4 {
        self.local_address
    }

    pub(crate) fn receive_buffer(&self) -> ReceiveBuffer {
        self.receive_buffer
    }

    pub(crate) fn timestamping(&self) -> Timestamping {
        self.stamps.in_force()
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.inbox.look(XdpDatagrams::dropped)
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.inbox.look(XdpDatagrams::truncated)
    }
}

/// # Errors
/// `InvalidInput` if there is no such datagram of IPv4.
#[inline]
fn check(length: usize) -> io::Result<()> {
    if length > DATAGRAM_MAX { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(()) }
}

/// An address of a socket that was bound to one of IPv4.
pub(crate) fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => unreachable!("an address of IPv6 on a socket of IPv4"),
    }
}

impl Receive for XdpSocket {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.inbox.open().receive(budget, on)
    }
}

impl Transmit for XdpSocket {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        check(length)?;
        self.inbox.open().socket().transmit(length, fill)
    }
}

impl AsFd for XdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.readiness.as_fd()
    }
}

impl Source for XdpSocket {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        let Some(timeout) = timeout else {
            self.inbox.reclaim();
            // As if it had spun: what a blocking wait has found and nobody took makes it readable.
            self.set_spinning(true);
            self.set_spinning(false);
            return Ok(None);
        };
        self.inbox.open().set_patience(timeout);
        Ok(Some(Blocker::of_stack(self.inbox.share())))
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.inbox.open().socket().set_spinning(is_spinning);
    }
}

impl fmt::Debug for XdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XdpSocket")
            .field("local_address", &self.local_address)
            .field("stack", &self.stack)
            .finish_non_exhaustive()
    }
}
