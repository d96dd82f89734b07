//! Packets presented to the kernel as if they came from the peer.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

use hairpin_wire::{Ipv4Header, Ipv6Header, Protocol, Sum, TcpHeader};
use hairpin_xdp::ForkGuardedFd;
use socket2::{Domain, SockRef, Socket, Type};

use super::keeper::KeeperClient;

/// Two raw sockets, or the keeper that has them. A packet sent to a local address arrives over
/// loopback.
#[derive(Debug)]
pub(crate) enum Injector {
    Raw {
        ipv4: ForkGuardedFd,
        /// `None` on a host without IPv6.
        ipv6: Option<ForkGuardedFd>,
    },
    Keeper(KeeperClient),
}

impl Injector {
    /// Opens the sockets in the network namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel's: without `CAP_NET_RAW` `PermissionDenied`.
    pub(super) fn open() -> io::Result<Self> {
        let protocol = socket2::Protocol::from(libc::IPPROTO_RAW);
        let open = |domain| {
            ForkGuardedFd::from_fn(|| {
                let socket = Socket::new(domain, Type::RAW, Some(protocol))?;
                // Nothing is received: raw sockets of this protocol get no packets.
                socket.set_nonblocking(true)?;
                Ok(socket)
            })
        };
        Ok(Self::Raw { ipv4: open(Domain::IPV4)?, ipv6: open(Domain::IPV6).ok() })
    }

    /// Presents an IP packet with TCP to the kernel, after its checksum was computed again: a
    /// kernel peer over a veth leaves it incomplete.
    pub(super) fn inject(&self, packet: &mut [u8]) -> io::Result<()> {
        let Some((destination, length)) = fill_checksum(packet) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        match self {
            Self::Raw { .. } => self.send(&packet[..length], destination),
            Self::Keeper(keeper) => keeper.inject(&packet[..length]),
        }
    }

    /// Presents an IP packet with UDP to the kernel, for a socket.
    pub(crate) fn inject_udp(
        &self,
        socket: BorrowedFd<'_>,
        packet: &[u8],
        destination: IpAddr,
    ) -> io::Result<()> {
        match self {
            Self::Raw { .. } => self.send(packet, destination),
            Self::Keeper(keeper) => keeper.inject_udp(socket, packet),
        }
    }

    fn send(&self, packet: &[u8], destination: IpAddr) -> io::Result<()> {
        let Self::Raw { ipv4, ipv6 } = self else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let socket = match destination {
            IpAddr::V4(_) => ipv4,
            IpAddr::V6(_) => ipv6.as_ref().ok_or(io::ErrorKind::Unsupported)?,
        };
        let to = SocketAddr::new(destination, 0);
        SockRef::from(socket).send_to(packet, &to.into()).map(drop)
    }
}

/// Returns the source and the destination of an IP packet with this protocol.
pub(super) fn ends(packet: &[u8], protocol: Protocol) -> Option<[SocketAddr; 2]> {
    let (source, destination, payload): (IpAddr, IpAddr, &[u8]) = match packet.first()? >> 4 {
        4 => {
            let (ip, _, payload) = Ipv4Header::parse(packet).ok()?;
            if ip.protocol() != protocol || ip.is_fragment() {
                return None;
            }
            (ip.source().into(), ip.destination().into(), payload)
        }
        6 => {
            let (ip, payload) = Ipv6Header::parse(packet).ok()?;
            if ip.next_header() != protocol {
                return None;
            }
            (ip.source().into(), ip.destination().into(), payload)
        }
        _ => return None,
    };
    let port = |at: usize| Some(u16::from_be_bytes(payload.get(at..at + 2)?.try_into().ok()?));
    Some([SocketAddr::new(source, port(0)?), SocketAddr::new(destination, port(2)?)])
}

/// Writes the TCP checksum. Returns the destination and the length without padding.
fn fill_checksum(packet: &mut [u8]) -> Option<(IpAddr, usize)> {
    let (destination, start, length, pseudo): (IpAddr, _, _, _) = match packet.first()? >> 4 {
        4 => {
            let (ip, _, segment) = Ipv4Header::parse(packet).ok()?;
            let length = segment.len();
            let (source, to) = (ip.source(), ip.destination());
            let pseudo = Sum::pseudo_ipv4(source, to, Protocol::TCP, length as u16);
            (to.into(), ip.header_length(), length, pseudo)
        }
        6 => {
            let (ip, segment) = Ipv6Header::parse(packet).ok()?;
            let length = segment.len();
            let (source, to) = (ip.source(), ip.destination());
            let pseudo = Sum::pseudo_ipv6(source, to, Protocol::TCP, length as u32);
            (to.into(), Ipv6Header::SIZE, length, pseudo)
        }
        _ => return None,
    };
    let segment = packet.get_mut(start..start + length)?;
    TcpHeader::split_mut(segment).ok()?.0.set_checksum(0);
    let checksum = pseudo.bytes(segment).checksum();
    TcpHeader::split_mut(segment).ok()?.0.set_checksum(checksum);
    Some((destination, start + length))
}
