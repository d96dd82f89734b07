//! The backend of a UDP socket: the kernel or AF_XDP.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_time::Duration;

use crate::xdp::socket::XdpSocket;
use crate::{Blocker, DropNotifier, Meta, Receive, Received, Source, Transmit, UringHandle};

/// A kernel socket or a kernel-bypass socket.
#[derive(Debug)]
pub(crate) enum Backend<K> {
    Kernel(K),
    Xdp(Box<XdpSocket>),
}

impl<K> Backend<K> {
    /// Reads a property of the socket with the function for its kind.
    pub(crate) fn with<R>(
        &self,
        kernel: impl FnOnce(&K) -> R,
        xdp: impl FnOnce(&XdpSocket) -> R,
    ) -> R {
        match self {
            Self::Kernel(socket) => kernel(socket),
            Self::Xdp(socket) => xdp(socket),
        }
    }
}

impl<K: Receive> Receive for Backend<K> {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        match self {
            Self::Kernel(socket) => socket.receive(budget, on),
            Self::Xdp(socket) => socket.receive(budget, on),
        }
    }
}

impl<K: Transmit> Transmit for Backend<K> {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        match self {
            Self::Kernel(socket) => socket.transmit(length, fill),
            Self::Xdp(socket) => socket.transmit(length, fill),
        }
    }
}

impl<K: AsFd> AsFd for Backend<K> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Kernel(socket) => socket.as_fd(),
            Self::Xdp(socket) => socket.as_fd(),
        }
    }
}

impl<K: Source> Source for Backend<K> {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        match self {
            Self::Kernel(socket) => socket.set_blocking(timeout),
            Self::Xdp(socket) => socket.set_blocking(timeout),
        }
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        match self {
            Self::Kernel(socket) => socket.set_uring_handle(notice),
            Self::Xdp(socket) => socket.set_uring_handle(notice),
        }
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        match self {
            Self::Kernel(socket) => socket.set_spinning(is_spinning),
            Self::Xdp(socket) => socket.set_spinning(is_spinning),
        }
    }
}
