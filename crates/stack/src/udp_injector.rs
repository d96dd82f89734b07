//! UDP datagrams presented to the kernel as if they came from the peer.

use std::net::SocketAddr;

use hairpin_wire::{Ipv4Header, Ipv6Header, Protocol, Sum, UdpHeader};

/// The fields of a received IP header that a program can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IpFields {
    /// The TTL or hop limit.
    pub ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
}

/// Returns the IP packet of a datagram.
pub(crate) fn packet(
    source: SocketAddr,
    destination: SocketAddr,
    fields: IpFields,
    payload: &[u8],
) -> Option<Vec<u8>> {
    let mut udp = UdpHeader::new(source.port(), destination.port());
    let length = u16::try_from(UdpHeader::SIZE + payload.len()).ok()?;
    udp.set_length(length);
    let mut packet = Vec::with_capacity(Ipv6Header::SIZE + usize::from(length));
    match (source, destination) {
        (SocketAddr::V4(source), SocketAddr::V4(destination)) => {
            let (source, destination) = (*source.ip(), *destination.ip());
            let mut ip = Ipv4Header::new(Protocol::UDP, source, destination);
            ip.set_total_length(length.checked_add(Ipv4Header::SIZE as u16)?);
            ip.set_ttl(fields.ttl);
            ip.set_traffic_class(fields.traffic_class);
            ip.fill_checksum();
            let pseudo = Sum::pseudo_ipv4(source, destination, Protocol::UDP, length);
            udp.fill_checksum(pseudo, payload);
            packet.extend_from_slice(ip.as_bytes());
        }
        (SocketAddr::V6(source), SocketAddr::V6(destination)) => {
            let (source, destination) = (*source.ip(), *destination.ip());
            let mut ip = Ipv6Header::new(Protocol::UDP, source, destination);
            ip.set_payload_length(length);
            ip.set_hop_limit(fields.ttl);
            ip.set_traffic_class(fields.traffic_class);
            let pseudo = Sum::pseudo_ipv6(source, destination, Protocol::UDP, length.into());
            udp.fill_checksum(pseudo, payload);
            packet.extend_from_slice(ip.as_bytes());
        }
        _ => return None,
    }
    packet.extend_from_slice(udp.as_bytes());
    packet.extend_from_slice(payload);
    Some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_the_addresses_fields_and_valid_checksums() {
        let fields = IpFields { ttl: 7, traffic_class: 0x28 };
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (from, to) = (at("10.0.0.1:5"), at("10.0.0.2:6"));
        let v4 = packet(from, to, fields, b"abc").unwrap();
        let (ip, options, rest) = Ipv4Header::parse(&v4).unwrap();
        assert!(ip.is_checksum_valid(&v4) && options.is_empty());
        assert_eq!((ip.ttl(), ip.traffic_class()), (7, 0x28));
        let (udp, payload) = UdpHeader::parse(rest).unwrap();
        let pseudo = Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::UDP, 11);
        assert!(udp.is_checksum_valid(pseudo, payload));
        assert_eq!((udp.source_port(), udp.destination_port(), payload), (5, 6, &b"abc"[..]));
        let v6 = packet(at("[fd00::1]:5"), at("[fd00::2]:6"), fields, b"").unwrap();
        let (ip, rest) = Ipv6Header::parse(&v6).unwrap();
        assert_eq!((ip.hop_limit(), ip.traffic_class()), (7, 0x28));
        let (udp, payload) = UdpHeader::parse(rest).unwrap();
        let pseudo = Sum::pseudo_ipv6(ip.source(), ip.destination(), Protocol::UDP, 8);
        assert!(udp.is_checksum_valid(pseudo, payload) && payload.is_empty());
        assert!(packet(from, at("[fd00::2]:6"), fields, b"").is_none());
        assert!(packet(from, to, fields, &[0; 65_530]).is_none());
    }
}
