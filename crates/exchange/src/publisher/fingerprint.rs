//! What every published book was, in a few bytes: for somebody who follows the feed in a
//! simulation, to be held against.

use std::collections::VecDeque;

use super::{IMPLIED_DEPTH, Ladder, Publisher};
use crate::matching::{PriceLevel, Side};

/// Books of one instrument at the end of an event, each as its [`Digest`].
///
/// A price book that has come to `rpt_seq` in `epoch` is `book`; one with RptSeq 0 is empty. Orders
/// are those of the last fingerprint of the instrument in `epoch` whose `sequence` is not behind
/// the packet that the follower has come to, and before the first there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// Resets of the channel that left before: 0 before the first.
    pub epoch: u32,
    /// MsgSeqNum of the packet that ends the event.
    pub sequence: u32,
    /// The event's number.
    pub event: u64,
    /// The instrument's SecurityID (tag 48).
    pub security_id: i32,
    /// The last RptSeq (tag 83) of the instrument in the event.
    pub rpt_seq: u32,
    /// Bids and offers.
    pub book: u64,
    /// Implied bids and offers.
    pub implied: u64,
    /// The orders: all of them in a Premium group, the top ones in a conflated group, best first
    /// and bids before offers. The digest of nothing where the group has none.
    pub orders: u64,
}

/// A digest of a book that anybody can make from the same levels or orders.
///
/// FNV-1a with 64 bits: begin with `0xCBF2_9CE4_8422_2325`; for each byte, exclusive or with it and
/// then multiply by `0x100_0000_01B3`, modulo 2^64. The digest of nothing is the number that it
/// begins with. The bytes are those of all levels or orders one behind the other, bids before
/// offers, best first, integers little-endian:
///
/// ```text
/// level  MDEntryType u8 ('0' bid, '1' offer, 'E' implied bid, 'F' implied offer),
///        number u8 from 1, price mantissa i64 (nine decimals), quantity u64,
///        orders u32 (0 if implied)
/// order  MDEntryType u8, OrderID u64, MDOrderPriority u64, price mantissa i64, quantity u32
/// ```
///
/// ```
/// use hairpin_exchange::Digest;
///
/// let mut digest = Digest::default();
/// assert_eq!(digest.value(), 0xCBF2_9CE4_8422_2325);
/// digest.level(b'0', 1, 1_000_250_000_000, 12, 3);
/// digest.level(b'1', 1, 1_000_500_000_000, 5, 1);
/// assert_eq!(digest.value(), 0x2819_68E0_4E86_7C98);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    /// The digest of nothing.
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    /// The next level.
    pub fn level(&mut self, entry_type: u8, number: u8, price: i64, quantity: u64, orders: u32) {
        self.bytes(&[entry_type, number]);
        self.bytes(&price.to_le_bytes());
        self.bytes(&quantity.to_le_bytes());
        self.bytes(&orders.to_le_bytes());
    }

    /// The next order.
    pub fn order(&mut self, entry_type: u8, id: u64, priority: u64, price: i64, quantity: u32) {
        self.bytes(&[entry_type]);
        self.bytes(&id.to_le_bytes());
        self.bytes(&priority.to_le_bytes());
        self.bytes(&price.to_le_bytes());
        self.bytes(&quantity.to_le_bytes());
    }

    /// The digest of all that came so far.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
    }
}

/// Fingerprints of events that have not left yet, and of those that have.
#[derive(Debug, Default)]
pub(super) struct Fingerprints {
    waiting: VecDeque<Fingerprint>,
    left: VecDeque<Fingerprint>,
}

impl Fingerprints {
    /// The end of an event leaves.
    pub(super) fn note_end(&mut self, event: u64, epoch: u32, sequence: u32) {
        while let Some(fingerprint) = self.waiting.pop_front_if(|next| next.event <= event) {
            self.left.push_back(Fingerprint { epoch, sequence, ..fingerprint });
        }
    }
}

impl Publisher {
    /// The books of an instrument as they were at the end of an event that has left, oldest first;
    /// `None` if there are no more, or the settings do not ask for them. They are kept until they
    /// are taken, so whoever asks for them takes them; memory for that is not bounded.
    pub fn poll_fingerprint(&mut self) -> Option<Fingerprint> {
        self.fingerprints.as_mut()?.left.pop_front()
    }

    /// Notes what the books of `instruments` are at the end of an event.
    pub(super) fn take_fingerprints(&mut self, event: u64, instruments: &[u32]) {
        if self.fingerprints.is_none() {
            return;
        }
        for &instrument in instruments {
            let published = self.books.at(instrument);
            let fingerprint = Fingerprint {
                epoch: 0,
                sequence: 0,
                event,
                security_id: self.security_id(instrument),
                rpt_seq: published.rpt_seq,
                book: levels(&published.sides, *b"01"),
                implied: levels::<IMPLIED_DEPTH>(&published.implied, *b"EF"),
                orders: self.orders_digest(instrument),
            };
            if let Some(fingerprints) = &mut self.fingerprints {
                fingerprints.waiting.push_back(fingerprint);
            }
        }
    }

    fn orders_digest(&self, instrument: u32) -> u64 {
        let mut digest = Digest::default();
        for (side, entry_type) in Side::BOTH.into_iter().zip(*b"01") {
            let all = self.published_orders(instrument, side);
            let tops = self.published_top_orders(instrument);
            for order in all.chain(tops.into_iter().flat_map(|tops| tops.side(side))) {
                let (id, price) = (order.id.0, order.price.0);
                digest.order(entry_type, id, order.priority, price, order.quantity);
            }
        }
        digest.value()
    }
}

fn levels<const N: usize>(sides: &[Ladder<N>; 2], entry_types: [u8; 2]) -> u64 {
    let mut digest = Digest::default();
    for (side, entry_type) in sides.iter().zip(entry_types) {
        for (number, &PriceLevel { price, quantity, orders }) in (1..).zip(side.levels()) {
            digest.level(entry_type, number, price.0, u64::from(quantity), orders);
        }
    }
    digest.value()
}
