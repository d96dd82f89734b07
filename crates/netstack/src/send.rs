//! A datagram leaves.

use hairpin_wire::{
    EtherType, EthernetHeader, Ipv4Header, Ipv6Header, MacAddress, Protocol, Sum, UdpHeader,
    VlanTag,
};

use crate::socket::BOUND;
use crate::{Address, DeviceId, Engine, Error, SendError, SocketAddress, SocketCounters, SocketId};

/// Ethernet, a VLAN tag, IPv6 and UDP.
const LONGEST: usize = EthernetHeader::SIZE + VlanTag::SIZE + Ipv6Header::SIZE + UdpHeader::SIZE;

/// How a datagram gets to its destination, as routes and neighbours have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The device it leaves by.
    pub device: DeviceId,
    /// The address of the host it comes from; a socket bound to a single one has that anyway.
    pub source: Address,
    /// Where it goes.
    pub destination: SocketAddress,
    /// The next hop's Ethernet address. For a group it is the group's and this is not looked at.
    pub next_hop: MacAddress,
    /// Whether the destination is a broadcast address: the socket must allow that.
    pub is_broadcast: bool,
}

/// Bytes of the headers of a datagram over IPv4 without a tag.
const PLAIN: usize = EthernetHeader::SIZE + Ipv4Header::SIZE + UdpHeader::SIZE;

/// All headers of a datagram to one destination, with everything but lengths, identification and
/// checksums, and the sums of what will not change. It is a plain value: when the route or the
/// socket's options change, another is prepared.
#[derive(Debug, Clone, Copy)]
pub struct PreparedHeader {
    bytes: [u8; LONGEST],
    /// Where IP begins: 14, or 18 with a tag.
    ip: usize,
    /// Where the payload begins.
    payload: usize,
    /// Of the IPv4 header, without total length and identification.
    ip_sum: Sum,
    /// Of pseudo header and ports, without lengths.
    udp_sum: Sum,
    limit: usize,
    has_checksum: bool,
    device: DeviceId,
    socket: SocketId,
}

impl PreparedHeader {
    /// The longest payload that goes into one packet.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The length of a frame with so much payload. It is not padded to Ethernet's 60 bytes, which
    /// is the card's to do.
    #[must_use]
    #[inline]
    pub const fn frame_length(&self, payload: usize) -> usize {
        self.payload + payload
    }
}

impl Engine<'_> {
    /// Writes a datagram into `buffer`, whole from its Ethernet header, and returns its length:
    /// `write` fills in the `length` bytes of payload where they leave from.
    ///
    /// # Errors
    /// [`SendError::NoSuchSocket`], [`SendError::TooLarge`] beyond [`PreparedHeader::limit`],
    /// [`SendError::BufferTooSmall`]; then nothing was written.
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
        if let Some(device) = self.parts.devices.get_mut(header.device.0 as usize) {
            device.counters.sent = device.counters.sent.wrapping_add(1);
        }
        fill(header, identification, frame, write);
        Ok(needed)
    }

    /// Writes headers and checksums as [`send`](Self::send) does around a payload that lies in its
    /// place already, and leaves no trace of it: for code and data to be in the caches before they
    /// are needed.
    ///
    /// # Errors
    /// As `send`.
    #[inline]
    pub fn rehearse(
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
        fill(header, socket.identification as u16, frame, |_| {});
        Ok(needed)
    }

    /// Prepares the headers of what a bound socket sends to one destination.
    ///
    /// # Errors
    /// [`Error::NoSuchSocket`], [`Error::NoSuchDevice`], [`Error::WrongState`] unless it is bound,
    /// [`Error::WrongAddress`] if families differ, if it is bound to another address or has
    /// another peer, or source or destination are not such, [`Error::NoPort`],
    /// [`Error::BroadcastNotAllowed`].
    pub fn prepare(&self, id: SocketId, route: &Route) -> Result<PreparedHeader, Error> {
        let (socket, device) = (self.socket(id)?, self.device(route.device)?);
        let (key, to) = (&socket.key, route.destination);
        if socket.state < BOUND {
            return Err(Error::WrongState);
        }
        let same = to.address.is_ipv4() == route.source.is_ipv4();
        let source = key.local == route.source
            || key.local == route.source.any()
            || key.local.is_multicast() && key.local.is_ipv4() == route.source.is_ipv4();
        let peer = key.remote_port == 0 || key.remote() == to;
        let are_hosts =
            !to.address.is_any() && !route.source.is_any() && !route.source.is_multicast();
        if !(same && source && peer && are_hosts) {
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
            bytes: [0; LONGEST],
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
        prepared.put(EthernetHeader::new(destination, device.mac(), outer).as_bytes());
        if device.vlan != 0 {
            prepared.put(VlanTag::new(device.vlan, ip.ether_type).as_bytes());
        }
        prepared.ip = prepared.payload;
        prepared.put(&ip.bytes[..ip.length]);
        prepared.put(udp.as_bytes());
        Ok(prepared)
    }
}

impl PreparedHeader {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.payload..][..bytes.len()].copy_from_slice(bytes);
        self.payload += bytes.len();
    }
}

/// Length, identification, checksums, and the payload.
#[inline]
fn fill(
    header: &PreparedHeader,
    identification: u16,
    frame: &mut [u8],
    write: impl FnOnce(&mut [u8]),
) {
    let Some((headers, payload)) = frame.split_at_mut_checked(header.payload) else { return };
    let plain = <&mut [u8; PLAIN]>::try_from(&mut *headers);
    match (plain, header.bytes.first_chunk()) {
        // A length that is known is copied without a call.
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
        // The length is in the header and in the pseudo header.
        let sum = header.udp_sum.word(udp_length).word(udp_length).bytes(payload);
        udp.set_checksum(sum.udp_checksum());
    }
}

/// What is different between the families.
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
