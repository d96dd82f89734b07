//! The send buffer of a kernel UDP socket.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use socket2::Socket;

/// The maximum payload of a UDP datagram over IPv4: 65,535 less 20 and 8 bytes of headers.
pub(crate) const DATAGRAM_MAX: usize = 65_507;

/// The send flags: do not block (a reactor may have made the socket blocking) and do not raise
/// SIGPIPE.
const FLAGS: libc::c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

/// The buffer in which datagrams are encoded.
pub(crate) struct SendBuffer {
    buffer: Box<[u8]>,
}

impl SendBuffer {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; DATAGRAM_MAX].into_boxed_slice() }
    }

    /// Sends to the connected peer.
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        socket: &Socket,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        // A datagram is sent completely or not at all.
        socket.send_with_flags(self.filled(length, fill)?, FLAGS).map(drop)
    }

    /// Sends to the address `to`.
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

impl fmt::Debug for SendBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").finish_non_exhaustive()
    }
}
