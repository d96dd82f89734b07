//! The packet format.
//!
//! All integers are big-endian. The format is the same over UDP and over raw Ethernet.
//!
//! ```text
//!  0               1               2               3
//!  0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
//! +---------------------------------------------------------------+
//! |                            CRC-32C                            |   0
//! +-------+-------+---------------+-------------------------------+
//! |version| type  |     flags     |            length             |   4
//! +-------+-------+---------------+-------------------------------+
//! |          source port          |       destination port        |   8
//! +-------------------------------+-------------------------------+
//! |                      source incarnation                       |  12
//! +---------------------------------------------------------------+
//! |         destination incarnation (0: not known yet)            |  16
//! +---------------------------------------------------------------+
//! |                           sequence                            |  20
//! +---------------------------------------------------------------+
//! |                             floor                             |  24
//! +---------------------------------------------------------------+
//! |                        acknowledgment                         |  28
//! +---------------------------------------------------------------+
//! |                           timestamp                           |  32
//! +---------------------------------------------------------------+
//! |                             echo                              |  36
//! +---------------------------------------------------------------+
//! |                     payload (length bytes)                    |  40
//! ```
//!
//! | field | meaning |
//! |---|---|
//! | version | 1 |
//! | type | [`Kind`] |
//! | flags | 0x01 first fragment, 0x02 last fragment, 0x04 acknowledgment requested, 0x08 the sender's receive buffer is full, 0x10 a gap was seen, 0x20 no acknowledgment: the field is void, 0x40 the challenger has numbered packets to the sender |
//! | length | payload bytes in this packet |
//! | sequence | `Data`: this packet's number in its pair of sockets. Otherwise the next number to send |
//! | floor | the lowest number that the sender may still send: the receiver skips lower ones |
//! | acknowledgment | the lowest number not yet received |
//! | timestamp | the sender's clock in units of 64 ns, different in every packet |
//! | echo | the newest timestamp received from the peer; for `Challenge` and `Reject` the timestamp of the packet answered |
//! | CRC-32C | over the rest of the packet, from offset 4 to the end of the payload |
//!
//! A void acknowledgment, and that of a `Challenge`, is the time since the socket last evicted a
//! peer; `floor` of a `Challenge` the time since the socket was bound. Both are in units of 64 ns
//! and at most 2^32 - 1, which is also the value without an eviction.
//!
//! The first fragment of a longer message starts with the message's length in 4 bytes. An `Ack`
//! carries a bitmap of 8 bytes: bit n is set if `acknowledgment + n` was received.

use crate::config::Crc32c;

/// The length of the header in bytes.
pub const HEADER: usize = 40;

/// The length of the message length in front of a fragmented message.
pub(crate) const LENGTH_PREFIX: usize = 4;

/// The length of an acknowledgment's bitmap.
pub(crate) const BITMAP: usize = 8;

const VERSION: u8 = 1;
/// The length of the checksum, which is in front of everything that it covers.
const CRC: usize = 4;

/// The type of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A message or a fragment.
    Data = 1,
    /// An acknowledgment with a bitmap.
    Ack = 2,
    /// A request for an acknowledgment.
    Probe = 3,
    /// A request to prove the sender's incarnation: nothing of the answered packet was accepted.
    Challenge = 4,
    /// No socket is bound to the destination port.
    Reject = 5,
}

/// The flags of a packet.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Flags(pub(crate) u8);

impl Flags {
    pub(crate) const FIRST: Self = Self(0x01);
    pub(crate) const LAST: Self = Self(0x02);
    pub(crate) const ACK_REQUESTED: Self = Self(0x04);
    pub(crate) const CONGESTED: Self = Self(0x08);
    pub(crate) const GAP: Self = Self(0x10);
    pub(crate) const NO_ACKNOWLEDGMENT: Self = Self(0x20);
    pub(crate) const HAS_STATE: Self = Self(0x40);

    #[inline]
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[inline]
    pub(crate) fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }

    #[inline]
    pub(crate) fn with_if(self, other: Self, condition: bool) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }
}

/// A decoded header. See the [module](self) for the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The type.
    pub kind: Kind,
    /// The flags.
    pub flags: Flags,
    /// The sender's RDS port.
    pub source_port: u16,
    /// The receiver's RDS port.
    pub destination_port: u16,
    /// The sender's incarnation.
    pub source_incarnation: u32,
    /// The receiver's incarnation, or 0.
    pub destination_incarnation: u32,
    /// The packet's sequence number.
    pub sequence: u32,
    /// The lowest number that may still be sent.
    pub floor: u32,
    /// The lowest number not yet received.
    pub acknowledgment: u32,
    /// The sender's clock in units of 64 ns.
    pub timestamp: u32,
    /// The echoed timestamp.
    pub echo: u32,
}

/// The reason why a packet could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PacketError {
    /// The packet is shorter than the header, its length field is wrong, or its type is unknown.
    Malformed,
    /// The version is unknown.
    Version,
    /// The CRC-32C is wrong.
    Checksum,
}

