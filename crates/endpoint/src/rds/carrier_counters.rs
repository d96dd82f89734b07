//! Counters of a carrier.

use std::io;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of a carrier. All of them only rise.
        ///
        /// No counted error ends the socket: what was sent is sent again. The errors that end it
        /// are those of [`is_permanent`](crate::is_permanent).
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct CarrierCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl CarrierCounters {
            /// Iterates over the counters with their names, in declaration order.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Received packets dropped: malformed frames, and frames for another address.
    dropped_frames,
    /// Errors of the carrier: an ICMP error that no socket is bound at a peer (`ECONNREFUSED`).
    error_refused,
    /// Errors of the carrier: no route, no neighbor, or an ICMP error about the path
    /// (`ENETUNREACH`, `EHOSTUNREACH`, `EHOSTDOWN`).
    error_unreachable,
    /// Errors of the carrier: a firewall does not let the packet pass (`EPERM`, `EACCES`).
    error_denied,
    /// Errors of the carrier: the packet exceeds the MTU (`EMSGSIZE`).
    error_too_long,
    /// Errors of the carrier: the interface is down (`ENETDOWN`).
    error_down,
    /// Times that this host had no room for a packet (`EAGAIN`, `ENOBUFS`, `ENOMEM`).
    error_no_room,
    /// Errors of the carrier: all others, such as `EPROTO` and `EINVAL`.
    error_other,
}

impl CarrierCounters {
    /// Counts an error.
    #[cold]
    pub(super) fn count(&mut self, error: &io::Error) {
        use io::ErrorKind as Kind;
        let counter = match (error.kind(), error.raw_os_error()) {
            (_, Some(libc::EMSGSIZE)) => &mut self.error_too_long,
            (_, Some(libc::ENOBUFS)) | (Kind::WouldBlock | Kind::OutOfMemory, _) => {
                &mut self.error_no_room
            }
            (_, Some(libc::EHOSTDOWN)) | (Kind::HostUnreachable | Kind::NetworkUnreachable, _) => {
                &mut self.error_unreachable
            }
            (Kind::ConnectionRefused, _) => &mut self.error_refused,
            (Kind::PermissionDenied, _) => &mut self.error_denied,
            (Kind::NetworkDown, _) => &mut self.error_down,
            _ => &mut self.error_other,
        };
        *counter += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_one_counter() {
        for (errno, name) in [
            (libc::ECONNREFUSED, "error_refused"),
            (libc::ENETUNREACH, "error_unreachable"),
            (libc::EHOSTUNREACH, "error_unreachable"),
            (libc::EHOSTDOWN, "error_unreachable"),
            (libc::EPERM, "error_denied"),
            (libc::EACCES, "error_denied"),
            (libc::EMSGSIZE, "error_too_long"),
            (libc::ENETDOWN, "error_down"),
            (libc::EAGAIN, "error_no_room"),
            (libc::ENOBUFS, "error_no_room"),
            (libc::ENOMEM, "error_no_room"),
            (libc::EPROTO, "error_other"),
            (libc::ENOPROTOOPT, "error_other"),
            (libc::EINVAL, "error_other"),
        ] {
            let mut counters = CarrierCounters::default();
            counters.count(&io::Error::from_raw_os_error(errno));
            let counted: Vec<_> = counters.iter().filter(|counter| counter.1 > 0).collect();
            assert_eq!(counted, [(name, 1)], "error {errno}");
        }
    }
}
