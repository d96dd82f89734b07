//! Business messages that were published to a session, kept for retransmission.
//!
//! CME keeps a week; here it is the last so many of each account, whatever their UUID, and nothing
//! of the week before.

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
const HEADER: usize = 8;

/// What is known of one kept message.
#[derive(Debug, Default, Clone, Copy)]
struct Entry {
    uuid: u64,
    number: u32,
    length: usize,
    /// How often it leaves: once, unless a fault happens to it.
    copies: u8,
}

/// A ring of messages, each from its SBE header on.
#[derive(Debug)]
pub(super) struct Kept {
    entries: Box<[Entry]>,
    bytes: Box<[u8]>,
    /// Messages ever kept: the place of the next one, modulo the ring's size.
    next: u64,
}

/// Messages of one UUID to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Replay {
    pub(super) uuid: u64,
    pub(super) from: u32,
    pub(super) count: u32,
    /// Where the first of them is kept.
    place: u64,
}

impl Kept {
    /// No message that this gateway publishes is longer: an ExecutionReportStatus has 521 bytes, an
    /// OrderMassActionReport of 25 orders 941, a QuoteCancelAck of 50 names 834 and of 50 sets 584,
    /// both 1,034 at most, a MassQuoteResponse of 50 entries 1,361.
    const LONGEST: usize = 1_408;

    /// A ring of so many messages.
    pub(super) fn new(messages: u32) -> Self {
        // At least one, so that there is a place to encode in.
        let messages = messages.max(1) as usize;
        Self {
            entries: vec![Entry::default(); messages].into(),
            bytes: vec![0; messages * Self::LONGEST].into(),
            next: 0,
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.next = 0;
    }

    fn slot(&self, place: u64) -> usize {
        (place % self.entries.len() as u64) as usize
    }

    /// Keeps the message that `encode` writes, in the place of the oldest; returns its bytes.
    pub(super) fn keep(
        &mut self,
        (uuid, number): (u64, u32),
        copies: u8,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<&[u8], EncodeError> {
        let slot = self.slot(self.next);
        let bytes = &mut self.bytes[slot * Self::LONGEST..][..Self::LONGEST];
        let length = encode(bytes)?;
        self.entries[slot] = Entry { uuid, number, length, copies };
        self.next += 1;
        Ok(&bytes[..length])
    }

    /// Messages of `uuid` from number `from` on, at most `count`: `None` if the first is not kept.
    pub(super) fn find(&self, uuid: u64, from: u32, count: u32) -> Option<Replay> {
        let oldest = self.next.saturating_sub(self.entries.len() as u64);
        let is_first = |&place: &u64| {
            let entry = &self.entries[self.slot(place)];
            entry.uuid == uuid && entry.number == from
        };
        let place = (oldest..self.next).find(is_first)?;
        let following = (place..self.next).take(count as usize);
        let is_same = |&place: &u64| self.entries[self.slot(place)].uuid == uuid;
        // No more than `count`.
        let count = following.take_while(is_same).count() as u32;
        Some(Replay { uuid, from, count, place })
    }

    /// How many are kept at most.
    pub(super) fn room(&self) -> u32 {
        // As many as `new` was given.
        self.entries.len() as u32
    }

    /// The number of the first of the latest `behind` messages: 1 to [`Kept::room`].
    pub(super) fn number_of(&self, behind: u32) -> u32 {
        self.entries[self.slot(self.next - u64::from(behind))].number
    }

    /// The first of the latest `behind` messages, and how often it leaves.
    pub(super) fn latest(&self, behind: u32) -> (&[u8], u8) {
        let slot = self.slot(self.next - u64::from(behind));
        let Entry { length, copies, .. } = self.entries[slot];
        (&self.bytes[slot * Self::LONGEST..][..length], copies)
    }

    /// Whether anything of `uuid` is kept.
    pub(super) fn knows(&self, uuid: u64) -> bool {
        let kept = self.next.min(self.entries.len() as u64) as usize;
        self.entries[..kept].iter().any(|entry| entry.uuid == uuid)
    }

    /// The next message of a replay, and that PossRetransFlag is at this offset of it; `None` when
    /// it is over or what is left has been overwritten.
    pub(super) fn advance(&self, replay: &mut Replay) -> Option<(&[u8], Option<usize>)> {
        let slot = self.slot(replay.place);
        let entry = self.entries[slot];
        if replay.count == 0
            || replay.place >= self.next
            || entry.uuid != replay.uuid
            || entry.number != replay.from
        {
            return None;
        }
        replay.count -= 1;
        replay.from += 1;
        replay.place += 1;
        let bytes = &self.bytes[slot * Self::LONGEST..][..entry.length];
        Some((bytes, flag_offset(bytes)))
    }
}

/// The value that PossRetransFlag has in a message sent again.
pub(super) const RETRANSMITTED: u8 = BooleanFlag::TRUE.0;

/// Where PossRetransFlag (tag 9765) is in a message, from its SBE header on.
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
    Some(HEADER + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u32 = 64;

    fn filled(messages: u32) -> Kept {
        let mut kept = Kept::new(SIZE);
        for number in 1..=messages {
            let bytes = number.to_le_bytes();
            let write = |buffer: &mut [u8]| {
                buffer[..4].copy_from_slice(&bytes);
                Ok(4)
            };
            assert_eq!(kept.keep((7, number), 1, write).unwrap(), bytes);
        }
        kept
    }

    #[test]
    fn finds_what_is_kept_and_nothing_else() {
        let kept = filled(10);
        let mut replay = kept.find(7, 4, 3).unwrap();
        assert_eq!(replay.count, 3);
        for number in 4_u32..7 {
            assert_eq!(kept.advance(&mut replay).unwrap().0, number.to_le_bytes());
        }
        assert!(kept.advance(&mut replay).is_none());
        assert_eq!(kept.find(7, 9, 100).unwrap().count, 2);
        assert_eq!((kept.find(7, 11, 1), kept.find(8, 1, 1)), (None, None));
        assert!(kept.knows(7) && !kept.knows(8) && !kept.knows(0));
    }

    #[test]
    fn overwrites_the_oldest_and_stops_a_replay_that_comes_too_late() {
        let size = SIZE;
        let mut kept = filled(size + 5);
        assert_eq!((kept.find(7, 5, 1), kept.find(7, 6, 9999).unwrap().count), (None, size));
        let mut replay = kept.find(7, 6, 2).unwrap();
        kept.keep((9, 1), 1, |_| Ok(0)).unwrap();
        assert!(kept.advance(&mut replay).is_none());
        assert_eq!(kept.find(7, 7, 9999).unwrap().count, size - 1);
    }
}
