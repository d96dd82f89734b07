//! Events about paths: fallbacks to the kernel, their end, and interface changes.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use hairpin_xdp::EntryError;

use crate::drops::DropCause;

/// An event that a user should be notified of. Each is reported when it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEvent {
    /// Received datagrams fall back to the kernel.
    RxFallback {
        /// The local address or group.
        address: SocketAddr,
        /// The cause.
        reason: FallbackReason,
    },
    /// Frames to a socket that has received nothing yet were dropped. Reported once per address.
    RxDropped {
        /// The local address or group.
        address: SocketAddr,
        /// The cause.
        cause: DropCause,
    },
    /// Datagrams to an address of the interface arrive on another one, and so through the kernel:
    /// that one answers ARP requests for the address. Reported once per socket.
    OtherInterface {
        /// The local address.
        address: SocketAddr,
        /// The name of the interface that the datagrams arrive on.
        interface: String,
    },
    /// Received datagrams bypass the kernel again.
    RxRestored {
        /// The local address or group.
        address: SocketAddr,
    },
    /// Sent datagrams fall back to the kernel.
    TxFallback {
        /// The destination.
        address: SocketAddr,
        /// The cause.
        reason: FallbackReason,
    },
    /// TCP uses generic mode, which drops frames longer than this. Such frames are segments that a
    /// peer over a veth has not split, or that a card's driver has merged.
    LongFrames {
        /// The longest frame in bytes.
        longest: u32,
        /// `true` on a veth.
        veth: bool,
    },
    /// The keeper has ended: TCP connections are handed back and stay with the kernel.
    KeeperLost {
        /// The number of connections that could not be handed back, because no keeper is left.
        kept: usize,
    },
    /// The interface is down; nothing is sent or received.
    Down,
    /// The interface is up again.
    Up,
    /// The interface was removed.
    Removed,
    /// The interface's Ethernet address changed.
    MacAddress([u8; 6]),
}

/// The reason for a fallback to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FallbackReason {
    /// The local address or the route is on another interface.
    OtherInterface,
    /// The socket is connected to another peer.
    OtherPeer,
    /// The destination is an address of this host.
    ThisHost,
    /// The destination is a broadcast address.
    Broadcast,
    /// The group has members on this host outside the stack.
    OtherMembers,
    /// Other sockets on this host receive the group at this port without being members.
    OtherListeners,
    /// The group has members on this host that must receive the datagram.
    LocalMembers,
    /// The next hop's Ethernet address is not resolved yet.
    NoNeighbor,
    /// The datagram does not fit into one packet, or one frame of the UMEM.
    TooLong,
    /// The filter is full.
    FilterFull,
    /// The keeper, which has the filter, has refused the flow or has ended.
    KeeperRefused,
    /// The socket has received nothing, because all of its frames were dropped.
    Dropped(DropCause),
    /// The connection was handed back, because all of its frames were dropped.
    FramesLost,
    /// The connection was handed back, because no frame of it had arrived on the interface.
    NothingArrived,
    /// Too many next hops are in use.
    TooManyNeighbors,
    /// The interface is an ipvlan in mode L3 or L3S, whose driver loses what AF_XDP sends.
    Layer3,
    /// A rule of the host applies, of a firewall for example.
    HostRule,
    /// The connection uses something that only the kernel implements.
    Feature(&'static str),
}

impl From<&EntryError> for FallbackReason {
    fn from(error: &EntryError) -> Self {
        match error {
            EntryError::Refused(_) => Self::KeeperRefused,
            _ => Self::FilterFull,
        }
    }
}

impl fmt::Display for FallbackReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Feature(feature) => return write!(f, "the connection uses {feature}"),
            Self::Dropped(cause) => return write!(f, "all of its frames were dropped: {cause}"),
            Self::FramesLost => "all of its frames were dropped before",
            Self::NothingArrived => {
                "no frame of it has arrived on the interface: does another one answer ARP for its \
                 address?"
            }
            Self::TooManyNeighbors => "too many next hops are in use",
            Self::Layer3 => "an ipvlan in mode L3 or L3S loses what AF_XDP sends: use mode L2",
            Self::OtherInterface => "the path is on another interface",
            Self::OtherPeer => "the socket is connected to another peer",
            Self::ThisHost => "the destination is this host",
            Self::Broadcast => "the destination is a broadcast address",
            Self::OtherMembers => "other members on this host",
            Self::OtherListeners => "other listeners on this host",
            Self::LocalMembers => "members on this host",
            Self::NoNeighbor => "the next hop's Ethernet address is not resolved yet",
            Self::TooLong => "the datagram does not fit into one packet or frame of memory",
            Self::FilterFull => "the filter is full",
            Self::KeeperRefused => "the keeper has refused it or has ended",
            Self::HostRule => "a rule of the host applies (hairpin doctor lists them)",
        })
    }
}

impl PathEvent {
    /// Returns `true` for a fallback to the kernel.
    #[must_use]
    pub fn is_fallback(&self) -> bool {
        matches!(self, Self::RxFallback { .. } | Self::TxFallback { .. } | Self::KeeperLost { .. })
    }
}

impl PathEvent {
    /// Returns `true` for a fallback to the kernel, dropped frames, datagrams that arrive on
    /// another interface, and a link that goes down or up.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        use PathEvent::{Down, OtherInterface, Removed, RxDropped, Up};
        self.is_fallback()
            || matches!(self, RxDropped { .. } | OtherInterface { .. } | Down | Up | Removed)
    }
}

impl fmt::Display for PathEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RxFallback { address, reason } => {
                write!(f, "{} falls back to the kernel: {reason}", Place(*address))
            }
            Self::RxDropped { address, cause } => {
                write!(f, "{} has received nothing, and drops frames: {cause}", Place(*address))
            }
            Self::OtherInterface { address, interface } => {
                write!(
                    f,
                    "{} receives through the kernel: datagrams arrive on {interface}, which \
                     answers ARP for it unless net.ipv4.conf.{interface}.arp_ignore is 1",
                    Place(*address)
                )
            }
            Self::RxRestored { address } => {
                write!(f, "{} bypasses the kernel again", Place(*address))
            }
            Self::TxFallback { address, reason } => {
                write!(f, "sending to {} falls back to the kernel: {reason}", Place(*address))
            }
            Self::LongFrames { longest, veth } => {
                let switches = if *veth { "tso and gso at the peer" } else { "gro" };
                write!(
                    f,
                    "TCP in generic mode drops frames above {longest} bytes: \
                     switch off {switches}, or use native mode"
                )
            }
            Self::KeeperLost { kept } => {
                f.write_str("the keeper has ended: TCP continues with the kernel")?;
                match kept {
                    0 => Ok(()),
                    _ => write!(f, "; {kept} connections stay taken over until they end by RST"),
                }
            }
            Self::Down => f.write_str("the interface is down"),
            Self::Up => f.write_str("the interface is up"),
            Self::Removed => f.write_str("the interface was removed"),
            Self::MacAddress([a, b, c, d, e, g]) => {
                write!(
                    f,
                    "the interface's Ethernet address is now \
                     {a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}"
                )
            }
        }
    }
}

/// Formats an address, marked if it is a group.
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
