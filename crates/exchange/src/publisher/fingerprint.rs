//! Fingerprints of the published books, with which a simulation can check a receiver's books.

use std::collections::VecDeque;

use super::{IMPLIED_DEPTH, Ladder, Publisher};
use crate::matching::{PriceLevel, Side};

/// The digests of one instrument's books at the end of an event; see [`Digest`].
///
/// `book` is the price book at `rpt_seq` in `epoch`; with RptSeq 0 the book is empty. For the
/// orders at some packet, use the last fingerprint of the instrument in the same `epoch` whose
/// `sequence` is not after that packet. Before the first one there are no orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// The number of channel resets sent before, 0 before the first.
    pub epoch: u32,
    /// MsgSeqNum of the packet with the end of the event.
    pub sequence: u32,
    /// The number of the event.
    pub event: u64,
    /// SecurityID of the instrument (tag 48).
    pub security_id: i32,
    /// The last RptSeq (tag 83) of the instrument in the event.
    pub rpt_seq: u32,
    /// The digest of bids and offers.
    pub book: u64,
    /// The digest of implied bids and offers.
    pub implied: u64,
    /// The digest of the orders: all of them in a Premium group, the top orders in a conflated
    /// group, best first and bids before offers. The digest of no bytes if the group publishes no
    /// orders.
    pub orders: u64,
}

/// A digest of a book, which a receiver can compute from the same levels or orders.
///
/// 64-bit FNV-1a. Start with `0xCBF2_9CE4_8422_2325`; for each byte, XOR it in, then multiply by
/// `0x100_0000_01B3` modulo 2^64. The digest of no bytes is the start value. The bytes are those of
/// all levels or orders, bids before offers, best first, integers little-endian:
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
    /// Returns the digest of no bytes.
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    /// Adds the next level.
    pub fn level(&mut self, entry_type: u8, number: u8, price: i64, quantity: u64, orders: u32) {
        self.bytes(&[entry_type, number]);
        self.bytes(&price.to_le_bytes());
        self.bytes(&quantity.to_le_bytes());
        self.bytes(&orders.to_le_bytes());
    }

    /// Adds the next order.
    pub fn order(&mut self, entry_type: u8, id: u64, priority: u64, price: i64, quantity: u32) {
        self.bytes(&[entry_type]);
        self.bytes(&id.to_le_bytes());
        self.bytes(&priority.to_le_bytes());
        self.bytes(&price.to_le_bytes());
        self.bytes(&quantity.to_le_bytes());
    }

    /// Returns the digest of the bytes so far.
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

/// The fingerprints of queued events, and of sent events.
#[derive(Debug, Default)]
pub(super) struct Fingerprints {
    pending: VecDeque<Fingerprint>,
    sent: VecDeque<Fingerprint>,
}

impl Fingerprints {
    /// Records that the end of an event is sent.
    pub(super) fn record_end(&mut self, event: u64, epoch: u32, sequence: u32) {
        while let Some(fingerprint) = self.pending.pop_front_if(|next| next.event <= event) {
            self.sent.push_back(Fingerprint { epoch, sequence, ..fingerprint });
        }
    }
}

impl Publisher {
    /// Returns the next fingerprint of a sent event, oldest first. Returns `None` if there are no
    /// more, or fingerprints are disabled. Fingerprints are stored until they are polled; the
    /// memory for them is not bounded.
    pub fn poll_fingerprint(&mut self) -> Option<Fingerprint> {
        self.fingerprints.as_mut()?.sent.pop_front()
    }

    /// Records the fingerprints of `instruments` at the end of an event.
    pub(super) fn record_fingerprints(&mut self, event: u64, instruments: &[u32]) {
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
                fingerprints.pending.push_back(fingerprint);
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
