//! The published data: digests of every book at the end of every event, and the content of each
//! packet.

use std::collections::{BTreeMap, HashMap};

use hairpin_exchange::{Digest, Fingerprint, Ladder};
use hairpin_mdp3::{Feed, Levels};
use hairpin_time::Utc;

/// A position in the incremental feed. Sequence numbers are comparable only within an epoch, which
/// a reset ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FeedPosition {
    pub(crate) epoch: u32,
    pub(crate) sequence: u32,
}

/// The state of an instrument's books at the end of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BookState {
    pub(crate) at: FeedPosition,
    pub(crate) rpt_seq: u32,
    pub(crate) book: u64,
    pub(crate) implied: u64,
    pub(crate) orders: u64,
    /// Price and quantity of bids and offers, if available when the event was sent.
    pub(crate) levels: Option<[Vec<(i64, u64)>; 2]>,
}

/// A packet of the incremental feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PacketRecord {
    /// The number of times that numbering started at 1 before the packet.
    pub(crate) numbering: u32,
    pub(crate) sequence: u32,
    /// The position. A reset belongs to the epoch that it begins. If it also restarts the
    /// numbering, its sequence number is 0 here.
    pub(crate) position: FeedPosition,
    pub(crate) ends_event: bool,
    pub(crate) is_reset: bool,
}

/// The published data.
#[derive(Debug, Default)]
pub(crate) struct ExpectedState {
    book_states: BTreeMap<i32, Vec<BookState>>,
    packets: HashMap<(u32, Utc), PacketRecord>,
    passes: HashMap<(Feed, u32, Utc), FeedPosition>,
}

/// The state of an instrument before its first event in an epoch.
const EMPTY_STATE: BookState = BookState {
    at: FeedPosition { epoch: 0, sequence: 0 },
    rpt_seq: 0,
    book: EMPTY,
    implied: EMPTY,
    orders: EMPTY,
    levels: None,
};

/// The digest of an empty book.
pub(crate) const EMPTY: u64 = 0xCBF2_9CE4_8422_2325;

impl ExpectedState {
    /// Records the books of a sent event that ends in a packet of `epoch`.
    pub(crate) fn record_books(
        &mut self,
        epoch: u32,
        fingerprint: &Fingerprint,
        levels: Option<[Vec<(i64, u64)>; 2]>,
    ) {
        let &Fingerprint { sequence, security_id, rpt_seq, book, implied, orders, .. } =
            fingerprint;
        let at = FeedPosition { epoch, sequence };
        let book_states = self.book_states.entry(security_id).or_default();
        let book_state = BookState { at, rpt_seq, book, implied, orders, levels };
        match book_states.last_mut() {
            // One event may contain two fingerprints of an instrument.
            Some(last) if last.at == at => *last = book_state,
            last => {
                assert!(last.is_none_or(|last| last.at < at), "fingerprints are out of order");
                book_states.push(book_state);
            }
        }
    }

    /// Records a sent packet of the incremental feed.
    pub(crate) fn record_packet(&mut self, sequence: u32, sent: Utc, packet_record: PacketRecord) {
        let before = self.packets.insert((sequence, sent), packet_record);
        assert_eq!(before, None, "two packets have the same sequence number and time");
    }

    /// Records a sent loop packet, which contains the books after packet `as_of`.
    pub(crate) fn record_pass(
        &mut self,
        feed: Feed,
        sequence: u32,
        sent: Utc,
        as_of: FeedPosition,
    ) {
        self.passes.insert((feed, sequence, sent), as_of);
    }

    /// Returns the packet of the incremental feed with this sequence number and time.
    pub(crate) fn packet(&self, sequence: u32, sent: Utc) -> Option<PacketRecord> {
        self.packets.get(&(sequence, sent)).copied()
    }

    /// Returns the packet whose books a snapshot packet contains.
    pub(crate) fn pass(&self, feed: Feed, sequence: u32, sent: Utc) -> Option<FeedPosition> {
        self.passes.get(&(feed, sequence, sent)).copied()
    }

    /// Returns the last packet after which an instrument had a given state, for failure messages.
    pub(crate) fn find(
        &self,
        security_id: i32,
        is_it: impl Fn(&BookState) -> bool,
    ) -> Option<FeedPosition> {
        let book_states = self.book_states.get(&security_id)?;
        book_states
            .iter()
            .rev()
            .find(|book_state| is_it(book_state))
            .map(|book_state| book_state.at)
    }

    /// Returns the state of an instrument after a packet, and a number that identifies the state.
    pub(crate) fn at(&self, security_id: i32, position: FeedPosition) -> (usize, &BookState) {
        let Some(book_states) = self.book_states.get(&security_id) else {
            return (0, &EMPTY_STATE);
        };
        let behind = book_states.partition_point(|book_state| book_state.at <= position);
        let last = behind.checked_sub(1).map(|last| &book_states[last]);
        // The empty state has a different number in each epoch.
        let number = behind << 8 | (position.epoch as usize & 0xFF);
        (
            number,
            last.filter(|book_state| book_state.at.epoch == position.epoch).unwrap_or(&EMPTY_STATE),
        )
    }
}

/// Returns the digest of a price book.
pub(crate) fn digest(sides: [Levels<'_>; 2], entry_types: [u8; 2]) -> u64 {
    let mut digest = Digest::default();
    for (side, entry_type) in sides.into_iter().zip(entry_types) {
        for (number, level) in (1..).zip(side) {
            digest.level(entry_type, number, level.price.0, level.quantity, level.orders);
        }
    }
    digest.value()
}

/// Returns the digest of a price book of the exchange.
pub(crate) fn digest_of_ladders(sides: &[Ladder; 2]) -> u64 {
    let mut digest = Digest::default();
    for (side, entry_type) in sides.iter().zip(*b"01") {
        for (number, level) in (1..).zip(side.levels()) {
            let quantity = u64::from(level.quantity);
            digest.level(entry_type, number, level.price.0, quantity, level.orders);
        }
    }
    digest.value()
}
