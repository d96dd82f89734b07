//! A UDP socket that only sends, to one address.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_stack::SocketOptions;
use hairpin_time::Duration;

use crate::backend::Backend;
use crate::error_context::Context;
use crate::kernel::sender::KernelSender;
use crate::xdp::Stack;
use crate::xdp::socket::XdpSocket;
use crate::{
    Blocker, Source, Timestamping, Transmit, Transmitted, Transport, UdpOptions, multicast,
};

/// A UDP socket that sends to one multicast group or one host.
///
/// Through the kernel, a datagram is encoded in the sender's own buffer and sent with one send(2).
/// With kernel bypass ([`Transport::Xdp`]) it is encoded directly in the frame.
#[derive(Debug)]
pub struct UdpSender {
    backend: Backend<KernelSender>,
    local_address: SocketAddrV4,
    remote_address: SocketAddrV4,
}

/// The options of the underlying socket, which receives nothing.
const OPTIONS: UdpOptions =
    UdpOptions { batch: 1, datagram_max: 0, receive_buffer: None, timestamping: Timestamping::Off };

impl UdpSender {
    /// Creates a sender to a multicast group. Datagrams leave from the interface with the local
    /// address `interface` (unspecified: chosen by the kernel) and cross at most `ttl - 1` routers.
    /// Receivers on this host get the datagrams too.
    ///
    /// # Errors
    /// The kernel's errors, with the group and interface. `InvalidInput` if the address is not a
    /// multicast address.
    pub fn new(group: SocketAddrV4, interface: Ipv4Addr, ttl: u8) -> io::Result<Self> {
        Self::with_transport(&Transport::Kernel, group, interface, ttl)
    }

    /// Creates a sender to a multicast group over a transport. With a stack, an unspecified
    /// interface is the stack's. The kernel sends if the interface is not the stack's or the TTL is
    /// 0.
    ///
    /// # Errors
    /// The errors of [`UdpSender::new`]. `Unsupported` if the stack is strict and cannot send to
    /// the group over AF_XDP, as while a socket on this host is a member of the group.
    pub fn with_transport(
        transport: &Transport,
        group: SocketAddrV4,
        interface: Ipv4Addr,
        ttl: u8,
    ) -> io::Result<Self> {
        if !group.ip().is_multicast() {
            let reason = format!("{} is not a multicast address (224.0.0.0/4)", group.ip());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let stack = transport.send_stack(interface, group, ttl);
        let Some(stack) = stack.context(format_args!("send to {group}"))? else {
            let socket = KernelSender::open(interface)?;
            multicast::send_from(&socket, interface, ttl)?;
            return Self::new_kernel(KernelSender::connect(socket, group)?, group);
        };
        let options = SocketOptions { multicast_ttl: ttl, ..SocketOptions::default() };
        Self::new_xdp(stack, interface, group, options)
    }

    /// Creates a sender to one host. Datagrams leave from `local` (unspecified: chosen by the
    /// kernel).
    ///
    /// # Errors
    /// The kernel's errors, with the addresses.
    pub fn connect(remote: SocketAddrV4, local: Ipv4Addr) -> io::Result<Self> {
        Self::connect_with(&Transport::Kernel, remote, local)
    }

    /// Creates a sender to one host over a transport. The kernel sends if the address is not one of
    /// the stack's interface.
    ///
    /// # Errors
    /// The errors of [`UdpSender::connect`]. `Unsupported` if the stack is strict and cannot reach
    /// the host over AF_XDP.
    pub fn connect_with(
        transport: &Transport,
        remote: SocketAddrV4,
        local: Ipv4Addr,
    ) -> io::Result<Self> {
        const ANY_TTL: u8 = 1;
        let stack = transport.send_stack(local, remote, ANY_TTL);
        let Some(stack) = stack.context(format_args!("send to {remote}"))? else {
            let sender = KernelSender::connect(KernelSender::open(local)?, remote)?;
            return Self::new_kernel(sender, remote);
        };
        Self::new_xdp(stack, local, remote, SocketOptions::default())
    }

    fn new_kernel(sender: KernelSender, remote: SocketAddrV4) -> io::Result<Self> {
        Ok(Self {
            local_address: sender.local_address()?,
            remote_address: remote,
            backend: Backend::Kernel(sender),
        })
    }

    fn new_xdp(
        stack: &Stack,
        local: Ipv4Addr,
        remote: SocketAddrV4,
        options: SocketOptions,
    ) -> io::Result<Self> {
        let bound = XdpSocket::bind(stack, SocketAddrV4::new(local, 0), OPTIONS, options);
        let mut socket = bound.context(format_args!("send from {local}"))?;
        socket.connect(remote).context(format_args!("send to {remote}"))?;
        Ok(Self {
            local_address: socket.local_address(),
            remote_address: remote,
            backend: Backend::Xdp(Box::new(socket)),
        })
    }

    /// Turns transmit timestamps on from the next datagram, or off. Ids count from 0, and unread
    /// timestamps are discarded. Default: off. Each timestamp costs the kernel a packet of its own,
    /// which occupies the socket's receive buffer until it is read.
    ///
    /// With kernel bypass there are no transmit timestamps: the call succeeds without effect, and
    /// [`UdpSender::transmit_timestamping`] returns `Off`.
    ///
    /// # Errors
    /// The kernel's errors.
    pub fn set_transmit_timestamping(&mut self, timestamping: Timestamping) -> io::Result<()> {
        match &mut self.backend {
            Backend::Kernel(sender) => sender.set_transmit_timestamping(timestamping),
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
        self.backend.with(
            |sender| sender.timestamps().transmit_timestamping_on(interface),
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
            Backend::Kernel(sender) => sender.transmit_timestamps(on),
            Backend::Xdp(_) => Ok(0),
        }
    }

    /// Returns the local address, which receivers see as the source.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        self.local_address
    }

    /// Returns the destination address.
    #[must_use]
    pub fn remote_address(&self) -> SocketAddrV4 {
        self.remote_address
    }
}

impl Transmit for UdpSender {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.backend.transmit(length, fill)
    }
}

impl AsFd for UdpSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.backend.as_fd()
    }
}

impl Source for UdpSender {
    /// Returns `None`: a sender has no receive to block in.
    fn set_blocking(&mut self, _timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
