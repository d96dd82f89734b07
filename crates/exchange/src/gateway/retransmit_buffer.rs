//! The retransmit buffer: business messages published to a session.
//!
//! CME stores a week of messages. This buffer stores the latest messages of each account,
//! regardless of UUID, and none of the previous week.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, BusinessReject521, ExecutionReportCancel534, ExecutionReportElimination524,
    ExecutionReportModify531, ExecutionReportNew522, ExecutionReportReject523,
    ExecutionReportStatus532, ExecutionReportTradeOutright525, MassQuoteAck545,
    MassQuoteResponse571, OrderCancelReject535, OrderCancelReplaceReject536,
    OrderMassActionReport562, PartyDetailsDefinitionRequestAck519, PartyDetailsListReport538,
    QuoteCancelAck563, RequestForQuoteAck546,
};
use hairpin_sbe::EncodeError;

/// Bytes of the SBE header.
const HEADER_LENGTH: usize = 8;

/// The metadata of a stored message.
#[derive(Debug, Default, Clone, Copy)]
struct Entry {
    uuid: u64,
    number: u32,
    length: usize,
    /// The number of times the message is sent: 1 unless a fault is injected.
    copies: u8,
}

/// A ring buffer of messages, each starting at its SBE header.
#[derive(Debug)]
pub(super) struct RetransmitBuffer {
    entries: Box<[Entry]>,
    bytes: Box<[u8]>,
    /// The number of messages ever stored. Modulo the ring size, the index of the next one.
    next: u64,
}

/// A retransmission in progress: consecutive messages of one UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Retransmission {
    pub(super) uuid: u64,
    pub(super) from: u32,
    pub(super) count: u32,
    /// The position of the first one.
    position: u64,
}

impl RetransmitBuffer {
    /// The length limit of a published message. An ExecutionReportStatus has 521 bytes, an
    /// OrderMassActionReport of 25 orders 941. A QuoteCancelAck has 834 bytes with 50 names, 584
    /// with 50 sets, and at most 1,034 with both. A MassQuoteResponse of 50 entries has 1,361.
    const MESSAGE_MAX: usize = 1_408;

    /// Creates a ring for `messages` messages.
    pub(super) fn new(messages: u32) -> Self {
        // Encoding needs at least one slot.
        let messages = messages.max(1) as usize;
        Self {
            entries: vec![Entry::default(); messages].into(),
            bytes: vec![0; messages * Self::MESSAGE_MAX].into(),
            next: 0,
        }
    }

    /// Drops all messages.
    pub(super) fn clear(&mut self) {
        self.next = 0;
    }

    fn slot(&self, position: u64) -> usize {
        (position % self.entries.len() as u64) as usize
    }

