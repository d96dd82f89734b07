//! The sizes and timeouts of a socket.

use hairpin_time::Duration;

use crate::packet::{HEADER, LENGTH_PREFIX};

/// The longest message in bytes: 1 MiB, the limit of Linux RDS.
pub const MESSAGE_MAX: usize = 1 << 20;

/// A CRC-32C function (Castagnoli, RFC 3720 appendix B.4): extends `crc` over `bytes`.
///
/// `crc32c::crc32c_append` of the crate `crc32c` is one. The caller supplies it because finding the
/// processor's CRC instruction needs the standard library.
pub type Crc32c = fn(crc: u32, bytes: &[u8]) -> u32;

/// The sizes and timeouts of a socket. All memory is allocated by
/// [`Socket::new`](crate::Socket::new).
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// The longest packet in bytes, header included: 104 to 65,000. Default: 1,448, which fits in
    /// an Ethernet frame over UDP and IPv6. The receiver's value must not be below the sender's.
    pub packet_max: usize,
    /// The longest message in bytes, at most [`MESSAGE_MAX`]. Default: `MESSAGE_MAX`.
    pub message_max: usize,
    /// The send buffer in bytes. A send is accepted while less is queued and unacknowledged, so the
    /// last message may exceed the limit. Memory: this size plus one message. Default: 4 MiB.
    ///
    /// Each packet counts as a full packet: a message of 1 byte uses `packet_max`.
    pub send_buffer: usize,
    /// The receive buffer in bytes, counted in the same way. The socket is congested from the time
    /// when unread messages exceed this size until they are below half of it. Memory: twice this
    /// size plus one message. Default: 4 MiB.
    pub receive_buffer: usize,
    /// The number of peers whose state the socket can hold. Default: 1,024.
    pub peers: usize,
    /// The number of peers, of `peers`, that have sent data and have not yet proven that they
    /// receive this socket's packets. The oldest is evicted first. Default: 256.
    pub unconfirmed_peers: usize,
    /// The number of messages whose outcome may be requested and not yet read. Default: 4,096.
    pub tracked_messages: usize,
    /// The time without an answer after which [`Event::Unreachable`](crate::Event::Unreachable)
    /// reports a peer. `None`: never, the behavior of RDS. Retries continue in both cases. Default:
    /// 10 s.
    pub unreachable_after: Option<Duration>,
    /// The checksum function.
    pub crc32c: Crc32c,
}

/// The number of packets in flight to one peer: the width of the acknowledgment bitmap.
pub(crate) const WINDOW: u32 = 64;

/// The time after which a delayed packet is dropped, and for which a socket remembers that an
/// earlier socket may have had its address.
pub(crate) const PACKET_LIFETIME: Duration = Duration::from_secs(10);

impl Config {
    /// Returns the default sizes with a checksum function.
    #[must_use]
    pub fn new(crc32c: Crc32c) -> Self {
        Self {
            packet_max: 1_448,
            message_max: MESSAGE_MAX,
            send_buffer: 4 << 20,
            receive_buffer: 4 << 20,
            peers: 1_024,
            unconfirmed_peers: 256,
            tracked_messages: 4_096,
            unreachable_after: Some(Duration::from_secs(10)),
            crc32c,
        }
    }

    /// Returns the payload bytes of one packet.
    pub(crate) fn payload_max(&self) -> usize {
        self.packet_max - HEADER
    }

    /// Returns the number of packets of a message; an empty message has one.
    pub(crate) fn fragments(&self, length: usize) -> usize {
        match length <= self.payload_max() {
            true => 1,
            false => (LENGTH_PREFIX + length).div_ceil(self.payload_max()),
        }
    }

    pub(crate) fn send_limit(&self) -> usize {
        self.send_buffer.div_ceil(self.packet_max).max(1)
    }

    pub(crate) fn receive_limit(&self) -> usize {
        self.receive_buffer.div_ceil(self.packet_max).max(2)
    }

    /// Limits all values to their ranges.
    pub(crate) fn clamped(mut self) -> Self {
        self.packet_max = self.packet_max.clamp(104, 65_000);
        self.message_max = self.message_max.min(MESSAGE_MAX);
        self.peers = self.peers.clamp(1, 1 << 20);
        self.unconfirmed_peers = self.unconfirmed_peers.clamp(1, self.peers);
        self.tracked_messages = self.tracked_messages.max(1);
        self
    }
}
