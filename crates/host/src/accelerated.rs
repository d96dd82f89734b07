//! Whether a socket of this process bypasses the kernel.

use std::ffi::{c_int, c_void};
use std::os::fd::AsRawFd;

/// Returns `true` if the messages of a socket bypass the kernel now, because this process was
/// started by `hairpin run`.
///
/// A UDP socket is accelerated from bind(2) or connect(2) on, a TCP connection after some messages
/// (`--take-after`) until it is handed back. A listener never is. The sockets of this project's own
/// endpoints have their path in `PathStatus` instead.
///
/// ```
/// let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
/// assert!(!hairpin_host::is_accelerated(&socket), "loopback never is");
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn is_accelerated(socket: &impl AsRawFd) -> bool {
    // SAFETY: the name ends with zero, and the linker's search has no side effects.
    let answer =
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"hairpin_preload_is_accelerated".as_ptr()) };
    if answer.is_null() {
        return false;
    }
    // SAFETY: only the preloaded library has this function, which has this type.
    let answer =
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_int>(answer) };
    answer(socket.as_raw_fd()) != 0
}
