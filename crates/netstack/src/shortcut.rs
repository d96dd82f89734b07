//! The shortcut that nearly every frame takes: no tag, no options, UDP, and a socket that is there.
//!
//! All headers lie at fixed places then, so that they are looked at as one. Whatever is unusual or
//! wrong in a frame sends it the general way (`receive.rs`), from the beginning; what the shortcut
//! delivers, the general way would deliver to the same sockets and count alike.

use hairpin_time::Now;
use hairpin_wire::{EtherType, EthernetHeader, Ipv4Header, Ipv6Header, Protocol, Sum, UdpHeader};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::device::word;
use crate::flow::Ends;
use crate::index::NONE;
use crate::{Datagram, DeviceId, Engine, Listener, Payload, SocketAddress, SocketId, Verdict};

impl Engine<'_> {
    /// Delivers a frame that nothing is unusual about, of a flow that is known, to the one socket
    /// that gets it, which is counted as by [`handle_frame`](Self::handle_frame). `None`, and
    /// nothing has happened: it is to be handled.
    #[inline(always)]
    pub fn take_known(&mut self, device: DeviceId, frame: &[u8]) -> Option<(SocketId, Payload)> {
        self.take_known_over::<OverIpv4>(device, frame)
            .or_else(|| self.take_known_over_ipv6(device, frame))
    }

    #[inline(never)]
    fn take_known_over_ipv6(
        &mut self,
        device: DeviceId,
        frame: &[u8],
    ) -> Option<(SocketId, Payload)> {
        self.take_known_over::<OverIpv6>(device, frame)
    }

    #[inline(always)]
    fn take_known_over<H: Headers>(
        &mut self,
        id: DeviceId,
        frame: &[u8],
    ) -> Option<(SocketId, Payload)> {
        let (headers, payload) = self.plain::<H>(id, frame)?;
        let socket = self.parts.flows.find(&headers.ends(id.0), self.parts.seed)?;
        let socket = self.count_received(socket, payload.len())?;
        self.count(id.0, Verdict::Delivered(1));
        let (offset, length) = (size_of::<H>() as u32, payload.len() as u32);
        Some((socket, Payload { offset, length }))
    }

    /// Headers and payload, if nothing is unusual or wrong about the frame.
    #[inline(always)]
    fn plain<'f, H: Headers>(&self, id: DeviceId, frame: &'f [u8]) -> Option<(&'f H, &'f [u8])> {
        let device = self.device(id).ok()?;
        let (headers, rest) = H::ref_from_prefix(frame).ok()?;
        let mac = headers.ethernet().destination();
        if !headers.are_plain() || word(mac) != device.mac && !mac.is_group() {
            return None;
        }
        let payload = usize::from(headers.udp().length()).checked_sub(UdpHeader::SIZE)?;
        let payload = rest.get(..payload)?;
        let is_right = device.trusts_checksums != 0 || headers.are_checksums_right(payload);
        is_right.then_some((headers, payload))
    }

    /// The verdict on a frame that could be delivered so; `None`, and nothing has happened.
    #[inline(always)]
    pub(crate) fn take_shortcut<H: Headers>(
        &mut self,
        now: Now,
        id: DeviceId,
        frame: &[u8],
        listener: &mut impl Listener,
    ) -> Option<Verdict> {
        let (headers, payload) = self.plain::<H>(id, frame)?;
        let Some(socket) = self.parts.flows.find(&headers.ends(id.0), self.parts.seed) else {
            return Some(self.take_new_flow(now, id, headers, payload, listener));
        };
        self.hand_over(now, socket, &headers.datagram(id, payload), listener).then(|| {
            self.count(id.0, Verdict::Delivered(1));
            Verdict::Delivered(1)
        })
    }

    /// Delivers the first of a flow, which is remembered if one socket alone gets it.
    #[inline(never)]
    fn take_new_flow(
        &mut self,
        now: Now,
        id: DeviceId,
        headers: &impl Headers,
        payload: &[u8],
        listener: &mut impl Listener,
    ) -> Verdict {
        let mut witness = Witness { listener, socket: NONE };
        let verdict = self.deliver(now, &headers.datagram(id, payload), &mut witness);
        if verdict == Verdict::Delivered(1) {
            self.parts.flows.remember(headers.ends(id.0), self.parts.seed, witness.socket);
        }
        self.count(id.0, verdict);
        verdict
    }
}