    /// Stores the message that `encode` writes, overwriting the oldest. Returns its bytes.
    pub(super) fn store(
        &mut self,
        (uuid, number): (u64, u32),
        copies: u8,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<&[u8], EncodeError> {
        let slot = self.slot(self.next);
        let bytes = &mut self.bytes[slot * Self::MESSAGE_MAX..][..Self::MESSAGE_MAX];
        let length = encode(bytes)?;
        self.entries[slot] = Entry { uuid, number, length, copies };
        self.next += 1;
        Ok(&bytes[..length])
    }

    /// Finds up to `count` messages of `uuid`, starting at number `from`. Returns `None` if the
    /// first is not stored.
    pub(super) fn find(&self, uuid: u64, from: u32, count: u32) -> Option<Retransmission> {
        let oldest = self.next.saturating_sub(self.entries.len() as u64);
        let is_first = |&position: &u64| {
            let entry = &self.entries[self.slot(position)];
            entry.uuid == uuid && entry.number == from
        };
        let position = (oldest..self.next).find(is_first)?;
        let following = (position..self.next).take(count as usize);
        let is_same = |&position: &u64| self.entries[self.slot(position)].uuid == uuid;
        // The value is at most `count`.
        let count = following.take_while(is_same).count() as u32;
        Some(Retransmission { uuid, from, count, position })
    }

    /// Returns the number of messages that the ring holds.
    pub(super) fn capacity(&self) -> u32 {
        // The length was given as a `u32`.
        self.entries.len() as u32
    }

    /// Returns the number of the first of the latest `pending` messages. `pending` is 1 to
    /// [`RetransmitBuffer::capacity`].
    pub(super) fn number_of(&self, pending: u32) -> u32 {
        self.entries[self.slot(self.next - u64::from(pending))].number
    }

    /// Returns the first of the latest `pending` messages, and the number of times it is sent.
    pub(super) fn latest(&self, pending: u32) -> (&[u8], u8) {
        let slot = self.slot(self.next - u64::from(pending));
        let Entry { length, copies, .. } = self.entries[slot];
        (&self.bytes[slot * Self::MESSAGE_MAX..][..length], copies)
    }

    /// Returns `true` if a message of `uuid` is stored.
    pub(super) fn contains_uuid(&self, uuid: u64) -> bool {
        let stored = self.next.min(self.entries.len() as u64) as usize;
        self.entries[..stored].iter().any(|entry| entry.uuid == uuid)
    }

    /// Returns the next message of a retransmission, with the offset of its PossRetransFlag.
    /// Returns `None` at the end, or if the rest has been overwritten.
    pub(super) fn advance(
        &self,
        retransmission: &mut Retransmission,
    ) -> Option<(&[u8], Option<usize>)> {
        let slot = self.slot(retransmission.position);
        let entry = self.entries[slot];
        if retransmission.count == 0
            || retransmission.position >= self.next
            || entry.uuid != retransmission.uuid
            || entry.number != retransmission.from
        {
            return None;
        }
        retransmission.count -= 1;
        retransmission.from += 1;
        retransmission.position += 1;
        let bytes = &self.bytes[slot * Self::MESSAGE_MAX..][..entry.length];
        Some((bytes, flag_offset(bytes)))
    }
}

/// The value of PossRetransFlag in a retransmitted message.
pub(super) const RETRANSMITTED: u8 = BooleanFlag::TRUE.0;

/// Returns the offset of PossRetransFlag (tag 9765) in a message, counted from its SBE header.
fn flag_offset(message: &[u8]) -> Option<usize> {
    let offset = match u16::from_le_bytes([*message.get(2)?, *message.get(3)?]) {
        BusinessReject521::TEMPLATE_ID => 327,
        PartyDetailsDefinitionRequestAck519::TEMPLATE_ID => 157,
        PartyDetailsListReport538::TEMPLATE_ID => 91,
        RequestForQuoteAck546::TEMPLATE_ID => 349,
        ExecutionReportNew522::TEMPLATE_ID => 193,
        ExecutionReportReject523::TEMPLATE_ID => 451,
        ExecutionReportElimination524::TEMPLATE_ID => 195,
        ExecutionReportTradeOutright525::TEMPLATE_ID => 226,
        ExecutionReportModify531::TEMPLATE_ID => 201,
        ExecutionReportStatus532::TEMPLATE_ID => 472,
        ExecutionReportCancel534::TEMPLATE_ID => 197,
        OrderMassActionReport562::TEMPLATE_ID => 105,
        MassQuoteAck545::TEMPLATE_ID => 341,
        MassQuoteResponse571::TEMPLATE_ID => 339,
        QuoteCancelAck563::TEMPLATE_ID => 342,
        OrderCancelReject535::TEMPLATE_ID | OrderCancelReplaceReject536::TEMPLATE_ID => 398,
        _ => return None,
    };
    Some(HEADER_LENGTH + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u32 = 64;

    fn filled(messages: u32) -> RetransmitBuffer {
        let mut buffer = RetransmitBuffer::new(SIZE);
        for number in 1..=messages {
            let bytes = number.to_le_bytes();
            let write = |output: &mut [u8]| {
                output[..4].copy_from_slice(&bytes);
                Ok(4)
            };
            assert_eq!(buffer.store((7, number), 1, write).unwrap(), bytes);
        }
        buffer
    }

    #[test]
    fn finds_stored_messages_only() {
        let buffer = filled(10);
        let mut retransmission = buffer.find(7, 4, 3).unwrap();
        assert_eq!(retransmission.count, 3);
        for number in 4_u32..7 {
            assert_eq!(buffer.advance(&mut retransmission).unwrap().0, number.to_le_bytes());
        }
        assert!(buffer.advance(&mut retransmission).is_none());
        assert_eq!(buffer.find(7, 9, 100).unwrap().count, 2);
        assert_eq!((buffer.find(7, 11, 1), buffer.find(8, 1, 1)), (None, None));
        assert!(buffer.contains_uuid(7) && !buffer.contains_uuid(8) && !buffer.contains_uuid(0));
    }

    #[test]
    fn overwriting_stops_a_retransmission() {
        let size = SIZE;
        let mut buffer = filled(size + 5);
        assert_eq!((buffer.find(7, 5, 1), buffer.find(7, 6, 9999).unwrap().count), (None, size));
        let mut retransmission = buffer.find(7, 6, 2).unwrap();
        buffer.store((9, 1), 1, |_| Ok(0)).unwrap();
        assert!(buffer.advance(&mut retransmission).is_none());
        assert_eq!(buffer.find(7, 7, 9999).unwrap().count, size - 1);
    }
}
