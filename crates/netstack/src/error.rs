//! Errors of the engine.

use core::fmt;

/// The reason why an engine operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The capacity for this kind of object is used up.
    Full,
    /// The device does not exist.
    NoSuchDevice,
    /// The device has VLAN devices, which must be removed first.
    HasVlans,
    /// The VLAN identifier is outside 1 to 4094.
    NoSuchVlan,
    /// The socket is closed or never existed.
    NoSuchSocket,
    /// The socket is already bound, or not bound yet.
    WrongState,
    /// The address families differ, or the address is not valid for the operation.
    WrongAddress,
    /// The port is 0; choosing a port is the kernel's task.
    NoPort,
    /// Another socket has the same binding and not both share it.
    AddressInUse,
    /// The socket already is a member, or is not a member; or the same for a source of the
    /// membership.
    Membership,
    /// The destination is a broadcast address and the socket may not broadcast.
    BroadcastNotAllowed,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "capacity used up",
            Self::NoSuchDevice => "no such device",
            Self::HasVlans => "device has VLANs",
            Self::NoSuchVlan => "no such VLAN",
            Self::NoSuchSocket => "no such socket",
            Self::WrongState => "wrong socket state: already bound or not bound",
            Self::WrongAddress => "address not valid here",
            Self::NoPort => "port is 0",
            Self::AddressInUse => "address in use",
            Self::Membership => "already a member or not a member",
            Self::BroadcastNotAllowed => "broadcast not allowed",
        })
    }
}

impl core::error::Error for Error {}

/// The reason why a datagram was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SendError {
    /// The socket is closed.
    NoSuchSocket,
    /// The datagram would need fragmentation, which is the kernel's task.
    TooLarge {
        /// The longest payload in bytes.
        limit: usize,
    },
    /// The frame does not fit the buffer.
    BufferTooSmall {
        /// The frame's length in bytes.
        needed: usize,
    },
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchSocket => f.write_str("no such socket"),
            Self::TooLarge { limit } => write!(f, "payload exceeds {limit} bytes"),
            Self::BufferTooSmall { needed } => {
                write!(f, "buffer too small: the frame needs {needed} bytes")
            }
        }
    }
}

impl core::error::Error for SendError {}
