//! Packets presented to the kernel as if they came from the peer.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hairpin_wire::{Ipv4Header, Ipv6Header, Protocol, Sum, TcpHeader};
use hairpin_xdp::ForkGuardedFd;
use socket2::{Domain, SockRef, Socket, Type};

/// Two raw sockets. A packet sent to a local address arrives over loopback.
#[derive(Debug)]
pub(crate) struct Injector {
    ipv4: ForkGuardedFd,
    /// `None` on a host without IPv6.
    ipv6: Option<ForkGuardedFd>,
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
        Ok(Self { ipv4: open(Domain::IPV4)?, ipv6: open(Domain::IPV6).ok() })
    }

    /// Takes over the sockets of [`descriptors`](Self::descriptors), which require no capability.
    pub(super) fn from_fds(descriptors: Vec<OwnedFd>) -> io::Result<Self> {
        let mut sockets =
            descriptors.into_iter().map(|socket| ForkGuardedFd::from_fn(|| Ok(socket)));
        let ipv4 = sockets.next().ok_or(io::ErrorKind::InvalidData)??;
        Ok(Self { ipv4, ipv6: sockets.next().transpose()? })
    }

    /// Returns the sockets, for another process.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(&self.ipv4).chain(&self.ipv6).map(AsFd::as_fd)
    }

    /// Presents an IP packet with TCP to the kernel, after its checksum was computed again: a
    /// kernel peer over a veth leaves it incomplete.
    pub(super) fn inject(&self, packet: &mut [u8]) -> io::Result<()> {
        let Some((destination, length)) = fill_checksum(packet) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        self.send(&packet[..length], destination)
    }

    /// Presents an IP packet to the kernel.
    pub(crate) fn send(&self, packet: &[u8], destination: IpAddr) -> io::Result<()> {
        let socket = match destination {
            IpAddr::V4(_) => &self.ipv4,
            IpAddr::V6(_) => self.ipv6.as_ref().ok_or(io::ErrorKind::Unsupported)?,
        };
        let to = SocketAddr::new(destination, 0);
        SockRef::from(socket).send_to(packet, &to.into()).map(drop)
    }
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
