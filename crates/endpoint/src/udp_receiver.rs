//! Datagrams from a kernel UDP socket.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::context::Context;
use crate::datagrams::Datagrams;
use crate::inbox::Inbox;
use crate::multicast::Membership;
use crate::socket_option::{count_drops, set_receive_buffer, set_timestamping};
use crate::{
    Blocker, Intake, Meta, MulticastGroup, Notice, Receive, ReceiveBuffer, Received, Source,
    Timestamping, address,
};

/// How a [`UdpReceiver`] is sized, and what it asks the kernel for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpOptions {
    /// Datagrams per system call, at least 1: 32 unless set.
    pub batch: usize,
    /// The longest datagram in bytes: 2,048 unless set, which holds what fits an Ethernet frame. A
    /// longer one is cut and counted.
    pub datagram_max: usize,
    /// The kernel's buffer in bytes: 4 MiB unless set, which holds a burst of some 5,000 small
    /// packets while the reader is away; `None` leaves the system's default.
    pub receive_buffer: Option<usize>,
    /// Receive timestamps: the kernel's unless set.
    pub timestamping: Timestamping,
}

impl Default for UdpOptions {
    fn default() -> Self {
        Self {
            batch: 32,
            datagram_max: 2_048,
            receive_buffer: Some(4 << 20),
            timestamping: Timestamping::default(),
        }
    }
}

/// A kernel UDP socket that receives: a multicast group, or what is sent to one local address.
///
/// Up to a batch of datagrams are taken with one recvmmsg(2) into memory allocated at the start.
#[derive(Debug)]
pub struct UdpReceiver {
    socket: Arc<Socket>,
    inbox: Inbox<Datagrams>,
    membership: Option<Membership>,
    local_address: SocketAddrV4,
    receive_buffer: ReceiveBuffer,
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
        let mut membership = Membership::new(group)?;
        let socket = new_socket()?;
        socket.set_reuse_address(true)?;
        socket.set_multicast_all_v4(false)?;
        let mut receiver = Self::bound(socket, group.group, options)?;
        membership.join(&receiver.socket)?;
        receiver.membership = Some(membership);
        Ok(receiver)
    }

    /// Receives what is sent to a local address; port 0 has the kernel choose one.
    ///
    /// # Errors
    /// The kernel's, with the address: not one of this host, or the port is taken.
    pub fn bind(address: SocketAddrV4, options: UdpOptions) -> io::Result<Self> {
        Self::bound(new_socket()?, address, options)
    }

    fn bound(socket: Socket, address: SocketAddrV4, options: UdpOptions) -> io::Result<Self> {
        set_timestamping(&socket, options.timestamping)?;
        count_drops(&socket)?;
        let receive_buffer = set_receive_buffer(&socket, options.receive_buffer)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into()).context(format_args!("receive on {address}"))?;
        Ok(Self {
            local_address: address::local(&socket)?,
            socket: Arc::new(socket),
            inbox: Inbox::new(Datagrams::new(options.batch, options.datagram_max)),
            membership: None,
            receive_buffer,
        })
    }

    /// Leaves the group, with all of its sources; the socket stays, and gives out what had arrived
    /// before. A receiver that is dropped leaves by itself.
    ///
    /// # Errors
    /// The kernel's: the group was left before.
    pub fn leave(&mut self) -> io::Result<()> {
        self.membership.as_mut().map_or(Ok(()), |membership| membership.leave(&self.socket))
    }

    /// Joins again the group that was left: from all of its sources or, on an error, from none.
    ///
    /// # Errors
    /// The kernel's: the interface is gone or has no memory for another group. The receiver is
    /// then not a member and this may be tried again ([`UdpReceiver::is_joined`] tells). Or the
    /// group has not been left; it stays joined.
    pub fn rejoin(&mut self) -> io::Result<()> {
        self.membership.as_mut().map_or(Ok(()), |membership| membership.join(&self.socket))
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
        self.local_address
    }

    /// The kernel's buffer: what was asked for and what was granted.
    #[must_use]
    pub fn receive_buffer(&self) -> ReceiveBuffer {
        self.receive_buffer
    }

    /// Datagrams that the kernel has dropped because its buffer was full, as known from the
    /// last datagram delivered.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.inbox.look(Datagrams::dropped)
    }

    /// Datagrams that were longer than `datagram_max` and have been delivered cut short.
    #[must_use]
    pub fn truncated(&self) -> u64 {
        self.inbox.look(Datagrams::truncated)
    }
}

fn new_socket() -> io::Result<Socket> {
    Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))
        .context(format_args!("open a socket"))
}

impl Receive for UdpReceiver {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.inbox.open().receive(self.socket.as_fd(), budget, on)
    }
}

impl AsFd for UdpReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for UdpReceiver {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.socket.set_read_timeout(timeout.map(Into::into))?;
        self.socket.set_nonblocking(timeout.is_none())?;
        if timeout.is_none() {
            self.inbox.reclaim();
            return Ok(None);
        }
        Ok(Some(Blocker::new(Arc::downgrade(&self.socket), self.inbox.share())))
    }

    fn set_intake(&mut self, notice: Option<Notice>) -> io::Result<Option<Intake>> {
        self.inbox.open().set_intake(notice)
    }
}
