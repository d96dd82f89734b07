//! What is known of received bytes beside the bytes.

use std::net::SocketAddrV4;

use hairpin_time::Utc;

/// Where received bytes came from and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The sender's address and port; of a stream, the peer's.
    pub source: SocketAddrV4,
    /// When the bytes arrived at this host; of a chunk of a stream, the last of them: the kernel
    /// says when the segment arrived that it was read to the end of.
    pub timestamp: Timestamp,
}

/// When bytes arrived or left, by whose clock.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Timestamp {
    /// Nobody took the time: it was not asked for, or not available for this packet.
    #[default]
    None,
    /// The kernel's CLOCK_REALTIME as the driver handed the packet up, or took it.
    Software(Utc),
    /// The NIC's own clock as the packet came off the wire, or went onto it. It is UTC only if
    /// something (PTP, `phc2sys`) keeps it so.
    Hardware(Utc),
}

impl Timestamp {
    /// The time, whoever took it.
    #[must_use]
    pub fn utc(self) -> Option<Utc> {
        match self {
            Self::None => None,
            Self::Software(utc) | Self::Hardware(utc) => Some(utc),
        }
    }
}

/// Something sent, and when it left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmitted {
    /// Of datagrams: how many were sent before it since timestamps were asked for, modulo 2^32. Of
    /// a stream: how many bytes were written before the last of those meant, counted and wrapped
    /// alike; so a first message of n bytes is n - 1.
    pub id: u32,
    /// When the driver took the packet or, from hardware, when the NIC sent it.
    pub timestamp: Timestamp,
}

/// What one call of [`crate::Receive::receive`] did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Datagrams, or chunks of a stream, delivered.
    pub count: usize,
    /// Whether nothing more was there. Known from a system call that brought less than it could
    /// have, so that a loop which stops here makes no call in vain; of what arrives by request
    /// (see [`crate::Ring`]), that the last wait has brought no more.
    pub drained: bool,
    /// Of a stream: whether the peer has ended its side and all it sent has been delivered.
    pub closed: bool,
}
