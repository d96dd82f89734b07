//! The fast path for untagged UDP frames without IP options that match an open socket.
//!
//! All headers are at fixed offsets, so they are checked as one structure. A frame with anything
//! unusual or invalid restarts on the slow path (`receive.rs`). The slow path would deliver every
//! frame of the fast path to the same sockets and count it the same.

use hairpin_time::Now;
use hairpin_wire::{EtherType, EthernetHeader, Ipv4Header, Ipv6Header, Protocol, Sum, UdpHeader};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::device::pack_mac;
use crate::flow::FlowKey;
use crate::index::NONE;
use crate::{Datagram, DeviceId, Engine, Listener, Payload, SocketAddress, SocketId, Verdict};

impl Engine<'_> {
    /// Delivers a plain frame of a cached flow to its one socket and counts it as
    /// [`handle_frame`](Self::handle_frame) does. `None` if the frame must be handled otherwise;
    /// nothing has changed then.
    #[inline(always)]
    pub fn deliver_known_flow(
        &mut self,
        device: DeviceId,
        frame: &[u8],
    ) -> Option<(SocketId, Payload)> {
        self.deliver_known_flow_of::<Ipv4UdpHeaders>(device, frame)
            .or_else(|| self.deliver_known_ipv6_flow(device, frame))
    }

    #[inline(never)]
    fn deliver_known_ipv6_flow(
        &mut self,
        device: DeviceId,
        frame: &[u8],
    ) -> Option<(SocketId, Payload)> {
        self.deliver_known_flow_of::<Ipv6UdpHeaders>(device, frame)
    }

    #[inline(always)]
    fn deliver_known_flow_of<H: Headers>(
        &mut self,
        id: DeviceId,
        frame: &[u8],
    ) -> Option<(SocketId, Payload)> {
        let (headers, payload) = self.check_fast_path::<H>(id, frame)?;
        let socket = self.parts.flows.find(&headers.flow_key(id.0), self.parts.seed)?;
        let socket = self.count_received(socket, payload.len())?;
        self.count(id.0, Verdict::Delivered(1));
        let (offset, length) = (size_of::<H>() as u32, payload.len() as u32);
        Some((socket, Payload { offset, length }))
    }

    /// Returns headers and payload if the frame is plain and valid.
    #[inline(always)]
    fn check_fast_path<'f, H: Headers>(
        &self,
        id: DeviceId,
        frame: &'f [u8],
    ) -> Option<(&'f H, &'f [u8])> {
        let device = self.device(id).ok()?;
        let (headers, rest) = H::ref_from_prefix(frame).ok()?;
        let mac = headers.ethernet().destination();
        if !headers.is_fast_path() || pack_mac(mac) != device.mac && !mac.is_group() {
            return None;
        }
        let payload = usize::from(headers.udp().length()).checked_sub(UdpHeader::SIZE)?;
        let payload = rest.get(..payload)?;
        let valid = device.trusts_checksums != 0 || headers.are_checksums_valid(payload);
        valid.then_some((headers, payload))
    }

    /// Delivers the frame if it is plain and returns the verdict. `None` otherwise; nothing has
    /// changed then.
    #[inline(always)]
    pub(crate) fn try_fast_path<H: Headers>(
        &mut self,
        now: Now,
        id: DeviceId,
        frame: &[u8],
        listener: &mut impl Listener,
    ) -> Option<Verdict> {
        let (headers, payload) = self.check_fast_path::<H>(id, frame)?;
        let Some(socket) = self.parts.flows.find(&headers.flow_key(id.0), self.parts.seed) else {
            return Some(self.deliver_new_flow(now, id, headers, payload, listener));
        };
        self.deliver_to_socket(now, socket, &headers.datagram(id, payload), listener).then(|| {
            self.count(id.0, Verdict::Delivered(1));
            Verdict::Delivered(1)
        })
    }

    /// Delivers the first frame of a flow, and caches the flow if exactly one socket received it.
    #[inline(never)]
    fn deliver_new_flow(
        &mut self,
        now: Now,
        id: DeviceId,
        headers: &impl Headers,
        payload: &[u8],
        listener: &mut impl Listener,
    ) -> Verdict {
        let mut recorder = RecipientRecorder { listener, socket: NONE };
        let verdict = self.deliver(now, &headers.datagram(id, payload), &mut recorder);
        if verdict == Verdict::Delivered(1) {
            self.parts.flows.insert(headers.flow_key(id.0), self.parts.seed, recorder.socket);
        }
        self.count(id.0, verdict);
        verdict
    }
}

/// Records the recipient and forwards the callback.
struct RecipientRecorder<'l, L> {
    listener: &'l mut L,
    socket: u32,
}

impl<L: Listener> Listener for RecipientRecorder<'_, L> {
    fn on_datagram(&mut self, now: Now, socket: SocketId, datagram: &Datagram<'_>) {
        self.socket = socket.index;
        self.listener.on_datagram(now, socket, datagram);
    }
}

