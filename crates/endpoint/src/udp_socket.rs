//! A UDP socket that sends and receives.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_stack::SocketOptions;
use hairpin_time::Duration;

use crate::backend::Backend;
use crate::error_context::Context;
use crate::kernel::receiver::KernelReceiver;
use crate::kernel::udp_socket::KernelUdpSocket;
use crate::xdp::socket::XdpSocket;
use crate::{
    Blocker, DropNotifier, Meta, Receive, ReceiveBuffer, Received, Source, Timestamping, Transmit,
    Transmitted, Transport, UdpOptions, UringHandle, multicast,
};

/// A UDP socket that sends and receives, for requests and replies.
///
/// Receives like a [`crate::UdpReceiver`] and sends like a [`crate::UdpSender`]. With a batch or a
/// budget of 1, which costs least for a ping-pong, each datagram is received with one recvmsg(2).
///
/// A connected socket receives only from its peer (and what arrived between bind and connect). If
/// the peer's host replies that no socket has the port (ICMP port unreachable), the next
/// [`Receive::receive`] or [`Transmit::transmit`] fails once with `ConnectionRefused`. The error
/// belongs to an earlier datagram; the datagram passed to that `transmit` has not been sent. The
/// socket stays usable. With kernel bypass ([`Transport::Xdp`]) only [`Receive::receive`] returns
/// this error.
///
/// To reply to datagrams of a multicast group, receive with [`crate::UdpReceiver::join`] and send
/// with a bound `UdpSocket`. To send to a group, pass its address to [`UdpSocket::transmit_to`].
///
/// ```no_run
/// use std::net::{Ipv4Addr, SocketAddrV4};
/// use hairpin_endpoint::{Receive, Transmit, UdpOptions, UdpSocket};
///
/// let any_port = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// let options = UdpOptions { batch: 1, ..UdpOptions::default() };
/// let mut pong = UdpSocket::bind(any_port, options)?;
/// let mut ping = UdpSocket::connect(any_port, pong.local_address(), options)?;
/// ping.transmit(4, |request| request.copy_from_slice(b"ping"))?;
/// let mut client = None;
/// pong.receive(1, |meta, _request| client = Some(meta.source))?;
/// if let Some(client) = client {
///     pong.transmit_to(client, 4, |reply| reply.copy_from_slice(b"pong"))?;
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct UdpSocket {
    backend: Backend<KernelUdpSocket>,
    remote_address: Option<SocketAddrV4>,
}

impl UdpSocket {
    /// Binds to a local address and receives from any peer. Port 0 lets the kernel choose a port.
    ///
    /// Datagrams to a multicast group leave from the interface of that address, unless the address
    /// is unspecified or [`UdpSocket::set_multicast`] sets another interface.
    ///
    /// # Errors
    /// The kernel's errors, with the address: not an address of this host, or the port is in use.
    pub fn bind(local: SocketAddrV4, options: UdpOptions) -> io::Result<Self> {
        Self::bind_with(&Transport::Kernel, local, options)
    }

    /// Binds to a local address over a transport. The kernel receives if the address is not one of
    /// the stack's interface. With a stack, datagrams to a group leave from the stack's interface.
    ///
    /// # Errors
    /// The errors of [`UdpSocket::bind`]. `Unsupported` if the stack is strict and the address
    /// cannot be received over AF_XDP.
    pub fn bind_with(
        transport: &Transport,
        local: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let stack = transport
            .receive_stack(*local.ip(), local)
            .context(format_args!("receive on {local}"))?;
        let backend = match stack {
            None => Backend::Kernel(Self::new_kernel(local, options)?),
            Some(stack) => {
                let bound = XdpSocket::bind(stack, local, options, SocketOptions::default());
                Backend::Xdp(Box::new(bound.context(format_args!("receive on {local}"))?))
            }
        };
        Ok(Self { backend, remote_address: None })
    }

