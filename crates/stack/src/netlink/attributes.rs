//! Netlink attributes, which follow a message's header, and their values.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::{NLA_HEADER_SIZE, NlasIterator};
use netlink_packet_route::AddressFamily;

/// Returns the types and values of attributes, up to the first incomplete one. The type excludes
/// the flags about its encoding.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(bytes).map_while(Result::ok).map(|attribute| {
        let (kind, length) = (attribute.kind(), usize::from(attribute.length()));
        (kind, &attribute.into_inner()[NLA_HEADER_SIZE..length])
    })
}

/// Parses a number in host byte order.
pub(crate) fn number(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_ne_bytes)
}

/// Parses an Ethernet address.
pub(crate) fn mac(value: &[u8]) -> Option<[u8; 6]> {
    value.try_into().ok()
}

/// Parses an IPv4 or IPv6 address, distinguished by its length.
pub(crate) fn address(value: &[u8]) -> Option<IpAddr> {
    let v4 = || <[u8; 4]>::try_from(value).map(|bytes| Ipv4Addr::from(bytes).into());
    let v6 = || <[u8; 16]>::try_from(value).map(|bytes| Ipv6Addr::from(bytes).into());
    v4().or_else(|_| v6()).ok()
}

/// Returns the family of an address.
pub(crate) fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Returns the number of bits of an address.
pub(crate) fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = (4 + value.len() as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn attributes_are_padded_and_flags_are_not_part_of_the_type() {
        let bytes = [attribute(1, b"a"), attribute(0x8002, b"bc"), attribute(3, b"")].concat();
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(1, &b"a"[..]), (2, b"bc"), (3, b"")]);
    }

    #[test]
    fn incomplete_attribute_ends_the_list() {
        let complete = attribute(1, b"abcd");
        for length in [0_u16, 3, 9, u16::MAX] {
            let mut broken = attribute(2, b"efgh");
            broken[..2].copy_from_slice(&length.to_ne_bytes());
            let bytes = [complete.clone(), broken].concat();
            assert_eq!(attributes(&bytes).count(), 1, "{length}");
        }
    }

    #[test]
    fn values_require_their_exact_length() {
        assert_eq!(number(&7_u32.to_ne_bytes()), Some(7));
        assert_eq!(number(&[0; 5]), None);
        assert_eq!(mac(&[1, 2, 3, 4, 5, 6]), Some([1, 2, 3, 4, 5, 6]));
        assert_eq!(mac(&[0; 8]), None);
        assert_eq!(address(&[10, 0, 0, 1]), Some("10.0.0.1".parse().unwrap()));
        assert_eq!(address(&[0xfd; 16]).map(bits), Some(128));
        assert_eq!(address(&[0; 6]), None);
    }
}
