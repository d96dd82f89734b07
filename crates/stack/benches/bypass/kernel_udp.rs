//! Kernel UDP sockets.

use std::io::{self, ErrorKind};
use std::net::{SocketAddrV4, UdpSocket};

use crate::frame::{MESSAGE, message_number};
use crate::port::Port;

/// A connected, non-blocking socket.
#[derive(Debug)]
pub(crate) struct KernelUdp {
    socket: UdpSocket,
    message: [u8; MESSAGE],
}

impl KernelUdp {
    pub(crate) fn open(local: SocketAddrV4, remote: SocketAddrV4) -> io::Result<Self> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(remote)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, message: [0; MESSAGE] })
    }

    #[inline]
    fn take(&mut self) -> io::Result<bool> {
        match self.socket.recv(&mut self.message) {
            Ok(length) => Ok(length == MESSAGE),
            // The kernel reports a peer that was not bound yet at the next call.
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

impl Port for KernelUdp {
    #[inline]
    fn send(&mut self, number: u64) -> io::Result<()> {
        self.message[..8].copy_from_slice(&number.to_le_bytes());
        self.socket.send(&self.message).map(drop)
    }

    #[inline]
    fn receive(&mut self) -> io::Result<Option<u64>> {
        Ok(self.take()?.then(|| message_number(&self.message)))
    }

    #[inline]
    fn echo(&mut self) -> io::Result<bool> {
        let is_there = self.take()?;
        if is_there {
            self.socket.send(&self.message)?;
        }
        Ok(is_there)
    }
}
