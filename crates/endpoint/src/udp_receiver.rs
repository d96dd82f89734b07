//! A UDP socket that only receives.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_stack::SocketOptions;
use hairpin_time::Duration;

use crate::backend::Backend;
use crate::error_context::Context;
use crate::kernel::receiver::KernelReceiver;
use crate::multicast::Membership;
use crate::xdp::Stack;
use crate::xdp::socket::XdpSocket;
use crate::{
    Blocker, DropNotifier, Meta, MulticastGroup, Receive, ReceiveBuffer, Received, Source,
    Timestamping, Transport, UdpOptions, UringHandle,
};

/// A UDP socket that receives from a multicast group or on one local address.
///
/// Through the kernel, one recvmmsg(2) call takes up to a batch of datagrams into preallocated
/// memory. With kernel bypass ([`Transport::Xdp`]) datagrams are delivered in place from their
/// frames, and the batch size has no effect.
#[derive(Debug)]
pub struct UdpReceiver {
    receiver: Backend<KernelReceiver>,
    membership: Option<Membership>,
}

impl UdpReceiver {
    /// Joins a multicast group.
    ///
    /// The socket is bound to the group's address and port and ignores the memberships of other
    /// sockets (`IP_MULTICAST_ALL` off). So on a port shared by several groups the socket receives
    /// its own group only. Any number of processes may receive the same group (`SO_REUSEADDR`).
    ///
    /// # Errors
    /// The kernel's errors, with the group and interface: no such interface address, too many
    /// sources. `InvalidInput` if the address is not a multicast address.
    pub fn join(group: MulticastGroup<'_>, options: UdpOptions) -> io::Result<Self> {
        Self::join_with(&Transport::Kernel, group, options)
    }

    /// Joins a multicast group over a transport. If the interface is not the stack's, the kernel
    /// receives.
    ///
    /// # Errors
    /// The errors of [`UdpReceiver::join`]. `Unsupported` if the stack is strict and the group
    /// cannot be received over AF_XDP. If that happens later, each receive of a strict stack
    /// returns the error.
    pub fn join_with(
        transport: &Transport,
        group: MulticastGroup<'_>,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let mut membership = Membership::new(group)?;
        let (address, interface) = (group.group, group.interface);
        let stack = transport
            .receive_stack(interface, address)
            .context(format_args!("join {} on interface {interface}", address.ip()))?;
        let mut receiver = match stack {
            None => Backend::Kernel(Self::bind_kernel_shared(address, options)?),
            Some(stack) => {
                let shared = SocketOptions { reuse_address: true, ..SocketOptions::default() };
                Self::bind_xdp(stack, address, options, shared)?
            }
        };
        membership.join(&mut receiver)?;
        Ok(Self { receiver, membership: Some(membership) })
    }

