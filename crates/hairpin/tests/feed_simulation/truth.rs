//! The published data: digests of every book at the end of every event, and the content of each
//! packet.

use std::collections::{BTreeMap, HashMap};

use hairpin_exchange::{Digest, Fingerprint, Ladder};
use hairpin_mdp3::{Feed, Levels};
use hairpin_time::Utc;

/// A position in the incremental feed. Sequence numbers are comparable only within an epoch, which
/// a reset ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Stamp {
    pub(crate) epoch: u32,
    pub(crate) sequence: u32,
}

/// The state of an instrument's books at the end of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) at: Stamp,
    pub(crate) rpt_seq: u32,
    pub(crate) book: u64,
    pub(crate) implied: u64,
    pub(crate) orders: u64,
    /// Price and quantity of bids and offers, if available when the event was sent.
    pub(crate) levels: Option<[Vec<(i64, u64)>; 2]>,
}

/// A packet of the incremental feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fact {
    /// The number of times that numbering started at 1 before the packet.
    pub(crate) numbering: u32,
    pub(crate) sequence: u32,
    /// The position. A reset belongs to the epoch that it begins. If it also restarts the
    /// numbering, its sequence number is 0 here.
    pub(crate) stamp: Stamp,
    pub(crate) ends_event: bool,
    pub(crate) is_reset: bool,
}

/// The published data.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    points: BTreeMap<i32, Vec<Point>>,
    packets: HashMap<(u32, Utc), Fact>,
    passes: HashMap<(Feed, u32, Utc), Stamp>,
}

/// The state of an instrument before its first event in an epoch.
const NOTHING: Point = Point {
    at: Stamp { epoch: 0, sequence: 0 },
    rpt_seq: 0,
    book: EMPTY,
    implied: EMPTY,
    orders: EMPTY,
    levels: None,
};

/// The digest of an empty book.
pub(crate) const EMPTY: u64 = 0xCBF2_9CE4_8422_2325;

impl Truth {
    /// Records the books of a sent event that ends in a packet of `epoch`.
    pub(crate) fn note(
        &mut self,
        epoch: u32,
        fingerprint: &Fingerprint,
        levels: Option<[Vec<(i64, u64)>; 2]>,
    ) {
        let &Fingerprint { sequence, security_id, rpt_seq, book, implied, orders, .. } =
            fingerprint;
        let at = Stamp { epoch, sequence };
        let points = self.points.entry(security_id).or_default();
        let point = Point { at, rpt_seq, book, implied, orders, levels };
        match points.last_mut() {
            // One event may contain two fingerprints of an instrument.
            Some(last) if last.at == at => *last = point,
            last => {
                assert!(last.is_none_or(|last| last.at < at), "fingerprints are out of order");
                points.push(point);
            }
        }
    }

    /// Records a sent packet of the incremental feed.
    pub(crate) fn note_packet(&mut self, sequence: u32, sent: Utc, fact: Fact) {
        let before = self.packets.insert((sequence, sent), fact);
        assert_eq!(before, None, "two packets have the same sequence number and time");
    }

    /// Records a sent loop packet, which contains the books after packet `as_of`.
    pub(crate) fn note_pass(&mut self, feed: Feed, sequence: u32, sent: Utc, as_of: Stamp) {
        self.passes.insert((feed, sequence, sent), as_of);
    }

    /// Returns the packet of the incremental feed with this sequence number and time.
    pub(crate) fn packet(&self, sequence: u32, sent: Utc) -> Option<Fact> {
        self.packets.get(&(sequence, sent)).copied()
    }

    /// Returns the packet whose books a snapshot packet contains.
    pub(crate) fn pass(&self, feed: Feed, sequence: u32, sent: Utc) -> Option<Stamp> {
        self.passes.get(&(feed, sequence, sent)).copied()
    }

    /// Returns the last packet after which an instrument had a given state, for failure messages.
    pub(crate) fn find(&self, security_id: i32, is_it: impl Fn(&Point) -> bool) -> Option<Stamp> {
        let points = self.points.get(&security_id)?;
        points.iter().rev().find(|point| is_it(point)).map(|point| point.at)
    }

    /// Returns the state of an instrument after a packet, and a number that identifies the state.
    pub(crate) fn at(&self, security_id: i32, stamp: Stamp) -> (usize, &Point) {
        let Some(points) = self.points.get(&security_id) else { return (0, &NOTHING) };
        let behind = points.partition_point(|point| point.at <= stamp);
        let last = behind.checked_sub(1).map(|last| &points[last]);
        // The empty state has a different number in each epoch.
        let number = behind << 8 | (stamp.epoch as usize & 0xFF);
        (number, last.filter(|point| point.at.epoch == stamp.epoch).unwrap_or(&NOTHING))
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