/// Contiguous Ethernet, IP and UDP headers.
pub(crate) trait Headers: FromBytes + KnownLayout + Immutable + Unaligned {
    fn ethernet(&self) -> &EthernetHeader;

    fn udp(&self) -> &UdpHeader;

    /// Returns `true` if the frame is one complete UDP datagram without options, extension headers
    /// or fragmentation.
    fn is_fast_path(&self) -> bool;

    fn are_checksums_valid(&self, payload: &[u8]) -> bool;

    fn flow_key(&self, device: u32) -> FlowKey;

    /// Returns source and destination.
    fn addresses(&self) -> (SocketAddress, SocketAddress);

    fn datagram<'f>(&self, device: DeviceId, payload: &'f [u8]) -> Datagram<'f>;
}

/// Ethernet, IPv4 without options, and UDP.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct Ipv4UdpHeaders {
    ethernet: EthernetHeader,
    ip: Ipv4Header,
    udp: UdpHeader,
}

impl Headers for Ipv4UdpHeaders {
    #[inline]
    fn ethernet(&self) -> &EthernetHeader {
        &self.ethernet
    }

    #[inline]
    fn udp(&self) -> &UdpHeader {
        &self.udp
    }

    #[inline]
    fn is_fast_path(&self) -> bool {
        self.ethernet.ether_type() == EtherType::IPV4
            && self.ip.is_without_options()
            && self.ip.protocol() == Protocol::UDP
            && !self.ip.is_fragment()
            && usize::from(self.ip.total_length())
                == Ipv4Header::SIZE + usize::from(self.udp.length())
    }

    #[inline(always)]
    fn are_checksums_valid(&self, payload: &[u8]) -> bool {
        let Self { ip, udp, .. } = self;
        let pseudo = || {
            let rest = Sum::ZERO.word(u16::from(Protocol::UDP.0)).word(udp.length());
            rest.bytes(&ip.addresses())
        };
        ip.sum().is_valid() && (udp.checksum() == 0 || udp.is_checksum_valid(pseudo(), payload))
    }

    #[inline]
    fn flow_key(&self, device: u32) -> FlowKey {
        FlowKey::new_ipv4(device, self.ip.addresses(), self.udp.ports())
    }

    #[inline]
    fn addresses(&self) -> (SocketAddress, SocketAddress) {
        let Self { ip, udp, .. } = self;
        (
            SocketAddress::new(ip.source(), udp.source_port()),
            SocketAddress::new(ip.destination(), udp.destination_port()),
        )
    }

    #[inline]
    fn datagram<'f>(&self, device: DeviceId, payload: &'f [u8]) -> Datagram<'f> {
        let (source, destination) = self.addresses();
        let (ttl, traffic_class) = (self.ip.ttl(), self.ip.traffic_class());
        let offset = size_of::<Self>() as u32;
        Datagram { device, source, destination, ttl, traffic_class, offset, payload }
    }
}

/// Ethernet, IPv6 without extension headers, and UDP.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct Ipv6UdpHeaders {
    ethernet: EthernetHeader,
    ip: Ipv6Header,
    udp: UdpHeader,
}

impl Headers for Ipv6UdpHeaders {
    #[inline]
    fn ethernet(&self) -> &EthernetHeader {
        &self.ethernet
    }

    #[inline]
    fn udp(&self) -> &UdpHeader {
        &self.udp
    }

    #[inline]
    fn is_fast_path(&self) -> bool {
        self.ethernet.ether_type() == EtherType::IPV6
            && self.ip.version() == 6
            && self.ip.next_header() == Protocol::UDP
            && self.ip.payload_length() == self.udp.length()
    }

    #[inline(always)]
    fn are_checksums_valid(&self, payload: &[u8]) -> bool {
        let Self { ip, udp, .. } = self;
        let length = u32::from(udp.length());
        let pseudo = Sum::pseudo_ipv6(ip.source(), ip.destination(), Protocol::UDP, length);
        udp.is_checksum_valid(pseudo, payload)
    }

    #[inline]
    fn flow_key(&self, device: u32) -> FlowKey {
        let (source, destination) = (self.ip.source().into(), self.ip.destination().into());
        FlowKey::new_ipv6(device, source, destination, self.udp.ports())
    }

    #[inline]
    fn addresses(&self) -> (SocketAddress, SocketAddress) {
        let Self { ip, udp, .. } = self;
        (
            SocketAddress::new(ip.source(), udp.source_port()),
            SocketAddress::new(ip.destination(), udp.destination_port()),
        )
    }

    #[inline]
    fn datagram<'f>(&self, device: DeviceId, payload: &'f [u8]) -> Datagram<'f> {
        let (source, destination) = self.addresses();
        let (ttl, traffic_class) = (self.ip.hop_limit(), self.ip.traffic_class());
        let offset = size_of::<Self>() as u32;
        Datagram { device, source, destination, ttl, traffic_class, offset, payload }
    }
}
