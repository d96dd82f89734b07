//! Both halves of a kernel UDP socket.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;

use crate::incoming::Incoming;
use crate::outgoing::Outgoing;
use crate::{
    Blocker, DropNotifier, Meta, Receive, Received, Source, Timestamping, Transmit, Transmitted,
    UringHandle,
};

/// A kernel socket that receives, and what it sends from.
#[derive(Debug)]
pub(crate) struct KernelSocket {
    incoming: Incoming,
    outgoing: Outgoing,
}

impl KernelSocket {
    pub(crate) fn new(incoming: Incoming) -> Self {
        Self { incoming, outgoing: Outgoing::new() }
    }

    #[inline]
    pub(crate) fn transmit_to(
        &mut self,
        to: SocketAddrV4,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        let (socket, stamps) = self.incoming.parts();
        self.outgoing.transmit_to(socket, to, length, fill)?;
        stamps.expect();
        Ok(())
    }

    pub(crate) fn set_transmit_timestamping(
        &mut self,
        timestamping: Timestamping,
    ) -> io::Result<()> {
        let (socket, stamps) = self.incoming.parts();
        stamps.set_transmit(socket, timestamping)
    }

    pub(crate) fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        let (socket, stamps) = self.incoming.parts();
        stamps.deliver(socket, on)
    }

    pub(crate) fn connect(&mut self, remote: SocketAddrV4) -> io::Result<()> {
        self.incoming.connect(remote)
    }

    pub(crate) fn incoming(&self) -> &Incoming {
        &self.incoming
    }
}

impl Receive for KernelSocket {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.incoming.receive(budget, on)
    }
}

impl Transmit for KernelSocket {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let (socket, stamps) = self.incoming.parts();
        self.outgoing.transmit(socket, length, fill)?;
        stamps.expect();
        Ok(())
    }
}

impl AsFd for KernelSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.incoming.as_fd()
    }
}

impl Source for KernelSocket {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.incoming.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.incoming.set_uring_handle(notice)
    }
}
