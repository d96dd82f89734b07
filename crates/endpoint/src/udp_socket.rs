//! Datagrams both ways by one UDP socket.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_stack::SocketOptions;
use hairpin_time::Duration;

use crate::carrier::Carrier;
use crate::context::Context;
use crate::incoming::Incoming;
use crate::kernel_socket::KernelSocket;
use crate::xdp_socket::XdpSocket;
use crate::{
    Blocker, DropNotifier, Meta, Receive, ReceiveBuffer, Received, Source, Timestamping, Transmit,
    Transmitted, Transport, UdpOptions, UringHandle, multicast,
};

/// A UDP socket that sends and receives: what a request and its answer travel by.
///
/// Its receiving half is that of a [`crate::UdpReceiver`], its sending half that of a
/// [`crate::UdpSender`]. With a batch or a budget of 1, what costs least for a ping-pong, each
/// datagram is taken with one recvmsg(2).
///
/// Connected, it receives from its peer alone (but for what came in the moment between its binding
/// and its connecting) and is told when the peer's host has answered that nobody listens there
/// (ICMP port unreachable): the next [`Receive::receive`] or [`Transmit::transmit`] fails once with
/// `ConnectionRefused`. That is about an earlier datagram; what `transmit` was to send then has not
/// been sent. The socket works on as if nothing had been. Past the kernel ([`Transport::Xdp`])
/// [`Receive::receive`] alone is told.
///
/// To answer what came to a multicast group, receive it with [`crate::UdpReceiver::join`] and
/// answer by a bound `UdpSocket`; to ask a group, [`UdpSocket::transmit_to`] its address.
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
/// let mut asker = None;
/// pong.receive(1, |meta, _request| asker = Some(meta.source))?;
/// if let Some(asker) = asker {
///     pong.transmit_to(asker, 4, |answer| answer.copy_from_slice(b"pong"))?;
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct UdpSocket {
    carrier: Carrier<KernelSocket>,
    remote_address: Option<SocketAddrV4>,
}

impl UdpSocket {
    /// Receives what is sent to a local address, from anybody; port 0 has the kernel choose one.
    ///
    /// Datagrams to a group leave from the interface of that address, unless it is unspecified or
    /// [`UdpSocket::set_multicast`] says otherwise.
    ///
    /// # Errors
    /// The kernel's, with the address: not one of this host, or the port is taken.
    pub fn bind(local: SocketAddrV4, options: UdpOptions) -> io::Result<Self> {
        Self::bind_by(&Transport::Kernel, local, options)
    }

    /// The same by a transport. An address that is not of its stack's interface is left to the
    /// kernel. By a stack, datagrams to a group leave from the stack's interface.
    ///
    /// # Errors
    /// Those of [`UdpSocket::bind`]; `Unsupported` if the stack is strict and nothing could come
    /// past the kernel.
    pub fn bind_by(
        transport: &Transport,
        local: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let stack =
            transport.receiving(*local.ip(), local).context(format_args!("receive on {local}"))?;
        let carrier = match stack {
            None => Carrier::Kernel(Self::by_kernel(local, options)?),
            Some(stack) => {
                let bound = XdpSocket::bind(stack, local, options, SocketOptions::default());
                Carrier::Xdp(Box::new(bound.context(format_args!("receive on {local}"))?))
            }
        };
        Ok(Self { carrier, remote_address: None })
    }

    fn by_kernel(local: SocketAddrV4, options: UdpOptions) -> io::Result<KernelSocket> {
        let incoming = Incoming::bind(Incoming::open()?, local, options)?;
        if !local.ip().is_unspecified() {
            multicast::send_from(incoming.socket(), *local.ip(), 1)?;
        }
        Ok(KernelSocket::new(incoming))
    }

    /// Receives from `remote` alone what is sent to `local`, and sends to `remote`. Of `local` the
    /// port, or the address too, may be left to the kernel (0, unspecified).
    ///
    /// # Errors
    /// The kernel's, with the address: `local` is not one of this host or its port is taken, there
    /// is no way to `remote`. `InvalidInput` if `remote` is a multicast group: nothing is ever
    /// received *from* a group, so such a socket would be deaf.
    pub fn connect(
        local: SocketAddrV4,
        remote: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        Self::connect_by(&Transport::Kernel, local, remote, options)
    }

