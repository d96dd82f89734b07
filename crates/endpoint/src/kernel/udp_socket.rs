//! A kernel UDP socket that sends and receives.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;

use crate::kernel::receiver::KernelReceiver;
use crate::kernel::send_buffer::SendBuffer;
use crate::{
    Blocker, DropNotifier, Meta, Receive, Received, Source, Timestamping, Transmit, Transmitted,
    UringHandle,
};

/// A kernel UDP socket with its receive state and send buffer.
#[derive(Debug)]
pub(crate) struct KernelUdpSocket {
    receiver: KernelReceiver,
    send_buffer: SendBuffer,
}

impl KernelUdpSocket {
    pub(crate) fn new(receiver: KernelReceiver) -> Self {
        Self { receiver, send_buffer: SendBuffer::new() }
    }

    #[inline]
    pub(crate) fn transmit_to(
        &mut self,
        to: SocketAddrV4,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        let (socket, timestamps) = self.receiver.parts();
        self.send_buffer.transmit_to(socket, to, length, fill)?;
        timestamps.count_sent();
        Ok(())
    }

    pub(crate) fn set_transmit_timestamping(
        &mut self,
        timestamping: Timestamping,
    ) -> io::Result<()> {
        let (socket, timestamps) = self.receiver.parts();
        timestamps.set_transmit(socket, timestamping)
    }

    pub(crate) fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        let (socket, timestamps) = self.receiver.parts();
        timestamps.deliver(socket, on)
    }

    pub(crate) fn connect(&mut self, remote: SocketAddrV4) -> io::Result<()> {
        self.receiver.connect(remote)
    }

    pub(crate) fn receiver(&self) -> &KernelReceiver {
        &self.receiver
    }
}

impl Receive for KernelUdpSocket {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.receiver.receive(budget, on)
    }
}

impl Transmit for KernelUdpSocket {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let (socket, timestamps) = self.receiver.parts();
        self.send_buffer.transmit(socket, length, fill)?;
        timestamps.count_sent();
        Ok(())
    }
}

impl AsFd for KernelUdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

impl Source for KernelUdpSocket {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.receiver.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.receiver.set_uring_handle(notice)
    }
}
