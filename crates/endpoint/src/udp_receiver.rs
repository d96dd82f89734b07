//! Datagrams that come in.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_stack::SocketOptions;
use hairpin_time::Duration;

use crate::carrier::Carrier;
use crate::context::Context;
use crate::incoming::Incoming;
use crate::multicast::Membership;
use crate::xdp::Stack;
use crate::xdp_socket::XdpSocket;
use crate::{
    Blocker, DropNotifier, Meta, MulticastGroup, Receive, ReceiveBuffer, Received, Source,
    Timestamping, Transport, UdpOptions, UringHandle,
};

/// A UDP socket that receives: a multicast group, or what is sent to one local address.
///
/// By the kernel, up to a batch of datagrams are taken with one recvmmsg(2) into memory allocated
/// at the start. Past it ([`Transport::Xdp`]) they are delivered from the frames that they came in,
/// whatever the batch.
#[derive(Debug)]
pub struct UdpReceiver {
    incoming: Carrier<Incoming>,
    membership: Option<Membership>,
}

impl UdpReceiver {
    /// Joins a multicast group.
    ///
    /// The socket is bound to the group's own address and port and takes no part in the
    /// memberships of others (`IP_MULTICAST_ALL` off): on a port shared by several groups it sees
    /// its own alone, and any number of processes may receive the same one (`SO_REUSEADDR`).
    ///
    /// # Errors
    /// The kernel's, with the group and interface: no such interface address, too many sources.
    /// `InvalidInput` if the address is not one of multicast.
    pub fn join(group: MulticastGroup<'_>, options: UdpOptions) -> io::Result<Self> {
        Self::join_by(&Transport::Kernel, group, options)
    }

    /// The same by a transport. An interface that is not its stack's is left to the kernel.
    ///
    /// # Errors
    /// Those of [`UdpReceiver::join`]; `Unsupported` if the stack is strict and the group does not
    /// come past the kernel. Such a stack refuses later, by each receive, once that is so.
    pub fn join_by(
        transport: &Transport,
        group: MulticastGroup<'_>,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let mut membership = Membership::new(group)?;
        let (address, interface) = (group.group, group.interface);
        let stack = transport
            .receiving(interface, address)
            .context(format_args!("join {} on interface {interface}", address.ip()))?;
        let mut incoming = match stack {
            None => Carrier::Kernel(Self::open_shared(address, options)?),
            Some(stack) => {
                let shared = SocketOptions { reuse_address: true, ..SocketOptions::default() };
                Self::open_past_kernel(stack, address, options, shared)?
            }
        };
        membership.join(&mut incoming)?;
        Ok(Self { incoming, membership: Some(membership) })
    }

    fn open_shared(address: SocketAddrV4, options: UdpOptions) -> io::Result<Incoming> {
        let socket = Incoming::open()?;
        socket.set_reuse_address(true)?;
        socket.set_multicast_all_v4(false)?;
        Incoming::bind(socket, address, options)
    }

    fn open_past_kernel(
        stack: &Stack,
        address: SocketAddrV4,
        options: UdpOptions,
        socket: SocketOptions,
    ) -> io::Result<Carrier<Incoming>> {
        let bound = XdpSocket::bind(stack, address, options, socket);
        let socket = bound.context(format_args!("receive on {address}"))?;
        Ok(Carrier::Xdp(Box::new(socket)))
    }

    /// Receives what is sent to a local address; port 0 has the kernel choose one.
    ///
    /// # Errors
    /// The kernel's, with the address: not one of this host, or the port is taken.
    pub fn bind(address: SocketAddrV4, options: UdpOptions) -> io::Result<Self> {
        Self::bind_by(&Transport::Kernel, address, options)
    }

    /// The same by a transport. An address that is not of its stack's interface is left to the
    /// kernel.
    ///
    /// # Errors
    /// Those of [`UdpReceiver::bind`]; `Unsupported` if the stack is strict and nothing could come
    /// past the kernel.
    pub fn bind_by(
        transport: &Transport,
        address: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let stack = transport
            .receiving(*address.ip(), address)
            .context(format_args!("receive on {address}"))?;
        let incoming = match stack {
            None => Carrier::Kernel(Incoming::bind(Incoming::open()?, address, options)?),
            Some(stack) => {
                Self::open_past_kernel(stack, address, options, SocketOptions::default())?
            }
        };
        Ok(Self { incoming, membership: None })
    }

    /// Leaves the group, with all of its sources; the socket stays, and gives out what had arrived
    /// before. A receiver that is dropped leaves by itself.
    ///
    /// # Errors
    /// The kernel's: the group was left before.
    pub fn leave(&mut self) -> io::Result<()> {
        let Self { incoming, membership } = self;
        membership.as_mut().map_or(Ok(()), |membership| membership.leave(incoming))
    }

    /// Joins again the group that was left: from all of its sources or, on an error, from none.
    ///
    /// # Errors
    /// The kernel's: the interface is gone or has no memory for another group. The receiver is
    /// then not a member and this may be tried again ([`UdpReceiver::is_joined`] tells). Or the
    /// group has not been left; it stays joined.
    pub fn rejoin(&mut self) -> io::Result<()> {
        let Self { incoming, membership } = self;
        membership.as_mut().map_or(Ok(()), |membership| membership.join(incoming))
    }

    /// Whether the receiver is a member of its group now. One that was bound to an address has
    /// none.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.membership.as_ref().is_some_and(Membership::is_joined)
    }

    /// The address the socket is bound to: the group's, if there is one.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        self.incoming.look(Incoming::local_address, XdpSocket::local_address)
    }

    /// The kernel's buffer: what was asked for and what was granted. Past the kernel it is for what
    /// the kernel brings all the same; all else waits in the stack's frames
    /// ([`UmemSettings::frames`](crate::xdp::UmemSettings::frames)).
    #[must_use]
    pub fn receive_buffer(&self) -> ReceiveBuffer {
        self.incoming.look(Incoming::receive_buffer, XdpSocket::receive_buffer)
    }

    /// Which receive timestamps are in force: hardware ones if they were asked for and the
    /// interface of the group or of the local address says that its NIC takes them now
    /// ([`crate::InterfaceTimestamping`]); else the kernel's, also where no single interface is
    /// meant. Asks the system anew at each call.
    ///
    /// Past the kernel: those of the stack's interface, whichever were asked for, or none.
    #[must_use]
    pub fn timestamping(&self) -> Timestamping {
        let membership = self.membership.as_ref().map(Membership::interface);
        let interface = membership.unwrap_or(*self.local_address().ip());
        self.incoming.look(|socket| socket.timestamping(interface), XdpSocket::timestamping)
    }

    /// Datagrams that the kernel has dropped because its buffer was full, as known from the
    /// last datagram delivered. Past the kernel: those that found no place in the stack as too many
    /// were unread.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.incoming.look(Incoming::dropped, XdpSocket::dropped)
    }

    /// Datagrams that were longer than `datagram_max` and have been delivered cut short.
    #[must_use]
    pub fn truncated(&self) -> u64 {
        self.incoming.look(Incoming::truncated, XdpSocket::truncated)
    }
}

impl Receive for UdpReceiver {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.incoming.receive(budget, on)
    }
}

impl AsFd for UdpReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.incoming.as_fd()
    }
}

impl Source for UdpReceiver {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.incoming.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.incoming.set_uring_handle(notice)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.incoming.set_spinning(is_spinning);
    }
}
