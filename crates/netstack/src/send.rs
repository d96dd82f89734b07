//! The send path: headers prepared per destination.

use hairpin_wire::{
    EtherType, EthernetHeader, Ipv4Header, Ipv6Header, MacAddress, Protocol, Sum, UdpHeader,
    VlanTag,
};

use crate::socket::BOUND;
use crate::{Address, DeviceId, Engine, Error, SendError, SocketAddress, SocketCounters, SocketId};

/// The longest headers: Ethernet, a VLAN tag, IPv6 and UDP.
const MAX_HEADERS: usize =
    EthernetHeader::SIZE + VlanTag::SIZE + Ipv6Header::SIZE + UdpHeader::SIZE;

/// The path to a destination, from the kernel's routes and neighbors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The outgoing device.
    pub device: DeviceId,
    /// The source address; a socket bound to a specific address has the same one.
    pub source: Address,
    /// The destination.
    pub destination: SocketAddress,
    /// The next hop's Ethernet address. Ignored for a group, whose address is derived.
    pub next_hop: MacAddress,
    /// `true` if the destination is a broadcast address, which the socket must allow.
    pub is_broadcast: bool,
}

/// The length of the headers of an untagged IPv4 datagram.
const PLAIN_HEADERS: usize = EthernetHeader::SIZE + Ipv4Header::SIZE + UdpHeader::SIZE;

/// All headers for one destination except lengths, identification and checksums, and partial
/// checksums of the constant fields. It is a plain value; a change of the route or of the socket's
/// options requires a new one.
#[derive(Debug, Clone, Copy)]
pub struct PreparedHeader {
    bytes: [u8; MAX_HEADERS],
    /// The offset of the IP header: 14, or 18 with a VLAN tag.
    ip: usize,
    /// The offset of the payload.
    payload: usize,
    /// The checksum of the IPv4 header without total length and identification.
    ip_sum: Sum,
    /// The checksum of the pseudo header and the ports without lengths.
    udp_sum: Sum,
    limit: usize,
    has_checksum: bool,
    device: DeviceId,
    socket: SocketId,
}

impl PreparedHeader {
    /// Returns the longest payload that fits one packet, in bytes.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the length of a frame with this payload length. Padding to Ethernet's 60 bytes is
    /// left to the card.
    #[must_use]
    #[inline]
    pub const fn frame_length(&self, payload: usize) -> usize {
        self.payload + payload
    }
}

impl Engine {
    /// Writes a complete frame into `buffer` and returns its length. `write` fills in the `length`
    /// bytes of payload in place.
    ///
    /// # Errors
    /// [`SendError::NoSuchSocket`], [`SendError::TooLarge`] beyond [`PreparedHeader::limit`],
    /// [`SendError::BufferTooSmall`]. Nothing is written then.
    #[inline]
    pub fn send(
        &mut self,
        header: &PreparedHeader,
        length: usize,
        buffer: &mut [u8],
        write: impl FnOnce(&mut [u8]),
    ) -> Result<usize, SendError> {
        if length > header.limit {
            return Err(SendError::TooLarge { limit: header.limit });
        }
        let needed = header.frame_length(length);
        let frame = buffer.get_mut(..needed).ok_or(SendError::BufferTooSmall { needed })?;
        let socket = self.socket_mut(header.socket).map_err(|_| SendError::NoSuchSocket)?;
        socket.identification = socket.identification.wrapping_add(1);
        let SocketCounters { sent, sent_bytes, .. } = &mut socket.counters;
        *sent = sent.wrapping_add(1);
        *sent_bytes = sent_bytes.wrapping_add(length as u64);
        let identification = socket.identification as u16;
        if let Some(device) = self.tables.devices.get_mut(header.device.0 as usize) {
            device.counters.sent = device.counters.sent.wrapping_add(1);
        }
        write_frame(header, identification, frame, write);
        Ok(needed)
    }

    /// Writes headers and checksums around a payload that is already in place, as
    /// [`send`](Self::send) does, but counts nothing. It brings code and data into the caches
    /// before a send.
    ///
    /// # Errors
    /// As for `send`.
    #[inline]
    pub fn warm_up(
        &self,
        header: &PreparedHeader,
        length: usize,
        buffer: &mut [u8],
    ) -> Result<usize, SendError> {
        if length > header.limit {
            return Err(SendError::TooLarge { limit: header.limit });
        }
        let needed = header.frame_length(length);
        let frame = buffer.get_mut(..needed).ok_or(SendError::BufferTooSmall { needed })?;
        let socket = self.socket(header.socket).map_err(|_| SendError::NoSuchSocket)?;
        write_frame(header, socket.identification as u16, frame, |_| {});
        Ok(needed)
    }

