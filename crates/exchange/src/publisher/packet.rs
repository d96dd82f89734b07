//! A packet under construction: the 12-byte header, then messages.

use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

/// Bytes of the packet header: MsgSeqNum (u32 at 0) and SendingTime (u64 at 4).
pub(super) const PACKET_HEADER: usize = 12;

/// Bytes before a message's SBE header: MsgSize (u16), which counts itself.
const MESSAGE_SIZE: usize = 2;

/// The largest UDP payload that is sent. CME publishes no limit; this leaves room for IP and
/// UDP headers and a tunnel's in an Ethernet frame of 1,500.
pub const MAX_PAYLOAD: usize = 1_420;

/// Messages written one behind the other into the buffer that leaves.
pub(crate) struct Packet<'a> {
    buffer: &'a mut [u8],
    length: usize,
}

impl<'a> Packet<'a> {
    /// An empty packet of at most [`MAX_PAYLOAD`] bytes.
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        let limit = buffer.len().min(MAX_PAYLOAD);
        Self { buffer: &mut buffer[..limit], length: PACKET_HEADER }
    }

    /// Bytes left for messages, MsgSize included.
    pub(super) fn room(&self) -> usize {
        self.buffer.len().saturating_sub(self.length)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == PACKET_HEADER
    }

    /// Appends the message that `encode` writes, from the SBE header on; it returns the length.
    pub(crate) fn append(
        &mut self,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<(), EncodeError> {
        let start = self.length;
        let length = encode(&mut self.buffer[start + MESSAGE_SIZE..])? + MESSAGE_SIZE;
        // At most `MAX_PAYLOAD`.
        self.buffer[start..start + MESSAGE_SIZE].copy_from_slice(&(length as u16).to_le_bytes());
        self.length += length;
        Ok(())
    }

    /// Appends a message that was written before, MsgSize included, for which there is room.
    pub(super) fn append_whole(&mut self, message: &[u8]) {
        self.buffer[self.length..][..message.len()].copy_from_slice(message);
        self.length += message.len();
    }

    /// The messages so far.
    pub(super) fn messages(&self) -> &[u8] {
        &self.buffer[PACKET_HEADER..self.length]
    }

    /// Writes the header; returns the packet's length.
    pub(crate) fn finish(self, sequence: u32, sending_time: Utc) -> usize {
        self.buffer[..4].copy_from_slice(&sequence.to_le_bytes());
        self.buffer[4..PACKET_HEADER].copy_from_slice(&sending_time.as_nanos().to_le_bytes());
        self.length
    }
}
