//! The fast path for untagged UDP frames without IP options that match an open socket.
//!
//! All headers are at fixed offsets, so they are checked as one structure. A frame with anything
//! unusual or invalid, or of an unknown flow, takes the general path (`receive.rs`), which learns
//! flows. It would deliver every frame of the fast path to the same socket and count it the same.

use hairpin_time::Now;
use hairpin_wire::{EtherType, EthernetHeader, Ipv4Header, Ipv6Header, Protocol, Sum, UdpHeader};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::device::pack_mac;
use crate::flow::FlowKey;
use crate::index::NONE;
use crate::{Address, Datagram, DeviceId, Engine, Listener, PathError, Payload, SocketId, Verdict};

impl Engine {
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
        let socket = self.tables.flows.find(&headers.flow_key(id.0), self.tables.seed)?;
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
        let has_partial = device.has_partial != 0;
        headers.are_checksums_valid(has_partial, payload).then_some((headers, payload))
    }

    /// Caches the flow of a frame that one socket has received, if the frame is plain.
    pub(crate) fn learn_flow(&mut self, device: DeviceId, frame: &[u8], socket: u32) {
        self.learn_flow_of::<Ipv4UdpHeaders>(device, frame, socket);
        self.learn_flow_of::<Ipv6UdpHeaders>(device, frame, socket);
    }

    fn learn_flow_of<H: Headers>(&mut self, device: DeviceId, frame: &[u8], socket: u32) {
        let headers = H::ref_from_prefix(frame).ok().map(|(headers, _)| headers);
        // An ICMP error has no recipient among the datagrams' sockets.
        if let Some(headers) = headers.filter(|headers| headers.is_fast_path() && socket != NONE) {
            self.tables.flows.insert(headers.flow_key(device.0), self.tables.seed, socket);
        }
    }
}

/// Records the recipient of a datagram and forwards the callbacks.
pub(crate) struct RecipientRecorder<'l, L> {
    pub(crate) listener: &'l mut L,
    pub(crate) socket: u32,
}

impl<L: Listener> Listener for RecipientRecorder<'_, L> {
    fn on_datagram(&mut self, now: Now, socket: SocketId, datagram: &Datagram<'_>) {
        self.socket = socket.index;
        self.listener.on_datagram(now, socket, datagram);
    }

    fn accepts_source(&mut self, source: Address, destination: Address) -> bool {
        self.listener.accepts_source(source, destination)
    }

    fn on_path_error(&mut self, now: Now, socket: SocketId, error: &PathError) {
        self.listener.on_path_error(now, socket, error);
    }
}

/// Contiguous Ethernet, IP and UDP headers.
pub(crate) trait Headers: FromBytes + KnownLayout + Immutable + Unaligned {
    fn ethernet(&self) -> &EthernetHeader;

    fn udp(&self) -> &UdpHeader;

    /// Returns `true` if the frame is one complete UDP datagram without options, extension headers
    /// or fragmentation.
    fn is_fast_path(&self) -> bool;

    /// Returns `true` if the checksums are valid or, with `has_partial`, the UDP checksum is the
    /// partial sum. Otherwise the general path accepts a partial sum.
    fn are_checksums_valid(&self, has_partial: bool, payload: &[u8]) -> bool;

    fn flow_key(&self, device: u32) -> FlowKey;
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
    fn are_checksums_valid(&self, has_partial: bool, payload: &[u8]) -> bool {
        let Self { ip, udp, .. } = self;
        let pseudo = || {
            let rest = Sum::ZERO.word(u16::from(Protocol::UDP.0)).word(udp.length());
            rest.bytes(&ip.addresses())
        };
        ip.sum().is_valid()
            && (udp.checksum() == 0
                || has_partial && pseudo().is_partial(udp.checksum())
                || udp.is_checksum_valid(pseudo(), payload))
    }

    #[inline]
    fn flow_key(&self, device: u32) -> FlowKey {
        FlowKey::new_ipv4(device, self.ip.addresses(), self.udp.ports())
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
    fn are_checksums_valid(&self, has_partial: bool, payload: &[u8]) -> bool {
        let Self { ip, udp, .. } = self;
        let length = u32::from(udp.length());
        let pseudo = Sum::pseudo_ipv6(ip.source(), ip.destination(), Protocol::UDP, length);
        has_partial && pseudo.is_partial(udp.checksum()) || udp.is_checksum_valid(pseudo, payload)
    }

    #[inline]
    fn flow_key(&self, device: u32) -> FlowKey {
        let (source, destination) = (self.ip.source().into(), self.ip.destination().into());
        FlowKey::new_ipv6(device, source, destination, self.udp.ports())
    }
}