    /// The same by a transport, as [`UdpSocket::bind_by`] is.
    ///
    /// # Errors
    /// Those of [`UdpSocket::connect`]; `Unsupported` if the stack is strict and the way to or from
    /// `remote` is not past the kernel.
    pub fn connect_by(
        transport: &Transport,
        local: SocketAddrV4,
        remote: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        if remote.ip().is_multicast() {
            let reason = format!("cannot connect to {remote}: nothing is received from a group");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let mut socket = Self::bind_by(transport, local, options)?;
        match &mut socket.carrier {
            Carrier::Kernel(kernel) => kernel.connect(remote)?,
            Carrier::Xdp(xdp) => {
                xdp.connect(remote).context(format_args!("connect to {remote}"))?;
            }
        }
        socket.remote_address = Some(remote);
        Ok(socket)
    }

    /// Has datagrams to multicast groups leave from the interface whose local address is
    /// `interface` (unspecified: the kernel's choice), across `ttl - 1` routers: 1 unless set.
    /// Receivers on this host get them too.
    ///
    /// # Errors
    /// The kernel's, with the interface. Past the kernel `AddrNotAvailable` if it is not the
    /// stack's, and `InvalidInput` if `ttl` is 0.
    pub fn set_multicast(&mut self, interface: Ipv4Addr, ttl: u8) -> io::Result<()> {
        match &mut self.carrier {
            Carrier::Kernel(kernel) => {
                multicast::send_from(kernel.incoming().socket(), interface, ttl)
            }
            Carrier::Xdp(xdp) => xdp.set_multicast(interface, ttl),
        }
    }

    /// Has `fill` write `length` bytes, as [`Transmit::transmit`] does, and sends them to `to`, a
    /// host or a multicast group, whether the socket is connected or not.
    ///
    /// Past the kernel the ways to the last 64 addresses are remembered; a new one costs system
    /// calls and memory. A connected socket sends to others than its peer through the kernel.
    ///
    /// # Errors
    /// Those of [`Transmit::transmit`].
    #[inline]
    pub fn transmit_to(
        &mut self,
        to: SocketAddrV4,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        match &mut self.carrier {
            Carrier::Kernel(kernel) => kernel.transmit_to(to, length, fill),
            Carrier::Xdp(xdp) => xdp.transmit_to(to, length, fill),
        }
    }

    /// The address the socket is bound to, which others see as the source of what it sends.
    #[must_use]
    pub fn local_address(&self) -> SocketAddrV4 {
        self.look(Incoming::local_address, XdpSocket::local_address)
    }

    /// The address the socket is connected to, if it is.
    #[must_use]
    pub fn remote_address(&self) -> Option<SocketAddrV4> {
        self.remote_address
    }

    /// The kernel's buffer: what was asked for and what was granted. Past the kernel it is for what
    /// the kernel brings all the same.
    #[must_use]
    pub fn receive_buffer(&self) -> ReceiveBuffer {
        self.look(Incoming::receive_buffer, XdpSocket::receive_buffer)
    }

    /// Which receive timestamps are in force: hardware ones if they were asked for and the
    /// interface of the local address says that its NIC takes them now
    /// ([`crate::InterfaceTimestamping`]), else the kernel's. Asks the system anew at each call.
    ///
    /// Past the kernel: those of the stack's interface, whichever were asked for, or none.
    #[must_use]
    pub fn timestamping(&self) -> Timestamping {
        let interface = *self.local_address().ip();
        self.look(|incoming| incoming.timestamping(interface), XdpSocket::timestamping)
    }

    /// Has the times taken at which datagrams leave, from the next one on, or no longer. Their ids
    /// count from 0; stamps not yet read are gone. Off unless set: a stamp costs the kernel a
    /// packet of its own, which lies in the socket's receive buffer until it is read.
    ///
    /// Past the kernel there are none: [`UdpSocket::transmit_timestamping`] says so, and nothing is
    /// refused.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_transmit_timestamping(&mut self, timestamping: Timestamping) -> io::Result<()> {
        match &mut self.carrier {
            Carrier::Kernel(kernel) => kernel.set_transmit_timestamping(timestamping),
            Carrier::Xdp(_) => Ok(()),
        }
    }

    /// Which transmit timestamps are in force: hardware ones if they were asked for and the
    /// interface of the local address says that its NIC takes them now
    /// ([`crate::InterfaceTimestamping`]), else the kernel's. Asks the system anew at each call.
    /// None past the kernel.
    #[must_use]
    pub fn transmit_timestamping(&self) -> Timestamping {
        let interface = *self.local_address().ip();
        self.look(|incoming| incoming.stamps().sent_on(interface), |_| Timestamping::Off)
    }

    /// Delivers the timestamps of datagrams that have left, each to one call of `on` and in the
    /// order in which they were taken, and returns how many. Never waits; one system call for up
    /// to 16, none if all have been delivered.
    ///
    /// A driver that takes no times, and a packet that never reaches one, give none. Nor does one
    /// whose stamp finds no room in the socket's receive buffer.
    ///
    /// # Errors
    /// The kernel's.
    pub fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        match &mut self.carrier {
            Carrier::Kernel(kernel) => kernel.transmit_timestamps(on),
            Carrier::Xdp(_) => Ok(0),
        }
    }

    /// Timestamps of datagrams sent that went unread: while [`Receive::receive`] finds nothing it
    /// takes them from the kernel, so that they do not end each wait, and keeps the newest 1,024.
    #[must_use]
    pub fn transmit_timestamps_lost(&self) -> u64 {
        self.look(|incoming| incoming.stamps().lost(), |_| 0)
    }

    /// Datagrams that the kernel has dropped because its buffer was full, as known from the
    /// last datagram delivered. Past the kernel: those that found no place in the stack as too many
    /// were unread.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.look(Incoming::dropped, XdpSocket::dropped)
    }

    /// Datagrams that were longer than `datagram_max` and have been delivered cut short.
    #[must_use]
    pub fn truncated(&self) -> u64 {
        self.look(Incoming::truncated, XdpSocket::truncated)
    }

    fn look<R>(&self, kernel: impl FnOnce(&Incoming) -> R, xdp: impl FnOnce(&XdpSocket) -> R) -> R {
        self.carrier.look(|socket| kernel(socket.incoming()), xdp)
    }
}

impl Receive for UdpSocket {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.carrier.receive(budget, on)
    }
}

impl Transmit for UdpSocket {
    /// Sends to where the socket is connected to; else the kernel says that it wants to know
    /// where (EDESTADDRREQ, an uncategorised error), a stack `NotConnected`.
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.carrier.transmit(length, fill)
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.carrier.as_fd()
    }
}

impl Source for UdpSocket {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.carrier.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.carrier.set_uring_handle(notice)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.carrier.set_spinning(is_spinning);
    }
}
