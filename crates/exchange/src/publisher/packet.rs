//! A packet under construction: the 12-byte header, then messages.

use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use crate::defined_values::debug_assert_defined;

/// The length of the packet header: MsgSeqNum (u32 at 0) and SendingTime (u64 at 4).
pub(super) const PACKET_HEADER: usize = 12;

/// The length of MsgSize (u16), which precedes a message's SBE header and counts itself.
const MESSAGE_SIZE: usize = 2;

/// The maximum UDP payload in bytes. CME publishes no limit. This value leaves room for IP, UDP and
/// tunnel headers in an Ethernet frame of 1,500 bytes.
pub const MAX_PAYLOAD: usize = 1_420;

/// A writer of consecutive messages into the buffer to send.
pub(crate) struct Packet<'a> {
    buffer: &'a mut [u8],
    length: usize,
}

impl<'a> Packet<'a> {
    /// Creates an empty packet of at most [`MAX_PAYLOAD`] bytes.
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        let limit = buffer.len().min(MAX_PAYLOAD);
        Self { buffer: &mut buffer[..limit], length: PACKET_HEADER }
    }

    /// Returns the number of bytes left for messages, including MsgSize.
    pub(super) fn room(&self) -> usize {
        self.buffer.len().saturating_sub(self.length)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == PACKET_HEADER
    }

    /// Appends the message that `encode` writes, starting at its SBE header. `encode` returns the
    /// length.
    pub(crate) fn append(
        &mut self,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<(), EncodeError> {
        let start = self.length;
        let length = encode(&mut self.buffer[start + MESSAGE_SIZE..])? + MESSAGE_SIZE;
        debug_assert_defined(&self.buffer[start + MESSAGE_SIZE..start + length]);
        // The length is at most `MAX_PAYLOAD`.
        self.buffer[start..start + MESSAGE_SIZE].copy_from_slice(&(length as u16).to_le_bytes());
        self.length += length;
        Ok(())
    }

    /// Appends an encoded message, including MsgSize. The caller has checked the room.
    pub(super) fn append_whole(&mut self, message: &[u8]) {
        self.buffer[self.length..][..message.len()].copy_from_slice(message);
        self.length += message.len();
    }

    /// Returns the messages so far.
    pub(super) fn messages(&self) -> &[u8] {
        &self.buffer[PACKET_HEADER..self.length]
    }

    /// Writes the header and returns the length of the packet.
    pub(crate) fn finish(self, sequence: u32, sending_time: Utc) -> usize {
        self.buffer[..4].copy_from_slice(&sequence.to_le_bytes());
        self.buffer[4..PACKET_HEADER].copy_from_slice(&sending_time.as_nanos().to_le_bytes());
        self.length
    }
}