    /// Prepares the headers of datagrams from a bound socket to one destination.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`]; [`Error::NoSuchDevice`]; [`Error::WrongState`] unless the socket is
    /// bound; [`Error::WrongAddress`] if the families differ, the socket has another local address
    /// or peer, or an address is not a valid source or destination; [`Error::NoPort`];
    /// [`Error::BroadcastNotAllowed`].
    pub fn prepare(&self, id: SocketId, route: &Route) -> Result<PreparedHeader, Error> {
        let (socket, device) = (self.socket(id)?, self.device(route.device)?);
        let (key, to) = (&socket.key, route.destination);
        if socket.state < BOUND {
            return Err(Error::WrongState);
        }
        let same = to.address.is_ipv4() == route.source.is_ipv4();
        let is_free = key.local.is_any() || key.local.is_multicast();
        let source = key.local == route.source || is_free && socket.has_family_of(route.source);
        let peer = key.remote_port == 0 || key.remote() == to;
        let valid = !to.address.is_any() && !route.source.is_any() && !route.source.is_multicast();
        if !(same && source && peer && valid) {
            return Err(Error::WrongAddress);
        }
        if to.port == 0 {
            return Err(Error::NoPort);
        }
        if route.is_broadcast && socket.broadcast == 0 {
            return Err(Error::BroadcastNotAllowed);
        }
        let udp = UdpHeader::new(key.local_port, to.port);
        let is_group = to.address.is_multicast();
        let ttl = if is_group { socket.multicast_ttl } else { socket.ttl };
        let tos = socket.traffic_class;
        let ip = if to.address.is_ipv4() { ipv4(route, ttl, tos) } else { ipv6(route, ttl, tos) };
        let mut prepared = PreparedHeader {
            bytes: [0; MAX_HEADERS],
            ip: 0,
            payload: 0,
            ip_sum: ip.sum,
            udp_sum: ip.pseudo.bytes(udp.as_bytes()),
            limit: usize::from(device.mtu).saturating_sub(ip.length + UdpHeader::SIZE),
            has_checksum: socket.checksum != 0 || !to.address.is_ipv4(),
            device: route.device,
            socket: id,
        };
        let destination = if route.is_broadcast { MacAddress::BROADCAST } else { ip.mac };
        let outer = if device.vlan == 0 { ip.ether_type } else { EtherType::VLAN };
        prepared.push(EthernetHeader::new(destination, device.mac(), outer).as_bytes());
        if device.vlan != 0 {
            prepared.push(VlanTag::new(device.vlan, ip.ether_type).as_bytes());
        }
        prepared.ip = prepared.payload;
        prepared.push(&ip.bytes[..ip.length]);
        prepared.push(udp.as_bytes());
        Ok(prepared)
    }
}

impl PreparedHeader {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.payload..][..bytes.len()].copy_from_slice(bytes);
        self.payload += bytes.len();
    }
}

/// Writes the headers with length, identification and checksums, and the payload.
#[inline]
fn write_frame(
    header: &PreparedHeader,
    identification: u16,
    frame: &mut [u8],
    write: impl FnOnce(&mut [u8]),
) {
    let Some((headers, payload)) = frame.split_at_mut_checked(header.payload) else { return };
    let plain = <&mut [u8; PLAIN_HEADERS]>::try_from(&mut *headers);
    match (plain, header.bytes.first_chunk()) {
        // A copy of a constant length needs no call to memcpy.
        (Ok(headers), Some(prepared)) => *headers = *prepared,
        _ => headers.copy_from_slice(&header.bytes[..header.payload]),
    }
    write(payload);
    let udp_length = (UdpHeader::SIZE + payload.len()) as u16;
    let Some((_, packet)) = headers.split_at_mut_checked(header.ip) else { return };
    let is_ipv4 = packet.len() == Ipv4Header::SIZE + UdpHeader::SIZE;
    let body = if is_ipv4 {
        let Ok((ip, body)) = Ipv4Header::split_mut(packet) else { return };
        let total_length = udp_length + Ipv4Header::SIZE as u16;
        ip.set_total_length(total_length);
        ip.set_identification(identification);
        ip.set_checksum(header.ip_sum.word(total_length).word(identification).checksum());
        body
    } else {
        let Ok((ip, body)) = Ipv6Header::split_mut(packet) else { return };
        ip.set_payload_length(udp_length);
        body
    };
    let Ok((udp, _)) = UdpHeader::split_mut(body) else { return };
    udp.set_length(udp_length);
    if header.has_checksum {
        // The length is part of both the header and the pseudo header.
        let sum = header.udp_sum.word(udp_length).word(udp_length).bytes(payload);
        udp.set_checksum(sum.udp_checksum());
    }
}

/// The parts of a header that depend on the IP version.
struct Ip {
    bytes: [u8; Ipv6Header::SIZE],
    length: usize,
    sum: Sum,
    pseudo: Sum,
    mac: MacAddress,
    ether_type: EtherType,
}

fn ipv4(route: &Route, ttl: u8, traffic_class: u8) -> Ip {
    let source = route.source.ipv4_octets().into();
    let destination = route.destination.address.ipv4_octets().into();
    let mut header = Ipv4Header::new(Protocol::UDP, source, destination);
    header.set_ttl(ttl);
    header.set_traffic_class(traffic_class);
    header.set_total_length(0);
    let mut bytes = [0; Ipv6Header::SIZE];
    bytes[..Ipv4Header::SIZE].copy_from_slice(header.as_bytes());
    let is_group = route.destination.address.is_multicast();
    Ip {
        bytes,
        length: Ipv4Header::SIZE,
        sum: header.sum(),
        pseudo: Sum::pseudo_ipv4(source, destination, Protocol::UDP, 0),
        mac: if is_group { MacAddress::from_ipv4_group(destination) } else { route.next_hop },
        ether_type: EtherType::IPV4,
    }
}

fn ipv6(route: &Route, ttl: u8, traffic_class: u8) -> Ip {
    let source = route.source.to_ipv6();
    let destination = route.destination.address.to_ipv6();
    let mut header = Ipv6Header::new(Protocol::UDP, source, destination);
    header.set_hop_limit(ttl);
    header.set_traffic_class(traffic_class);
    let mut bytes = [0; Ipv6Header::SIZE];
    bytes.copy_from_slice(header.as_bytes());
    let is_group = route.destination.address.is_multicast();
    Ip {
        bytes,
        length: Ipv6Header::SIZE,
        sum: Sum::ZERO,
        pseudo: Sum::pseudo_ipv6(source, destination, Protocol::UDP, 0),
        mac: if is_group { MacAddress::from_ipv6_group(destination) } else { route.next_hop },
        ether_type: EtherType::IPV6,
    }
}
