//! A kernel UDP socket that receives.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::error_context::Context;
use crate::kernel::address;
use crate::kernel::datagram_buffer::DatagramBuffer;
use crate::kernel::socket_option::{count_drops, set_receive_buffer};
use crate::recv_buffer::RecvBuffer;
use crate::timestamps::socket::SocketTimestamps;
use crate::timestamps::timestamping::TimestampFlags;
use crate::{
    Blocker, DropNotifier, Meta, Receive, ReceiveBuffer, Received, Source, Timestamping,
    UdpOptions, UringHandle,
};

/// A bound UDP socket with its receive state.
#[derive(Debug)]
pub(crate) struct KernelReceiver {
    socket: Arc<Socket>,
    recv_buffer: RecvBuffer<DatagramBuffer>,
    timestamps: SocketTimestamps,
    local_address: SocketAddrV4,
    receive_buffer: ReceiveBuffer,
}

impl KernelReceiver {
    /// Opens an unbound socket.
    pub(crate) fn open() -> io::Result<Socket> {
        Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))
            .context(format_args!("open a socket"))
    }

    /// Binds a socket and starts receiving.
    pub(crate) fn bind(
        socket: Socket,
        address: SocketAddrV4,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let timestamps =
            SocketTimestamps::new(&socket, TimestampFlags::for_datagrams(options.timestamping))?;
        count_drops(&socket)?;
        let receive_buffer = set_receive_buffer(&socket, options.receive_buffer)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into()).context(format_args!("receive on {address}"))?;
        Ok(Self {
            local_address: address::local(&socket)?,
            socket: Arc::new(socket),
            recv_buffer: RecvBuffer::new(DatagramBuffer::new(options)),
            timestamps,
            receive_buffer,
        })
    }

    /// Connects the socket: the kernel then delivers datagrams from `remote` only and sends to
    /// `remote`.
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

    /// Returns the socket with its timestamp state, for a sender that shares the socket.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&Socket, &mut SocketTimestamps) {
        (&self.socket, &mut self.timestamps)
    }

    /// Returns the active receive timestamping on the interface with this local address.
    pub(crate) fn timestamping(&self, interface: Ipv4Addr) -> Timestamping {
        self.timestamps.receive_timestamping_on(interface)
    }

    pub(crate) fn timestamps(&self) -> &SocketTimestamps {
        &self.timestamps
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.recv_buffer.with(DatagramBuffer::dropped)
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.recv_buffer.with(DatagramBuffer::truncated)
    }
}

impl Receive for KernelReceiver {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let received = self.recv_buffer.borrow().receive(self.socket.as_fd(), budget, on)?;
        if received.count == 0 {
            self.timestamps.drain_error_queue(&self.socket)?;
        }
        Ok(received)
    }
}

impl AsFd for KernelReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for KernelReceiver {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.socket.set_read_timeout(timeout.map(Into::into))?;
        self.socket.set_nonblocking(timeout.is_none())?;
        if timeout.is_none() {
            self.recv_buffer.reclaim();
            return Ok(None);
        }
        Ok(Some(Blocker::from_kernel(Arc::downgrade(&self.socket), self.recv_buffer.share())))
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.recv_buffer.borrow().set_uring_handle(notice)
    }
}
