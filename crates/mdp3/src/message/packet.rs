//! The packet header, and the messages after it.
//!
//! ```text
//! packet    MsgSeqNum u32 | SendingTime u64 | message | message …
//! message   MsgSize u16, including itself | SBE header, 8 bytes | SBE body
//! ```
//! All fields are little-endian (CME Client Systems Wiki, "MDP 3.0 - Binary Packet Header" and "MDP
//! 3.0 - SBE Message Header").

use hairpin_sbe::MessageHeader;
use hairpin_time::{Instant, Utc};

use crate::{Error, Feed, FeedLine};

/// The 12-byte header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketHeader {
    /// MsgSeqNum: the packet's number within its feed.
    pub sequence: u32,
    /// SendingTime: when the exchange sent the packet.
    pub sending_time: Utc,
}

impl PacketHeader {
    /// The length of the header in bytes.
    pub const LENGTH: usize = 12;

    /// Decodes the header. Returns it and the messages after it.
    ///
    /// # Errors
    ///
    /// Returns [`Error::PacketTooShort`] for fewer than 12 bytes.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let Some((header, messages)) = bytes.split_first_chunk::<{ Self::LENGTH }>() else {
            return Err(Error::PacketTooShort { length: bytes.len() });
        };
        let [s0, s1, s2, s3, t0, t1, t2, t3, t4, t5, t6, t7] = *header;
        let sequence = u32::from_le_bytes([s0, s1, s2, s3]);
        let sending_time = u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]);
        Ok((Self { sequence, sending_time: Utc::from_nanos(sending_time) }, messages))
    }

    /// Encodes the header as on the wire.
    #[must_use]
    pub fn encode(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..4].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[4..].copy_from_slice(&self.sending_time.as_nanos().to_le_bytes());
        bytes
    }
}

/// The packet that caused a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The feed.
    pub feed: Feed,
    /// The line that delivered the packet first.
    pub line: FeedLine,
    /// MsgSeqNum: the packet's number within its feed.
    pub sequence: u32,
    /// SendingTime: when the exchange sent the packet.
    pub sending_time: Utc,
    /// The receive timestamp of the network card or the kernel, if available.
    pub received: Option<Utc>,
    /// The caller's clock when the packet was passed to the channel. A buffered packet is processed
    /// later than this.
    pub handed_over: Instant,
}

impl Packet {
    /// A placeholder for a packet not yet received.
    pub(crate) const NONE: Self = Self {
        feed: Feed::Incremental,
        line: FeedLine::A,
        sequence: 0,
        sending_time: Utc::EPOCH,
        received: None,
        handed_over: Instant::ZERO,
    };

    /// Returns the packet's header.
    #[inline]
    pub(crate) const fn header(&self) -> PacketHeader {
        PacketHeader { sequence: self.sequence, sending_time: self.sending_time }
    }
}

#[cfg(test)]
impl Packet {
    /// Returns an incremental packet with a sequence and default values.
    pub(crate) fn with_sequence(sequence: u32) -> Self {
        Self { sequence, ..Self::NONE }
    }
}

/// A message with a valid frame: its header, and the `MsgSize - 10` bytes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The SBE header: block length, template, schema and version.
    pub header: MessageHeader,
    /// The root block and groups.
    pub body: &'a [u8],
    /// The message from its SBE header on, the input of the codecs.
    pub bytes: &'a [u8],
}

/// The messages of a packet, in order. Iteration ends after the first invalid frame, because the
/// start of the next message is then unknown.
///
/// ```
/// use hairpin_mdp3::Messages;
///
/// // One AdminHeartbeat: MsgSize 10, block length 0, template 12, schema 1, version 13.
/// let bytes = [10, 0, 0, 0, 12, 0, 1, 0, 13, 0];
/// let message = Messages::new(&bytes).next().unwrap().unwrap();
/// assert_eq!(message.header.template_id, 12);
/// assert!(message.body.is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    rest: &'a [u8],
}

/// The length of MsgSize and the SBE header in bytes.
const MESSAGE_HEADER: usize = 2 + MessageHeader::LENGTH;

impl<'a> Messages<'a> {
    /// Creates an iterator over `bytes`, the part of a packet after its header.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the next message, or `None` at the end of the packet or at an invalid frame.
    #[inline]
    pub(crate) fn next_valid(&mut self) -> Option<Message<'a>> {
        let size = u16::from_le_bytes(*self.rest.first_chunk()?);
        let (message, rest) = self.rest.split_at_checked(usize::from(size))?;
        let bytes = message.get(2..)?;
        let (header, body) = MessageHeader::decode(bytes).ok()?;
        self.rest = rest;
        Some(Message { header, body, bytes })
    }

    /// Returns the error of the frame after the last valid message, if any.
    #[inline]
    pub(crate) fn error(&mut self) -> Option<Error> {
        if self.rest.is_empty() { None } else { Some(self.classify_error()) }
    }

    #[cold]
    fn classify_error(&mut self) -> Error {
        let rest = core::mem::take(&mut self.rest);
        let available = rest.len();
        match *rest {
            [size_low, size_high, ..] if available >= MESSAGE_HEADER => {
                let size = u16::from_le_bytes([size_low, size_high]);
                if usize::from(size) < MESSAGE_HEADER {
                    Error::MessageSizeTooSmall { size }
                } else {
                    Error::TruncatedMessage { size, available }
                }
            }
            _ => Error::TrailingBytes { length: available },
        }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_valid().map(Ok).or_else(|| self.error().map(Err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const HEARTBEAT: [u8; 10] = [10, 0, 0, 0, 12, 0, 1, 0, 13, 0];

    fn errors(bytes: &[u8]) -> Vec<Error> {
        Messages::new(bytes).filter_map(Result::err).collect()
    }

    #[test]
    fn packet_header_round_trips() {
        let header = PacketHeader { sequence: 7, sending_time: Utc::from_nanos(1 << 60) };
        let bytes = header.encode();
        assert_eq!(PacketHeader::decode(&bytes), Ok((header, &[][..])));
        assert_eq!(bytes[..4], [7, 0, 0, 0]);
        let error = Error::PacketTooShort { length: 11 };
        assert_eq!(PacketHeader::decode(&bytes[..11]), Err(error));
    }

    #[test]
    fn iterates_over_messages() {
        let bytes = [HEARTBEAT, HEARTBEAT].concat();
        let messages: Vec<_> = Messages::new(&bytes).map(|message| message.unwrap()).collect();
        assert_eq!(messages.len(), 2);
        assert!(messages.iter().all(|message| message.bytes == &HEARTBEAT[2..]));
        assert!(messages.iter().all(|message| message.header.version == 13));
    }

    #[test]
    fn stops_at_first_invalid_frame() {
        let mut bytes = [HEARTBEAT, HEARTBEAT].concat();
        bytes[0] = 9;
        assert_eq!(errors(&bytes), [Error::MessageSizeTooSmall { size: 9 }]);
        bytes[0] = 21;
        assert_eq!(errors(&bytes), [Error::TruncatedMessage { size: 21, available: 20 }]);
        bytes[0] = 11;
        assert_eq!(errors(&bytes), [Error::TrailingBytes { length: 9 }]);
    }
}
