//! Prepared headers: everything in front of a segment that does not change.

use core::net::{IpAddr, SocketAddr};

use hairpin_wire::{EtherType, EthernetHeader, Ipv4Header, Ipv6Header, MacAddress, Protocol, Sum};

use crate::segment::Fields;

/// The longest headers: Ethernet and IPv6.
const MAX_HEADERS: usize = EthernetHeader::SIZE + Ipv6Header::SIZE;
const IPV4_HEADERS: usize = EthernetHeader::SIZE + Ipv4Header::SIZE;

/// The path of a connection's segments, for its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The Ethernet address of the outgoing interface.
    pub source_mac: MacAddress,
    /// The next hop's Ethernet address.
    pub next_hop: MacAddress,
    /// Our address and port.
    pub local: SocketAddr,
    /// The peer's address and port, of the same family.
    pub remote: SocketAddr,
    /// The TTL or hop limit.
    pub ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
}

/// The Ethernet and IP headers of a connection without lengths, and partial checksums of all
/// constant fields. It is a plain value; a change of the route requires a new one.
#[derive(Debug, Clone, Copy)]
pub struct PreparedHeader {
    bytes: [u8; MAX_HEADERS],
    /// The length of Ethernet and IP header.
    length: usize,
    /// The sum of the IPv4 header without its total length.
    ip_sum: Sum,
    /// The sum of the pseudo header and the ports, without the length.
    tcp_sum: Sum,
    ports: [u16; 2],
    is_ipv4: bool,
}

impl PreparedHeader {
    /// Prepares the headers of a path. Addresses of different families give a header that no host
    /// accepts.
    #[must_use]
    pub fn new(route: &Route) -> Self {
        let [local, remote] = [route.local, route.remote].map(|end| end.ip().to_canonical());
        let ports = [route.local.port(), route.remote.port()];
        let port_sum = Sum::ZERO.word(ports[0]).word(ports[1]);
        let mut prepared = Self {
            bytes: [0; MAX_HEADERS],
            length: EthernetHeader::SIZE,
            ip_sum: Sum::ZERO,
            tcp_sum: Sum::ZERO,
            ports,
            is_ipv4: local.is_ipv4(),
        };
        let ether_type = if local.is_ipv4() { EtherType::IPV4 } else { EtherType::IPV6 };
        let ethernet = EthernetHeader::new(route.next_hop, route.source_mac, ether_type);
        prepared.bytes[..EthernetHeader::SIZE].copy_from_slice(ethernet.as_bytes());
        match (local, remote) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let mut header = Ipv4Header::new(Protocol::TCP, source, destination);
                header.set_ttl(route.ttl);
                header.set_traffic_class(route.traffic_class);
                header.set_total_length(0);
                prepared.push(header.as_bytes());
                prepared.ip_sum = header.sum();
                let pseudo = Sum::pseudo_ipv4(source, destination, Protocol::TCP, 0);
                prepared.tcp_sum = pseudo.join(port_sum);
            }
            (source, destination) => {
                let [source, destination] = [source, destination].map(to_ipv6);
                let mut header = Ipv6Header::new(Protocol::TCP, source, destination);
                header.set_hop_limit(route.ttl);
                header.set_traffic_class(route.traffic_class);
                prepared.push(header.as_bytes());
                let pseudo = Sum::pseudo_ipv6(source, destination, Protocol::TCP, 0);
                prepared.tcp_sum = pseudo.join(port_sum);
            }
        }
        prepared
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Replaces the Ethernet addresses.
    pub fn set_macs(&mut self, source: MacAddress, next_hop: MacAddress) {
        if let Ok((ethernet, _)) = EthernetHeader::split_mut(&mut self.bytes) {
            ethernet.set_source(source);
            ethernet.set_destination(next_hop);
        }
    }

    /// Returns the offset of the TCP header in a frame: 34 or 54.
    #[must_use]
    #[inline]
    pub const fn segment_offset(&self) -> usize {
        self.length
    }

    /// Writes all headers around a payload that is in place, and the checksums. The frame is as
    /// long as it will be sent. Returns `false`, with nothing valid written, if it is too short.
    #[inline]
    pub(crate) fn write(&self, fields: &Fields<'_>, frame: &mut [u8]) -> bool {
        let at = self.length + fields.header_length();
        let Some((front, payload)) = frame.split_at_mut_checked(at) else { return false };
        self.write_before(fields, front, payload)
    }

    /// Writes all headers to `front`, which they fill, and the checksums of a payload.
    ///
    /// The sums are those of the values: reading back what was just written would wait until the
    /// memory of the frame belongs to this core.
    #[inline]
    pub(crate) fn write_before(
        &self,
        fields: &Fields<'_>,
        front: &mut [u8],
        payload: &[u8],
    ) -> bool {
        let Some((headers, segment)) = front.split_at_mut_checked(self.length) else {
            return false;
        };
        let length = (segment.len() + payload.len()) as u16;
        if self.is_ipv4 {
            // A length that the compiler knows: the copy is a few moves.
            let Some((headers, _)) = headers.split_first_chunk_mut::<IPV4_HEADERS>() else {
                return false;
            };
            headers.copy_from_slice(&self.bytes[..IPV4_HEADERS]);
            let Ok((ip, _)) = Ipv4Header::split_mut(&mut headers[EthernetHeader::SIZE..]) else {
                return false;
            };
            let total = length + Ipv4Header::SIZE as u16;
            ip.set_total_length(total);
            ip.set_checksum(self.ip_sum.word(total).checksum());
        } else {
            headers.copy_from_slice(&self.bytes[..self.length]);
            let Ok((ip, _)) = Ipv6Header::split_mut(&mut headers[EthernetHeader::SIZE..]) else {
                return false;
            };
            ip.set_payload_length(length);
        }
        let sum = self.tcp_sum.word(length).join(fields.sum()).bytes(payload);
        fields.write(self.ports, sum.checksum(), segment)
    }
}

