//! The suspect packet that the channel keeps until another confirms it.

use alloc::vec;
use alloc::vec::Vec;

use crate::Packet;

/// A buffer for one packet. A packet too long for it is recorded without its messages, and counts
/// as lost if it is confirmed.
#[derive(Debug, Default)]
pub(crate) struct PendingPacket {
    pub(crate) packet: Option<Packet>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: usize,
}

impl PendingPacket {
    /// Creates a buffer for `max_packet` bytes of messages.
    pub(crate) fn new(max_packet: usize) -> Self {
        Self { packet: None, bytes: vec![0; max_packet], length: 0 }
    }

    /// Stores a packet in place of the previous one.
    pub(crate) fn set(&mut self, packet: &Packet, messages: &[u8]) {
        let room = self.bytes.get_mut(..messages.len());
        self.packet = room.is_some().then_some(*packet);
        if let Some(room) = room {
            room.copy_from_slice(messages);
            self.length = messages.len();
        }
    }
}
