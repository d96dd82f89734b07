//! A kernel UDP socket that only sends.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::error_context::Context;
use crate::kernel::address;
use crate::kernel::send_buffer::SendBuffer;
use crate::timestamps::socket::SocketTimestamps;
use crate::timestamps::timestamping::TimestampFlags;
use crate::{Blocker, Source, Timestamping, Transmit, Transmitted};

/// A connected UDP socket with its send buffer.
#[derive(Debug)]
pub(crate) struct KernelSender {
    socket: Socket,
    send_buffer: SendBuffer,
    timestamps: SocketTimestamps,
}

impl KernelSender {
    /// Opens a socket that is bound but not connected.
    pub(crate) fn open(local: Ipv4Addr) -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket
            .bind(&SocketAddrV4::new(local, 0).into())
            .context(format_args!("send from {local}"))?;
        Ok(socket)
    }

    /// Connects the socket to `remote`.
    pub(crate) fn connect(socket: Socket, remote: SocketAddrV4) -> io::Result<Self> {
        socket.connect(&remote.into()).context(format_args!("send to {remote}"))?;
        let timestamps =
            SocketTimestamps::new(&socket, TimestampFlags::for_datagrams(Timestamping::Off))?;
        Ok(Self { socket, send_buffer: SendBuffer::new(), timestamps })
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddrV4> {
        address::local(&self.socket)
    }

    pub(crate) fn timestamps(&self) -> &SocketTimestamps {
        &self.timestamps
    }

    pub(crate) fn set_transmit_timestamping(
        &mut self,
        timestamping: Timestamping,
    ) -> io::Result<()> {
        self.timestamps.set_transmit(&self.socket, timestamping)
    }

    pub(crate) fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        self.timestamps.deliver(&self.socket, on)
    }
}

impl Transmit for KernelSender {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.send_buffer.transmit(&self.socket, length, fill)?;
        self.timestamps.count_sent();
        Ok(())
    }
}

impl AsFd for KernelSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for KernelSender {
    /// Returns `None`: a sender has no receive to block in.
    fn set_blocking(&mut self, _timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
