//! A kernel-bypass UDP socket.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hairpin_stack::SocketOptions;
use hairpin_time::Duration;

use crate::error_context::Context;
use crate::kernel::send_buffer::DATAGRAM_MAX;
use crate::recv_buffer::RecvBuffer;
use crate::transport::has_interface_address;
use crate::xdp::Stack;
use crate::xdp::destination_cache::DestinationCache;
use crate::xdp::receiver::XdpReceiver;
use crate::xdp::timestamps::XdpTimestamps;
use crate::{
    Blocker, Meta, Receive, ReceiveBuffer, Received, Source, Timestamping, Transmit, UdpOptions,
};

/// A stack's socket with its receive state.
pub(crate) struct XdpSocket {
    recv_buffer: RecvBuffer<XdpReceiver>,
    destinations: DestinationCache,
    /// A duplicate of the socket's descriptor, since the socket itself may be shared with a
    /// blocker.
    readiness: OwnedFd,
    stack: Stack,
    timestamps: XdpTimestamps,
    local_address: SocketAddrV4,
    receive_buffer: ReceiveBuffer,
}

impl XdpSocket {
    /// Binds a stack's socket to a local address or a group.
    ///
    /// # Errors
    /// The kernel's errors. `Unsupported` if the stack is strict and the address cannot be received
    /// over AF_XDP.
    pub(crate) fn bind(
        stack: &Stack,
        address: SocketAddrV4,
        options: UdpOptions,
        socket: SocketOptions,
    ) -> io::Result<Self> {
        let socket_options = SocketOptions { receive_buffer: options.receive_buffer, ..socket };
        let socket = stack.bind(SocketAddr::V4(address), &socket_options)?;
        let timestamps = XdpTimestamps::new(options.timestamping, stack.receive_stamps())?;
        Ok(Self {
            readiness: socket.as_fd().try_clone_to_owned()?,
            destinations: DestinationCache::new(),
            stack: stack.clone(),
            timestamps,
            local_address: v4(socket.local_address()),
            receive_buffer: ReceiveBuffer {
                requested: options.receive_buffer,
                granted: socket.receive_buffer()?,
            },
            recv_buffer: RecvBuffer::new(XdpReceiver::new(
                socket,
                options.datagram_max,
                timestamps,
            )),
        })
    }

    /// Connects the socket: receives only from `remote` and sends to `remote`.
    pub(crate) fn connect(&mut self, remote: SocketAddrV4) -> io::Result<()> {
        let mut datagrams = self.recv_buffer.borrow();
        datagrams.socket().connect(SocketAddr::V4(remote))?;
        self.local_address = v4(datagrams.socket().local_address());
        Ok(())
    }

    pub(crate) fn join(&mut self, group: Ipv4Addr, sources: &[Ipv4Addr]) -> io::Result<()> {
        let sources: Vec<_> = sources.iter().copied().map(IpAddr::V4).collect();
        self.recv_buffer.borrow().socket().join(group.into(), &sources)
    }

    pub(crate) fn leave(&mut self, group: Ipv4Addr) -> io::Result<()> {
        self.recv_buffer.borrow().socket().leave(group.into())
    }

    /// Sets the TTL of datagrams to groups, which cross at most `ttl - 1` routers.
    ///
    /// # Errors
    /// `AddrNotAvailable` if the address is not one of the stack's interface, through which all
    /// datagrams leave. `InvalidInput` if the TTL is 0.
    pub(crate) fn set_multicast(&mut self, interface: Ipv4Addr, ttl: u8) -> io::Result<()> {
        let error = |kind, reason| Err(io::Error::new(kind, reason));
        let outcome = if !has_interface_address(&self.stack, interface) {
            error(io::ErrorKind::AddrNotAvailable, "the stack belongs to another interface")
        } else if ttl == 0 {
            error(io::ErrorKind::InvalidInput, "a TTL of 0 cannot leave this host, use 1 or more")
        } else {
            self.recv_buffer.borrow().socket().set_multicast_ttl(ttl)
        };
        outcome.context(format_args!("send to groups on interface {interface}"))
    }

    /// Sends to the address `to`.
    #[inline]
    pub(crate) fn transmit_to(
        &mut self,
        to: SocketAddrV4,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        check_length(length)?;
        let mut datagrams = self.recv_buffer.borrow();
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
        self.timestamps.active()
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.recv_buffer.with(XdpReceiver::dropped)
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.recv_buffer.with(XdpReceiver::truncated)
    }
}

/// # Errors
/// `InvalidInput` if the length is more than an IPv4 datagram can have.
#[inline]
fn check_length(length: usize) -> io::Result<()> {
    if length > DATAGRAM_MAX { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(()) }
}

/// Converts an address of a socket that is bound to an IPv4 address.
pub(crate) fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => unreachable!("an IPv6 address on an IPv4 socket"),
    }
}

impl Receive for XdpSocket {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.recv_buffer.borrow().receive(budget, on)
    }
}

impl Transmit for XdpSocket {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        check_length(length)?;
        self.recv_buffer.borrow().socket().transmit(length, fill)
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
            self.recv_buffer.reclaim();
            // Turning spinning on and off makes the descriptor readable if a blocking wait has left
            // data.
            self.set_spinning(true);
            self.set_spinning(false);
            return Ok(None);
        };
        self.recv_buffer.borrow().set_timeout(timeout);
        Ok(Some(Blocker::from_stack(self.recv_buffer.share())))
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.recv_buffer.borrow().socket().set_spinning(is_spinning);
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