/// Sees who gets a datagram.
struct Witness<'l, L> {
    listener: &'l mut L,
    socket: u32,
}

impl<L: Listener> Listener for Witness<'_, L> {
    fn on_datagram(&mut self, now: Now, socket: SocketId, datagram: &Datagram<'_>) {
        self.socket = socket.index;
        self.listener.on_datagram(now, socket, datagram);
    }
}

/// The headers of Ethernet, IP and UDP with nothing between them.
pub(crate) trait Headers: FromBytes + KnownLayout + Immutable + Unaligned {
    fn ethernet(&self) -> &EthernetHeader;

    fn udp(&self) -> &UdpHeader;

    /// Whether they are that: of a whole packet that is one UDP datagram and no more.
    fn are_plain(&self) -> bool;

    fn are_checksums_right(&self, payload: &[u8]) -> bool;

    fn ends(&self, device: u32) -> Ends;

    /// Source and destination.
    fn addresses(&self) -> (SocketAddress, SocketAddress);

    fn datagram<'f>(&self, device: DeviceId, payload: &'f [u8]) -> Datagram<'f>;
}

/// IPv4 without options.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct OverIpv4 {
    ethernet: EthernetHeader,
    ip: Ipv4Header,
    udp: UdpHeader,
}

impl Headers for OverIpv4 {
    #[inline]
    fn ethernet(&self) -> &EthernetHeader {
        &self.ethernet
    }

    #[inline]
    fn udp(&self) -> &UdpHeader {
        &self.udp
    }

    #[inline]
    fn are_plain(&self) -> bool {
        self.ethernet.ether_type() == EtherType::IPV4
            && self.ip.is_without_options()
            && self.ip.protocol() == Protocol::UDP
            && !self.ip.is_fragment()
            && usize::from(self.ip.total_length())
                == Ipv4Header::SIZE + usize::from(self.udp.length())
    }

    #[inline(always)]
    fn are_checksums_right(&self, payload: &[u8]) -> bool {
        let Self { ip, udp, .. } = self;
        let pseudo = || {
            let rest = Sum::ZERO.word(u16::from(Protocol::UDP.0)).word(udp.length());
            rest.bytes(&ip.addresses())
        };
        ip.sum().is_valid() && (udp.checksum() == 0 || udp.is_checksum_valid(pseudo(), payload))
    }

    #[inline]
    fn ends(&self, device: u32) -> Ends {
        Ends::over_ipv4(device, self.ip.addresses(), self.udp.ports())
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

/// IPv6 without extension headers.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct OverIpv6 {
    ethernet: EthernetHeader,
    ip: Ipv6Header,
    udp: UdpHeader,
}

impl Headers for OverIpv6 {
    #[inline]
    fn ethernet(&self) -> &EthernetHeader {
        &self.ethernet
    }

    #[inline]
    fn udp(&self) -> &UdpHeader {
        &self.udp
    }

    #[inline]
    fn are_plain(&self) -> bool {
        self.ethernet.ether_type() == EtherType::IPV6
            && self.ip.version() == 6
            && self.ip.next_header() == Protocol::UDP
            && self.ip.payload_length() == self.udp.length()
    }

    #[inline(always)]
    fn are_checksums_right(&self, payload: &[u8]) -> bool {
        let Self { ip, udp, .. } = self;
        let length = u32::from(udp.length());
        let pseudo = Sum::pseudo_ipv6(ip.source(), ip.destination(), Protocol::UDP, length);
        udp.is_checksum_valid(pseudo, payload)
    }

    #[inline]
    fn ends(&self, device: u32) -> Ends {
        let (source, destination) = (self.ip.source().into(), self.ip.destination().into());
        Ends::over_ipv6(device, source, destination, self.udp.ports())
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
