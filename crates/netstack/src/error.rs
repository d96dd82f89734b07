//! Why something was not done.

use core::fmt;

/// Why the engine did not do what it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The arena is shorter than its settings need.
    ArenaTooSmall,
    /// The arena does not begin at a multiple of 8.
    ArenaMisaligned,
    /// What lies there is no arena, or one of another version or of impossible sizes.
    NotAnArena,
    /// What lies there was an arena once, and somebody else has written into it: it is not to be
    /// gone on with.
    Corrupt,
    /// Everything of this kind is taken.
    Full,
    /// There is no such device.
    NoSuchDevice,
    /// The device has VLANs, which have to go first.
    HasVlans,
    /// No identifier of a VLAN: 1 to 4094 are.
    NoSuchVlan,
    /// The socket has been closed, or never was.
    NoSuchSocket,
    /// The socket is bound already, or not yet.
    WrongState,
    /// The addresses are not both of the socket's family, or one that has to be a host's is not.
    WrongAddress,
    /// Port 0, which is for the kernel to choose.
    NoPort,
    /// Another socket is bound there, and not both share.
    AddressInUse,
    /// The socket is a member already, or is not one; or a source is one of its already, or is not.
    Membership,
    /// To a broadcast address, by a socket that may not.
    BroadcastNotAllowed,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ArenaTooSmall => "the arena is too small",
            Self::ArenaMisaligned => "the arena is not aligned",
            Self::NotAnArena => "no arena of this version",
            Self::Corrupt => "the arena is corrupt",
            Self::Full => "no room left",
            Self::NoSuchDevice => "no such device",
            Self::HasVlans => "the device has VLANs",
            Self::NoSuchVlan => "no such VLAN",
            Self::NoSuchSocket => "no such socket",
            Self::WrongState => "the socket is not in a state for that",
            Self::WrongAddress => "an address that cannot be used for that",
            Self::NoPort => "no port",
            Self::AddressInUse => "address in use",
            Self::Membership => "a member already, or none",
            Self::BroadcastNotAllowed => "broadcast not allowed",
        })
    }
}

impl core::error::Error for Error {}

/// Why a datagram was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SendError {
    /// The socket has been closed.
    NoSuchSocket,
    /// It would have to be fragmented, which is the kernel's; so many bytes can be sent.
    TooLarge {
        /// The longest payload.
        limit: usize,
    },
    /// The frame does not fit into the buffer; it takes so many bytes.
    BufferTooSmall {
        /// The frame's.
        needed: usize,
    },
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchSocket => f.write_str("no such socket"),
            Self::TooLarge { limit } => write!(f, "more than {limit} bytes"),
            Self::BufferTooSmall { needed } => write!(f, "the frame takes {needed} bytes"),
        }
    }
}

impl core::error::Error for SendError {}
