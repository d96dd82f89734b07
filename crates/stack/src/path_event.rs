//! What is said of ways that are not past the kernel.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Something that a user should know of where datagrams go. Each is said when it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEvent {
    /// A socket's datagrams come by the kernel.
    RxFallback {
        /// What it is bound to, or the group.
        address: SocketAddr,
        /// Why.
        reason: FallbackReason,
    },
    /// They come past the kernel again.
    RxRestored {
        /// What it is bound to, or the group.
        address: SocketAddr,
    },
    /// Datagrams leave through the kernel.
    TxFallback {
        /// Where to.
        address: SocketAddr,
        /// Why.
        reason: FallbackReason,
    },
    /// The interface is down; nothing goes either way.
    Down,
    /// It is up again.
    Up,
    /// The interface is gone.
    Gone,
    /// The interface has another Ethernet address.
    MacAddress([u8; 6]),
}

/// Why something goes through the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FallbackReason {
    /// The local address is not one of the stack's interface.
    OtherInterface,
    /// The socket talks to another peer.
    OtherPeer,
    /// The destination is an address of this host.
    ThisHost,
    /// The destination is a broadcast address.
    Broadcast,
    /// The group has members on this host that are not this stack's.
    OtherMembers,
    /// Other sockets of this host hear the group at this port, though they are no members.
    OtherListeners,
    /// The group has members on this host, who are to receive what is sent here.
    LocalMembers,
    /// The next hop's Ethernet address is not known yet.
    NoNeighbour,
    /// It does not fit into a packet.
    TooLong,
    /// The filter has no room for another entry.
    FilterFull,
}

impl fmt::Display for FallbackReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherInterface => "the way is by another interface",
            Self::OtherPeer => "the socket has another peer",
            Self::ThisHost => "that is this host",
            Self::Broadcast => "that is a broadcast address",
            Self::OtherMembers => "other sockets of this host are members",
            Self::OtherListeners => "other sockets of this host hear it, members or not",
            Self::LocalMembers => "sockets of this host are members",
            Self::NoNeighbour => "the next hop's Ethernet address is not known yet",
            Self::TooLong => "it does not fit into a packet",
            Self::FilterFull => "the filter is full",
        })
    }
}

impl PathEvent {
    /// Whether something goes through the kernel that was to go past it.
    #[must_use]
    pub fn is_fallback(&self) -> bool {
        matches!(self, Self::RxFallback { .. } | Self::TxFallback { .. })
    }
}

impl fmt::Display for PathEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RxFallback { address, reason } => {
                write!(f, "{} comes by the kernel: {reason}", Place(*address))
            }
            Self::RxRestored { address } => {
                write!(f, "{} comes past the kernel", Place(*address))
            }
            Self::TxFallback { address, reason } => {
                write!(f, "to {} by the kernel: {reason}", Place(*address))
            }
            Self::Down => f.write_str("the interface is down"),
            Self::Up => f.write_str("the interface is up"),
            Self::Gone => f.write_str("the interface is gone"),
            Self::MacAddress([a, b, c, d, e, g]) => {
                write!(
                    f,
                    "the interface's address is {a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}"
                )
            }
        }
    }
}

/// A place that datagrams come to or go to.
struct Place(SocketAddr);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_group = match self.0.ip() {
            IpAddr::V4(address) => address.is_multicast(),
            IpAddr::V6(address) => address.is_multicast(),
        };
        write!(f, "{}{}", if is_group { "group " } else { "" }, self.0)
    }
}