    fn new_kernel(local: SocketAddrV4, options: UdpOptions) -> io::Result<KernelUdpSocket> {
        let receiver = KernelReceiver::bind(KernelReceiver::open()?, local, options)?;
        if !local.ip().is_unspecified() {
            multicast::send_from(receiver.socket(), *local.ip(), 1)?;
        }
        Ok(KernelUdpSocket::new(receiver))
    }

    /// Binds to `local` and connects to `remote`: receives only from `remote` and sends to
    /// `remote`. The kernel chooses the port if it is 0 and the local address if it is unspecified.
    ///
    /// # Errors
    /// The kernel's errors, with the address: `local` is not an address of this host, its port is
    /// in use, or there is no route to `remote`. `InvalidInput` if `remote` is a multicast group:
    /// nothing is received *from* a group, so such a socket would receive nothing.
    pub fn connect(
        local: SocketAddrV4,
        remote: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        Self::connect_with(&Transport::Kernel, local, remote, options)
    }

    /// Connects over a transport, like [`UdpSocket::bind_with`].
    ///
    /// # Errors
    /// The errors of [`UdpSocket::connect`]. `Unsupported` if the stack is strict and AF_XDP cannot
    /// carry one of the directions.
    pub fn connect_with(
        transport: &Transport,
        local: SocketAddrV4,
        remote: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        if remote.ip().is_multicast() {
            let reason = format!(
                "cannot connect to {remote}: a multicast group cannot be a peer, use transmit_to"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let mut socket = Self::bind_with(transport, local, options)?;
        match &mut socket.backend {
            Backend::Kernel(kernel) => kernel.connect(remote)?,
            Backend::Xdp(xdp) => {
                xdp.connect(remote).context(format_args!("connect to {remote}"))?;
            }
        }
        socket.remote_address = Some(remote);
        Ok(socket)
    }

    /// Sets the interface and the TTL of datagrams to multicast groups. `interface` is the
    /// interface's local address (unspecified: chosen by the kernel). Datagrams cross at most `ttl
    /// - 1` routers; the default TTL is 1. Receivers on this host get the datagrams too.
    ///
    /// # Errors
    /// The kernel's errors, with the interface. With kernel bypass: `AddrNotAvailable` if the
    /// interface is not the stack's, and `InvalidInput` if `ttl` is 0.
    pub fn set_multicast(&mut self, interface: Ipv4Addr, ttl: u8) -> io::Result<()> {
        match &mut self.backend {
            Backend::Kernel(kernel) => {
                multicast::send_from(kernel.receiver().socket(), interface, ttl)
            }
            Backend::Xdp(xdp) => xdp.set_multicast(interface, ttl),
        }
    }

    /// Calls `fill` to write `length` bytes, like [`Transmit::transmit`], and sends them to `to`, a
    /// host or a multicast group. The socket may be connected or not.
    ///
    /// With kernel bypass the routes to the last 64 addresses are cached. A new address costs
    /// system calls and memory. A connected socket sends to addresses other than its peer through
    /// the kernel.
    ///
    /// # Errors
    /// The errors of [`Transmit::transmit`].
    #[inline]
    pub fn transmit_to(
        &mut self,
        to: SocketAddrV4,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        match &mut self.backend {
            Backend::Kernel(kernel) => kernel.transmit_to(to, length, fill),
            Backend::Xdp(xdp) => xdp.transmit_to(to, length, fill),
        }
    }

    /// Returns the bound address, which peers see as the source.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        self.with(KernelReceiver::local_address, XdpSocket::local_address)
    }

    /// Returns the peer's address if the socket is connected.
    #[must_use]
    pub fn remote_address(&self) -> Option<SocketAddrV4> {
        self.remote_address
    }

    /// Returns the requested and the granted size of the kernel's receive buffer. With kernel
    /// bypass this buffer holds only what still comes through the kernel.
    #[must_use]
    pub fn receive_buffer(&self) -> ReceiveBuffer {
        self.with(KernelReceiver::receive_buffer, XdpSocket::receive_buffer)
    }

    /// Returns the active receive timestamping. Hardware timestamps are active if they were
    /// requested and the NIC of the local address's interface takes them now
    /// ([`crate::InterfaceTimestamping`]). Otherwise software timestamps are active. Each call
    /// queries the system.
    ///
    /// With kernel bypass: the timestamps of the stack's interface, of either kind, or `Off`.
    #[must_use]
    pub fn timestamping(&self) -> Timestamping {
        let interface = *self.local_address().ip();
        self.with(|receiver| receiver.timestamping(interface), XdpSocket::timestamping)
    }

    /// Turns transmit timestamps on from the next datagram, or off. Ids count from 0, and unread
    /// timestamps are discarded. Default: off. Each timestamp costs the kernel a packet of its own,
    /// which occupies the socket's receive buffer until it is read.
    ///
    /// With kernel bypass there are no transmit timestamps: the call succeeds without effect, and
    /// [`UdpSocket::transmit_timestamping`] returns `Off`.
    ///
    /// # Errors
    /// The kernel's errors.
    pub fn set_transmit_timestamping(&mut self, timestamping: Timestamping) -> io::Result<()> {
        match &mut self.backend {
            Backend::Kernel(kernel) => kernel.set_transmit_timestamping(timestamping),
            Backend::Xdp(_) => Ok(()),
        }
    }

    /// Returns the active transmit timestamping. Hardware timestamps are active if they were
    /// requested and the NIC of the local address's interface takes them now
    /// ([`crate::InterfaceTimestamping`]). Otherwise software timestamps are active. Each call
    /// queries the system. `Off` with kernel bypass.
    #[must_use]
    pub fn transmit_timestamping(&self) -> Timestamping {
        let interface = *self.local_address().ip();
        self.with(
            |receiver| receiver.timestamps().transmit_timestamping_on(interface),
            |_| Timestamping::Off,
        )
    }

    /// Delivers the timestamps of sent datagrams, each in one call of `on`, in the order in which
    /// they were taken, and returns their number. Never blocks. Makes one system call for up to 16
    /// timestamps, and no call if all have been delivered.
    ///
    /// There is no timestamp if the driver takes none, if the packet never reaches a driver, or if
    /// the socket's receive buffer has no room for the timestamp.
    ///
    /// # Errors
    /// The kernel's errors.
    pub fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        match &mut self.backend {
            Backend::Kernel(kernel) => kernel.transmit_timestamps(on),
            Backend::Xdp(_) => Ok(0),
        }
    }

