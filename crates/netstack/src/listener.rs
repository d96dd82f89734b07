//! What the engine tells, and what becomes of a frame.

use hairpin_time::Now;
use hairpin_wire::{EthernetHeader, Ipv4Header, Ipv6Header, UdpHeader, VlanTag};
use zerocopy::FromBytes;

use crate::{Address, DeviceId, SocketAddress, SocketId};

/// Bytes between the headers of Ethernet and UDP.
const IPV4: usize = Ipv4Header::SIZE;
const IPV4_TAGGED: usize = VlanTag::SIZE + Ipv4Header::SIZE;
const IPV6: usize = Ipv6Header::SIZE;
const IPV6_TAGGED: usize = VlanTag::SIZE + Ipv6Header::SIZE;

/// Takes what arrives.
pub trait Listener {
    /// A datagram for a socket; several sockets may get the same one.
    fn on_datagram(&mut self, now: Now, socket: SocketId, datagram: &Datagram<'_>);

    /// Something did not reach its peer, as ICMP says. Anyone on the way may say so.
    fn on_path_error(&mut self, _now: Now, _socket: SocketId, _error: &PathError) {}
}

/// A datagram that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Where it came in.
    pub device: DeviceId,
    /// Who sent it.
    pub source: SocketAddress,
    /// Where it went: an address of this host, a group, or a broadcast address.
    pub destination: SocketAddress,
    /// What was left of its TTL or hop limit.
    pub ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Where in the frame its payload begins, in bytes from the frame's first.
    pub offset: u32,
    /// Its bytes, in the frame.
    pub payload: &'a [u8],
}

/// Where the payload of a datagram lies in its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    /// In bytes from the frame's first.
    pub offset: u32,
    /// In bytes.
    pub length: u32,
}

impl Payload {
    /// Who sent the datagram and where it went, as a [`Datagram`] has it, out of the headers in the
    /// frame. `None` if no engine delivers this from the frame.
    #[inline]
    #[must_use]
    pub fn ends(self, frame: &[u8]) -> Option<(SocketAddress, SocketAddress)> {
        let headers = frame.get(..self.offset as usize)?;
        let (before, udp) = UdpHeader::ref_from_suffix(headers).ok()?;
        let (source, destination) = match before.len().checked_sub(EthernetHeader::SIZE)? {
            // There may be a tag between, and never options.
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

/// An ICMP error about a datagram that a socket has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathError {
    /// Where that was to go.
    pub destination: SocketAddress,
    /// What happened to it.
    pub reason: PathErrorReason,
}

/// What happened to a datagram under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathErrorReason {
    /// It could not be delivered; the code is ICMP's or ICMPv6's.
    Unreachable {
        /// RFC 792 and 1812, or RFC 4443 §3.1.
        code: u8,
    },
    /// It is longer than a hop takes.
    TooBig {
        /// What that takes, header included; 0 where it does not say.
        mtu: u32,
    },
    /// It was too long under way.
    TimeExceeded {
        /// 0: hops; 1: fragments.
        code: u8,
    },
    /// A field of its header is wrong.
    ParameterProblem {
        /// RFC 792, or RFC 4443 §3.4.
        code: u8,
    },
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// So many sockets have got something of it.
    Delivered(u32),
    /// It is the kernel's, to which the caller hands it.
    Kernel(Kernel),
    /// It is nobody's: it is broken, or no member of its group wants it.
    Dropped(Dropped),
}

/// Why a frame is the kernel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// The device is none of the engine's, nor is the VLAN, or there is a second tag.
    OtherDevice,
    /// To another host's Ethernet address.
    OtherMac,
    /// Neither IPv4 nor IPv6, or neither UDP nor an ICMP error.
    OtherProtocol,
    /// A part of a packet.
    Fragment,
    /// With IPv4 options.
    Options,
    /// No socket of the engine is bound there, or has sent what an error is about.
    NoSocket,
}

/// Why a frame is nobody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dropped {
    /// A length in it cannot be, or it has the wrong version.
    Malformed,
    /// A checksum is wrong.
    Checksum,
    /// To a group of which a socket is a member on that port, but from a sender that it has not
    /// allowed, or that it is not connected to. The kernel is not to get it: a group is kept from
    /// the kernel only while it has no members there.
    Unwanted,
}
