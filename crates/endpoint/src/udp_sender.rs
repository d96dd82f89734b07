//! Datagrams to one address.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_stack::SocketOptions;
use hairpin_time::Duration;

use crate::carrier::Carrier;
use crate::context::Context;
use crate::kernel_sender::KernelSender;
use crate::xdp::Stack;
use crate::xdp_socket::XdpSocket;
use crate::{
    Blocker, Source, Timestamping, Transmit, Transmitted, Transport, UdpOptions, multicast,
};

/// A UDP socket that sends to one multicast group or one host.
///
/// By the kernel, a datagram is encoded in the sender's own buffer and leaves with one send(2).
/// Past it ([`Transport::Xdp`]) it is encoded in the frame that leaves.
#[derive(Debug)]
pub struct UdpSender {
    carrier: Carrier<KernelSender>,
    local_address: SocketAddrV4,
    remote_address: SocketAddrV4,
}

/// There is nothing to receive.
const OPTIONS: UdpOptions =
    UdpOptions { batch: 1, datagram_max: 0, receive_buffer: None, timestamping: Timestamping::Off };

impl UdpSender {
    /// Sends to a multicast group, from the interface whose local address is `interface`
    /// (unspecified: the kernel's choice), across `ttl - 1` routers. Receivers on this host get
    /// the datagrams too.
    ///
    /// # Errors
    /// The kernel's, with the group and interface; `InvalidInput` if the address is not one of
    /// multicast.
    pub fn new(group: SocketAddrV4, interface: Ipv4Addr, ttl: u8) -> io::Result<Self> {
        Self::new_by(&Transport::Kernel, group, interface, ttl)
    }

    /// The same by a transport; by a stack, an unspecified interface is the stack's. One that is
    /// not is left to the kernel, and so is a TTL of 0.
    ///
    /// # Errors
    /// Those of [`UdpSender::new`]; `Unsupported` if the stack is strict and the way to the group
    /// is not past the kernel: it is not while somebody on this host is a member.
    pub fn new_by(
        transport: &Transport,
        group: SocketAddrV4,
        interface: Ipv4Addr,
        ttl: u8,
    ) -> io::Result<Self> {
        if !group.ip().is_multicast() {
            let reason = format!("{} is not a multicast address (224.0.0.0/4)", group.ip());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let stack = transport.sending(interface, group, ttl);
        let Some(stack) = stack.context(format_args!("send to {group}"))? else {
            let socket = KernelSender::open(interface)?;
            multicast::send_from(&socket, interface, ttl)?;
            return Self::by_kernel(KernelSender::connect(socket, group)?, group);
        };
        let options = SocketOptions { multicast_ttl: ttl, ..SocketOptions::default() };
        Self::past_kernel(stack, interface, group, options)
    }

    /// Sends to one host, from `local` (unspecified: the kernel's choice).
    ///
    /// # Errors
    /// The kernel's, with the addresses.
    pub fn connect(remote: SocketAddrV4, local: Ipv4Addr) -> io::Result<Self> {
        Self::connect_by(&Transport::Kernel, remote, local)
    }

    /// The same by a transport. An address that is not of its stack's interface is left to the
    /// kernel.
    ///
    /// # Errors
    /// Those of [`UdpSender::connect`]; `Unsupported` if the stack is strict and the way to the
    /// host is not past the kernel.
    pub fn connect_by(
        transport: &Transport,
        remote: SocketAddrV4,
        local: Ipv4Addr,
    ) -> io::Result<Self> {
        const ANY_TTL: u8 = 1;
        let stack = transport.sending(local, remote, ANY_TTL);
        let Some(stack) = stack.context(format_args!("send to {remote}"))? else {
            let sender = KernelSender::connect(KernelSender::open(local)?, remote)?;
            return Self::by_kernel(sender, remote);
        };
        Self::past_kernel(stack, local, remote, SocketOptions::default())
    }

    fn by_kernel(sender: KernelSender, remote: SocketAddrV4) -> io::Result<Self> {
        Ok(Self {
            local_address: sender.local_address()?,
            remote_address: remote,
            carrier: Carrier::Kernel(sender),
        })
    }

    fn past_kernel(
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
            carrier: Carrier::Xdp(Box::new(socket)),
        })
    }

    /// Has the times taken at which datagrams leave, from the next one on, or no longer. Their ids
    /// count from 0; stamps not yet read are gone. Off unless set: a stamp costs the kernel a
    /// packet of its own, which lies in the socket's receive buffer until it is read.
    ///
    /// Past the kernel there are none: [`UdpSender::transmit_timestamping`] says so, and nothing is
    /// refused.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_transmit_timestamping(&mut self, timestamping: Timestamping) -> io::Result<()> {
        match &mut self.carrier {
            Carrier::Kernel(sender) => sender.set_transmit_timestamping(timestamping),
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
        self.carrier.look(|sender| sender.stamps().sent_on(interface), |_| Timestamping::Off)
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
            Carrier::Kernel(sender) => sender.transmit_timestamps(on),
            Carrier::Xdp(_) => Ok(0),
        }
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
        self.carrier.transmit(length, fill)
    }
}

impl AsFd for UdpSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.carrier.as_fd()
    }
}

impl Source for UdpSender {
    /// A sender has no receive to block in.
    fn set_blocking(&mut self, _timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
