//! The engine's callbacks and the verdict on a frame.

use hairpin_time::Now;
use hairpin_wire::{EthernetHeader, Ipv4Header, Ipv6Header, UdpHeader, VlanTag};
use zerocopy::FromBytes;

use crate::{Address, DeviceId, SocketAddress, SocketId};

/// Bytes between the Ethernet and UDP headers.
const IPV4: usize = Ipv4Header::SIZE;
const IPV4_TAGGED: usize = VlanTag::SIZE + Ipv4Header::SIZE;
const IPV6: usize = Ipv6Header::SIZE;
const IPV6_TAGGED: usize = VlanTag::SIZE + Ipv6Header::SIZE;

/// Receives datagrams and errors.
pub trait Listener {
    /// Called for each datagram and socket. Several sockets may receive the same datagram.
    fn on_datagram(&mut self, now: Now, socket: SocketId, datagram: &Datagram<'_>);

    /// Returns `true` if the host accepts packets with this source address. Called for packets of
    /// unknown flows, after [`Dropped::Martian`]'s own rules. `false` drops the packet as martian.
    /// Call [`Engine::forget_flows`](crate::Engine::forget_flows) when an answer changes.
    fn accepts_source(&mut self, _source: Address, _destination: Address) -> bool {
        true
    }

    /// Called for an ICMP error about a sent datagram. Any host on the path may have sent it.
    fn on_path_error(&mut self, _now: Now, _socket: SocketId, _error: &PathError) {}
}

/// A received datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The device that the datagram arrived on.
    pub device: DeviceId,
    /// The sender.
    pub source: SocketAddress,
    /// The destination: a local address, a group, or a broadcast address.
    pub destination: SocketAddress,
    /// The received TTL or hop limit.
    pub ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// The offset of the payload in the frame, in bytes.
    pub offset: u32,
    /// The payload, inside the frame.
    pub payload: &'a [u8],
}

/// The position of a datagram's payload in its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    /// The offset in the frame, in bytes.
    pub offset: u32,
    /// The length in bytes.
    pub length: u32,
}

impl Payload {
    /// Returns the payload's bytes.
    ///
    /// # Panics
    /// If the frame is not the payload's.
    #[inline]
    #[must_use]
    pub fn bytes(self, frame: &[u8]) -> &[u8] {
        &frame[self.offset as usize..][..self.length as usize]
    }

    /// Reads TTL or hop limit, and traffic class, from the IP header in the frame. `None` if the
    /// engine never delivers such a payload.
    #[must_use]
    pub fn ttl_and_class(self, frame: &[u8]) -> Option<(u8, u8)> {
        let headers = frame.get(..self.offset as usize)?;
        let (before, _) = UdpHeader::ref_from_suffix(headers).ok()?;
        match before.len().checked_sub(EthernetHeader::SIZE)? {
            IPV4 | IPV4_TAGGED => {
                let (_, ip) = Ipv4Header::ref_from_suffix(before).ok()?;
                Some((ip.ttl(), ip.traffic_class()))
            }
            IPV6 | IPV6_TAGGED => {
                let (_, ip) = Ipv6Header::ref_from_suffix(before).ok()?;
                Some((ip.hop_limit(), ip.traffic_class()))
            }
            _ => None,
        }
    }

    /// Reads the source and destination from the headers in the frame, as in [`Datagram`]. `None`
    /// if the engine never delivers such a payload.
    #[inline]
    #[must_use]
    pub fn endpoints(self, frame: &[u8]) -> Option<(SocketAddress, SocketAddress)> {
        let headers = frame.get(..self.offset as usize)?;
        let (before, udp) = UdpHeader::ref_from_suffix(headers).ok()?;
        let (source, destination) = match before.len().checked_sub(EthernetHeader::SIZE)? {
            // There may be a VLAN tag, and there are no IP options.
            IPV4 | IPV4_TAGGED => {
                let (_, ip) = Ipv4Header::ref_from_suffix(before).ok()?;
                (Address::from(ip.source()), Address::from(ip.destination()))
            }
            IPV6 | IPV6_TAGGED => {
                let (_, ip) = Ipv6Header::ref_from_suffix(before).ok()?;
                (ip.source().into(), ip.destination().into())
            }
            _ => return None,
        };
        Some((
            SocketAddress::new(source, udp.source_port()),
            SocketAddress::new(destination, udp.destination_port()),
        ))
    }
}

/// An ICMP error about a datagram that a socket sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathError {
    /// The destination of the datagram.
    pub destination: SocketAddress,
    /// The error.
    pub reason: PathErrorReason,
}

/// The kind of an ICMP error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathErrorReason {
    /// The datagram was not delivered (destination unreachable).
    Unreachable {
        /// The code of ICMP (RFC 792, RFC 1812) or ICMPv6 (RFC 4443 §3.1).
        code: u8,
    },
    /// The datagram exceeds a link's MTU.
    TooBig {
        /// The MTU, IP header included; 0 if not reported.
        mtu: u32,
    },
    /// The datagram's lifetime was exceeded.
    TimeExceeded {
        /// The code: 0 for hops, 1 for fragment reassembly.
        code: u8,
    },
    /// A header field is invalid.
    ParameterProblem {
        /// The code (RFC 792, or RFC 4443 §3.4).
        code: u8,
    },
}

/// The verdict on a received frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The frame was delivered to this number of sockets.
    Delivered(u32),
    /// The frame belongs to the kernel; the caller passes it on.
    Kernel(Kernel),
    /// The frame is dropped: it is malformed, or no group member accepts it.
    Dropped(Dropped),
}

/// The reason why a frame belongs to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// The device or VLAN is unknown, or the frame has a second tag.
    OtherDevice,
    /// The frame is for another host's Ethernet address.
    OtherMac,
    /// The frame contains neither IPv4 nor IPv6, or neither UDP nor an ICMP error.
    OtherProtocol,
    /// The packet is a fragment.
    Fragment,
    /// The packet has IPv4 options.
    Options,
    /// No socket is bound to the destination, or sent the datagram that an ICMP error quotes.
    NoSocket,
}

/// The reason why a frame is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dropped {
    /// A length or version is invalid.
    Malformed,
    /// A checksum is wrong: neither valid nor the partial sum.
    Checksum,
    /// A packet from or to an address that no wire may carry.
    ///
    /// The source is loopback, unspecified, multicast, 255.255.255.255, an address of this host, or
    /// rejected by [`Listener::accepts_source`]; or the destination is loopback or unspecified.
    /// Over IPv6 also IPv4-mapped addresses (RFC 4291 §2.5.5.2), and groups
    /// with a scope that no link has (RFC 4291 §2.7).
    Martian,
    /// The frame is for a group with a member on that port, but its source is not allowed or is not
    /// the connected peer. It must not go to the kernel: the filter redirects a group only while
    /// the kernel has no members of its own.
    Unwanted,
}
