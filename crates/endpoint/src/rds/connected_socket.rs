//! A connected socket for the peer that most packets go to.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// The packets in a row to one peer after which it gets the connected socket.
const CONNECT_AFTER: u32 = 64;
/// The same while another peer has it: connecting costs as much as about ten packets.
const REPLACE_AFTER: u32 = 1_024;
/// The receive calls after which the unconnected socket is polled as well.
const POLLS: u32 = 4;

/// A UDP socket with the port of the carrier's main socket, connected to one peer.
///
/// A connected socket sends without a route lookup, which takes about a seventh of the time of a
/// send. The kernel delivers the peer's packets to this socket and all others to the main socket,
/// so that receiving needs two system calls. Used only while the owner spins.
#[derive(Debug)]
pub(crate) struct ConnectedSocket {
    pub(crate) socket: Socket,
    /// The peer's RDS address.
    pub(crate) peer: SocketAddr,
}

impl ConnectedSocket {
    /// Opens a socket with the address of `main` and connects it to `udp_peer`.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn open(main: &Socket, peer: SocketAddr, udp_peer: &SockAddr) -> io::Result<Self> {
        let domain = if peer.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        // Both sockets must allow the second one to bind. Afterwards, the port is taken again.
        socket.set_reuse_address(true)?;
        main.set_reuse_address(true)?;
        let bound = main.local_addr().and_then(|local| socket.bind(&local));
        main.set_reuse_address(false)?;
        bound?;
        socket.set_reuse_address(false)?;
        socket.connect(udp_peer)?;
        Ok(Self { socket, peer })
    }
}

impl AsFd for ConnectedSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Decides which peer gets the connected socket, and when the main socket is polled.
#[derive(Debug, Default)]
pub(crate) struct ConnectionPolicy {
    /// The last destination without the connected socket.
    last: Option<SocketAddr>,
    /// The packets in a row to it.
    run: u32,
    /// The receive calls since the main socket was polled.
    polls: u32,
}

impl ConnectionPolicy {
    /// Records a packet to a peer without the connected socket. Returns `true` if the peer must
    /// get the connected socket.
    #[inline]
    pub(crate) fn record(&mut self, peer: SocketAddr, is_connected: bool) -> bool {
        if self.last != Some(peer) {
            (self.last, self.run) = (Some(peer), 0);
        }
        self.run += 1;
        let needed = if is_connected { REPLACE_AFTER } else { CONNECT_AFTER };
        let is_due = self.run >= needed;
        if is_due {
            self.restart();
        }
        is_due
    }

    /// Records a packet to the peer with the connected socket.
    #[inline]
    pub(crate) fn restart(&mut self) {
        self.run = 0;
    }

    /// Returns `true` if the main socket must be polled as well.
    #[inline]
    pub(crate) fn is_main_due(&mut self) -> bool {
        self.polls += 1;
        let is_due = self.polls >= POLLS;
        if is_due {
            self.polls = 0;
        }
        is_due
    }
}
