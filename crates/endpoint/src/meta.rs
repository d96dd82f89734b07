//! Metadata of received and sent data: addresses and timestamps.

use std::net::SocketAddrV4;

use hairpin_time::Utc;

/// The source address and arrival time of received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The sender's address and port. For a stream: the peer's.
    pub source: SocketAddrV4,
    /// The arrival time at this host. For a stream chunk: the kernel's timestamp of the segment
    /// that contains the chunk's last byte.
    pub timestamp: Timestamp,
}

/// An arrival or departure time, with the clock that measured it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Timestamp {
    /// No timestamp: none was requested, or none is available for this packet.
    #[default]
    None,
    /// The kernel's CLOCK_REALTIME when the driver passed the packet to the network stack
    /// (receive), or when the driver received the packet (send).
    Software(Utc),
    /// The NIC's own clock when the packet was received from or sent to the wire. The time is UTC
    /// only if software (PTP, `phc2sys`) synchronizes that clock.
    Hardware(Utc),
}

impl Timestamp {
    /// Returns the time, from either clock.
    #[must_use]
    pub fn utc(self) -> Option<Utc> {
        match self {
            Self::None => None,
            Self::Software(utc) | Self::Hardware(utc) => Some(utc),
        }
    }
}

/// The transmit timestamp of sent data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmitted {
    /// The sequence number of the data. For datagrams: the number of datagrams sent before this one
    /// since timestamps were requested, modulo 2^32. For a stream: the number of bytes written
    /// before the last byte of the write, counted and wrapped in the same way. A first message of n
    /// bytes has id n - 1.
    pub id: u32,
    /// The time when the driver received the packet or, for hardware timestamps, when the NIC sent
    /// the packet.
    pub timestamp: Timestamp,
}

/// The result of one call of [`crate::Receive::receive`].
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// The number of datagrams or stream chunks delivered.
    pub count: usize,
    /// `true` if the socket's queue was empty afterwards. A system call that returned less than its
    /// maximum shows this, so a loop that stops here makes no unnecessary call. For data received
    /// by requests (see [`crate::Ring`]): `true` if the last wait has received no more.
    pub drained: bool,
    /// `true` if the peer of a stream has closed its sending direction and all data have been
    /// delivered.
    pub closed: bool,
}
