//! The error that an entry of a socket's error queue describes.

use super::control_messages::messages;

/// An error about a sent datagram: a `struct sock_extended_err` (ip(7), linux/errqueue.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExtendedError {
    /// The host or the part of the kernel that has reported the error.
    pub(crate) origin: u8,
    /// The ICMP type, if the origin is ICMP.
    pub(crate) kind: u8,
    /// The ICMP code, if the origin is ICMP.
    pub(crate) code: u8,
}

impl ExtendedError {
    /// Reads the error from the control messages of an entry. Returns `None` if there is no such
    /// message, or only a truncated one.
    ///
    /// ```text
    /// 0       4        5      6      7         8      12     16
    /// | errno | origin | type | code | padding | info | data | offender's address ...
    /// ```
    pub(crate) fn parse(control: &[u8]) -> Option<Self> {
        let is_error = |level, kind| {
            (level, kind) == (libc::IPPROTO_IP, libc::IP_RECVERR)
                || (level, kind) == (libc::IPPROTO_IPV6, libc::IPV6_RECVERR)
        };
        let (.., data) = messages(control).find(|&(level, kind, _)| is_error(level, kind))?;
        let error: &[u8; 16] = data.first_chunk()?;
        Some(Self { origin: error[4], kind: error[5], code: error[6] })
    }

    /// Returns `true` if the entry reports an error: not a transmit timestamp or the completion of
    /// a send.
    pub(crate) fn is_failure(self) -> bool {
        let origins = [libc::SO_EE_ORIGIN_LOCAL, libc::SO_EE_ORIGIN_ICMP, libc::SO_EE_ORIGIN_ICMP6];
        origins.contains(&self.origin)
    }

    /// Returns `true` if the destination's host has reported that no socket is bound to the port:
    /// ICMP type 3, code 3 (RFC 792) or ICMPv6 type 1, code 4 (RFC 4443).
    pub(crate) fn is_port_unreachable(self) -> bool {
        match self.origin {
            libc::SO_EE_ORIGIN_ICMP => (self.kind, self.code) == (3, 3),
            libc::SO_EE_ORIGIN_ICMP6 => (self.kind, self.code) == (1, 4),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::control_messages::HEADER;
    use super::super::control_messages::tests::message;
    use super::*;

    /// An entry with the offender's address, as the kernel writes it.
    fn entry(origin: u8, kind: u8, code: u8) -> Vec<u8> {
        let mut error = libc::ECONNREFUSED.to_ne_bytes().to_vec();
        error.extend([origin, kind, code]);
        error.resize(32, 0);
        let is_v6 = origin == libc::SO_EE_ORIGIN_ICMP6;
        let level = if is_v6 { libc::IPPROTO_IPV6 } else { libc::IPPROTO_IP };
        message(level, if is_v6 { libc::IPV6_RECVERR } else { libc::IP_RECVERR }, &error)
    }

    #[test]
    fn only_port_unreachable_of_icmp_counts() {
        for origin in 0..=8 {
            for kind in 0..=20 {
                for code in 0..=20 {
                    let error = ExtendedError::parse(&entry(origin, kind, code)).unwrap();
                    assert_eq!(error, ExtendedError { origin, kind, code });
                    let is_hard = [(2, 3, 3), (3, 1, 4)].contains(&(origin, kind, code));
                    assert_eq!(error.is_port_unreachable(), is_hard, "{error:?}");
                    assert_eq!(error.is_failure(), (1..=3).contains(&origin), "{error:?}");
                }
            }
        }
    }

    #[test]
    fn finds_the_error_behind_other_messages() {
        let mut control = message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &[7; 48]);
        assert_eq!(ExtendedError::parse(&control), None);
        control.extend(entry(2, 3, 3));
        assert!(ExtendedError::parse(&control).unwrap().is_port_unreachable());
        for length in 64..64 + HEADER + 32 {
            assert_eq!(ExtendedError::parse(&control[..length]), None, "{length}");
        }
    }

    #[test]
    fn stops_at_an_invalid_length() {
        for length in [0_u64, 15, 16, 31, 4_096, u64::MAX] {
            let mut control = entry(2, 3, 3);
            control[..8].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(ExtendedError::parse(&control), None, "{length}");
        }
    }
}
