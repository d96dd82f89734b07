//! Datagrams to a kernel UDP socket.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::context::Context;
use crate::outgoing::Outgoing;
use crate::stamps::Stamps;
use crate::timestamping::Stamping;
use crate::{Blocker, Source, Timestamping, Transmit, Transmitted, address, multicast};

/// A kernel UDP socket that sends to one multicast group or one host.
///
/// A datagram is encoded in the sender's own buffer and leaves with one send(2).
#[derive(Debug)]
pub struct UdpSender {
    socket: Socket,
    outgoing: Outgoing,
    stamps: Stamps,
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
            stamps: Stamps::new(&socket, Stamping::of_datagrams(Timestamping::Off))?,
            socket,
        })
    }

    /// Has the times taken at which datagrams leave, from the next one on, or no longer. Their ids
    /// count from 0; stamps not yet read are gone. Off unless set: a stamp costs the kernel a
    /// packet of its own, which lies in the socket's receive buffer until it is read.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_transmit_timestamping(&mut self, timestamping: Timestamping) -> io::Result<()> {
        self.stamps.set_transmit(&self.socket, timestamping)
    }

    /// Which transmit timestamps are in force: hardware ones if they were asked for and the
    /// interface of the local address says that its NIC takes them now
    /// ([`crate::InterfaceTimestamping`]), else the kernel's. Asks the system anew at each call.
    #[must_use]
    pub fn transmit_timestamping(&self) -> Timestamping {
        self.stamps.sent_on(*self.local_address().ip())
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
        self.stamps.deliver(&self.socket, on)
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
        self.outgoing.transmit(&self.socket, length, fill)?;
        self.stamps.expect();
        Ok(())
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
