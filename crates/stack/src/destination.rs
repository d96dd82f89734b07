//! Where datagrams go, and by which way.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hairpin_netstack::{PreparedHeader, SocketAddress, SocketId};

use crate::FallbackReason;

/// A destination of one socket, with all headers of what goes there.
///
/// It stays true: when routes, neighbours or addresses have changed since, the socket that sends
/// finds the way anew.
#[derive(Debug, Clone)]
pub struct Destination {
    pub(crate) address: SocketAddr,
    pub(crate) socket: SocketId,
    pub(crate) way: Way,
    /// Of the kernel's facts, when the way was found.
    pub(crate) generation: u64,
    /// Whether it was said that something was too long for the way.
    pub(crate) is_length_told: bool,
}

/// How datagrams get to a destination.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// In frames of ours.
    Direct(Box<Direct>),
    Kernel(FallbackReason),
}

/// What is written before each payload.
#[derive(Debug, Clone)]
pub(crate) struct Direct {
    pub(crate) header: PreparedHeader,
    /// The longest payload that the way takes in one packet.
    pub(crate) limit: usize,
    /// Said to whoever keeps the next hop's Ethernet address fresh.
    pub(crate) is_used: Arc<AtomicBool>,
}

impl Destination {
    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Why what goes there goes through the kernel, as known when something was sent last; `None`
    /// if it goes past it.
    #[must_use]
    pub fn by_kernel(&self) -> Option<FallbackReason> {
        match &self.way {
            Way::Direct(_) => None,
            Way::Kernel(reason) => Some(*reason),
        }
    }

    /// The longest payload that goes past the kernel, in bytes; 0 if none does.
    #[must_use]
    pub fn limit(&self) -> usize {
        match &self.way {
            Way::Direct(direct) => direct.limit,
            Way::Kernel(_) => 0,
        }
    }
}

pub(crate) fn of_engine(address: SocketAddr) -> SocketAddress {
    SocketAddress::new(address.ip(), address.port())
}

/// With the interface's index where an address of IPv6 means nothing without.
pub(crate) fn of_user(address: SocketAddress, interface: u32) -> SocketAddr {
    match address.address.to_ip() {
        IpAddr::V6(ip) if is_local_to_link(IpAddr::V6(ip)) => {
            std::net::SocketAddrV6::new(ip, address.port, 0, interface).into()
        }
        ip => SocketAddr::new(ip, address.port),
    }
}

/// Whether an address means nothing without an interface: fe80::/10, ff02::/16 (RFC 4007).
pub(crate) fn is_local_to_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(address) => {
            address.is_unicast_link_local() || address.octets()[..2] == [0xFF, 0x02]
        }
    }
}

pub(crate) fn no_peer() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the socket has no peer")
}
