//! The state of an order book apart from its orders.

use crate::SyncState;

/// The state of an instrument's order book.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderBookHead {
    pub(super) state: SyncState,
    /// The current message, and the current event, have changed the book.
    pub(super) touched: bool,
    pub(super) changed: bool,
    /// A snapshot was loaded before the first packet of the incremental feed, which decides whether
    /// it counts.
    pub(super) early: bool,
    /// A snapshot must contain all incremental packets before this one.
    pub(super) waiting_from: u32,
    /// The book was loaded from a snapshot that contains this packet and all before it.
    pub(super) snapshot_sequence: u32,
    /// The last loop passes that named the instrument with an order snapshot and with a price book
    /// snapshot.
    pub(super) pass: u32,
    pub(super) price_pass: u32,
    pub(super) chunk_tracker: ChunkTracker,
}

const _: () = assert!(size_of::<OrderBookHead>() == 48);

impl OrderBookHead {
    pub(super) const UNKNOWN: Self = Self {
        state: SyncState::Unknown,
        touched: false,
        changed: false,
        early: false,
        waiting_from: 0,
        snapshot_sequence: 0,
        pass: 0,
        price_pass: 0,
        chunk_tracker: ChunkTracker::NONE,
    };
}

/// The received chunks of an order snapshot.
///
/// Chunks with the same packet number state the same book. They may come from several passes, and
/// in any order within a window of 64.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkTracker {
    sequence: u32,
    /// The number of chunks, 0 if no snapshot is being loaded.
    chunks: u32,
    /// The lowest missing chunk, and a bitmap of the received chunks from it on.
    next: u32,
    seen: u64,
    /// The pass in which the snapshot was rejected as invalid or too large.
    rejected_in_pass: u32,
}

/// The relation of a chunk to the snapshot being loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkStatus {
    /// The first chunk of another snapshot; empty the book before. `true`: an incomplete snapshot
    /// was discarded.
    First(bool),
    /// A further chunk.
    New,
    /// A chunk that was already received, is too far ahead, or belongs to a rejected snapshot.
    Ignored,
}

impl ChunkTracker {
    pub(super) const NONE: Self =
        Self { sequence: 0, chunks: 0, next: 0, seen: 0, rejected_in_pass: 0 };

    /// Records chunk `chunk`, from 1 to `chunks`, of a snapshot as of packet `sequence`.
    pub(super) fn record_chunk(
        &mut self,
        sequence: u32,
        chunk: u32,
        chunks: u32,
        pass: u32,
    ) -> ChunkStatus {
        let is_same = self.chunks == chunks && self.sequence == sequence;
        if is_same && self.rejected_in_pass != 0 {
            if self.rejected_in_pass == pass {
                return ChunkStatus::Ignored;
            }
            self.chunks = 0;
        }
        let begins = self.chunks == 0 || !is_same;
        let was_incomplete = self.chunks != 0 && self.rejected_in_pass == 0;
        if begins {
            *self = Self { sequence, chunks, next: 1, seen: 0, rejected_in_pass: 0 };
        }
        let is_new = self.mark(chunk);
        match (begins, is_new) {
            (true, _) if !is_new => {
                // Too far from the start to be tracked. A later pass repeats it.
                self.chunks = 0;
                ChunkStatus::Ignored
            }
            (true, _) => ChunkStatus::First(was_incomplete),
            (false, true) => ChunkStatus::New,
            (false, false) => ChunkStatus::Ignored,
        }
    }

    /// Records a chunk. Returns `false` if it was already recorded or is beyond the window.
    fn mark(&mut self, chunk: u32) -> bool {
        let Some(place) = chunk.checked_sub(self.next).filter(|place| *place < 64) else {
            return false;
        };
        if self.seen >> place & 1 == 1 {
            return false;
        }
        self.seen |= 1 << place;
        let done = self.seen.trailing_ones();
        self.next = self.next.saturating_add(done);
        self.seen = self.seen.checked_shr(done).unwrap_or(0);
        true
    }

    /// Returns `true` if all chunks were received.
    pub(super) const fn is_complete(&self) -> bool {
        self.chunks != 0 && self.next > self.chunks
    }

    /// Rejects the rest of the snapshot in this pass.
    pub(super) fn reject(&mut self, pass: u32) {
        self.rejected_in_pass = pass.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChunkStatus::{First, Ignored, New};

    #[test]
    fn chunks_of_one_sequence_complete_snapshot() {
        let mut chunk_tracker = ChunkTracker::NONE;
        assert_eq!(chunk_tracker.record_chunk(9, 1, 3, 1), First(false));
        assert_eq!(chunk_tracker.record_chunk(9, 2, 3, 1), New);
        assert!(!chunk_tracker.is_complete());
        assert_eq!(chunk_tracker.record_chunk(9, 3, 3, 1), New);
        assert!(chunk_tracker.is_complete());
    }

    #[test]
    fn accepts_chunks_in_any_order_once() {
        let mut chunk_tracker = ChunkTracker::NONE;
        for (chunk, what) in [(2, First(false)), (2, Ignored), (4, New), (1, New), (2, Ignored)] {
            assert_eq!(chunk_tracker.record_chunk(9, chunk, 4, 1), what, "{chunk}");
        }
        assert!(!chunk_tracker.is_complete());
        assert_eq!(chunk_tracker.record_chunk(9, 3, 4, 1), New);
        assert!(chunk_tracker.is_complete());
    }

    #[test]
    fn other_sequence_starts_new_snapshot() {
        let mut chunk_tracker = ChunkTracker::NONE;
        assert_eq!(chunk_tracker.record_chunk(9, 1, 2, 1), First(false));
        assert_eq!(chunk_tracker.record_chunk(10, 2, 2, 1), First(true));
        assert!(!chunk_tracker.is_complete());
        assert_eq!(chunk_tracker.record_chunk(10, 1, 2, 1), New);
        assert!(chunk_tracker.is_complete());
    }

    #[test]
    fn other_chunk_count_starts_new_snapshot() {
        let mut chunk_tracker = ChunkTracker::NONE;
        assert_eq!(chunk_tracker.record_chunk(9, 1, 2, 1), First(false));
        assert_eq!(chunk_tracker.record_chunk(9, 2, 3, 1), First(true));
        assert!(!chunk_tracker.is_complete());
    }

    #[test]
    fn ignores_rejected_snapshot_until_next_pass() {
        let mut chunk_tracker = ChunkTracker::NONE;
        assert_eq!(chunk_tracker.record_chunk(9, 1, 2, 5), First(false));
        chunk_tracker.reject(5);
        assert_eq!(chunk_tracker.record_chunk(9, 2, 2, 5), Ignored);
        assert_eq!(chunk_tracker.record_chunk(9, 1, 2, 6), First(false));
        chunk_tracker.reject(6);
        assert_eq!(chunk_tracker.record_chunk(10, 1, 2, 6), First(false));
    }

    #[test]
    fn tracks_hundreds_of_chunks() {
        let mut chunk_tracker = ChunkTracker::NONE;
        assert_eq!(chunk_tracker.record_chunk(9, 100, 300, 1), Ignored);
        assert_eq!(chunk_tracker.record_chunk(9, 1, 300, 1), First(false));
        (2..=300).for_each(|chunk| assert_eq!(chunk_tracker.record_chunk(9, chunk, 300, 1), New));
        assert!(chunk_tracker.is_complete());
    }
}
