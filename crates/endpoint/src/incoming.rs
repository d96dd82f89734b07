//! The receiving half of a kernel UDP socket.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::context::Context;
use crate::datagrams::Datagrams;
use crate::inbox::Inbox;
use crate::socket_option::{count_drops, set_receive_buffer};
use crate::stamps::Stamps;
use crate::timestamping::Stamping;
use crate::{
    Blocker, DropNotifier, Meta, Receive, ReceiveBuffer, Received, Source, Timestamping,
    UdpOptions, UringHandle, address,
};

/// A bound UDP socket and what it receives into.
#[derive(Debug)]
pub(crate) struct Incoming {
    socket: Arc<Socket>,
    inbox: Inbox<Datagrams>,
    stamps: Stamps,
    local_address: SocketAddrV4,
    receive_buffer: ReceiveBuffer,
}

impl Incoming {
    /// A socket that is yet to be bound.
    pub(crate) fn open() -> io::Result<Socket> {
        Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))
            .context(format_args!("open a socket"))
    }

    /// Binds a socket and receives what is sent to it.
    pub(crate) fn bind(
        socket: Socket,
        address: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let stamps = Stamps::new(&socket, Stamping::of_datagrams(options.timestamping))?;
        count_drops(&socket)?;
        let receive_buffer = set_receive_buffer(&socket, options.receive_buffer)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into()).context(format_args!("receive on {address}"))?;
        Ok(Self {
            local_address: address::local(&socket)?,
            socket: Arc::new(socket),
            inbox: Inbox::new(Datagrams::new(options)),
            stamps,
            receive_buffer,
        })
    }

    /// Has the kernel pass on what comes from `remote` alone, and send there.
    pub(crate) fn connect(&mut self, remote: SocketAddrV4) -> io::Result<()> {
        self.socket.connect(&remote.into()).context(format_args!("connect to {remote}"))?;
        self.local_address = address::local(&self.socket)?;
        Ok(())
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    pub(crate) fn local_address(&self) -> SocketAddrV4 {
        self.local_address
    }

    pub(crate) fn receive_buffer(&self) -> ReceiveBuffer {
        self.receive_buffer
    }

    /// The socket with its timestamps, for whoever sends by it too.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&Socket, &mut Stamps) {
        (&self.socket, &mut self.stamps)
    }

    /// Which receive timestamps are in force on the interface with this local address.
    pub(crate) fn timestamping(&self, interface: Ipv4Addr) -> Timestamping {
        self.stamps.received_on(interface)
    }

    pub(crate) fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.inbox.look(Datagrams::dropped)
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.inbox.look(Datagrams::truncated)
    }
}

impl Receive for Incoming {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let received = self.inbox.open().receive(self.socket.as_fd(), budget, on)?;
        if received.count == 0 {
            self.stamps.keep(&self.socket)?;
        }
        Ok(received)
    }
}

impl AsFd for Incoming {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for Incoming {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.socket.set_read_timeout(timeout.map(Into::into))?;
        self.socket.set_nonblocking(timeout.is_none())?;
        if timeout.is_none() {
            self.inbox.reclaim();
            return Ok(None);
        }
        Ok(Some(Blocker::of_kernel(Arc::downgrade(&self.socket), self.inbox.share())))
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.inbox.open().set_uring_handle(notice)
    }
}