    fn bind_kernel_shared(
        address: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<KernelReceiver> {
        let socket = KernelReceiver::open()?;
        socket.set_reuse_address(true)?;
        socket.set_multicast_all_v4(false)?;
        KernelReceiver::bind(socket, address, options)
    }

    fn bind_xdp(
        stack: &Stack,
        address: SocketAddrV4,
        options: UdpOptions,
        socket: SocketOptions,
    ) -> io::Result<Backend<KernelReceiver>> {
        let bound = XdpSocket::bind(stack, address, options, socket);
        let socket = bound.context(format_args!("receive on {address}"))?;
        Ok(Backend::Xdp(Box::new(socket)))
    }

    /// Binds to a local address. Port 0 lets the kernel choose a port.
    ///
    /// # Errors
    /// The kernel's errors, with the address: not an address of this host, or the port is in use.
    pub fn bind(address: SocketAddrV4, options: UdpOptions) -> io::Result<Self> {
        Self::bind_with(&Transport::Kernel, address, options)
    }

    /// Binds to a local address over a transport. If the address is not one of the stack's
    /// interface, the kernel receives.
    ///
    /// # Errors
    /// The errors of [`UdpReceiver::bind`]. `Unsupported` if the stack is strict and the address
    /// cannot be received over AF_XDP.
    pub fn bind_with(
        transport: &Transport,
        address: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let stack = transport
            .receive_stack(*address.ip(), address)
            .context(format_args!("receive on {address}"))?;
        let receiver = match stack {
            None => {
                Backend::Kernel(KernelReceiver::bind(KernelReceiver::open()?, address, options)?)
            }
            Some(stack) => Self::bind_xdp(stack, address, options, SocketOptions::default())?,
        };
        Ok(Self { receiver, membership: None })
    }

    /// Leaves the group with all of its sources. The socket stays open and delivers what arrived
    /// before. Dropping a receiver also leaves the group.
    ///
    /// # Errors
    /// The kernel's errors: the group was already left.
    pub fn leave(&mut self) -> io::Result<()> {
        let Self { receiver, membership } = self;
        membership.as_mut().map_or(Ok(()), |membership| membership.leave(receiver))
    }

    /// Joins the group again after [`leave`](Self::leave): from all of its sources or, on an error,
    /// from no source.
    ///
    /// # Errors
    /// The kernel's errors: the interface was removed or has no memory for another group. The
    /// receiver is then not a member, and the call may be repeated ([`UdpReceiver::is_joined`]
    /// shows the state). If the group has not been left, it stays joined.
    pub fn rejoin(&mut self) -> io::Result<()> {
        let Self { receiver, membership } = self;
        membership.as_mut().map_or(Ok(()), |membership| membership.join(receiver))
    }

    /// Returns `true` if the receiver is a member of its group now. `false` for a receiver that was
    /// bound to an address.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.membership.as_ref().is_some_and(Membership::is_joined)
    }

    /// Returns the bound address: the group's, if the receiver joined one.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        self.receiver.with(KernelReceiver::local_address, XdpSocket::local_address)
    }

    /// Returns the requested and the granted size of the kernel's receive buffer. With kernel
    /// bypass this buffer holds only what still comes through the kernel. Everything else waits in
    /// the stack's frames ([`UmemSettings::frames`](crate::xdp::UmemSettings::frames)).
    #[must_use]
    pub fn receive_buffer(&self) -> ReceiveBuffer {
        self.receiver.with(KernelReceiver::receive_buffer, XdpSocket::receive_buffer)
    }

    /// Returns the active receive timestamping. Hardware timestamps are active if they were
    /// requested and the NIC of the group's or local address's interface takes them now
    /// ([`crate::InterfaceTimestamping`]). Otherwise, or if no single interface is known, software
    /// timestamps are active. Each call queries the system.
    ///
    /// With kernel bypass: the timestamps of the stack's interface, of either kind, or `Off`.
    #[must_use]
    pub fn timestamping(&self) -> Timestamping {
        let membership = self.membership.as_ref().map(Membership::interface);
        let interface = membership.unwrap_or(*self.local_address().ip());
        self.receiver.with(|socket| socket.timestamping(interface), XdpSocket::timestamping)
    }

    /// Returns the number of datagrams that the kernel has dropped because its buffer was full, as
    /// reported with the last delivered datagram. With kernel bypass: the number of datagrams
    /// dropped because too many were unread.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.receiver.with(KernelReceiver::dropped, XdpSocket::dropped)
    }

    /// Returns the number of datagrams that were longer than `datagram_max` and were delivered
    /// truncated.
    #[must_use]
    pub fn truncated(&self) -> u64 {
        self.receiver.with(KernelReceiver::truncated, XdpSocket::truncated)
    }
}

impl Receive for UdpReceiver {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.receiver.receive(budget, on)
    }
}

impl AsFd for UdpReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

impl Source for UdpReceiver {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.receiver.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        drop_notifier: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.receiver.set_uring_handle(drop_notifier)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.receiver.set_spinning(is_spinning);
    }
}