#[inline]
fn u16_at(bytes: &[u8; HEADER], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[inline]
fn u32_at(bytes: &[u8; HEADER], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl Header {
    /// Decodes a packet and verifies its checksum. Returns the header and the payload.
    ///
    /// # Errors
    /// See [`PacketError`].
    #[inline]
    pub fn decode(packet: &[u8], crc32c: Crc32c) -> Result<(Self, &[u8]), PacketError> {
        let Some(bytes) = packet.first_chunk::<HEADER>() else {
            return Err(PacketError::Malformed);
        };
        if bytes[4] >> 4 != VERSION {
            return Err(PacketError::Version);
        }
        let kind = match bytes[4] & 0xF {
            1 => Kind::Data,
            2 => Kind::Ack,
            3 => Kind::Probe,
            4 => Kind::Challenge,
            5 => Kind::Reject,
            _ => return Err(PacketError::Malformed),
        };
        // Ethernet pads short frames, so the payload may be followed by padding.
        let length = usize::from(u16_at(bytes, 6));
        let Some(packet) = packet.get(..HEADER + length) else {
            return Err(PacketError::Malformed);
        };
        if kind == Kind::Ack && length != BITMAP {
            return Err(PacketError::Malformed);
        }
        if u32_at(bytes, 0) != crc32c(0, &packet[CRC..]) {
            return Err(PacketError::Checksum);
        }
        Ok((Self::parse(bytes, kind), &packet[HEADER..]))
    }

    /// Decodes the header of a packet that this socket has sent, as quoted by an ICMP error.
    /// Returns `None` if the quote is too short. The checksum is not verified.
    #[must_use]
    pub fn decode_quoted(quote: &[u8]) -> Option<Self> {
        let bytes = quote.first_chunk::<HEADER>()?;
        let kinds = [Kind::Data, Kind::Ack, Kind::Probe, Kind::Challenge];
        let kind = kinds.into_iter().find(|&kind| bytes[4] == VERSION << 4 | kind as u8)?;
        Some(Self::parse(bytes, kind))
    }

    #[inline]
    fn parse(bytes: &[u8; HEADER], kind: Kind) -> Self {
        Self {
            kind,
            flags: Flags(bytes[5]),
            source_port: u16_at(bytes, 8),
            destination_port: u16_at(bytes, 10),
            source_incarnation: u32_at(bytes, 12),
            destination_incarnation: u32_at(bytes, 16),
            sequence: u32_at(bytes, 20),
            floor: u32_at(bytes, 24),
            acknowledgment: u32_at(bytes, 28),
            timestamp: u32_at(bytes, 32),
            echo: u32_at(bytes, 36),
        }
    }

    /// Writes the header in front of the payload in `packet[HEADER..]`.
    ///
    /// # Panics
    /// If the packet is shorter than the header or longer than 65,575 bytes.
    #[inline]
    pub fn encode(&self, packet: &mut [u8], crc32c: Crc32c) {
        let (bytes, payload) =
            packet.split_first_chunk_mut::<HEADER>().expect("the buffer holds a header");
        let length = u16::try_from(payload.len()).expect("a payload has at most 65,535 bytes");
        bytes[4] = VERSION << 4 | self.kind as u8;
        bytes[5] = self.flags.0;
        bytes[6..8].copy_from_slice(&length.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.source_port.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.destination_port.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.source_incarnation.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.destination_incarnation.to_be_bytes());
        bytes[20..24].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[24..28].copy_from_slice(&self.floor.to_be_bytes());
        bytes[28..32].copy_from_slice(&self.acknowledgment.to_be_bytes());
        bytes[32..36].copy_from_slice(&self.timestamp.to_be_bytes());
        bytes[36..40].copy_from_slice(&self.echo.to_be_bytes());
        let crc = crc32c(0, &packet[CRC..]);
        packet[..CRC].copy_from_slice(&crc.to_be_bytes());
    }
}

/// Writes the answer of a host that has no socket bound to the packet's destination port. Returns
/// its length, or `None` if the packet is invalid or is no data and no probe.
#[must_use]
pub fn reject(packet: &[u8], answer: &mut [u8; HEADER], crc32c: Crc32c) -> Option<usize> {
    let (header, _) = Header::decode(packet, crc32c).ok()?;
    if !matches!(header.kind, Kind::Data | Kind::Probe) {
        return None;
    }
    let reply = Header {
        kind: Kind::Reject,
        flags: Flags::default(),
        source_port: header.destination_port,
        destination_port: header.source_port,
        source_incarnation: 0,
        destination_incarnation: header.source_incarnation,
        sequence: header.sequence,
        floor: 0,
        acknowledgment: 0,
        timestamp: 0,
        echo: header.timestamp,
    };
    reply.encode(answer, crc32c);
    Some(HEADER)
}

/// Returns the destination port of a packet, without verifying the packet: for a carrier that
/// serves several sockets.
#[must_use]
pub fn destination_port(packet: &[u8]) -> Option<u16> {
    packet.first_chunk::<HEADER>().map(|bytes| u16_at(bytes, 10))
}
