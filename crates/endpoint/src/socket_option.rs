//! Socket options that socket2 does not know.

use std::io;
use std::os::fd::AsRawFd;

use socket2::Socket;

/// A socket's receive buffer, in bytes of datagrams and the kernel's book-keeping about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// What was asked for; `None`: the system's default (`net.core.rmem_default`).
    pub asked: Option<usize>,
    /// What was granted, counted alike: less than asked if `net.core.rmem_max` is less and the
    /// process has no CAP_NET_ADMIN.
    pub granted: usize,
}

impl ReceiveBuffer {
    /// Where there is no socket.
    pub const NONE: Self = Self { asked: None, granted: 0 };

    /// Whether less was granted than was asked for.
    #[must_use]
    pub fn is_short(self) -> bool {
        self.asked.is_some_and(|asked| self.granted < asked)
    }
}

/// Has the kernel count the datagrams it dropped for want of room, and say so along with the data.
pub(crate) fn count_drops(socket: &Socket) -> io::Result<()> {
    set(socket, libc::SO_RXQ_OVFL, 1)
}

/// Sets the receive buffer, past the system's limit if the process may.
pub(crate) fn set_receive_buffer(
    socket: &Socket,
    asked: Option<usize>,
) -> io::Result<ReceiveBuffer> {
    if let Some(bytes) = asked {
        let forced = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        if set(socket, libc::SO_RCVBUFFORCE, forced).is_err() {
            socket.set_recv_buffer_size(bytes)?;
        }
    }
    // The kernel grants twice what is asked, half of it for its book-keeping, and reports that.
    Ok(ReceiveBuffer { asked, granted: socket.recv_buffer_size()? / 2 })
}

/// Sets an option of the socket level that is an int.
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
