//! Addresses that no wire may carry, by the rules of Linux (`ip_route_input_slow`,
//! `ip_mc_validate_source`, `ip6_rcv_core`). The host's own addresses are checked elsewhere.

use core::net::{Ipv4Addr, Ipv6Addr};

/// Returns `true` if an IPv4 packet must be dropped because of its addresses.
#[inline]
pub(crate) fn is_ipv4(source: Ipv4Addr, destination: Ipv4Addr) -> bool {
    // A host without an address may use 0.0.0.0 towards its own link (RFC 1122 §3.2.1.3).
    let is_unspecified = source.is_unspecified()
        && !destination.is_broadcast()
        && !matches!(destination.octets(), [224, 0, 0, _]);
    is_unspecified
        || source.is_loopback()
        || source.is_multicast()
        || source.is_broadcast()
        || destination.is_loopback()
        || destination.is_unspecified()
}

/// Returns `true` if an IPv6 packet must be dropped because of its addresses. The unspecified and
/// the IPv4-mapped source are dropped although Linux accepts them: no host can answer the first,
/// and a dual-stack socket takes the second for an IPv4 peer.
#[inline]
pub(crate) fn is_ipv6(source: Ipv6Addr, destination: Ipv6Addr) -> bool {
    let is_mapped = |address: Ipv6Addr| address.to_ipv4_mapped().is_some();
    // The scopes 0 (reserved) and 1 (interface-local).
    let is_off_link = destination.is_multicast() && destination.octets()[1] & 0xF <= 1;
    is_off_link
        || source.is_unspecified()
        || source.is_loopback()
        || source.is_multicast()
        || destination.is_loopback()
        || destination.is_unspecified()
        || is_mapped(source)
        || is_mapped(destination)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_follows_the_rules_of_the_kernel() {
        let is_martian = |source: &str, destination: &str| {
            is_ipv4(source.parse().unwrap(), destination.parse().unwrap())
        };
        for source in ["127.0.0.1", "127.255.0.9", "0.0.0.0", "224.0.0.1"] {
            assert!(is_martian(source, "10.0.0.1"), "{source}");
        }
        assert!(is_martian("255.255.255.255", "10.0.0.1") && is_martian("239.9.9.9", "10.0.0.1"));
        for source in ["10.0.0.255", "240.0.0.1", "255.255.255.254", "0.9.9.9", "223.255.255.255"] {
            assert!(!is_martian(source, "10.0.0.1"), "{source}");
        }
        assert!(is_martian("10.0.0.2", "127.0.0.1") && is_martian("10.0.0.2", "0.0.0.0"));
        assert!(!is_martian("0.0.0.0", "255.255.255.255") && !is_martian("0.0.0.0", "224.0.0.9"));
        assert!(is_martian("0.0.0.0", "224.0.1.9") && is_martian("0.0.0.0", "10.0.0.255"));
        assert!(is_martian("127.0.0.1", "224.0.0.9") && is_martian("224.0.0.9", "224.0.0.9"));
    }

    #[test]
    fn ipv6_follows_the_rules_of_the_kernel() {
        let is_martian = |source: &str, destination: &str| {
            is_ipv6(source.parse().unwrap(), destination.parse().unwrap())
        };
        for source in ["::1", "::", "ff02::1", "::ffff:10.0.0.2", "::ffff:0.0.0.0"] {
            assert!(is_martian(source, "fd00::1"), "{source}");
        }
        for destination in ["::", "::1", "::ffff:10.0.0.1", "ff00::1", "ff01::1", "ff31::9"] {
            assert!(is_martian("fd00::2", destination), "{destination}");
        }
        for destination in ["fd00::1", "ff02::1", "ff12::9", "::10.0.0.1", "fe80::1"] {
            assert!(!is_martian("fd00::2", destination), "{destination}");
        }
    }
}
