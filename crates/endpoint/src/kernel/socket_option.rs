//! Socket options that socket2 does not offer.

use std::io;
use std::os::fd::AsRawFd;

use socket2::Socket;

/// The size of a socket's receive buffer in bytes, which hold datagrams and the kernel's
/// bookkeeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// The requested size. `None`: the system's default (`net.core.rmem_default`).
    pub requested: Option<usize>,
    /// The granted size, in the same unit. It is smaller than requested if `net.core.rmem_max` is
    /// smaller and the process has no CAP_NET_ADMIN.
    pub granted: usize,
}

impl ReceiveBuffer {
    /// The value for an endpoint without a socket.
    pub const NONE: Self = Self { requested: None, granted: 0 };

    /// Returns `true` if the kernel granted less than requested.
    #[must_use]
    pub fn is_short(self) -> bool {
        self.requested.is_some_and(|requested| self.granted < requested)
    }
}

/// Makes the kernel report, with each datagram, the number of datagrams dropped because the buffer
/// was full.
pub(crate) fn count_drops(socket: &Socket) -> io::Result<()> {
    set(socket, libc::SO_RXQ_OVFL, 1)
}

/// Sets the receive buffer size, exceeding the system's limit if the process is permitted to.
pub(crate) fn set_receive_buffer(
    socket: &Socket,
    requested: Option<usize>,
) -> io::Result<ReceiveBuffer> {
    if let Some(bytes) = requested {
        let forced = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        if set(socket, libc::SO_RCVBUFFORCE, forced).is_err() {
            socket.set_recv_buffer_size(bytes)?;
        }
    }
    // The kernel allocates twice the requested size, half of it for its bookkeeping, and reports
    // that.
    Ok(ReceiveBuffer { requested, granted: socket.recv_buffer_size()? / 2 })
}

/// Sets an integer option at the socket level.
pub(crate) fn set(socket: &Socket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the descriptor is open for as long as `socket` is borrowed; the value is an int, as
    // each of the options used here takes, and lives until the call returns.
    let status = unsafe {
        let value = (&raw const value).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, length)
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
