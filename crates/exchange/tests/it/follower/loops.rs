//! The definition and snapshot loops.

use std::collections::BTreeMap;

use super::wire::{Packet, byte, i32_at, u32_at};
use super::{Instrument, Order, symbol};

/// Checks that the packets of a loop are numbered from 1 without a gap. Returns `false` before the
/// first complete loop.
fn follows(next: &mut Option<u32>, sequence: u32) -> bool {
    if sequence == 1 {
        *next = Some(1);
    }
    let Some(expected) = *next else { return false };
    assert_eq!(sequence, expected, "sequence gap in a loop");
    *next = Some(sequence + 1);
    true
}

/// The definition loop: SecurityID → template, symbol, tag 980, MarketSegmentID.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    next: Option<u32>,
    known: BTreeMap<i32, (u16, String, u8, u8)>,
    pub empty: u64,
}

impl Definitions {
    /// Handles a packet, and returns the loop that it completes.
    pub(crate) fn handle(&mut self, bytes: &[u8]) -> Option<BTreeMap<i32, (u16, String, u8, u8)>> {
        let packet = Packet::open(bytes);
        if packet.sequence == 1 {
            self.known.clear();
        }
        if !follows(&mut self.next, packet.sequence) {
            return None;
        }
        let mut total = None;
        for message in packet.messages {
            if message.template == 12 {
                self.empty += 1;
                continue;
            }
            let block = message.block;
            assert!(matches!(message.template, 54..=58 | 63));
            total = Some(u32_at(block, 1));
            let facts = (message.template, symbol(block), byte(block, 5), byte(block, 17));
            assert!(
                self.known.insert(i32_at(block, 55), facts).is_none(),
                "instrument is repeated in a loop"
            );
        }
        (total == Some(self.known.len() as u32)).then(|| core::mem::take(&mut self.known))
    }
}

/// Checks that bids and offers alternate, each from the highest to the lowest priority, and that
/// the rest of the longer side follows.
fn assert_alternating(orders: &[Order]) {
    let sides = [b'0', b'1'].map(|side| {
        orders.iter().filter(|order| order.entry_type == side).copied().collect::<Vec<_>>()
    });
    let [bids, offers] = &sides;
    assert_eq!(bids.len() + offers.len(), orders.len());
    let pairs = bids.len().min(offers.len());
    for (place, order) in orders.iter().enumerate().take(2 * pairs) {
        assert_eq!(order.entry_type, [b'0', b'1'][place % 2], "sides do not alternate");
    }
    for side in sides {
        assert!(side.is_sorted_by_key(Order::sort_key), "orders are not sorted by priority");
    }
}

/// A snapshot loop: of books (52 or 69), of orders (53), or of both.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    next: Option<u32>,
    last_processed: Option<u32>,
    total: u32,
    books: BTreeMap<i32, Instrument>,
    /// The instruments whose books, and whose orders, are complete.
    stated: [u32; 2],
    chunk: u32,
    /// The orders of the instrument being listed, over its chunks.
    listed: Vec<Order>,
    pub empty: u64,
    pub sets_of_several: u64,
}

impl Snapshots {
    /// Handles a packet. Returns tag 369 and the books of the loop that it completes. `wants`
    /// states what a loop contains for each instrument: books, orders.
    pub(crate) fn handle(
        &mut self,
        bytes: &[u8],
        wants: [bool; 2],
    ) -> Option<(u32, BTreeMap<i32, Instrument>)> {
        let packet = Packet::open(bytes);
        if packet.sequence == 1 {
            let (empty, sets_of_several) = (self.empty, self.sets_of_several);
            *self = Self { empty, sets_of_several, ..Self::default() };
        }
        if !follows(&mut self.next, packet.sequence) {
            return None;
        }
        for message in &packet.messages {
            let block = message.block;
            if message.template == 12 {
                self.empty += 1;
                return None;
            }
            let last_processed = u32_at(block, 0);
            assert_eq!(*self.last_processed.get_or_insert(last_processed), last_processed);
            self.total = u32_at(block, 4);
            let book = self.books.entry(i32_at(block, 8)).or_default();
            if message.template == 53 {
                let [chunks, number] = [12, 16].map(|at| u32_at(block, at));
                assert_eq!(number, self.chunk + 1, "chunks are out of order");
                if number == 1 {
                    self.listed.clear();
                }
                assert!(!wants[0] || book.rpt_seq > 0, "orders precede their price book");
                for entry in &message.groups(&[29], &[false])[0] {
                    let order = Order::from_entry(entry);
                    self.listed.push(order);
                    assert!(book.orders.insert(order.id, order).is_none());
                }
                let is_last = number == chunks;
                if is_last {
                    assert_alternating(&self.listed);
                }
                self.chunk = if is_last { 0 } else { number };
                self.stated[1] += u32::from(is_last);
                self.sets_of_several += u64::from(is_last && chunks > 1);
            } else {
                let is_long = message.template == 69;
                assert!(is_long || message.template == 52);
                book.rpt_seq = u32_at(block, 12);
                book.limits = [35, 43, 51].map(|at| super::limit(block, at));
                let length = if is_long { 23 } else { 22 };
                for entry in &message.groups(&[length], &[false])[0] {
                    book.state(entry, is_long);
                }
                self.stated[0] += 1;
            }
        }
        let complete = |of: usize| self.stated[of] == if wants[of] { self.total } else { 0 };
        let is_whole = self.total > 0 && complete(0) && complete(1);
        is_whole.then(|| (self.last_processed.unwrap(), core::mem::take(&mut self.books)))
    }
}
