//! Packets of IPv4 that seem to come from another host.

use std::net::SocketAddr;

use hairpin_wire::{Ipv4Header, Protocol, TcpFlags, TcpHeader, UdpHeader};

/// Returns a segment that resets a connection, whose receiver expects this sequence number.
pub(crate) fn reset(from: SocketAddr, to: SocketAddr, sequence: u32) -> Option<Vec<u8>> {
    let mut tcp = TcpHeader::new(from.port(), to.port());
    tcp.set_flags(TcpFlags::RST);
    tcp.set_sequence_number(sequence);
    packet(from, to, Protocol::TCP, tcp.as_bytes())
}

/// Returns a datagram without bytes.
pub(crate) fn datagram(from: SocketAddr, to: SocketAddr) -> Option<Vec<u8>> {
    let mut udp = UdpHeader::new(from.port(), to.port());
    udp.set_length(UdpHeader::SIZE as u16);
    packet(from, to, Protocol::UDP, udp.as_bytes())
}

fn packet(from: SocketAddr, to: SocketAddr, protocol: Protocol, segment: &[u8]) -> Option<Vec<u8>> {
    let (SocketAddr::V4(from), SocketAddr::V4(to)) = (from, to) else { return None };
    let mut ip = Ipv4Header::new(protocol, *from.ip(), *to.ip());
    ip.set_total_length((Ipv4Header::SIZE + segment.len()) as u16);
    ip.set_ttl(64);
    ip.fill_checksum();
    Some([ip.as_bytes(), segment].concat())
}
