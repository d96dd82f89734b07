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
/// | [`Unsupported`](io::ErrorKind::Unsupported) without a number of the kernel | a strict stack has fallen back to the kernel |
///
/// All others concern one datagram or the state of the network: `ECONNREFUSED`, `EHOSTUNREACH`,
/// `ENETUNREACH`, `ENETDOWN`, `EMSGSIZE`, `ENOBUFS`, `EPERM` and the like. An owner counts them and
/// continues, since any host can provoke some of them with a forged packet.
#[must_use]
pub fn is_permanent(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(code) => [libc::EBADF, libc::ENOTSOCK, libc::EFAULT, libc::ENODEV].contains(&code),
        // The kernel's EOPNOTSUPP is of this kind too: an ICMP error about a source route.
        None => error.kind() == io::ErrorKind::Unsupported,
    }
}

/// Returns `true` if this host had no room for a packet.
pub(crate) fn is_full(error: &io::Error) -> bool {
    let is_out_of_memory = matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::ENOMEM));
    error.kind() == io::ErrorKind::WouldBlock || is_out_of_memory
}

/// Returns `true` if only this datagram was lost and a later one can be sent: this host had no room
/// for it (`EAGAIN`, `ENOBUFS`, `ENOMEM`), or no path to its destination, such as while a cable is
/// out (`ENETUNREACH`, `ENETDOWN`, `EHOSTUNREACH`).
#[must_use]
pub fn is_lost(error: &io::Error) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkDown, NetworkUnreachable};
    is_full(error) || matches!(error.kind(), HostUnreachable | NetworkDown | NetworkUnreachable)
}

/// Returns `true` if a call found no data, or was interrupted before it found any.
pub(crate) fn is_idle(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors that Linux returns for ICMP and ICMPv6 errors (net/ipv4/icmp.c,
    /// `icmp_err_convert`; net/ipv6/icmp.c, `tab_unreach`), and those of a host's own network.
    #[test]
    fn no_error_of_the_network_is_permanent() {
        for code in [
            libc::ENETUNREACH,
            libc::EHOSTUNREACH,
            libc::ENOPROTOOPT,
            libc::ECONNREFUSED,
            libc::EMSGSIZE,
            libc::EOPNOTSUPP,
            libc::EHOSTDOWN,
            libc::ENONET,
            libc::EACCES,
            libc::EPROTO,
            libc::ENETDOWN,
            libc::ENOBUFS,
            libc::ENOMEM,
            libc::EPERM,
            libc::EINVAL,
            libc::EAGAIN,
            libc::EINTR,
        ] {
            assert!(!is_permanent(&io::Error::from_raw_os_error(code)), "error {code}");
        }
        assert!(!is_permanent(&io::ErrorKind::InvalidInput.into()));
    }

    #[test]
    fn datagram_without_room_or_path_is_lost_and_a_refused_one_is_an_error() {
        let is_lost = |code| is_lost(&io::Error::from_raw_os_error(code));
        for code in [libc::EAGAIN, libc::ENOBUFS, libc::ENOMEM] {
            assert!(is_lost(code), "error {code}");
        }
        for code in [libc::ENETUNREACH, libc::ENETDOWN, libc::EHOSTUNREACH] {
            assert!(is_lost(code), "error {code}");
        }
        for code in [libc::EPERM, libc::EMSGSIZE, libc::ECONNREFUSED, libc::ENODEV, libc::EBADF] {
            assert!(!is_lost(code), "error {code}");
        }
    }

    #[test]
    fn lost_descriptor_interface_or_bypass_is_permanent() {
        for code in [libc::EBADF, libc::ENOTSOCK, libc::EFAULT, libc::ENODEV] {
            assert!(is_permanent(&io::Error::from_raw_os_error(code)), "error {code}");
        }
        assert!(is_permanent(&io::Error::new(io::ErrorKind::Unsupported, "strict")));
    }
}