fn to_ipv6(address: IpAddr) -> core::net::Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

#[cfg(test)]
mod tests {
    use hairpin_wire::{TcpFlags, TcpHeader};

    use super::*;

    fn prepared(local: &str, remote: &str) -> PreparedHeader {
        PreparedHeader::new(&Route {
            source_mac: MacAddress([2; 6]),
            next_hop: MacAddress([4; 6]),
            local: local.parse().unwrap(),
            remote: remote.parse().unwrap(),
            ttl: 64,
            traffic_class: 0,
        })
    }

    fn fields() -> Fields<'static> {
        Fields {
            sequence: 0x0102_0304,
            acknowledgment: 0x0506_0708,
            flags: TcpFlags::ACK | TcpFlags::PSH,
            window: 500,
            timestamps: Some((9, 10)),
            blocks: &[],
        }
    }

    #[test]
    fn ipv4_frame_has_valid_lengths_and_checksums() {
        let prepared = prepared("10.0.0.1:1000", "10.0.0.2:2000");
        let mut frame = [0xAB; 34 + 32 + 5];
        assert!(prepared.write(&fields(), &mut frame));
        let (ethernet, packet) = EthernetHeader::split(&frame).unwrap();
        assert_eq!(ethernet.destination(), MacAddress([4; 6]));
        let (ip, _, segment) = Ipv4Header::parse(packet).unwrap();
        assert!(ip.is_checksum_valid(packet) && segment.len() == 37);
        let pseudo = Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::TCP, 37);
        assert!(TcpHeader::is_checksum_valid(pseudo, segment));
        let (header, _, payload) = TcpHeader::parse(segment).unwrap();
        assert_eq!((header.source_port(), header.destination_port()), (1_000, 2_000));
        assert_eq!((header.window(), payload), (500, &[0xAB; 5][..]));
    }

    #[test]
    fn ipv6_frame_has_valid_lengths_and_checksums() {
        let prepared = prepared("[fd00::1]:1000", "[fd00::2]:2000");
        let mut frame = [0xAB; 54 + 32 + 8];
        assert!(prepared.write(&fields(), &mut frame));
        let (ip, segment) = Ipv6Header::parse(&frame[14..]).unwrap();
        let pseudo = Sum::pseudo_ipv6(ip.source(), ip.destination(), Protocol::TCP, 40);
        assert!(segment.len() == 40 && TcpHeader::is_checksum_valid(pseudo, segment));
    }

    #[test]
    fn short_frame_is_rejected() {
        let prepared = prepared("10.0.0.1:1000", "10.0.0.2:2000");
        for length in 0..34 + 32 {
            assert!(!prepared.write(&fields(), &mut [0; 100][..length]));
        }
    }
}
