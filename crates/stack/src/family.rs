//! The address family of a socket, and IPv4-mapped addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};

/// The families that a socket sends and receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Ipv4,
    OnlyIpv6,
    /// An IPv6 socket that knows IPv4 addresses as mapped ones (`::ffff:a.b.c.d`, RFC 3493 §3.7).
    DualStack,
}

impl Family {
    pub(crate) fn new(local: SocketAddr, only_v6: bool) -> Self {
        match local {
            SocketAddr::V4(_) => Self::Ipv4,
            SocketAddr::V6(_) if only_v6 => Self::OnlyIpv6,
            SocketAddr::V6(_) => Self::DualStack,
        }
    }

    /// Converts an address from the socket's form to that of packets and routes.
    ///
    /// # Errors
    /// `NetworkUnreachable` for an IPv4 address of a socket without IPv4, as the kernel reports.
    pub(crate) fn to_packet(self, address: SocketAddr) -> io::Result<SocketAddr> {
        let IpAddr::V4(v4) = address.ip().to_canonical() else { return Ok(address) };
        match self {
            Self::Ipv4 => Ok(address),
            Self::OnlyIpv6 => Err(io::Error::from_raw_os_error(libc::ENETUNREACH)),
            Self::DualStack => Ok(SocketAddr::new(v4.into(), address.port())),
        }
    }

    /// Converts an address of a packet to the socket's form.
    #[inline(always)]
    pub(crate) fn to_socket(self, address: IpAddr) -> IpAddr {
        match address {
            IpAddr::V4(v4) if self == Self::DualStack => v4.to_ipv6_mapped().into(),
            address => address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dual_stack_sockets_map_ipv4() {
        let [v4, mapped, v6] = ["10.0.0.1:7", "[::ffff:10.0.0.1]:7", "[fd00::1]:7"]
            .map(|text| text.parse::<SocketAddr>().unwrap());
        let family = |only_v6| Family::new(v6, only_v6);
        assert_eq!(Family::new(v4, true), Family::Ipv4);
        for address in [v4, mapped] {
            assert_eq!(family(false).to_packet(address).unwrap(), v4);
            let error = family(true).to_packet(address).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NetworkUnreachable);
        }
        assert_eq!(family(true).to_packet(v6).unwrap(), v6);
        assert_eq!(family(false).to_packet(v6).unwrap(), v6);
        assert_eq!(family(false).to_socket(v4.ip()), mapped.ip());
        assert_eq!(family(true).to_socket(v6.ip()), v6.ip());
        assert_eq!(Family::Ipv4.to_socket(v4.ip()), v4.ip());
    }
}
