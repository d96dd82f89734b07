//! Destinations and the paths to them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hairpin_netstack::{PreparedHeader, SocketAddress, SocketId};

use crate::FallbackReason;
use crate::family::Family;

/// A destination of one socket, with prepared headers.
///
/// It stays usable when routes, neighbors or addresses change: the next send finds the path again.
#[derive(Debug, Clone)]
pub struct Destination {
    pub(crate) address: SocketAddr,
    pub(crate) socket: SocketId,
    pub(crate) path: Path,
    /// The control plane's generation when the path was found.
    pub(crate) generation: u64,
    /// `true` if an oversized datagram was already reported.
    pub(crate) oversize_reported: bool,
}

/// The path to a destination.
#[derive(Debug, Clone)]
pub(crate) enum Path {
    /// AF_XDP, bypassing the kernel.
    Xdp(Box<XdpPath>),
    Kernel(FallbackReason),
}

/// A prepared path over AF_XDP.
#[derive(Debug, Clone)]
pub(crate) struct XdpPath {
    pub(crate) header: PreparedHeader,
    /// The longest payload of one packet, in bytes.
    pub(crate) limit: usize,
    /// Set on each send, so that the watcher thread keeps the next hop's neighbor entry fresh.
    pub(crate) used: Arc<AtomicBool>,
}

impl Destination {
    /// Returns the address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns why datagrams fall back to the kernel, as of the last send; `None` if they bypass
    /// it.
    #[must_use]
    pub fn fallback_reason(&self) -> Option<FallbackReason> {
        match &self.path {
            Path::Xdp(_) => None,
            Path::Kernel(reason) => Some(*reason),
        }
    }

    /// Returns the longest payload that bypasses the kernel, in bytes; 0 if the path is through the
    /// kernel.
    #[must_use]
    pub fn limit(&self) -> usize {
        match &self.path {
            Path::Xdp(path) => path.limit,
            Path::Kernel(_) => 0,
        }
    }
}

pub(crate) fn to_engine_address(address: SocketAddr) -> SocketAddress {
    SocketAddress::new(address.ip(), address.port())
}

/// Converts an engine address to that of a socket; link-local addresses get the interface's index
/// as scope.
#[inline(always)]
pub(crate) fn to_socket_addr(address: SocketAddress, interface: u32, family: Family) -> SocketAddr {
    match family.to_socket(address.address.to_ip()) {
        IpAddr::V6(ip) if is_local_to_link(IpAddr::V6(ip)) => {
            std::net::SocketAddrV6::new(ip, address.port, 0, interface).into()
        }
        ip => SocketAddr::new(ip, address.port),
    }
}

/// Returns `true` for addresses that need a scope: fe80::/10, ff02::/16 (RFC 4007).
#[inline]
pub(crate) fn is_local_to_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(address) => {
            address.is_unicast_link_local() || address.octets()[..2] == [0xFF, 0x02]
        }
    }
}

pub(crate) fn no_peer() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "cannot send: the socket is not connected")
}
