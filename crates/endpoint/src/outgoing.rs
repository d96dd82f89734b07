//! The sending half of a kernel UDP socket.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use socket2::Socket;

/// The longest payload of a UDP datagram over IPv4: 65,535 less 20 and 8 bytes of headers.
pub(crate) const DATAGRAM_MAX: usize = 65_507;

/// Neither wait for room, though a reactor may have made the socket one that blocks, nor raise
/// SIGPIPE.
const FLAGS: libc::c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

/// The memory that datagrams are encoded in.
pub(crate) struct Outgoing {
    buffer: Box<[u8]>,
}

impl Outgoing {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; DATAGRAM_MAX].into_boxed_slice() }
    }

    /// Sends to where the socket is connected to.
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        socket: &Socket,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        // A datagram is sent whole or not at all.
        socket.send_with_flags(self.filled(length, fill)?, FLAGS).map(drop)
    }

    /// Sends to another address.
    #[inline]
    pub(crate) fn transmit_to(
        &mut self,
        socket: &Socket,
        to: SocketAddrV4,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        socket.send_to_with_flags(self.filled(length, fill)?, &to.into(), FLAGS).map(drop)
    }

    #[inline]
    fn filled(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<&[u8]> {
        let Some(datagram) = self.buffer.get_mut(..length) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        fill(datagram);
        Ok(datagram)
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").finish_non_exhaustive()
    }
}
