//! Context for the kernel's errors: the operation that failed.

use std::fmt;
use std::io;

/// Adds the attempted operation to an error and keeps the error's kind.
pub(crate) trait Context<T> {
    /// Formats the error as `cannot <attempt>: <reason>`.
    fn context(self, attempt: fmt::Arguments<'_>) -> io::Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, attempt: fmt::Arguments<'_>) -> io::Result<T> {
        self.map_err(|reason| io::Error::new(reason.kind(), format!("cannot {attempt}: {reason}")))
    }
}

/// Returns `true` if an error of a datagram socket is permanent: no later call on the socket can
/// succeed.
///
/// | error | cause |
/// |---|---|
/// | `EBADF`, `ENOTSOCK`, `EFAULT` | a defect of the program: the descriptor is not open |
/// | `ENODEV` | the interface of a kernel-bypass socket was removed |
/// | [`Unsupported`](io::ErrorKind::Unsupported) | a strict stack has fallen back to the kernel, or an option does not exist |
///
/// All others concern one datagram or the state of the network: `ECONNREFUSED`, `EHOSTUNREACH`,
/// `ENETUNREACH`, `ENETDOWN`, `EMSGSIZE`, `ENOBUFS`, `EPERM` and the like. An owner counts them and
/// continues, since any host can provoke some of them with a forged packet.
#[must_use]
pub fn is_permanent(error: &io::Error) -> bool {
    let fatal = [libc::EBADF, libc::ENOTSOCK, libc::EFAULT, libc::ENODEV];
    error.raw_os_error().is_some_and(|code| fatal.contains(&code))
        || error.kind() == io::ErrorKind::Unsupported
}

/// Returns `true` if a call found no data, or was interrupted before it found any.
pub(crate) fn is_idle(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
