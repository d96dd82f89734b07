//! A kernel UDP socket that only sends.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;
use socket2::{Domain, Protocol, Socket, Type};

use crate::context::Context;
use crate::outgoing::Outgoing;
use crate::stamps::Stamps;
use crate::timestamping::Stamping;
use crate::{Blocker, Source, Timestamping, Transmit, Transmitted, address};

/// A connected socket and what it sends from.
#[derive(Debug)]
pub(crate) struct KernelSender {
    socket: Socket,
    outgoing: Outgoing,
    stamps: Stamps,
}

impl KernelSender {
    /// A socket that is yet to be connected.
    pub(crate) fn open(local: Ipv4Addr) -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket
            .bind(&SocketAddrV4::new(local, 0).into())
            .context(format_args!("send from {local}"))?;
        Ok(socket)
    }

    /// Sends to one address.
    pub(crate) fn connect(socket: Socket, remote: SocketAddrV4) -> io::Result<Self> {
        socket.connect(&remote.into()).context(format_args!("send to {remote}"))?;
        let stamps = Stamps::new(&socket, Stamping::of_datagrams(Timestamping::Off))?;
        Ok(Self { socket, outgoing: Outgoing::new(), stamps })
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddrV4> {
        address::local(&self.socket)
    }

    pub(crate) fn stamps(&self) -> &Stamps {
        &self.stamps
    }

    pub(crate) fn set_transmit_timestamping(
        &mut self,
        timestamping: Timestamping,
    ) -> io::Result<()> {
        self.stamps.set_transmit(&self.socket, timestamping)
    }

    pub(crate) fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        self.stamps.deliver(&self.socket, on)
    }
}

impl Transmit for KernelSender {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.outgoing.transmit(&self.socket, length, fill)?;
        self.stamps.expect();
        Ok(())
    }
}

impl AsFd for KernelSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for KernelSender {
    /// A sender has no receive to block in.
    fn set_blocking(&mut self, _timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}