    /// Returns the number of unread transmit timestamps that were discarded. When
    /// [`Receive::receive`] finds no data, it takes pending timestamps from the kernel, so that
    /// they do not end each wait, and keeps the newest 1,024.
    #[must_use]
    pub fn transmit_timestamps_discarded(&self) -> u64 {
        self.with(|receiver| receiver.timestamps().discarded(), |_| 0)
    }

    /// Returns the number of datagrams that the kernel has dropped because its buffer was full, as
    /// reported with the last delivered datagram. With kernel bypass: the number of datagrams
    /// dropped because too many were unread.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.with(KernelReceiver::dropped, XdpSocket::dropped)
    }

    /// Returns the number of datagrams that were longer than `datagram_max` and were delivered
    /// truncated.
    #[must_use]
    pub fn truncated(&self) -> u64 {
        self.with(KernelReceiver::truncated, XdpSocket::truncated)
    }

    fn with<R>(
        &self,
        kernel: impl FnOnce(&KernelReceiver) -> R,
        xdp: impl FnOnce(&XdpSocket) -> R,
    ) -> R {
        self.backend.with(|socket| kernel(socket.receiver()), xdp)
    }
}

impl Receive for UdpSocket {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.backend.receive(budget, on)
    }
}

impl Transmit for UdpSocket {
    /// Sends to the connected peer. On an unconnected socket the kernel returns EDESTADDRREQ (an
    /// uncategorized error), and a stack returns `NotConnected`.
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.backend.transmit(length, fill)
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.backend.as_fd()
    }
}

impl Source for UdpSocket {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.backend.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        drop_notifier: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.backend.set_uring_handle(drop_notifier)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.backend.set_spinning(is_spinning);
    }
}
